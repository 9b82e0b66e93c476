/** Settings of a Compose file without effect in a swarm. @module */

import type { Project, Service } from "../load/resolve.ts";

/** Keys of a service that Swarm does not have, as for `docker stack deploy`. */
const KEYS = [
  "annotations",
  "blkio_config",
  "cgroup",
  "cgroup_parent",
  "container_name",
  "cpu_period",
  "cpu_quota",
  "cpu_shares",
  "cpus",
  "cpuset",
  "depends_on",
  "device_cgroup_rules",
  "devices",
  "domainname",
  "external_links",
  "gpus",
  "ipc",
  "links",
  "mac_address",
  "mem_limit",
  "mem_reservation",
  "mem_swappiness",
  "memswap_limit",
  "oom_kill_disable",
  "oom_score_adj",
  "pid",
  "pids_limit",
  "platform",
  "post_start",
  "pre_stop",
  "privileged",
  "runtime",
  "security_opt",
  "shm_size",
  "storage_opt",
  "userns_mode",
  "uts",
  "volumes_from",
] as const satisfies readonly (keyof Service)[];

/** Warnings about them. */
export const unsupportedKeys = ({ services }: Project): string[] =>
  Object.entries(services).flatMap(([name, service]) =>
    KEYS.filter((key) => service[key] !== undefined)
      .map((key) => `services.${name}.${key} has no effect in a swarm`)
  );

/** Errors of settings with which Swarm cannot run a service. */
export function swarmProblems({ services }: Project): string[] {
  return Object.entries(services).flatMap(([name, { network_mode: mode, ports = [] }]) => [
    ...(mode === undefined || mode === "host" || mode === "none" || mode === "bridge"
      ? []
      : [`services.${name}.network_mode must be host or none in a swarm`]),
    ...(ports.some(({ published }) => published?.includes("-"))
      ? [`services.${name}.ports must publish single ports in a swarm, not ranges`]
      : []),
  ]);
}
