/**
 * Charts of a container. Processor and memory come from the stored history; network and disk are
 * measured while the page is open.
 *
 * @module
 */

import { useEffect, useMemo } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { ContainerDetail } from "../../api/types.ts";
import { Chart, type ChartProps } from "../../components/chart.tsx";
import { useRead } from "../../components/reading.ts";
import { Failure } from "../../components/states.tsx";
import { bytes, percent } from "../../components/text.ts";
import { containers, host } from "../../state/live.ts";
import { useHistory } from "../history.ts";
import { currentRange, RangeFilter, rangeText } from "../range.tsx";
import type { TabProps } from "./tab.ts";

/** The service measures each container this often, in milliseconds. */
const SAMPLED_MS = 15_000;

const SAMPLES_MAX = 240;

const HISTORY = [
  { title: "CPU", field: "cpuPercent", format: percent },
  { title: "Memory", field: "memory", format: bytes, binary: true },
] as const;

const RATES = [
  { title: "Network", counters: [["Received", "networkRx"], ["Sent", "networkTx"]] },
  { title: "Disk I/O", counters: [["Read", "blockRead"], ["Written", "blockWrite"]] },
] as const;

export function Stats({ container }: TabProps) {
  const { id, cpuPercent, memory } = container;
  const range = currentRange();
  const { data, error, reload } = useRead("GET /api/containers/{id}/metrics/history", {
    path: { id },
    query: { range: range.value },
  });
  const timestamp = host.value?.timestamp;
  const points = useHistory(
    data.value?.history,
    useMemo(
      () =>
        timestamp !== undefined && cpuPercent !== null && memory !== null
          ? { timestamp, cpuPercent, memory }
          : undefined,
      [timestamp, cpuPercent, memory],
    ),
    range.seconds,
  );
  const times = points.map((point) => Date.parse(point.timestamp) / 1000);
  const rates = useRates(container);
  const last = rangeText(range);
  return (
    <>
      <RangeFilter />
      {error.value && <Failure error={error.value} onRetry={reload} />}
      <div class="charts" aria-busy={data.value ? undefined : "true"}>
        {HISTORY.map(({ title, field, ...scale }) => (
          <Figure
            key={title}
            title={title}
            name={`${title}, ${last}`}
            times={times}
            seconds={range.seconds}
            series={[{ name: title, values: points.map((point) => point[field]) }]}
            {...scale}
          />
        ))}
        {RATES.map(({ title, counters }) => (
          <Figure
            key={title}
            title={`${title}, since this page was opened`}
            times={rates.times}
            series={counters.map(([name, counter]) => ({ name, values: rates[counter] }))}
            format={perSecond}
            binary
          />
        ))}
      </div>
    </>
  );
}

/** A chart below its title. */
function Figure(
  { title, name = title, ...chart }: Omit<ChartProps, "name"> & { title: string; name?: string },
) {
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <Chart name={name} {...chart} />
    </figure>
  );
}

const perSecond = (value: number | null) => value === null ? "–" : `${bytes(value)}/s`;

type Counter = (typeof RATES)[number]["counters"][number][1];

type Sample = NonNullable<ContainerDetail["stats"]>;

/**
 * Bytes per second between samples, which are read while the page is visible and the container is
 * there.
 */
function useRates({ id, stats }: Pick<ContainerDetail, "id" | "stats">) {
  const samples = useSignal<readonly Sample[]>(stats ? [stats] : []);
  useEffect(() => {
    const add = (sample: Sample | null) => {
      if (!sample || sample.read === samples.peek().at(-1)?.read) return;
      samples.value = [...samples.peek(), sample].slice(-SAMPLES_MAX);
    };
    const timer = setInterval(() => {
      if (document.hidden || !containers.peek()?.some((each) => each.id === id)) return;
      api("GET /api/containers/{id}", { path: { id } })
        .then((detail) => add(detail.stats))
        .catch(() => {}); // The page itself reports that the service or the container is gone.
    }, SAMPLED_MS);
    return () => clearInterval(timer);
  }, [id]);
  return useMemo(() => {
    const pairs = samples.value.slice(1).map((sample, at) => [samples.value[at]!, sample] as const);
    const rate = (counter: Counter) =>
      pairs.map(([before, after]) => {
        const seconds = (Date.parse(after.read) - Date.parse(before.read)) / 1000;
        return Math.max(0, after[counter] - before[counter]) / seconds;
      });
    return {
      times: pairs.map(([, { read }]) => Date.parse(read) / 1000),
      networkRx: rate("networkRx"),
      networkTx: rate("networkTx"),
      blockRead: rate("blockRead"),
      blockWrite: rate("blockWrite"),
    };
  }, [samples.value]);
}
