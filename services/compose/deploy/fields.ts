/**
 * Keys of a service that the engine has under another name, with the same values. The deploy writes
 * them, and the plan compares them.
 *
 * @module
 */

import type { ContainerConfig, HostConfig } from "../../../engine/containers.ts";
import type { Service } from "../load/resolve.ts";

type FieldsOf<Part> = Partial<Record<keyof Service, keyof Part & string>>;

/** Of the container itself. */
export const CONFIG_FIELDS = {
  domainname: "Domainname",
  hostname: "Hostname",
  stdin_open: "OpenStdin",
  stop_signal: "StopSignal",
  tty: "Tty",
  user: "User",
  working_dir: "WorkingDir",
} as const satisfies FieldsOf<ContainerConfig>;

/** Of its relation to the host. The order of lists means nothing. */
export const HOST_FIELDS = {
  cgroup_parent: "CgroupParent",
  cpu_count: "CpuCount",
  cpu_percent: "CpuPercent",
  cpu_period: "CpuPeriod",
  cpu_quota: "CpuQuota",
  cpu_rt_period: "CpuRealtimePeriod",
  cpu_rt_runtime: "CpuRealtimeRuntime",
  cpu_shares: "CpuShares",
  cpuset: "CpusetCpus",
  device_cgroup_rules: "DeviceCgroupRules",
  dns: "Dns",
  dns_opt: "DnsOptions",
  dns_search: "DnsSearch",
  group_add: "GroupAdd",
  init: "Init",
  mem_swappiness: "MemorySwappiness",
  oom_kill_disable: "OomKillDisable",
  oom_score_adj: "OomScoreAdj",
  privileged: "Privileged",
  read_only: "ReadonlyRootfs",
  storage_opt: "StorageOpt",
  sysctls: "Sysctls",
  userns_mode: "UsernsMode",
  uts: "UTSMode",
} as const satisfies FieldsOf<HostConfig>;

/** The engine's fields with the values of a service. */
export const fieldsOf = (
  service: Service,
  fields: Readonly<Partial<Record<keyof Service, string>>>,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([key, field]) => [field, service[key as keyof Service]]),
  );
