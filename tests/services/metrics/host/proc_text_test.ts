import { deepEqual, equal, throws } from "node:assert/strict";
import {
  parseBootTime,
  parseCores,
  parseLoadavg,
  parseMeminfo,
  parseNetDev,
  parseStat,
  parseUptime,
} from "../../../../services/metrics/host/proc_text.ts";

// As two kernels wrote them (6.1 on a machine of 4 cores, 2.6.32), shortened.
const STAT = `cpu  74608 2520 24433 1117073 6176 4054 9 20 100 7
cpu0 18652 630 6108 279268 1544 1013 2 5 25 1
cpu1 18652 630 6108 279268 1544 1013 2 5 25 2
cpu2 18652 630 6108 279268 1544 1013 2 5 25 2
cpu3 18652 630 6109 279269 1544 1015 3 5 25 2
intr 8688370 1 0 0
ctxt 22848221
btime 1769212800
processes 26442
procs_running 2
`;

const MEMINFO = `MemTotal:       16316412 kB
MemFree:         1061120 kB
MemAvailable:   12054396 kB
Buffers:          521840 kB
Cached:         10316412 kB
SwapCached:            4 kB
Active(anon):    2145588 kB
SwapTotal:       2097148 kB
SwapFree:        2096124 kB
HugePages_Total:       0
`;

const NET_DEV = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:  2776770   11307    0    0    0     0          0         0  2776770   11307    0    0    0     0       0          0
  eth0: 1215645    2751    0    0    0     0          0         0  1782404    4324    0    0    0   427       0          0
eth0.7:1234567890123    1    0    0    0     0          0         0  42    1    0    0    0     0       0          0
veth1a2b@if7:  5    1    0    0    0     0          0         0  6    1    0    0    0     0       0          0
eth0:1:  7    1    0    0    0     0          0         0  8    1    0    0    0     0       0          0
`;

Deno.test("processor time counts waiting for disks as idle, stolen time as busy, guests once", () => {
  const total = 74608 + 2520 + 24433 + 1117073 + 6176 + 4054 + 9 + 20;
  deepEqual(parseStat(STAT), {
    cpuTime: { busy: total - 1117073 - 6176, total },
    cpuCount: 4,
  });
});

Deno.test("the time of each core in each mode is read in seconds", () => {
  const cores = parseCores(STAT);
  equal(cores.length, 4);
  deepEqual(cores[3], {
    user: 186.52,
    nice: 6.3,
    system: 61.09,
    idle: 2792.69,
    iowait: 15.44,
    irq: 10.15,
    softirq: 0.03,
    steal: 0.05,
  });
  // Kernels before 2.6.11 do not know of stolen time.
  deepEqual(parseCores("cpu0 100 0 0 200\n"), [{ user: 1, nice: 0, system: 0, idle: 2 }]);
});

Deno.test("the start of the host is read in Unix seconds", () => {
  equal(parseBootTime(STAT), 1769212800);
  equal(parseBootTime("cpu 1 2 3 4\n"), undefined);
});

Deno.test("a stat text without processors is refused", () => {
  throws(() => parseStat("intr 1 2 3\n"), /no cpu line/);
});

Deno.test("memory and swap are read in bytes", () => {
  deepEqual(parseMeminfo(MEMINFO), {
    total: 16316412 * 1024,
    free: 1061120 * 1024,
    available: 12054396 * 1024,
    buffers: 521840 * 1024,
    cached: 10316412 * 1024,
    swapTotal: 2097148 * 1024,
    swapFree: 2096124 * 1024,
  });
});

Deno.test("an old kernel's available memory is what is free, buffered or cached", () => {
  const old = MEMINFO.replace(/^MemAvailable.*\n/m, "").replace(/^Swap.*\n/gm, "");
  deepEqual(parseMeminfo(old), {
    total: 16316412 * 1024,
    free: 1061120 * 1024,
    available: (1061120 + 521840 + 10316412) * 1024,
    buffers: 521840 * 1024,
    cached: 10316412 * 1024,
    swapTotal: 0,
    swapFree: 0,
  });
});

Deno.test("a meminfo text without a total is refused", () => {
  throws(() => parseMeminfo(""), /no MemTotal/);
});

Deno.test("load averages and uptime are read", () => {
  deepEqual(parseLoadavg("0.52 1.58 12.59 1/597 26442\n"), [0.52, 1.58, 12.59]);
  equal(parseUptime("350735.47 234388.90\n"), 350735.47);
});

Deno.test("interfaces are read with glued counters, VLANs and aliases", () => {
  deepEqual(parseNetDev(NET_DEV), [
    { name: "lo", rxBytes: 2776770, txBytes: 2776770 },
    { name: "eth0", rxBytes: 1215645, txBytes: 1782404 },
    { name: "eth0.7", rxBytes: 1234567890123, txBytes: 42 },
    { name: "veth1a2b@if7", rxBytes: 5, txBytes: 6 },
    { name: "eth0:1", rxBytes: 7, txBytes: 8 },
  ]);
});
