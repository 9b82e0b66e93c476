/** Alert metrics of the measured values of containers. @module */

import type { ContainerRates } from "../../../db/container_samples.ts";
import type { Container } from "../../containers/inventory.ts";
import { isUp } from "../../containers/reads.ts";
import type { ContainerStats } from "../../containers/stats_cache.ts";
import { type ContainerDeps, type ContainerValue, metric } from "./kind.ts";

const ofStats =
  (value: (stats: ContainerStats) => number) =>
  ({ stats }: ContainerDeps, container: Container): ContainerValue => {
    if (!isUp(container)) return null;
    const sample = stats.get(container.id);
    return sample && value(sample);
  };

export const containerStats = [
  metric("container_memory_percent", {
    target: "containers",
    description: "Of the memory that the container may use",
    group: "Containers",
    words: "memory",
    title: "Memory of a container",
    name: "Memory",
    unit: "%",
    threshold: 90,
    read: ofStats(({ memoryPercent }) => memoryPercent),
    sampled: (limit) => limit ? ({ memory }) => 100 * memory / limit : undefined,
    recommended: [{
      id: "container-memory",
      description: "A container uses nearly all of the memory that it may use.",
      name: "Container memory almost full",
      threshold: 90,
      durationSeconds: 300,
    }],
  }),
  metric("container_memory_bytes", {
    target: "containers",
    description: "In bytes, without the page cache; 1 GiB is 1073741824",
    group: "Containers",
    words: "memory in bytes",
    title: "Memory of a container",
    name: "Memory",
    unit: "B",
    threshold: 2 ** 30,
    read: ofStats(({ memoryUsage }) => memoryUsage),
    sampled: () => ({ memory }) => memory,
  }),
  metric("container_cpu_percent", {
    target: "containers",
    description: "Percent of one core",
    group: "Containers",
    words: "CPU",
    title: "CPU of a container",
    name: "CPU",
    unit: "%",
    threshold: 90,
    read: ofStats(({ cpuPercent }) => cpuPercent),
    sampled: () => ({ cpuPercent }) => cpuPercent,
  }),
  metric("container_network_bytes_per_second", {
    target: "containers",
    description: "Bytes per second in both directions",
    group: "Containers",
    words: "network traffic",
    title: "Network traffic of a container",
    name: "Network traffic",
    unit: "B/s",
    threshold: 10_000_000,
    read({ stats }, container) {
      if (!isUp(container)) return null;
      const rates = stats.rates(container.id);
      return rates && networkRate(rates);
    },
    missing: ({ stats }, { id, name }) =>
      stats.get(id) && `${name} has no network of its own, or was measured only once`,
    sampled: () => networkRate,
  }),
];

/** Bytes in both directions; `undefined` while unknown. */
function networkRate(
  { networkRxPerSecond: received, networkTxPerSecond: sent }: Pick<
    ContainerRates,
    "networkRxPerSecond" | "networkTxPerSecond"
  >,
): number | undefined {
  return received === null || sent === null ? undefined : received + sent;
}
