/**
 * The keys of a service.
 *
 * @see https://github.com/compose-spec/compose-spec/blob/main/05-services.md
 * @module
 */

import { findReference } from "../../../engine/image_reference.ts";
import { deploy } from "./deploy_keys.ts";
import { blkio, device, gpus } from "./devices.ts";
import { fileGrant } from "./grants.ts";
import { processors, ulimits } from "./limits.ts";
import { extraHosts, ip, ipv4, ipv6, macAddress } from "./addresses.ts";
import { mount } from "./mounts.ts";
import { containerPath, hostPath } from "./paths.ts";
import { exposed, ports } from "./ports.ts";
import {
  anyText,
  boolean,
  format,
  integer,
  name,
  number,
  oneOf,
  parsed,
  text,
  textOrNumber,
} from "./scalars.ts";
import {
  byKind,
  exactList,
  flatList,
  list,
  mapOf,
  mapOfNames,
  named,
  object,
  oneOrList,
  strings,
  variables,
} from "./collections.ts";
import {
  completing,
  failAt,
  impossible,
  isNull,
  limited,
  present,
  type Reader,
  withoutEffect,
} from "./reader.ts";
import { TEXT_MAX, warn } from "./scope.ts";
import { bytes, bytesOrUnlimited, command, duration, healthTime, microseconds } from "./values.ts";

export interface Dependency {
  condition: "service_started" | "service_healthy" | "service_completed_successfully";
  /** Whether the dependent is restarted when Longshore restarts the dependency. */
  restart?: boolean;
  /** Whether the dependent fails without the dependency. */
  required: boolean;
}

type WrittenDependency = Omit<Dependency, "required"> & Partial<Dependency>;

const dependency = object({
  condition: oneOf("service_started", "service_healthy", "service_completed_successfully"),
  restart: boolean,
  required: boolean,
}, { required: ["condition"] });

/** `required` stays open, because a file that overrides this one may say it. */
const dependencies: Reader<Record<string, WrittenDependency>> = byKind({
  list: mapOfNames(() => ({ condition: "service_started" as const, required: true })),
  map: named(completing(dependency.completion, (node, path, scope) => {
    if (isNull(node)) return failAt(node, path, scope, "must have condition");
    const read = dependency(node, path, scope);
    return read?.condition && { ...read, condition: read.condition };
  })),
});

const healthcheck = object({
  test: byKind<string[], string[]>({
    scalar: parsed((line) => ["CMD-SHELL", line], text, TEXT_MAX),
    list: (node, path, scope) => {
      const words = exactList(text)(node, path, scope) ?? [];
      if (words.length === 0 || /^(?:NONE|CMD|CMD-SHELL)$/.test(words[0]!)) return words;
      return failAt(node, path, scope, "must begin with NONE, CMD or CMD-SHELL");
    },
  }),
  interval: healthTime,
  timeout: healthTime,
  start_period: healthTime,
  start_interval: healthTime,
  retries: integer(0),
  disable: boolean,
});

const attachment = object({
  aliases: list(name),
  ipv4_address: ipv4,
  ipv6_address: ipv6,
  link_local_ips: list(ip),
  mac_address: macAddress,
  interface_name: withoutEffect(name, "use driver_opts with com.docker.network.endpoint.ifname"),
  driver_opts: mapOf(anyText),
  priority: number,
  gw_priority: number,
});

/** Attachment of a service to a network; `null` without settings of its own. */
export type Attachment = ReturnType<typeof attachment> | null;

const attachments: Reader<Record<string, Attachment>> = byKind({
  list: mapOfNames(() => null),
  map: named(completing(
    attachment.completion,
    (node, path, scope) => isNull(node) ? null : attachment(node, path, scope) ?? null,
  )),
});

const hookMap = object({
  command,
  user: text,
  privileged: boolean,
  working_dir: text,
  environment: variables,
});

/** A program that is run in a container. */
export type Hook = NonNullable<ReturnType<typeof hookMap>> & { command: string[] };

const hook: Reader<Hook> = completing(hookMap.completion, (node, path, scope) => {
  const { command, ...read } = hookMap(node, path, scope) ?? {};
  if (!command?.length) return failAt(node, path, scope, "must have command");
  return { ...read, command };
});

export interface EnvFileEntry {
  path: string;
  required: boolean;
  format?: string;
}

const envFileMap = object(
  { path: hostPath, required: boolean, format: oneOf("raw") },
  { required: ["path"] },
);

const envFile: Reader<EnvFileEntry> = byKind({
  scalar: parsed((path) => ({ path, required: true }), hostPath),
  map: completing(envFileMap.completion, (node, path, scope) => {
    const read = envFileMap(node, path, scope);
    return read?.path === undefined ? undefined : { required: true, ...read, path: read.path };
  }),
});

/** Reads one entry or a list of these. */
const oneOrMany = <T>(item: Reader<T>): Reader<T[]> =>
  completing(item.completion, (node, path, scope) => {
    if (node.kind === "list") return exactList(item)(node, path, scope);
    const read = item(node, path, scope);
    return read === undefined ? undefined : [read];
  });

/** A namespace or network mode. */
const mode = name;

const groups: Reader<string[]> = list(textOrNumber);

const extension: Reader<{ service: string; file?: string }> = byKind({
  scalar: parsed((service) => ({ service }), name),
  map: object({ service: name, file: name }, { required: ["service"] }) as Reader<
    { service: string; file?: string }
  >,
});

/** The reference of an image, or its id. It is returned with an error, too: it is not missing. */
const image: Reader<string> = (node, path, scope) => {
  const reference = name(node, path, scope);
  if (reference === undefined || IMAGE_ID.test(reference) || findReference(reference)) {
    return reference;
  }
  failAt(
    node,
    path,
    scope,
    "must be a reference such as nginx:1.29 or registry.example/team/app:1",
  );
  return reference;
};

