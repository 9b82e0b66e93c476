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
import { host } from "../../state/live.ts";
import { useHistory } from "../history.ts";
import { currentRange, RangeFilter, rangeText } from "../range.tsx";
import type { TabProps } from "./tab.ts";

/** The service measures each container this often, in milliseconds. */
const SAMPLED_MS = 15_000;

const SAMPLES_MAX = 240;

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
        <Figure
          title="CPU"
          name={`CPU, ${last}`}
          times={times}
          seconds={range.seconds}
          series={[{ name: "CPU", values: points.map((point) => point.cpuPercent) }]}
          format={percent}
        />
        <Figure
          title="Memory"
          name={`Memory, ${last}`}
          times={times}
          seconds={range.seconds}
          series={[{ name: "Memory", values: points.map((point) => point.memory) }]}
          format={bytes}
          binary
        />
        <Figure
          title="Network, since this page was opened"
          times={rates.times}
          series={[
            { name: "Received", values: rates.networkRx },
            { name: "Sent", values: rates.networkTx },
          ]}
          format={perSecond}
          binary
        />
        <Figure
          title="Disk I/O, since this page was opened"
          times={rates.times}
          series={[
            { name: "Read", values: rates.blockRead },
            { name: "Written", values: rates.blockWrite },
          ]}
          format={perSecond}
          binary
        />
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

const COUNTERS = ["networkRx", "networkTx", "blockRead", "blockWrite"] as const;

type Sample = NonNullable<ContainerDetail["stats"]>;

/** Bytes per second between samples, which are read while the page is visible. */
function useRates({ id, stats }: Pick<ContainerDetail, "id" | "stats">) {
  const samples = useSignal<readonly Sample[]>(stats ? [stats] : []);
  useEffect(() => {
    const add = (sample: Sample | null) => {
      if (!sample || sample.read === samples.peek().at(-1)?.read) return;
      samples.value = [...samples.peek(), sample].slice(-SAMPLES_MAX);
    };
    const timer = setInterval(() => {
      if (document.hidden) return;
      api("GET /api/containers/{id}", { path: { id } })
        .then((detail) => add(detail.stats))
        .catch(() => {}); // The page itself reports that the service or the container is gone.
    }, SAMPLED_MS);
    return () => clearInterval(timer);
  }, [id]);
  return useMemo(() => {
    const pairs = samples.value.slice(1).map((sample, at) => [samples.value[at]!, sample] as const);
    const rate = (counter: typeof COUNTERS[number]) =>
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
