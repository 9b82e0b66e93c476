/**
 * Metrics from a mounted `/proc` of the host, with the names and labels of node_exporter
 * (https://github.com/prometheus/node_exporter). The files are read on each scrape.
 *
 * @module
 */

import { type Family, metric } from "./family.ts";
import { CPU_COLLECTORS } from "./kernel_cpu.ts";
import { DISK_COLLECTORS } from "./kernel_disk.ts";
import { MEMORY_COLLECTORS } from "./kernel_memory.ts";
import { NETWORK_COLLECTORS } from "./kernel_network.ts";
import type { Collector } from "./kernel_table.ts";

// `/proc/net` describes the reader's network namespace; that of process 1 is the host's.
const COLLECTORS: readonly Collector[] = [
  ...CPU_COLLECTORS,
  ...MEMORY_COLLECTORS,
  ...DISK_COLLECTORS,
  ...NETWORK_COLLECTORS,
];

/** Metrics of all files that can be read; not every kernel has all of them. */
export async function kernelFamilies(procPath: string): Promise<Family[]> {
  const results = await Promise.all(COLLECTORS.map(async ({ name, file, read }) => {
    const startMs = performance.now();
    const families = await readFamilies(`${procPath}/${file}`, read);
    const labels = { collector: name };
    return {
      families: families ?? [],
      ok: families !== undefined,
      labels,
      durationMs: performance.now() - startMs,
    };
  }));
  return [
    ...results.flatMap(({ families }) => families),
    metric(
      "node_scrape_collector_success",
      "Whether a collector succeeded",
      results.map(({ labels, ok }) => ({ labels, value: ok ? 1 : 0 })),
    ),
    metric(
      "node_scrape_collector_duration_seconds",
      "Duration of a collector, in seconds",
      results.map(({ labels, durationMs }) => ({ labels, value: durationMs / 1000 })),
    ),
  ];
}

async function readFamilies(
  path: string,
  read: (text: string) => Family[],
): Promise<Family[] | undefined> {
  try {
    return read(await Deno.readTextFile(path));
  } catch {
    return undefined;
  }
}
