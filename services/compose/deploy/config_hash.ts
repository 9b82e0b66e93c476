/**
 * The hash by which Compose v2 recognises that a service has changed: SHA-256 of the JSON that Go
 * makes of it.
 *
 * @see https://github.com/docker/compose/blob/main/pkg/compose/hash.go
 * @module
 */

import { nodeCrypto } from "../../builtins.ts";
import type { Service } from "../load/resolve.ts";

/** Keys without the ones that do not change a container, in the order of Compose's structure. */
const SERVICE_KEYS = [
  "annotations",
  "attach",
  "blkio_config",
  "cap_add",
  "cap_drop",
  "cgroup_parent",
  "cgroup",
  "cpu_count",
  "cpu_percent",
  "cpu_period",
  "cpu_quota",
  "cpu_rt_period",
  "cpu_rt_runtime",
  "cpus",
  "cpuset",
  "cpu_shares",
  "command",
  "configs",
  "container_name",
  "credential_spec",
  "deploy",
  "device_cgroup_rules",
  "devices",
  "dns",
  "dns_opt",
  "dns_search",
  "domainname",
  "entrypoint",
  "environment",
  "expose",
  "external_links",
  "extra_hosts",
  "group_add",
  "gpus",
  "hostname",
  "healthcheck",
  "image",
  "init",
  "ipc",
  "isolation",
  "labels",
  "links",
  "logging",
  "mem_limit",
  "mem_reservation",
  "memswap_limit",
  "mem_swappiness",
  "mac_address",
  "network_mode",
  "networks",
  "oom_kill_disable",
  "oom_score_adj",
  "pid",
  "pids_limit",
  "platform",
  "ports",
  "privileged",
  "read_only",
  "restart",
  "runtime",
  "secrets",
  "security_opt",
  "shm_size",
  "stdin_open",
  "stop_grace_period",
  "stop_signal",
  "storage_opt",
  "sysctls",
  "tmpfs",
  "tty",
  "ulimits",
  "use_api_socket",
  "user",
  "userns_mode",
  "uts",
  "volumes",
  "volumes_from",
  "working_dir",
  "post_start",
  "pre_stop",
] as const;

const RESOURCE_KEYS = ["cpus", "memory", "pids", "devices", "generic_resources"];
const DEVICE_KEYS = ["capabilities", "driver", "count", "device_ids", "options"];
const ROLLOUT_KEYS = [
  "parallelism",
  "delay",
  "failure_action",
  "monitor",
  "max_failure_ratio",
  "order",
];

/** The order of the keys of structures; the keys of all other objects are sorted. */
const STRUCTURES: Readonly<Record<string, readonly string[]>> = {
  "": SERVICE_KEYS,
  blkio_config: [
    "weight",
    "weight_device",
    "device_read_bps",
    "device_read_iops",
    "device_write_bps",
    "device_write_iops",
  ],
  "configs.*": ["source", "target", "uid", "gid", "mode"],
  "secrets.*": ["source", "target", "uid", "gid", "mode"],
  deploy: [
    "mode",
    "labels",
    "update_config",
    "rollback_config",
    "resources",
    "restart_policy",
    "placement",
    "endpoint_mode",
  ],
  "deploy.update_config": ROLLOUT_KEYS,
  "deploy.rollback_config": ROLLOUT_KEYS,
  "deploy.resources": ["limits", "reservations"],
  "deploy.resources.limits": RESOURCE_KEYS,
  "deploy.resources.reservations": RESOURCE_KEYS,
  "deploy.resources.reservations.devices.*": DEVICE_KEYS,
  "deploy.restart_policy": ["condition", "delay", "max_attempts", "window"],
  "deploy.placement": ["constraints", "preferences", "max_replicas_per_node"],
  "devices.*": ["source", "target", "permissions"],
  "gpus.*": DEVICE_KEYS,
  healthcheck: [
    "test",
    "timeout",
    "interval",
    "retries",
    "start_period",
    "start_interval",
    "disable",
  ],
  logging: ["driver", "options"],
  "networks.*": [
    "aliases",
    "driver_opts",
    "gw_priority",
    "interface_name",
    "ipv4_address",
    "ipv6_address",
    "link_local_ips",
    "mac_address",
    "priority",
  ],
  "ports.*": ["name", "mode", "host_ip", "target", "published", "protocol", "app_protocol"],
  "ulimits.*": ["single", "soft", "hard"],
  "volumes.*": [
    "type",
    "source",
    "target",
    "read_only",
    "consistency",
    "bind",
    "volume",
    "tmpfs",
    "image",
  ],
  "volumes.*.bind": ["selinux", "propagation", "create_host_path", "recursive"],
  "volumes.*.volume": ["labels", "nocopy", "subpath"],
  "volumes.*.tmpfs": ["size", "mode"],
  "post_start.*": ["command", "copy", "user", "privileged", "working_dir", "environment"],
  "pre_stop.*": ["command", "copy", "user", "privileged", "working_dir", "environment"],
};

