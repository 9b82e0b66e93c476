/** A `/proc` of a host with two cores, two disks and IPv6, as a directory. @module */

const MEMINFO = [
  ...["MemTotal", "MemFree", "MemAvailable", "Buffers", "Cached", "SwapCached", "Active"],
  ...["Inactive", "Active(anon)", "Inactive(anon)", "Active(file)", "Inactive(file)"],
  ...["Unevictable", "Mlocked", "SwapTotal", "SwapFree", "Dirty", "Writeback", "AnonPages"],
  ...["Mapped", "Shmem", "KReclaimable", "Slab", "SReclaimable", "SUnreclaim", "KernelStack"],
  ...["PageTables", "NFS_Unstable", "Bounce", "WritebackTmp", "CommitLimit", "Committed_AS"],
  ...["VmallocTotal", "VmallocUsed", "VmallocChunk", "Percpu", "HardwareCorrupted"],
  ...["AnonHugePages", "ShmemHugePages", "ShmemPmdMapped", "Hugepagesize"],
  ...["DirectMap4k", "DirectMap2M", "DirectMap1G"],
];

const DEV_HEADER = "Inter-|   Receive                |  Transmit\n face |bytes packets |bytes\n";

const TCP_EXT = [
  ...["SyncookiesSent", "SyncookiesRecv", "SyncookiesFailed", "ListenOverflows", "ListenDrops"],
  ...["TCPSynRetrans", "TCPTimeouts", "TCPRcvQDrop", "TCPOFOQueue", "TCPAbortOnData"],
];
const SNMP = {
  Ip: ["Forwarding", "InReceives"],
  Icmp: ["InMsgs", "InErrors", "OutMsgs"],
  Tcp: [
    ...["MaxConn", "ActiveOpens", "PassiveOpens", "CurrEstab", "InSegs", "OutSegs"],
    ...["RetransSegs", "InErrs", "OutRsts"],
  ],
  Udp: [
    ...["InDatagrams", "NoPorts", "InErrors", "OutDatagrams", "RcvbufErrors", "SndbufErrors"],
  ],
  UdpLite: ["InErrors"],
};

const pair = (protocol: string, names: readonly string[]) =>
  `${protocol}: ${names.join(" ")}\n${protocol}: ${names.map((_, at) => at + 1).join(" ")}\n`;

