/** Charts of a container. @module */

import type { ContainerMetricsPoint } from "../../api/types.ts";
import { Chart } from "../../components/chart.tsx";
import { Failure } from "../../components/states.tsx";
import { addStyles } from "../../components/styles.ts";
import { bytes, percent } from "../../base/text.ts";
import { currentRange, RangeFilter, rangeText } from "../../parts/range.tsx";
import { useContainerHistory } from "./history.ts";
import type { TabProps } from "./tab.ts";
import styles from "./stats.css" with { type: "text" };

addStyles(styles);

type Figures = Omit<ContainerMetricsPoint, "timestamp">;

const perSecond = (value: number | null) => value === null ? "–" : `${bytes(value)}/s`;

/** Each with its lines. */
const CHARTS = [
  { title: "CPU", lines: { CPU: "cpuPercent" }, format: percent },
  { title: "Memory", lines: { Memory: "memory" }, format: bytes, binary: true },
  {
    title: "Network",
    lines: { Received: "networkRxPerSecond", Sent: "networkTxPerSecond" },
    format: perSecond,
    binary: true,
  },
  {
    title: "Disk I/O",
    lines: { Read: "blockReadPerSecond", Written: "blockWritePerSecond" },
    format: perSecond,
    binary: true,
  },
] as const;

export function Stats({ container }: TabProps) {
  const range = currentRange();
  const { data, error, reload, latest, points, times } = useContainerHistory(container, range);
  return (
    <>
      <RangeFilter />
      {error.value && <Failure error={error.value} onRetry={reload} />}
      <div class="charts" aria-busy={data.value ? undefined : "true"}>
        {CHARTS.map(({ title, lines, ...scale }) => (
          <figure key={title}>
            <figcaption>
              {title}
              <Legend lines={lines} latest={latest} format={scale.format} />
            </figcaption>
            <Chart
              name={`${title}, ${rangeText(range)}`}
              times={times}
              seconds={range.seconds}
              series={Object.entries(lines).map(([name, field]) => ({
                name,
                values: points.map((point) => point[field]),
              }))}
              {...scale}
            />
          </figure>
        ))}
      </div>
    </>
  );
}

/** The present values, dashes while there are none, and which line is which. */
function Legend({ lines, latest, format }: {
  lines: Readonly<Record<string, keyof Figures>>;
  latest: Figures | undefined;
  format: (value: number | null) => string;
}) {
  const entries = Object.entries(lines);
  const valueOf = (field: keyof Figures) => format(latest?.[field] ?? null);
  return (
    <span aria-hidden="true">
      {entries.length === 1
        ? valueOf(entries[0]![1])
        : entries.map(([name, field]) => (
          <span key={name} class="line">{name} {valueOf(field)}</span>
        ))}
    </span>
  );
}
