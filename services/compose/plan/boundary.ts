/**
 * The boundary of a project: its own containers, networks and volumes, and nothing of the host or of
 * other projects. API tokens that are limited to stacks must not deploy what leaves it. Pure.
 *
 * @module
 */

import { includesContainer, type Scope } from "../../access/scope.ts";
import { AppError } from "../../errors.ts";
import { containerNameOf } from "../deploy/container.ts";
import { LABEL } from "../labels.ts";
import type { Hook } from "../load/service_keys.ts";
import type { Project, Service } from "../load/resolve.ts";
import { grantsOf } from "./mounts.ts";
import type { Observed } from "./observed.ts";
import type { LoadedStack } from "./stored.ts";

/** Says of the value of a key whether it leaves the project. */
type Rules = {
  [Key in keyof Required<Service>]: (value: NonNullable<Service[Key]>) => boolean;
};

const inside = () => false;
const outside = () => true;

/** Capabilities that engines grant to every container. */
const DEFAULT_CAPABILITIES = new Set([
  "AUDIT_WRITE",
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "MKNOD",
  "NET_BIND_SERVICE",
  "NET_RAW",
  "SETFCAP",
  "SETGID",
  "SETPCAP",
  "SETUID",
  "SYS_CHROOT",
]);

const isPrivilege = (capability: string) =>
  !DEFAULT_CAPABILITIES.has(capability.toUpperCase().replace(/^CAP_/, ""));

const HARMLESS_OPTION = /^no-new-privileges(?:[:=]true)?$/;

const isServiceMode = (mode: string) => mode.startsWith("service:");

/** Others send the output elsewhere. */
const LOCAL_LOGS = new Set(["json-file", "local", "journald", "k8s-file", "none"]);

const hasPrivileges = (hooks: readonly Hook[]) => hooks.some(({ privileged }) => privileged);

/**
 * Every key is here, so that a new one cannot be forgotten. Images and published ports belong to no
 * project.
 */
const RULES: Rules = {
  // Runtimes obey some, e.g. to write to a file of the host.
  annotations: outside,
  blkio_config: inside,
  cap_add: (capabilities) => capabilities.some(isPrivilege),
  cap_drop: inside,
  cgroup: (mode) => mode !== "private",
  cgroup_parent: outside,
  command: inside,
  // Those that are files of the host are found by `grantsOf()`.
  configs: inside,
  container_name: inside,
  cpu_count: inside,
  cpu_percent: inside,
  cpu_period: inside,
  cpu_quota: inside,
  cpu_rt_period: inside,
  cpu_rt_runtime: inside,
  cpu_shares: inside,
  cpus: inside,
  cpuset: inside,
  credential_spec: outside,
  depends_on: inside,
  deploy: ({ resources }) => (resources?.reservations?.devices ?? []).length > 0,
  device_cgroup_rules: outside,
  devices: outside,
  dns: inside,
  dns_opt: inside,
  dns_search: inside,
  domainname: inside,
  entrypoint: inside,
  environment: inside,
  expose: inside,
  external_links: outside,
  extra_hosts: inside,
  gpus: outside,
  group_add: inside,
  healthcheck: inside,
  hostname: inside,
  image: inside,
  init: inside,
  ipc: (mode) => !isServiceMode(mode) && !["private", "shareable", "none"].includes(mode),
  isolation: outside,
  labels: inside,
  links: inside,
  // A `path` is a file of the host.
  logging: ({ driver = "json-file", options = {} }) =>
    !LOCAL_LOGS.has(driver) || Object.hasOwn(options, "path"),
  mac_address: inside,
  mem_limit: inside,
  mem_reservation: inside,
  mem_swappiness: inside,
  memswap_limit: inside,
  network_mode: (mode) => !isServiceMode(mode) && mode !== "none",
  networks: inside,
  oom_kill_disable: (value) => value,
  oom_score_adj: (value) => value < 0,
  pid: (mode) => !isServiceMode(mode) && mode !== "private",
  pids_limit: inside,
  platform: inside,
  ports: inside,
  post_start: hasPrivileges,
  pre_start: outside,
  pre_stop: hasPrivileges,
  privileged: (value) => value,
  profiles: inside,
  pull_policy: inside,
  read_only: inside,
  restart: inside,
  runtime: outside,
  scale: inside,
  secrets: inside,
  security_opt: (options) => options.some((option) => !HARMLESS_OPTION.test(option)),
  shm_size: inside,
  stdin_open: inside,
  stop_grace_period: inside,
  stop_signal: inside,
  storage_opt: inside,
  sysctls: inside,
  tmpfs: inside,
  tty: inside,
  ulimits: inside,
  use_api_socket: outside,
  user: inside,
  userns_mode: (mode) => mode !== "private",
  uts: (mode) => mode !== "private",
  // Named ones are among the volumes of the project.
  volumes: (mounts) => mounts.some(({ type }) => !["volume", "tmpfs", "image"].includes(type)),
  volumes_from: (entries) => entries.some((entry) => entry.startsWith("container:")),
  working_dir: inside,
};

