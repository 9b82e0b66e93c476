/** Charts of the host's metrics. @module */

import { useMemo } from "preact/hooks";
import type { MetricsPoint } from "../../api/types.ts";
import { Chart } from "../../components/chart.tsx";
import { useRead } from "../../components/reading.ts";
import { Failure } from "../../components/states.tsx";
import { bytes, duration, percent } from "../../base/text.ts";
import { host, type HostState } from "../../state/live.ts";
import { useHistory } from "../../parts/history.ts";
import { currentRange, RangeFilter, rangeText } from "../../parts/range.tsx";

const CHARTS: readonly {
  name: string;
  /** The value now, next to the name. */
  detail: (state: HostState) => string;
  value: (point: MetricsPoint) => number;
  format: (value: number | null) => string;
  max?: number;
}[] = [
  {
    name: "CPU",
    detail: ({ cpuPercent, cpuCount }) =>
      `${percent(cpuPercent)} of ${cpuCount} ${cpuCount === 1 ? "core" : "cores"}`,
    value: ({ cpuPercent }) => cpuPercent,
    format: percent,
    max: 100,
  },
  {
    name: "Memory",
    detail: ({ memory }) => `${bytes(memory.used)} of ${bytes(memory.total)}`,
    value: ({ memoryPercent }) => memoryPercent,
    format: percent,
    max: 100,
  },
  {
    name: "Disk",
    detail: ({ disk }) => `${bytes(disk.free)} free of ${bytes(disk.total)}`,
    value: ({ diskPercent }) => diskPercent,
    format: percent,
    max: 100,
  },
  {
    name: "Load",
    detail: ({ load, uptimeSeconds }) =>
      `${load.map((value) => value.toFixed(2)).join("  ")}, up ${duration(uptimeSeconds)}`,
    value: ({ load1 }) => load1,
    format: (value) => value === null ? "–" : value.toFixed(2),
  },
];

export function HostCharts() {
  const range = currentRange();
  const { data, error, reload } = useRead("GET /api/metrics/history", {
    query: { range: range.value },
  });
  const state = host.value;
  const points = useHistory(
    data.value?.history,
    useMemo(() => state && pointOf(state), [state]),
    range.seconds,
  );
  const times = useMemo(() => points.map(({ timestamp }) => Date.parse(timestamp) / 1000), [
    points,
  ]);
  const last = rangeText(range);
  return (
    <>
      <RangeFilter />
      {error.value && <Failure error={error.value} onRetry={reload} />}
      <div class="charts framed" aria-busy={data.value ? undefined : "true"}>
        {CHARTS.map(({ name, detail, value, format, max }) => (
          <figure key={name}>
            <figcaption>
              {name}
              {state && <span>{detail(state)}</span>}
            </figcaption>
            <Chart
              name={`${name}, ${last}`}
              times={times}
              seconds={range.seconds}
              series={[{ name, values: points.map(value) }]}
              format={format}
              {...(max !== undefined && { max })}
            />
          </figure>
        ))}
      </div>
    </>
  );
}

/** The measured values now, as a point of the history. */
const pointOf = (
  { timestamp, cpuPercent, memory, disk, load, containers }: HostState,
): MetricsPoint => ({
  timestamp,
  cpuPercent,
  memoryPercent: memory.percent,
  diskPercent: disk.percent,
  load1: load[0],
  containersRunning: containers.running,
  containersTotal: containers.total,
});
