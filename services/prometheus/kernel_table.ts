/** Converts tables of the kernel to metric families. @module */

import { type Family, metric } from "./family.ts";

/** Reads the metrics of one file of `/proc`. */
export interface Collector {
  name: string;
  /** Relative to `/proc`. */
  file: string;
  read(text: string): Family[];
}

/** Limit of devices per kind; a host can have thousands of virtual devices. */
export const DEVICES_MAX = 256;

/** The fields of each non-empty line. */
export function rows(text: string): string[][] {
  return text.split("\n").filter((line) => line.trim() !== "")
    .map((line) => line.trim().split(/\s+/));
}

/** A column as a metric; `scale` converts its unit to that of the metric. */
export interface Column {
  at: number;
  name: string;
  help: string;
  scale?: number;
}

/** One family per column, with one series per row. */
export function table(
  columns: readonly Column[],
  labelled: readonly { labels: Record<string, string>; values: readonly number[] }[],
): Family[] {
  return columns.flatMap(({ at, name, help, scale = 1 }) => {
    const series = labelled.filter(({ values }) => Number.isFinite(values[at]))
      .map(({ labels, values }) => ({ labels, value: values[at]! * scale }));
    if (series.length === 0) return [];
    return [metric(name, help, series)];
  });
}

/** A metric with one series; empty if the kernel does not report it. */
export function single(name: string, help: string, value: number | undefined): Family[] {
  if (value === undefined || !Number.isFinite(value)) return [];
  return [metric(name, help, value)];
}
