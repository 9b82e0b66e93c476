/**
 * Expressions of public Grafana dashboards, one for each target of a panel. Rates are
 * taken over a minute, and template variables are filled in.
 *
 * @module
 */

const rates = (names: readonly string[]) => names.map((name) => `rate(${name}[1m])`);
const prefixed = (prefix: string, names: string, suffix = "") =>
  names.split(" ").map((name) => prefix + name + suffix);

/** "Node Exporter Full" (1860), without the targets that need `/sys`, systemd or `adjtimex`. */
export const NODE_EXPORTER_FULL: readonly string[] = [
  // Overview
  ...rates(prefixed("node_pressure_", "cpu_waiting memory_waiting io_waiting", "_seconds_total")),
  ...rates(prefixed("node_pressure_", "memory_stalled io_stalled irq_stalled", "_seconds_total")),
  '100 * (1 - avg(rate(node_cpu_seconds_total{mode="idle"}[1m])))',
  "scalar(node_load1) * 100 / count(count(node_cpu_seconds_total) by (cpu))",
  "clamp_min((1 - (node_memory_MemAvailable_bytes / node_memory_MemTotal_bytes)) * 100, 0)",
  "(node_memory_SwapTotal_bytes - node_memory_SwapFree_bytes) / node_memory_SwapTotal_bytes * 100",
  '(node_filesystem_size_bytes{mountpoint="/",fstype!="rootfs"} - ' +
  'node_filesystem_avail_bytes{mountpoint="/",fstype!="rootfs"}) / node_filesystem_size_bytes',
  "count(count(node_cpu_seconds_total) by (cpu))",
  "node_time_seconds - node_boot_time_seconds",
  'node_filesystem_size_bytes{mountpoint="/",fstype!="rootfs"}',
  "node_memory_MemTotal_bytes",
  "node_memory_SwapTotal_bytes",
  // CPU, memory, network, disk
  ...prefixed(
    'sum by(instance) (rate(node_cpu_seconds_total{mode="',
    "system user nice",
    '"}[1m]))',
  ),
  ...prefixed('sum by(instance) (rate(node_cpu_seconds_total{mode="', "iowait irq", '"}[1m]))'),
  ...prefixed('sum by(instance) (rate(node_cpu_seconds_total{mode="', "softirq steal", '"}[1m]))'),
  'sum by(instance) (rate(node_cpu_seconds_total{mode="idle"}[1m]))',
  'sum by(instance) (rate(node_cpu_guest_seconds_total{mode="user"}[1m]))',
  'sum by(instance) (rate(node_cpu_guest_seconds_total{mode="nice"}[1m]))',
  "node_memory_MemTotal_bytes - node_memory_MemFree_bytes - " +
  "(node_memory_Cached_bytes + node_memory_Buffers_bytes + node_memory_SReclaimable_bytes)",
  "node_memory_Cached_bytes + node_memory_Buffers_bytes + node_memory_SReclaimable_bytes",
  "node_memory_MemTotal_bytes - node_memory_MemFree_bytes - node_memory_Buffers_bytes - " +
  "node_memory_Cached_bytes - node_memory_Slab_bytes - node_memory_PageTables_bytes - " +
  "node_memory_SwapCached_bytes",
  "node_memory_SwapTotal_bytes - node_memory_SwapFree_bytes",
  ...prefixed("node_memory_", "PageTables SwapCached Slab Cached Buffers MemFree", "_bytes"),
  ...prefixed("node_memory_", "Inactive Active Committed_AS CommitLimit", "_bytes"),
  ...prefixed("node_memory_", "Inactive_file Inactive_anon Active_file Active_anon", "_bytes"),
  ...prefixed("node_memory_", "Writeback WritebackTmp Dirty Mapped Shmem", "_bytes"),
  ...prefixed("node_memory_", "ShmemHugePages ShmemPmdMapped SUnreclaim SReclaimable", "_bytes"),
  ...prefixed("node_memory_", "VmallocChunk VmallocTotal VmallocUsed Bounce", "_bytes"),
  ...prefixed("node_memory_", "AnonHugePages AnonPages KernelStack Percpu", "_bytes"),
  ...prefixed("node_memory_", "Unevictable Mlocked NFS_Unstable Hugepagesize", "_bytes"),
  ...prefixed("node_memory_", "DirectMap1G DirectMap2M DirectMap4k HardwareCorrupted", "_bytes"),
  ...prefixed("node_memory_HugePages_", "Free Rsvd Surp Total"),
  ...rates(prefixed("node_vmstat_", "pgpgin pgpgout pswpin pswpout pgfault pgmajfault oom_kill")),
  "rate(node_vmstat_pgfault[1m]) - rate(node_vmstat_pgmajfault[1m])",
  "rate(node_network_receive_bytes_total[1m]) * 8",
  "rate(node_network_transmit_bytes_total[1m]) * 8",
  ...rates(prefixed("node_network_receive_", "packets errs drop compressed", "_total")),
  ...rates(prefixed("node_network_receive_", "multicast fifo frame bytes", "_total")),
  ...rates(prefixed("node_network_transmit_", "packets errs drop compressed", "_total")),
  ...rates(prefixed("node_network_transmit_", "colls carrier fifo bytes", "_total")),
  ...prefixed("node_", "nf_conntrack_entries nf_conntrack_entries_limit arp_entries"),
  ...rates(prefixed("node_softnet_", "processed dropped times_squeezed", "_total")),
  ...rates(prefixed("node_softnet_", "received_rps flow_limit_count cpu_collision", "_total")),
  // Processes and system
  ...prefixed("node_procs_", "blocked running"),
  "rate(node_forks_total[1m])",
  ...prefixed("node_processes_", "max_processes threads max_threads"),
  ...rates(prefixed("node_", "context_switches_total intr_total")),
  ...prefixed("node_load", "1 5 15"),
  ...rates(prefixed("node_schedstat_", "running waiting", "_seconds_total")),
  "rate(node_schedstat_timeslices_total[1m])",
  ...prefixed("node_entropy_", "available_bits pool_size_bits"),
  ...prefixed("node_filefd_", "allocated maximum"),
  "avg(node_cpu_scaling_frequency_hertz) by (cpu)",
  // Disks
  ...rates(prefixed("node_disk_", "reads_completed writes_completed", "_total")),
  ...rates(prefixed("node_disk_", "read_bytes written_bytes", "_total")),
  ...rates(prefixed("node_disk_", "reads_merged writes_merged", "_total")),
  ...rates(prefixed("node_disk_", "discards_completed discards_merged", "_total")),
  ...rates(prefixed("node_disk_", "flush_requests flush_requests_time_seconds", "_total")),
  ...rates(prefixed("node_disk_", "io_time_seconds io_time_weighted_seconds", "_total")),
  ...rates(prefixed("node_disk_", "discard_time_seconds discarded_sectors", "_total")),
  "rate(node_disk_read_time_seconds_total[1m]) / rate(node_disk_reads_completed_total[1m])",
  "rate(node_disk_write_time_seconds_total[1m]) / rate(node_disk_writes_completed_total[1m])",
  "node_disk_io_now",
  ...prefixed("node_filesystem_", "avail_bytes free_bytes size_bytes files files_free"),
  ...prefixed("node_filesystem_", "readonly device_error"),
  // Sockets and protocols
  ...prefixed("node_sockstat_TCP_", "alloc inuse mem orphan tw mem_bytes"),
  ...prefixed("node_sockstat_", "TCP6_inuse UDP6_inuse UDPLITE6_inuse RAW6_inuse FRAG6_inuse"),
  ...prefixed("node_sockstat_", "UDP_inuse UDPLITE_inuse UDP_mem UDP_mem_bytes FRAG6_memory"),
  ...prefixed("node_sockstat_", "FRAG_inuse RAW_inuse FRAG_memory sockets_used"),
  ...rates(prefixed("node_netstat_IpExt_", "InOctets OutOctets")),
  ...rates(prefixed("node_netstat_Ip6_", "InOctets OutOctets")),
  "node_netstat_Ip_Forwarding",
  ...rates(prefixed("node_netstat_Icmp_", "InMsgs OutMsgs InErrors")),
  ...rates(prefixed("node_netstat_Icmp6_", "InMsgs OutMsgs InErrors")),
  ...rates(prefixed("node_netstat_Udp_", "InDatagrams OutDatagrams InErrors NoPorts")),
  ...rates(prefixed("node_netstat_Udp_", "RcvbufErrors SndbufErrors")),
  ...rates(prefixed("node_netstat_Udp6_", "InDatagrams OutDatagrams InErrors NoPorts")),
  ...rates(prefixed("node_netstat_Udp6_", "RcvbufErrors SndbufErrors")),
  "rate(node_netstat_UdpLite_InErrors[1m])",
  ...rates(prefixed("node_netstat_Tcp_", "InSegs OutSegs RetransSegs InErrs OutRsts")),
  ...rates(prefixed("node_netstat_Tcp_", "ActiveOpens PassiveOpens")),
  ...prefixed("node_netstat_Tcp_", "CurrEstab MaxConn"),
  ...rates(prefixed("node_netstat_TcpExt_", "ListenOverflows ListenDrops TCPSynRetrans")),
  ...rates(prefixed("node_netstat_TcpExt_", "TCPRcvQDrop TCPOFOQueue TCPTimeouts")),
  ...rates(prefixed("node_netstat_TcpExt_", "SyncookiesFailed SyncookiesRecv SyncookiesSent")),
  // The exporter
  ...prefixed("node_scrape_collector_", "duration_seconds success"),
  "node_uname_info",
];

