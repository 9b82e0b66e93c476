/** Network metrics of the host from `/proc/1/net`. @module */

import { type Family, labelValue, metric } from "./family.ts";
import { type Collector, type Column, DEVICES_MAX, rows, single, table } from "./kernel_table.ts";

/** The page size, in which the kernel reports memory of sockets. */
const PAGE_BYTES = 4_096;

const RECEIVE = ["bytes", "packets", "errs", "drop", "fifo", "frame", "compressed", "multicast"];
const TRANSMIT = ["bytes", "packets", "errs", "drop", "fifo", "colls", "carrier", "compressed"];

const INTERFACE_COLUMNS: readonly Column[] = [
  ...RECEIVE.map((what, at) => ({
    at,
    name: `node_network_receive_${what}_total`,
    help: `Received: ${what}`,
  })),
  ...TRANSMIT.map((what, at) => ({
    at: RECEIVE.length + at,
    name: `node_network_transmit_${what}_total`,
    help: `Transmitted: ${what}`,
  })),
];

const netdev: Collector = {
  name: "netdev",
  file: "1/net/dev",
  read: (text) =>
    table(
      INTERFACE_COLUMNS,
      [...text.matchAll(/^ *([^\s:]+(?::\d+)?): *(\d.*)$/gm)].slice(0, DEVICES_MAX)
        .map(([, device, values]) => ({
          labels: { device: labelValue(device!) },
          values: values!.trim().split(/\s+/).map(Number),
        })),
    ),
};

/** The default fields of node_exporter, and the limit of TCP connections. */
const NETSTAT = new RegExp(
  "^(.*_(InErrors|InErrs)|Ip_Forwarding|Ip(6|Ext)_(InOctets|OutOctets)|Icmp6?_(InMsgs|OutMsgs)|" +
    "TcpExt_(Listen.*|Syncookies.*|TCPSynRetrans|TCPTimeouts|TCPOFOQueue|TCPRcvQDrop)|" +
    "Tcp_(ActiveOpens|InSegs|OutSegs|OutRsts|PassiveOpens|RetransSegs|CurrEstab|MaxConn)|" +
    "Udp6?_(InDatagrams|OutDatagrams|NoPorts|RcvbufErrors|SndbufErrors))$",
);

const netstatField = (name: string, value: string | undefined): Family[] =>
  NETSTAT.test(name) ? single(`node_netstat_${name}`, `Counter ${name}`, Number(value)) : [];

/** Pairs of lines: field names of a protocol, then their values. */
const pairs = (name: string, file: string): Collector => ({
  name,
  file,
  read(text) {
    const lines = rows(text);
    return lines.flatMap(([protocol, ...names], at) => {
      const [next, ...values] = lines[at + 1] ?? [];
      if (at % 2 === 1 || next !== protocol) return [];
      const prefix = protocol!.replace(":", "");
      return names.flatMap((field, column) => netstatField(`${prefix}_${field}`, values[column]));
    });
  },
});

const snmp6: Collector = {
  name: "snmp6",
  file: "1/net/snmp6",
  read: (text) =>
    rows(text).flatMap(([name, value]) => {
      const [, protocol, field] = /^(\w*?6)(\w+)$/.exec(name!) ?? [];
      return protocol === undefined ? [] : netstatField(`${protocol}_${field}`, value);
    }),
};

/** E.g. `TCP: inuse 5 orphan 0 tw 0 alloc 7 mem 1`. */
const sockstat = (name: string, file: string): Collector => ({
  name,
  file,
  read: (text) =>
    rows(text).flatMap(([label, ...fields]) => {
      const protocol = label!.replace(":", "");
      return fields.flatMap((field, at) => {
        if (at % 2 === 1 || !/^\w+$/.test(protocol + field)) return [];
        const value = Number(fields[at + 1]);
        const metricName = `node_sockstat_${protocol}_${field}`;
        return [
          ...single(metricName, `Sockets: ${field} of ${protocol}`, value),
          ...(field === "mem"
            ? single(`${metricName}_bytes`, `Memory of ${protocol}`, value * PAGE_BYTES)
            : []),
        ];
      });
    }),
});

const SOFTNET_COLUMNS: readonly Column[] = [
  { at: 0, name: "node_softnet_processed_total", help: "Packets processed" },
  {
    at: 1,
    name: "node_softnet_dropped_total",
    help: "Packets dropped because the backlog was full",
  },
  {
    at: 2,
    name: "node_softnet_times_squeezed_total",
    help: "Times that the processing budget ran out",
  },
  { at: 8, name: "node_softnet_cpu_collision_total", help: "Collisions on a device lock" },
  { at: 9, name: "node_softnet_received_rps_total", help: "Wakeups by another core" },
  {
    at: 10,
    name: "node_softnet_flow_limit_count_total",
    help: "Times that the flow limit was reached",
  },
  { at: 11, name: "node_softnet_backlog_len", help: "Packets in the backlog" },
];

/** Hexadecimal. Newer kernels report the core number in column 13. */
const softnet: Collector = {
  name: "softnet",
  file: "1/net/softnet_stat",
  read: (text) =>
    table(
      SOFTNET_COLUMNS,
      rows(text).map((words, line) => {
        const values = words.map((word) => Number.parseInt(word, 16));
        return { labels: { cpu: String(values[12] ?? line) }, values };
      }),
    ),
};

const arp: Collector = {
  name: "arp",
  file: "1/net/arp",
  read(text) {
    const entries = new Map<string, number>();
    for (const words of rows(text).slice(1)) {
      const device = words[5];
      if (device !== undefined) entries.set(device, (entries.get(device) ?? 0) + 1);
    }
    return [metric(
      "node_arp_entries",
      "ARP entries",
      [...entries].slice(0, DEVICES_MAX).map(([device, value]) => ({
        labels: { device: labelValue(device) },
        value,
      })),
    )];
  },
};

/** One line per core; the first column is the same in all lines. */
const conntrack: Collector = {
  name: "conntrack",
  file: "1/net/stat/nf_conntrack",
  read: (text) =>
    single(
      "node_nf_conntrack_entries",
      "Tracked connections",
      Number.parseInt(rows(text)[1]?.[0] ?? "", 16),
    ),
};

const conntrackLimit: Collector = {
  name: "conntrack_limit",
  file: "sys/net/netfilter/nf_conntrack_max",
  read: (text) =>
    single("node_nf_conntrack_entries_limit", "Limit of tracked connections", Number(text)),
};

export const NETWORK_COLLECTORS: readonly Collector[] = [
  netdev,
  pairs("netstat", "1/net/netstat"),
  pairs("snmp", "1/net/snmp"),
  snmp6,
  sockstat("sockstat", "1/net/sockstat"),
  sockstat("sockstat6", "1/net/sockstat6"),
  softnet,
  arp,
  conntrack,
  conntrackLimit,
];
