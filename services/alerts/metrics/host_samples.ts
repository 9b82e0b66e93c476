/** Alert metrics of the host's samples. @module */

import type { HostSample } from "../../metrics/host/cache.ts";
import { systemReason } from "../../text/system_reason.ts";
import type { Reading } from "../memory.ts";
import { type FastDeps, metric } from "./kind.ts";

/** Age at which a host sample is ignored, in milliseconds. The host is sampled every 5 seconds. */
export const SAMPLE_AGE_MAX_MS = 30_000;

/** Reads a value of the last sample. */
export const ofHost =
  (value: (sample: HostSample) => number) =>
  ({ host, now }: Pick<FastDeps, "host" | "now">): Reading => {
    const sample = host.latest;
    const isCurrent = sample &&
      Math.abs(now().getTime() - Date.parse(sample.timestamp)) <= SAMPLE_AGE_MAX_MS;
    return isCurrent
      ? { value: value(sample) }
      : { reason: "The host was not measured in the last 30 seconds" };
  };

export const hostSamples = [
  metric("memory_percent", {
    target: "host",
    description: "Percent of the whole host",
    group: "Host",
    words: "memory",
    unit: "%",
    threshold: 90,
    read: ofHost(({ memory }) => memory.percent),
    sampled: ({ memoryPercent }) => memoryPercent,
    recommended: [{
      id: "memory-almost-full",
      description: "The host has little memory left.",
      name: "Memory almost full",
      threshold: 90,
      durationSeconds: 300,
    }],
  }),
  metric("cpu_percent", {
    target: "host",
    description: "Percent of the whole host",
    group: "Host",
    words: "CPU",
    unit: "%",
    threshold: 90,
    read: ofHost(({ cpuPercent }) => cpuPercent),
    sampled: ({ cpuPercent }) => cpuPercent,
    recommended: [{
      id: "processor-busy",
      description: "The processors of the host are busy for a quarter of an hour.",
      name: "Processor busy",
      threshold: 90,
      durationSeconds: 900,
    }],
  }),
  metric("swap_percent", {
    target: "host",
    description: "Percent of the whole host",
    group: "Host",
    words: "swap",
    unit: "%",
    threshold: 50,
    read: ofHost(({ swap }) => swap.percent),
    recommended: [{
      id: "swap-almost-full",
      description: "The host has little swap space left, which slows it down.",
      name: "Swap almost full",
      threshold: 80,
      durationSeconds: 900,
    }],
  }),
  metric("load_1", {
    target: "host",
    description: "Load average over a minute",
    group: "Host",
    words: "load (1 min)",
    name: "Load",
    threshold: 8,
    read: ofHost(({ load }) => load[0]),
    sampled: ({ load1 }) => load1,
  }),
];

/** The errors of `node:fs` have codes, those of the runtime have classes. */
export function fileReason(error: unknown): string {
  const reasons: Record<string, string> = {
    ENOENT: "it does not exist",
    EACCES: "permission denied",
    EOPNOTSUPP: "the kernel has turned it off",
  };
  return reasons[(error as { code?: string }).code ?? ""] ?? systemReason(error);
}
