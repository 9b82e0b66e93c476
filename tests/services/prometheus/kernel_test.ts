import { deepEqual, equal } from "node:assert/strict";
import { kernelFamilies } from "../../../services/prometheus/kernel.ts";
import { procDirectory } from "../../helpers/proc_directory.ts";

async function kernel(changes: Record<string, string | null> = {}) {
  using proc = procDirectory(changes);
  const families = await kernelFamilies(proc.path);
  const names = families.map(({ name }) => name);
  deepEqual(names.filter((name, at) => names.indexOf(name) !== at), []);
  return {
    names,
    /** The values of a metric by its labels. */
    values: (name: string) =>
      Object.fromEntries(
        (families.find((family) => family.name === name)?.values ?? [])
          .map(({ labels = {}, value }) => [Object.values(labels).join(), value]),
      ),
  };
}

for (
  const [name, values] of Object.entries({
    node_cpu_guest_seconds_total: {
      "0,user": 0.05,
      "0,nice": 0.06,
      "1,user": 0.04,
      "1,nice": 0.04,
    },
    node_intr_total: { "": 12_345 },
    node_context_switches_total: { "": 67_890 },
    node_forks_total: { "": 4_321 },
    node_procs_running: { "": 2 },
    node_procs_blocked: { "": 1 },
    node_cpu_scaling_frequency_hertz: { "0": 2_300_500_000, "1": 2_300_500_000 },
    node_schedstat_running_seconds_total: { "0": 2, "1": 1 },
    node_schedstat_timeslices_total: { "0": 40, "1": 30 },
    node_processes_threads: { "": 345 },
    node_pressure_cpu_waiting_seconds_total: { "": 1.5 },
    node_pressure_io_stalled_seconds_total: { "": 0.5 },
    node_pressure_irq_stalled_seconds_total: { "": 0.7 },
    node_memory_MemTotal_bytes: { "": 1_000 * 1_024 },
    node_memory_Active_anon_bytes: { "": 1_008 * 1_024 },
    node_memory_HugePages_Free: { "": 3 },
    node_vmstat_oom_kill: { "": 17 },
    node_disk_reads_completed_total: { sda: 10, nvme0n1: 1 },
    node_disk_read_bytes_total: { sda: 12 * 512, nvme0n1: 3 * 512 },
    node_disk_io_time_weighted_seconds_total: { sda: 0.02, nvme0n1: 0.011 },
    node_disk_discards_completed_total: { sda: 21 },
    node_disk_info: { "sda,8,0": 1, "nvme0n1,259,0": 1 },
    node_filefd_allocated: { "": 757 },
    node_filefd_maximum: { "": 2_466_177 },
    node_network_receive_multicast_total: { lo: 0, eth0: 6 },
    node_network_transmit_carrier_total: { lo: 0, eth0: 11 },
    node_network_transmit_compressed_total: { lo: 0, eth0: 12 },
    node_netstat_TcpExt_ListenDrops: { "": 5 },
    node_netstat_Tcp_CurrEstab: { "": 4 },
    node_netstat_UdpLite_InErrors: { "": 1 },
    node_netstat_Ip6_OutOctets: { "": 2 },
    node_netstat_Udp6_NoPorts: { "": 9 },
    node_sockstat_TCP_mem: { "": 5 },
    node_sockstat_TCP_mem_bytes: { "": 5 * 4_096 },
    node_sockstat_sockets_used: { "": 18 },
    node_softnet_processed_total: { "0": 10 },
    node_softnet_backlog_len: { "0": 6 },
    node_arp_entries: { eth0: 2 },
    node_nf_conntrack_entries: { "": 31 },
    node_nf_conntrack_entries_limit: { "": 65_536 },
  })
) {
  Deno.test(`${name} is read from /proc`, async () => {
    deepEqual((await kernel()).values(name), values);
  });
}

Deno.test("fields that node_exporter excludes are not exported", async () => {
  const { names } = await kernel();
  for (
    const name of [
      "node_netstat_TcpExt_TCPAbortOnData",
      "node_netstat_Ip6_InReceives",
      "node_vmstat_nr_free_pages",
    ]
  ) equal(names.includes(name), false, name);
});

Deno.test("a missing file affects only its own metrics", async () => {
  const { names, values } = await kernel({ schedstat: null, "pressure/irq": null });
  equal(names.some((name) => name.startsWith("node_schedstat")), false);
  equal(names.includes("node_memory_MemTotal_bytes"), true);
  const success = values("node_scrape_collector_success");
  deepEqual([success.schedstat, success.pressure_irq, success.meminfo], [0, 0, 1]);
});

Deno.test("unexpected text never becomes a metric name or a value", async () => {
  const { names } = await kernel({
    meminfo: 'Mem"} x:  1 kB\nMemFree:  many kB\nMemTotal: 5 kB\n',
    vmstat: "pgfault many\npg{x}fault 1\n",
    diskstats: "garbage\n8 0 sda x y\n",
    "1/net/sockstat": "TCP: inuse x a{b 1\n",
    "1/net/snmp": "Tcp: InErrs\nUdp: 1\n",
    "1/net/stat/nf_conntrack": "entries\n",
  });
  deepEqual(names.filter((name) => /node_(memory|vmstat|sockstat|nf)/.test(name)), [
    "node_memory_MemTotal_bytes",
    "node_sockstat_TCP6_inuse",
    "node_sockstat_UDP6_inuse",
    "node_sockstat_UDPLITE6_inuse",
    "node_sockstat_RAW6_inuse",
    "node_sockstat_FRAG6_inuse",
    "node_sockstat_FRAG6_memory",
    "node_nf_conntrack_entries_limit",
  ]);
  equal(names.includes("node_netstat_Tcp_InErrs"), false);
  equal(names.includes("node_disk_reads_completed_total"), false);
});

Deno.test("a host with thousands of interfaces and disks has 256 of each in the export", async () => {
  const many = (line: (n: number) => string) => Array.from({ length: 2_000 }, (_, n) => line(n));
  const { values } = await kernel({
    "1/net/dev": many((n) => `veth${n}: ${"1 ".repeat(16).trim()}`).join("\n"),
    diskstats: many((n) => `253 ${n} dm-${n} ${"1 ".repeat(17).trim()}`).join("\n"),
  });
  equal(Object.keys(values("node_network_receive_bytes_total")).length, 256);
  equal(Object.keys(values("node_disk_io_now")).length, 256);
});