/** "Cadvisor exporter" (14282). */
export const CADVISOR_14282: readonly string[] = [
  'sum(rate(container_cpu_usage_seconds_total{name=~".+"}[1m])) by (name) * 100',
  'sum(container_memory_rss{name=~".+"}) by (name)',
  'sum(container_memory_cache{name=~".+"}) by (name)',
  'sum(rate(container_network_receive_bytes_total{name=~".+"}[1m])) by (name)',
  'sum(rate(container_network_transmit_bytes_total{name=~".+"}[1m])) by (name)',
  '(time() - container_start_time_seconds{name=~".+"}) / 86400',
  'count(container_last_seen{name=~".+"})',
];

/** "Docker monitoring" (193). */
export const CADVISOR_193: readonly string[] = [
  'count(rate(container_last_seen{name=~".+"}[1m]))',
  'sum(container_memory_usage_bytes{image!=""})',
  'sum(rate(container_cpu_user_seconds_total{image!=""}[1m]) * 100)',
  'rate(container_cpu_user_seconds_total{image!=""}[1m]) * 100',
  'container_memory_usage_bytes{image!=""}',
  'container_memory_swap{image!=""}',
  'rate(container_network_receive_bytes_total{image!=""}[1m])',
  'rate(container_network_transmit_bytes_total{image!=""}[1m])',
  'sum(container_fs_usage_bytes{id="/"}) / sum(container_fs_limit_bytes{id="/"}) * 100',
  'sum(container_fs_usage_bytes{image!=""}) by (name)',
  'sum(rate(container_fs_reads_bytes_total{image!=""}[1m]))',
  'sum(rate(container_fs_writes_bytes_total{image!=""}[1m]))',
];
