/** The host: processor, memory and disk now, and the last hour of them. @module */

import { useMemo } from "preact/hooks";
import { Chart } from "../../components/chart.tsx";
import { Section } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { Loading, Meter } from "../../components/states.tsx";
import { bytes, duration, percent } from "../../base/text.ts";
import { host } from "../../state/live.ts";
import { useHistory } from "../../parts/history.ts";

const HOUR_S = 3_600;

/** The charts are small. */
const POINTS_MAX = 100;

const CHARTS = [
  { name: "CPU", value: "cpuPercent" },
  { name: "Memory", value: "memoryPercent" },
] as const;

export function Host() {
  const state = host.value;
  const { data } = useRead("GET /api/metrics/history", {
    query: { range: "1h", points: POINTS_MAX },
  });
  const points = useHistory(
    data.value?.history,
    useMemo(() =>
      state && {
        timestamp: state.timestamp,
        cpuPercent: state.cpuPercent,
        memoryPercent: state.memory.percent,
      }, [state]),
    HOUR_S,
  );
  if (!state) return <Loading name="Host" />;
  const { cpuPercent, cpuCount, memory, disk, load, uptimeSeconds } = state;
  const times = points.map(({ timestamp }) => Date.parse(timestamp) / 1000);
  return (
    <Section title="Host" wide>
      <div class="gauges">
        <Gauge
          name="CPU"
          value={cpuPercent}
          detail={`${cpuCount} ${cpuCount === 1 ? "core" : "cores"}`}
        />
        <Gauge
          name="Memory"
          value={memory.percent}
          detail={`${bytes(memory.used)} of ${bytes(memory.total)}`}
        />
        <Gauge
          name="Disk"
          value={disk.percent}
          detail={`${bytes(disk.free)} free of ${bytes(disk.total)}`}
        />
        <dl class="facts">
          <div>
            <dt>Load</dt>
            <dd>{load.map((value) => value.toFixed(2)).join("  ")}</dd>
          </div>
          <div>
            <dt>Uptime</dt>
            <dd>{duration(uptimeSeconds)}</dd>
          </div>
        </dl>
      </div>
      <div class="charts">
        {CHARTS.map(({ name, value }) => (
          <figure key={name}>
            <figcaption>{name}</figcaption>
            <Chart
              name={`${name}, last hour`}
              times={times}
              seconds={HOUR_S}
              series={[{ name, values: points.map((each) => each[value]) }]}
              format={percent}
              max={100}
            />
          </figure>
        ))}
      </div>
    </Section>
  );
}

function Gauge({ name, value, detail }: { name: string; value: number; detail: string }) {
  return (
    <div class="gauge">
      <span class="gauge-name" aria-hidden="true">{name}</span>
      <strong aria-hidden="true">{percent(value)}</strong>
      <Meter name={name} value={value} text={`${percent(value)}, ${detail}`} />
      <span class="muted" aria-hidden="true">{detail}</span>
    </div>
  );
}
