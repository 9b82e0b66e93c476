/** Metrics of block devices, file handles and the root file system from `/proc`. @module */

import { metric } from "./family.ts";
import { type Collector, type Column, DEVICES_MAX, rows, single, table } from "./kernel_table.ts";

const MS = 1e-3;
const SECTOR_BYTES = 512;

/** Partitions and memory devices, which node_exporter excludes as well. */
const EXCLUDED = /^(z?ram|loop|fd|(h|s|v|xv)d[a-z]|nvme\d+n\d+p)\d+$/;

/** Columns after major, minor and name (https://docs.kernel.org/admin-guide/iostats.html). */
const DISK_COLUMNS: readonly Column[] = [
  { at: 0, name: "node_disk_reads_completed_total", help: "Reads completed" },
  { at: 1, name: "node_disk_reads_merged_total", help: "Reads merged" },
  { at: 2, name: "node_disk_read_bytes_total", help: "Bytes read", scale: SECTOR_BYTES },
  { at: 3, name: "node_disk_read_time_seconds_total", help: "Time spent reading", scale: MS },
  { at: 4, name: "node_disk_writes_completed_total", help: "Writes completed" },
  { at: 5, name: "node_disk_writes_merged_total", help: "Writes merged" },
  { at: 6, name: "node_disk_written_bytes_total", help: "Bytes written", scale: SECTOR_BYTES },
  { at: 7, name: "node_disk_write_time_seconds_total", help: "Time spent writing", scale: MS },
  { at: 8, name: "node_disk_io_now", help: "Operations in progress" },
  { at: 9, name: "node_disk_io_time_seconds_total", help: "Time with I/O in progress", scale: MS },
  {
    at: 10,
    name: "node_disk_io_time_weighted_seconds_total",
    help: "Time with I/O in progress, weighted by the number of operations",
    scale: MS,
  },
  { at: 11, name: "node_disk_discards_completed_total", help: "Discards completed" },
  { at: 12, name: "node_disk_discards_merged_total", help: "Discards merged" },
  { at: 13, name: "node_disk_discarded_sectors_total", help: "Sectors discarded" },
  {
    at: 14,
    name: "node_disk_discard_time_seconds_total",
    help: "Time spent discarding",
    scale: MS,
  },
  { at: 15, name: "node_disk_flush_requests_total", help: "Flush requests completed" },
  {
    at: 16,
    name: "node_disk_flush_requests_time_seconds_total",
    help: "Time spent on flush requests",
    scale: MS,
  },
];

const diskstats: Collector = {
  name: "diskstats",
  file: "diskstats",
  read(text) {
    const devices = rows(text).filter(([, , device]) => device && !EXCLUDED.test(device))
      .slice(0, DEVICES_MAX);
    return [
      metric(
        "node_disk_info",
        "Device numbers of the block device",
        devices.map(([major, minor, device]) => ({
          labels: { device: device!, major: major!, minor: minor! },
          value: 1,
        })),
      ),
      ...table(
        DISK_COLUMNS,
        devices.map(([, , device, ...values]) => ({
          labels: { device: device! },
          values: values.map(Number),
        })),
      ),
    ];
  },
};

const filefd: Collector = {
  name: "filefd",
  file: "sys/fs/file-nr",
  read(text) {
    const [allocated, , maximum] = text.trim().split(/\s+/).map(Number);
    return [
      ...single("node_filefd_allocated", "File handles allocated", allocated),
      ...single("node_filefd_maximum", "Limit of file handles", maximum),
    ];
  },
};

const rootFileSystem: Collector = {
  name: "mounts",
  file: "1/mounts",
  read(text) {
    // A later mount hides an earlier one.
    const [, , , options = ""] = rows(text).findLast(([, path]) => path === "/") ?? [];
    return options === "" ? [] : [metric(
      "node_filesystem_readonly",
      "Whether the file system is mounted read-only",
      [{ labels: { mountpoint: "/" }, value: options.split(",").includes("ro") ? 1 : 0 }],
    )];
  },
};

export const DISK_COLLECTORS: readonly Collector[] = [diskstats, filefd, rootFileSystem];