const IMAGE_ID = /^[0-9a-f]{64}$/;

/** Replacements for keys of older Compose formats. */
const OLDER_KEYS: Readonly<Record<string, string>> = {
  dockerfile: "is a key of build in current Compose formats",
  log_driver: "was replaced by logging.driver",
  log_opt: "was replaced by logging.options",
  net: "was replaced by network_mode",
  volume_driver: "was replaced by driver of the volume in the top-level volumes",
  secret: "is unknown; did you mean secrets?",
  cpu_limit: "is unknown; did you mean cpus?",
};

const pullPolicy: Reader<string> = (node, path, scope) => {
  const policy = format(
    /^(?:always|never|missing|if_not_present|build|refresh|daily|weekly|every_(?:\d+[wdhms])+)$/,
    "must be one of always, never, missing, if_not_present, build, daily, weekly, every_DURATION",
  )(node, path, scope);
  if (policy === undefined || /^(?:always|never|missing|if_not_present)$/.test(policy)) {
    return policy;
  }
  warn(
    scope,
    path,
    "has the effect of missing: nothing is built, and update policies refresh images",
  );
  return policy;
};

const RESTARTS = ["no", "always", "unless-stopped", "on-failure"];

/** All keys; `resolveService()` then removes those that the model does not have. */
export const SERVICE_KEYS = {
  annotations: strings,
  attach: withoutEffect(boolean, "it is about the output of docker compose up"),
  blkio_config: blkio,
  build: present,
  cap_add: list(name),
  cap_drop: list(name),
  cgroup: oneOf("host", "private"),
  cgroup_parent: name,
  command,
  configs: exactList(fileGrant),
  container_name: format(
    /^[a-zA-Z0-9][a-zA-Z0-9_.-]+$/,
    "must have at least two letters, digits, dots, dashes and underscores, and begin with a " +
      "letter or digit",
  ),
  cpu_count: integer(0),
  cpu_percent: number,
  cpu_period: microseconds,
  cpu_quota: microseconds,
  cpu_rt_period: microseconds,
  cpu_rt_runtime: microseconds,
  cpu_shares: integer(0),
  cpus: processors,
  cpuset: text,
  credential_spec: impossible("is not supported: it is for Windows containers"),
  depends_on: dependencies,
  deploy,
  develop: present,
  device_cgroup_rules: list(format(
    /^[abc] (?:\d{1,10}|\*):(?:\d{1,10}|\*) [rwm]{1,3}$/,
    "must have the form TYPE MAJOR:MINOR PERMISSIONS, such as c 1:3 mr",
  )),
  devices: exactList(device),
  dns: oneOrList(name),
  dns_opt: list(name),
  dns_search: oneOrList(text),
  domainname: name,
  entrypoint: command,
  env_file: oneOrMany(envFile),
  environment: variables,
  expose: list(exposed),
  extends: extension,
  external_links: list(name),
  extra_hosts: extraHosts,
  gpus,
  group_add: groups,
  healthcheck,
  hostname: name,
  image,
  init: boolean,
  ipc: format(
    /^(?:none|host|private|shareable|(?:container|service):.+)$/,
    "must be one of none, host, private, shareable, service:NAME, container:NAME",
  ),
  isolation: name,
  label_file: oneOrList(hostPath),
  labels: strings,
  links: list(name),
  logging: object({ driver: name, options: mapOf(anyText) }),
  mac_address: macAddress,
  mem_limit: bytes,
  mem_reservation: bytes,
  mem_swappiness: integer(0, 100),
  memswap_limit: bytesOrUnlimited,
  models: present,
  network_mode: mode,
  networks: attachments,
  oom_kill_disable: boolean,
  oom_score_adj: integer(-1000, 1000),
  pid: format(
    /^(?:host|private|(?:container|service):.+)$/,
    "must be one of host, service:NAME, container:NAME",
  ),
  pids_limit: integer(-1),
  platform: name,
  ports: flatList(ports),
  post_start: limited(
    exactList(hook),
    "runs when a deploy starts the container, not at other starts",
  ),
  pre_start: impossible("is not supported; run it before with the command of another service"),
  pre_stop: limited(
    exactList(hook),
    "runs when a deploy replaces or removes the container, not at other stops",
  ),
  privileged: boolean,
  profiles: list(name),
  provider: present,
  pull_policy: pullPolicy,
  pull_refresh_after: withoutEffect(duration, "use an update policy"),
  read_only: boolean,
  restart: completing(
    { values: RESTARTS },
    format(
      /^(?:no|always|unless-stopped|on-failure(?::\d+)?)$/,
      `must be one of ${RESTARTS.join(", ")}, on-failure:ATTEMPTS`,
    ),
  ),
  runtime: name,
  scale: integer(0, 1_000),
  secrets: exactList(fileGrant),
  security_opt: list(name),
  shm_size: bytes,
  stdin_open: boolean,
  stop_grace_period: duration,
  stop_signal: name,
  storage_opt: mapOf(anyText),
  sysctls: strings,
  tmpfs: oneOrList(containerPath),
  tty: boolean,
  ulimits,
  use_api_socket: impossible("is not supported: mount the socket of the engine as a volume"),
  user: text,
  userns_mode: mode,
  uts: mode,
  volumes: exactList(mount),
  volumes_from: list(name),
  working_dir: containerPath,
} as const;

/** Reads a service; references to other parts of the project are not checked. */
export const service = object(SERVICE_KEYS, { instead: OLDER_KEYS });

/** A service as written, normalised. */
export type WrittenService = NonNullable<ReturnType<typeof service>>;