/** Written also when they are not set. */
const ALWAYS: Readonly<Record<string, unknown>> = {
  command: null,
  entrypoint: null,
  "deploy.resources": {},
  "deploy.placement": {},
};

/** Written also as zero or false, because Go has a pointer or a structure there. */
const POINTERS =
  /^(?:attach|init|healthcheck\.retries|deploy\.restart_policy\.max_attempts|deploy\.(?:update|rollback)_config\.parallelism|volumes\.\*\.(?:bind|volume|tmpfs|image)|deploy|healthcheck|logging|blkio_config|deploy\.\w+|deploy\.resources\.\w+)$/;

/**
 * Returns the hash that current versions of Compose compute. Versions differ: before
 * `create_host_path` could be left out, they wrote it for each short bind mount.
 */
export const composeHash = (service: Service): string =>
  nodeCrypto().createHash("sha256").update(toGoJson(asInCompose(service), "")).digest("hex");

/** Values whose form in the model is another one. */
function asInCompose(service: Service): Record<string, unknown> {
  const { blkio_config: blkio, extra_hosts, mem_swappiness, secrets, volumes } = service;
  return {
    ...service,
    ...(blkio && {
      blkio_config: Object.fromEntries(
        Object.entries(blkio).map(([key, value]) => [
          key,
          Array.isArray(value) ? value.map(throttle) : value,
        ]),
      ),
    }),
    ...(extra_hosts && { extra_hosts: [...extra_hosts].sort(byBytes) }),
    ...(mem_swappiness && { mem_swappiness: String(mem_swappiness) }),
    ...(secrets && {
      secrets: secrets.map((secret) => ({ target: `/run/secrets/${secret.source}`, ...secret })),
    }),
    ...(volumes && {
      volumes: volumes.map(({ tmpfs, ...volume }) => ({
        ...volume,
        ...(tmpfs && {
          tmpfs: { ...tmpfs, ...(tmpfs.mode && { mode: parseInt(tmpfs.mode, 8) }) },
        }),
      })),
    }),
  };
}

/** Its fields have no names for JSON in Compose. */
const throttle = (
  { path, rate, weight }: { path?: string; rate?: string | number; weight?: number },
) => ({
  Path: path ?? "",
  ...(rate === undefined ? { Weight: weight ?? 0 } : { Rate: String(rate) }),
});

function toGoJson(value: unknown, path: string): string {
  if (Array.isArray(value)) {
    return `[${value.map((item) => toGoJson(item, `${path}.*`)).join(",")}]`;
  }
  if (typeof value !== "object" || value === null) return scalar(value);
  const keys = STRUCTURES[path];
  const fields = value as Record<string, unknown>;
  if (!keys) {
    const names = Object.keys(fields).sort(byBytes);
    return `{${
      names.map((name) => `${scalar(name)}:${toGoJson(fields[name], `${path}.*`)}`).join(",")
    }}`;
  }
  const written = keys.flatMap((key) => {
    const at = path === "" ? key : `${path}.${key}`;
    const field = fields[key] ?? ALWAYS[at];
    if (field === undefined || (!(at in ALWAYS) && isOmitted(field, at))) return [];
    return [`${scalar(key)}:${toGoJson(field, at)}`];
  });
  return `{${written.join(",")}}`;
}

const isOmitted = (value: unknown, path: string): boolean =>
  value === null || value === undefined || isDefault(value, path) ||
  (!POINTERS.test(path) &&
    (value === "" || value === 0 || value === false || isEmpty(value)));

/** `create_host_path` is left out when it is true, which is the default. */
const isDefault = (value: unknown, path: string) =>
  path === "volumes.*.bind.create_host_path" && value === true;

const isEmpty = (value: unknown) =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;

/** Go escapes what could end a script in HTML. */
const scalar = (value: unknown) =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

function byBytes(one: string, other: string): number {
  const [first, second] = [one, other].map((text) => new TextEncoder().encode(text));
  for (let at = 0; at < Math.min(first!.length, second!.length); at++) {
    if (first![at] !== second![at]) return first![at]! - second![at]!;
  }
  return first!.length - second!.length;
}
