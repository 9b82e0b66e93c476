/** Alert metrics of the host's disk. @module */

import { diskUsage } from "../../metrics/host/metrics.ts";
import { readDiskForecast } from "./disk_forecast.ts";
import { fileReason, ofHost } from "./host_samples.ts";
import { metric, MINUTE_MS, ROUND_MS } from "./kind.ts";

export const disks = [
  metric("disk_percent", {
    target: "host",
    description: "Used part of the filesystem at path, or at the root",
    group: "Host",
    words: "disk usage",
    unit: "%",
    threshold: 90,
    hasPath: true,
    read: ofHost(({ disk }) => disk.percent),
    slow: {
      everyMs: ROUND_MS,
      async read(_deps, { path }) {
        try {
          return { value: (await diskUsage(path ?? undefined)).disk.percent };
        } catch (error) {
          return { reason: `${path} cannot be measured: ${fileReason(error)}` };
        }
      },
    },
    sampled: ({ diskPercent }) => diskPercent,
    recommended: [{
      id: "disk-almost-full",
      description: "The host has little disk space left.",
      name: "Disk almost full",
      threshold: 90,
      durationSeconds: 300,
      severity: "critical",
    }],
  }),
  metric("disk_full_in_hours", {
    target: "host",
    description: "If the disk fills as in the last 6 hours; at most 8760",
    group: "Host",
    words: "time until the disk is full",
    title: "Disk is full in",
    name: "The disk",
    verb: "will be full in",
    unit: "h",
    operator: "<",
    threshold: 24,
    slow: { everyMs: 5 * MINUTE_MS, read: readDiskForecast },
  }),
];
