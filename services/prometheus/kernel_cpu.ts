/** CPU, scheduler, process and pressure metrics from `/proc`. @module */

import { labelValue, metric, type Series } from "./family.ts";
import { type Collector, rows, single, table } from "./kernel_table.ts";

/** Unit of the times in `/proc/stat`. */
const TICKS_PER_S = 100;

const NS = 1e-9;

const stat: Collector = {
  name: "stat",
  file: "stat",
  read(text) {
    const lines = new Map(rows(text).map(([name, ...values]) => [name!, values.map(Number)]));
    const first = (name: string) => lines.get(name)?.[0];
    const cores = [...lines].filter(([name]) => /^cpu\d+$/.test(name));
    // The guest modes are columns 9 and 10, and are included in user and nice.
    const guest = cores.flatMap(([name, values]): Series[] =>
      [["user", values[8]], ["nice", values[9]]].flatMap(([mode, ticks]) =>
        typeof ticks === "number"
          ? [{ labels: { cpu: name.slice(3), mode: String(mode) }, value: ticks / TICKS_PER_S }]
          : []
      )
    );
    return [
      ...(guest.length ? [metric("node_cpu_guest_seconds_total", "Time in guests", guest)] : []),
      ...single("node_intr_total", "Interrupts served", first("intr")),
      ...single("node_context_switches_total", "Context switches", first("ctxt")),
      ...single("node_forks_total", "Processes and threads created", first("processes")),
      ...single("node_procs_running", "Runnable processes", first("procs_running")),
      ...single("node_procs_blocked", "Processes waiting for I/O", first("procs_blocked")),
    ];
  },
};

const cpuinfo: Collector = {
  name: "cpuinfo",
  file: "cpuinfo",
  read(text) {
    const cores = text.split("\n\n").map((block) =>
      Object.fromEntries(
        [...block.matchAll(/^([^\t:]+?)\s*: ?(.*)$/gm)].map(([, name, value]) => [name!, value!]),
      )
    ).filter(({ processor }) => processor !== undefined && /^\d+$/.test(processor));
    const frequencies = cores.flatMap(({ processor, "cpu MHz": mhz }): Series[] =>
      mhz === undefined ? [] : [{ labels: { cpu: processor! }, value: Number(mhz) * 1e6 }]
    );
    return [
      ...(frequencies.length
        ? [metric("node_cpu_scaling_frequency_hertz", "Current frequency of the core", frequencies)]
        : []),
      metric(
        "node_cpu_info",
        "Model of the core",
        cores.map((core) => ({
          labels: {
            cpu: core.processor!,
            vendor: core["vendor_id"] ?? "",
            family: core["cpu family"] ?? "",
            model: core.model ?? "",
            model_name: labelValue(core["model name"] ?? ""),
            stepping: core.stepping ?? "",
            microcode: core.microcode ?? "",
            cachesize: core["cache size"] ?? "",
            package: core["physical id"] ?? "",
            core: core["core id"] ?? "",
          },
          value: 1,
        })),
      ),
    ];
  },
};

const schedstat: Collector = {
  name: "schedstat",
  file: "schedstat",
  read(text) {
    const cores = rows(text).filter(([name]) => /^cpu\d+$/.test(name!))
      .map(([name, ...values]) => ({
        labels: { cpu: name!.slice(3) },
        values: values.map(Number),
      }));
    return table([
      {
        at: 6,
        name: "node_schedstat_running_seconds_total",
        help: "Time spent running",
        scale: NS,
      },
      {
        at: 7,
        name: "node_schedstat_waiting_seconds_total",
        help: "Time spent waiting",
        scale: NS,
      },
      { at: 8, name: "node_schedstat_timeslices_total", help: "Time slices executed" },
    ], cores);
  },
};

/** The fourth field of `/proc/loadavg` is `running/existing` threads. */
const loadavg: Collector = {
  name: "processes",
  file: "loadavg",
  read: (text) => single("node_processes_threads", "Threads", Number(text.split(/[\s/]+/)[4])),
};

const limit = (name: string, file: string, metricName: string, help: string): Collector => ({
  name,
  file,
  read: (text) => single(metricName, help, Number(text)),
});

const pressure = (resource: string, metrics: Record<string, [name: string, help: string]>) => ({
  name: `pressure_${resource}`,
  file: `pressure/${resource}`,
  read: (text: string) =>
    rows(text).flatMap(([kind, ...fields]) => {
      const [name, help] = metrics[kind!] ?? [];
      const total = fields.find((field) => field.startsWith("total="))?.slice("total=".length);
      // Microseconds.
      return name === undefined ? [] : single(name, help!, Number(total) / 1e6);
    }),
});

const waiting = (resource: string): [string, string] => [
  `node_pressure_${resource}_waiting_seconds_total`,
  `Time during which some tasks waited for ${resource}`,
];
const stalled = (resource: string): [string, string] => [
  `node_pressure_${resource}_stalled_seconds_total`,
  `Time during which all tasks waited for ${resource}`,
];

export const CPU_COLLECTORS: readonly Collector[] = [
  stat,
  cpuinfo,
  schedstat,
  loadavg,
  limit("threads_max", "sys/kernel/threads-max", "node_processes_max_threads", "Limit of threads"),
  limit("pid_max", "sys/kernel/pid_max", "node_processes_max_processes", "Limit of process ids"),
  limit(
    "entropy",
    "sys/kernel/random/entropy_avail",
    "node_entropy_available_bits",
    "Entropy available, in bits",
  ),
  limit(
    "entropy_pool",
    "sys/kernel/random/poolsize",
    "node_entropy_pool_size_bits",
    "Size of the entropy pool, in bits",
  ),
  // The kernel reports "full" for the CPU as 0, for compatibility only.
  pressure("cpu", { some: waiting("cpu") }),
  pressure("io", { some: waiting("io"), full: stalled("io") }),
  pressure("memory", { some: waiting("memory"), full: stalled("memory") }),
  pressure("irq", { full: stalled("irq") }),
];
