/** Settings of a Compose file without effect in a swarm. @module */

import { AppError } from "../../errors.ts";
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

/**
 * Checks that Swarm can run the services, and mounts only what was checked.
 *
 * @param config.bindAllow Directories of the host that may be mounted; `null` for all.
 * @throws {AppError} `conflict` with the first problem.
 */
export function assertRunnable(
  { bindAllow }: { bindAllow: readonly string[] | null },
  project: Project,
): void {
  const [problem] = [...swarmProblems(project), ...(bindAllow ? templatesOf(project) : [])];
  if (problem !== undefined) throw new AppError("conflict", problem);
}

/** Errors of settings with which Swarm cannot run a service. */
function swarmProblems({ services }: Project): string[] {
  return Object.entries(services).flatMap(([name, { deploy, network_mode: mode, ports = [] }]) => [
    ...(mode === undefined || mode === "host" || mode === "none" || mode === "bridge"
      ? []
      : [`services.${name}.network_mode must be host or none in a swarm`]),
    ...(ports.some(({ published }) => published?.includes("-"))
      ? [`services.${name}.ports must publish single ports in a swarm, not ranges`]
      : []),
    ...(deploy?.mode?.endsWith("-job") && deploy.update_config
      ? [`services.${name}.deploy.update_config must be removed, because the service is a job`]
      : []),
  ]);
}

/** Errors of mounts that Swarm would change after the check of their paths. */
function templatesOf({ services, volumes }: Project): string[] {
  const problem = "must have no template ({{), because of BIND_ALLOW";
  const hasTemplate = (text: string) => text.includes("{{");
  return [
    ...Object.entries(services).flatMap(([name, { volumes = [] }]) =>
      volumes.some(({ type, source = "" }) => type !== "volume" && hasTemplate(source))
        ? [`services.${name}.volumes ${problem}`]
        : []
    ),
    ...Object.entries(volumes).flatMap(([name, { driver = "", driver_opts = {} }]) =>
      [driver, ...Object.entries(driver_opts).flat()].some(hasTemplate)
        ? [`volumes.${name}.driver_opts ${problem}`]
        : []
    ),
  ];
}