const FILES: Record<string, string> = {
  stat: [
    "cpu  100 20 30 400 50 6 7 8 9 10",
    "cpu0 50 10 15 200 25 3 3 4 5 6",
    "cpu1 50 10 15 200 25 3 4 4 4 4",
    "intr 12345 1 2 3",
    "ctxt 67890",
    "btime 1767225600",
    "processes 4321",
    "procs_running 2",
    "procs_blocked 1",
    "softirq 1 2",
  ].join("\n"),
  meminfo: MEMINFO.map((name, at) => `${name}:    ${at + 1000} kB`).join("\n") +
    "\nHugePages_Total:   4\nHugePages_Free:    3\nHugePages_Rsvd:    2\nHugePages_Surp:    1\n",
  vmstat: "nr_free_pages 5\npgpgin 11\npgpgout 12\npswpin 13\npswpout 14\npgfault 15\n" +
    "pgmajfault 16\noom_kill 17\n",
  loadavg: "0.50 0.40 0.30 2/345 6789\n",
  uptime: "1000.00 2000.00\n",
  diskstats: [
    "   8       0 sda 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26",
    "   8       1 sda1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
    "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
    " 259       0 nvme0n1 1 2 3 4 5 6 7 8 9 10 11",
  ].join("\n"),
  schedstat: "version 15\ntimestamp 1\ncpu0 0 0 0 0 0 0 2000000000 3000000000 40\n" +
    "domain0 3 0 0\ncpu1 0 0 0 0 0 0 1000000000 1000000000 30\n",
  cpuinfo: ["0", "1"].map((n) =>
    `processor\t: ${n}\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 207\n` +
    `model name\t: Intel "Xeon"\nstepping\t: 2\nmicrocode\t: 0x1\ncpu MHz\t\t: 2300.5\n` +
    `cache size\t: 4096 KB\nphysical id\t: 0\ncore id\t\t: ${n}\nflags\t\t: fpu vme\n`
  ).join("\n"),
  "sys/fs/file-nr": "757\t0\t2466177\n",
  "sys/kernel/threads-max": "63704\n",
  "sys/kernel/pid_max": "32768\n",
  "sys/kernel/random/entropy_avail": "256\n",
  "sys/kernel/random/poolsize": "256\n",
  "sys/net/netfilter/nf_conntrack_max": "65536\n",
  "pressure/cpu": "some avg10=1.00 avg60=1.00 avg300=1.00 total=1500000\n" +
    "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
  "pressure/io": "some avg10=1.00 total=2500000\nfull avg10=1.00 total=500000\n",
  "pressure/memory": "some avg10=1.00 total=3500000\nfull avg10=1.00 total=600000\n",
  "pressure/irq": "full avg10=1.00 avg60=1.00 avg300=1.00 total=700000\n",
  "1/mounts": "overlay / overlay rw,relatime 0 0\nproc /proc proc rw 0 0\n",
  "1/net/dev": DEV_HEADER +
    "    lo:     100       2    0    0    0     0          0         0      100       2    0    0" +
    "    0     0       0          0\n" +
    "  eth0:    1000      10    1    2    3     4          5         6     2000      20    7    8" +
    "    9    10      11         12\n",
  "1/net/netstat": pair("TcpExt", TCP_EXT) + pair("IpExt", ["InOctets", "OutOctets"]),
  "1/net/snmp": Object.entries(SNMP).map(([name, fields]) => pair(name, fields)).join(""),
  "1/net/snmp6": "Ip6InOctets 1\nIp6OutOctets 2\nIcmp6InMsgs 3\nIcmp6OutMsgs 4\nIcmp6InErrors 5\n" +
    "Udp6InDatagrams 6\nUdp6OutDatagrams 7\nUdp6InErrors 8\nUdp6NoPorts 9\nIp6InReceives 1\n" +
    "Udp6RcvbufErrors 1\nUdp6SndbufErrors 2\n",
  "1/net/sockstat": "sockets: used 18\nTCP: inuse 1 orphan 2 tw 3 alloc 4 mem 5\n" +
    "UDP: inuse 6 mem 7\nUDPLITE: inuse 0\nRAW: inuse 1\nFRAG: inuse 0 memory 9\n",
  "1/net/sockstat6": "TCP6: inuse 2\nUDP6: inuse 1\nUDPLITE6: inuse 0\nRAW6: inuse 0\n" +
    "FRAG6: inuse 0 memory 0\n",
  "1/net/softnet_stat":
    "0000000a 00000001 00000002 00000000 00000000 00000000 00000000 00000000 00000003 00000004" +
    " 00000005 00000006 00000000\n",
  "1/net/arp": "IP address  HW type  Flags  HW address  Mask  Device\n" +
    "10.0.0.1 0x1 0x2 02:42:ac:11:00:02 * eth0\n10.0.0.2 0x1 0x2 02:42:ac:11:00:03 * eth0\n",
  "1/net/stat/nf_conntrack": "entries  searched found\n0000001f 0 0\n0000001f 0 0\n",
};

/** Writes the directory; `changes` replaces files, and `null` omits one. */
export function procDirectory(
  changes: Record<string, string | null> = {},
): Disposable & { path: string } {
  const path = Deno.makeTempDirSync({ prefix: "longshore-test-proc-" });
  for (const [file, text] of Object.entries({ ...FILES, ...changes })) {
    if (text === null) continue;
    Deno.mkdirSync(`${path}/${file}`.replace(/\/[^/]*$/, ""), { recursive: true });
    Deno.writeTextFileSync(`${path}/${file}`, text);
  }
  return { path, [Symbol.dispose]: () => Deno.removeSync(path, { recursive: true }) };
}
