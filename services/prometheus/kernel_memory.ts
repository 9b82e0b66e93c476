/** Memory metrics from `/proc`. @module */

import { metric } from "./family.ts";
import { type Collector, rows } from "./kernel_table.ts";

/** `Active(anon)` becomes `Active_anon`. Sizes are in kB; numbers of huge pages have no unit. */
const meminfo: Collector = {
  name: "meminfo",
  file: "meminfo",
  read: (text) =>
    rows(text).flatMap(([label, value, unit]) => {
      const name = label!.replace(":", "").replace(/\((.*)\)/, "_$1");
      if (!/^\w+$/.test(name) || !Number.isFinite(Number(value))) return [];
      const help = `${name} of /proc/meminfo`;
      return unit === "kB"
        ? [metric(`node_memory_${name}_bytes`, `${help}, in bytes`, Number(value) * 1024)]
        : [metric(`node_memory_${name}`, help, Number(value))];
    }),
};

/** The fields that node_exporter reads by default. */
const VMSTAT = /^(oom_kill|pgpg\w*|pswp\w*|pg\w*fault\w*)$/;

const vmstat: Collector = {
  name: "vmstat",
  file: "vmstat",
  read: (text) =>
    rows(text).flatMap(([name, value]) =>
      VMSTAT.test(name!) && Number.isFinite(Number(value))
        ? [metric(`node_vmstat_${name}`, `${name} of /proc/vmstat`, Number(value))]
        : []
    ),
};

export const MEMORY_COLLECTORS: readonly Collector[] = [meminfo, vmstat];