/** Options that change only the network itself. */
const HARMLESS_NETWORK_OPTIONS = new Set(["com.docker.network.driver.mtu"]);

type Stack = Pick<LoadedStack, "project" | "outside">;
type Parts = Pick<Observed, "networkDetails" | "volumeDetails" | "all">;

/** Everything in the sources that leaves the project, as paths such as `services.web.pid`. */
export function leavingPaths({ project, outside: files }: Stack, observed: Parts): string[] {
  const { all = [] } = observed;
  const others = all.filter(({ composeProject }) => composeProject !== project.name);
  const taken = new Set(others.map(({ name }) => name));
  return [
    // Without their names, which may be those of another stack.
    ...(files.length > 0 ? ["files outside of its directory"] : []),
    ...Object.entries(project.services).flatMap(([key, service]) => [
      ...leavingKeys(service).map((name) => `services.${key}.${name}`),
      ...(grantsOf(service, project).some(({ file }) => file !== undefined)
        ? [`services.${key}: a config or secret that is a file of the host`]
        : []),
      ...(taken.has(service.container_name ?? "") ? [`services.${key}.container_name`] : []),
    ]),
    ...leavingNetworks(project, observed),
    ...leavingVolumes(project, observed),
  ];
}

function leavingKeys(service: Service): string[] {
  return (Object.keys(service) as (keyof Service)[]).filter((key) => {
    const value = service[key];
    if (value === undefined || value === null) return false;
    if (Array.isArray(value) && value.length === 0) return false;
    const leaves = RULES[key] as ((value: unknown) => boolean) | undefined;
    return leaves === undefined || leaves(value);
  });
}

function leavingNetworks({ name, networks }: Project, { networkDetails }: Parts): string[] {
  return Object.entries(networks).filter(([, network]) => {
    const { driver = "bridge", driver_opts = {}, ipam } = network;
    const found = networkDetails?.get(network.name);
    return isForeign(name, network, found) || driver !== "bridge" ||
      Object.keys(driver_opts).some((option) => !HARMLESS_NETWORK_OPTIONS.has(option)) ||
      (ipam?.driver ?? "default") !== "default" || Object.keys(ipam?.options ?? {}).length > 0;
  }).map(([key]) => `networks.${key}`);
}

/** Options of a driver may be a directory of the host. Existing volumes keep theirs. */
function leavingVolumes({ name, volumes }: Project, { volumeDetails }: Parts): string[] {
  return Object.entries(volumes).filter(([, volume]) => {
    const { driver = "local", driver_opts = {} } = volume;
    const found = volumeDetails?.get(volume.name);
    return isForeign(name, volume, found) || driver !== "local" ||
      Object.keys({ ...driver_opts, ...found?.Options }).length > 0;
  }).map(([key]) => `volumes.${key}`);
}

function isForeign(
  project: string,
  { external }: { external?: true },
  found: { Labels?: Record<string, string> | null } | undefined,
): boolean {
  return found ? found.Labels?.[LABEL.project] !== project : external === true;
}

/** Most paths that a message names. */
const NAMED_MAX = 5;

/**
 * Refuses what leaves the project.
 *
 * @throws {AppError} `forbidden`
 */
export function assertInside(stack: Stack, observed: Parts): void {
  const paths = leavingPaths(stack, observed);
  if (paths.length === 0) return;
  const named = paths.length > NAMED_MAX
    ? `${paths.slice(0, NAMED_MAX).join(", ")} and others`
    : paths.join(", ");
  throw new AppError(
    "forbidden",
    `An API token that is limited to stacks or containers cannot deploy what leaves the stack: ${named}`,
  );
}

/**
 * Refuses a project some of whose containers would not be in the scope.
 *
 * @throws {AppError} `forbidden`
 */
export function assertProjectInScope(scope: Scope | undefined, project: Project): void {
  const { name: composeProject, services } = project;
  const foreign = Object.keys(services).find((key) => {
    const name = containerNameOf(project, key, 1);
    return !includesContainer(scope, { name, composeProject, labels: {} });
  });
  if (foreign === undefined) return;
  throw new AppError(
    "forbidden",
    `This API token cannot access the containers that services.${foreign} would have`,
  );
}
