/** The options of `docker run` and `podman run`, and the Compose keys that say the same. @module */

import type { Part } from "../generate/part.ts";

/** The sum of the options of a command. */
export interface Conversion {
  /** The service, in Compose's keys. */
  service: Part;
  /** Networks by name, with the settings of the service in them. */
  networks: Map<string, Part>;
  /** Settings for the network of the command, whose option may come later. */
  attachment: Part;
  /** Names of volumes. */
  volumes: Set<string>;
  name: string | undefined;
  warnings: string[];
}

/** Adds one option. @throws {Error} With the rule that the value breaks. */
type Add = (conversion: Conversion, value: string) => void;

export interface Option {
  /** Whether it stands alone; otherwise it has a value. `add` gets `true` or `false`. */
  isFlag?: true;
  /** Without it, Compose has nothing that says the same, and a warning names the option. */
  add?: Add;
}

const set = (key: string, convert: (value: string) => unknown = (value) => value): Option => ({
  add: ({ service }, value) => void (service[key] = convert(value)),
});

const list = (key: string): Option => ({ add: ({ service }, value) => push(service, key, value) });

/** An entry of a map: `name=value`, or a name alone. */
const entry = (path: string): Option => ({
  add: ({ service }, value) => {
    const [name, text] = pair(value);
    within(service, path)[name] = text ?? "";
  },
});

const nested = (
  path: string,
  key: string,
  convert: (value: string) => unknown = (value) => value,
) =>
  ({ add: ({ service }, value) => void (within(service, path)[key] = convert(value)) }) as Option;

/** A value of a boolean option or key, as the engine's command reads it. */
export const boolean = (value: string): boolean => {
  if (/^(1|t|T|true|True|TRUE)$/.test(value)) return true;
  if (/^(0|f|F|false|False|FALSE)$/.test(value)) return false;
  throw new Error("must be true or false");
};

const flag = (key: string): Option => ({ isFlag: true, ...set(key, boolean) });

/** A flag that changes nothing for a service. */
const IGNORED: Option = { isFlag: true, add: () => {} };

/** An option with a value that changes nothing for a service. */
const IGNORED_VALUE: Option = { add: () => {} };

const attached = (key: string, add: (before: unknown, value: string) => unknown): Option => ({
  add: ({ attachment }, value) => void (attachment[key] = add(attachment[key], value)),
});

const number = (value: string): number => {
  const parsed = Number(value);
  if (value.trim() === "" || !Number.isFinite(parsed)) throw new Error("must be a number");
  return parsed;
};

/** Networks that are modes of the engine rather than names. */
const NETWORK_MODES =
  /^(bridge|default|host|none|container:.*|pasta.*|slirp4netns.*|private|ns:.*)$/;

export const OPTIONS: Readonly<Record<string, Option>> = {
  "add-host": list("extra_hosts"),
  annotation: entry("annotations"),
  attach: IGNORED_VALUE,
  "blkio-weight": nested("blkio_config", "weight", number),
  "blkio-weight-device": devicePair("weight_device", "weight"),
  "cap-add": list("cap_add"),
  "cap-drop": list("cap_drop"),
  "cgroup-parent": set("cgroup_parent"),
  cgroupns: set("cgroup"),
  "cpu-period": set("cpu_period"),
  "cpu-quota": set("cpu_quota"),
  "cpu-rt-period": set("cpu_rt_period"),
  "cpu-rt-runtime": set("cpu_rt_runtime"),
  "cpu-shares": set("cpu_shares", number),
  cpus: set("cpus", number),
  "cpuset-cpus": set("cpuset"),
  detach: IGNORED,
  "detach-keys": IGNORED_VALUE,
  device: list("devices"),
  "device-cgroup-rule": list("device_cgroup_rules"),
  "device-read-bps": devicePair("device_read_bps", "rate"),
  "device-read-iops": devicePair("device_read_iops", "rate"),
  "device-write-bps": devicePair("device_write_bps", "rate"),
  "device-write-iops": devicePair("device_write_iops", "rate"),
  "disable-content-trust": IGNORED,
  dns: list("dns"),
  "dns-opt": list("dns_opt"),
  "dns-option": list("dns_opt"),
  "dns-search": list("dns_search"),
  domainname: set("domainname"),
  entrypoint: set("entrypoint", (value) => value === "" ? [] : [value]),
  env: {
    add: ({ service }, value) => {
      const [name, text] = pair(value);
      // Without a value, it is taken from the environment.
      within(service, "environment")[name] = text ?? null;
    },
  },
  "env-file": list("env_file"),
  expose: list("expose"),
  gpus: {
    add: ({ service }, value) => {
      if (value !== "all" && !/^\d+$/.test(value)) throw new Error("must be all or a number here");
      service.gpus = value === "all" ? "all" : [{ count: Number(value) }];
    },
  },
  "group-add": list("group_add"),
  "health-cmd": nested("healthcheck", "test", (value) => ["CMD-SHELL", value]),
  "health-interval": nested("healthcheck", "interval"),
  "health-retries": nested("healthcheck", "retries", number),
  "health-start-interval": nested("healthcheck", "start_interval"),
  "health-start-period": nested("healthcheck", "start_period"),
  "health-timeout": nested("healthcheck", "timeout"),
  hostname: set("hostname"),
  init: flag("init"),
  interactive: flag("stdin_open"),
  ip: attached("ipv4_address", (_, value) => value),
  ip6: attached("ipv6_address", (_, value) => value),
  ipc: set("ipc"),
  isolation: set("isolation"),
  label: entry("labels"),
  "label-file": list("label_file"),
  link: list("external_links"),
  "link-local-ip": attached("link_local_ips", append),
  "log-driver": nested("logging", "driver"),
  "log-opt": entry("logging.options"),
  "mac-address": set("mac_address"),
  memory: set("mem_limit"),
  "memory-reservation": set("mem_reservation"),
  "memory-swap": set("memswap_limit"),
  "memory-swappiness": set("mem_swappiness", number),
  mount: { add: addMount },
  name: {
    add: (conversion, value) => void (conversion.name = conversion.service.container_name = value),
  },
  network: { add: addNetwork },
  "network-alias": attached("aliases", append),
  "no-healthcheck": { isFlag: true, ...nested("healthcheck", "disable", boolean) },
  "oom-kill-disable": flag("oom_kill_disable"),
  "oom-score-adj": set("oom_score_adj", number),
  pid: set("pid"),
  "pids-limit": set("pids_limit", number),
  platform: set("platform"),
  privileged: flag("privileged"),
  publish: list("ports"),
  pull: set("pull_policy"),
  quiet: IGNORED,
  "read-only": flag("read_only"),
  replace: IGNORED,
  restart: set("restart"),
  runtime: set("runtime"),
  "security-opt": list("security_opt"),
  "shm-size": set("shm_size"),
  "sig-proxy": IGNORED,
  "stop-signal": set("stop_signal"),
  "stop-timeout": set("stop_grace_period", (value) => `${number(value)}s`),
  "storage-opt": entry("storage_opt"),
  sysctl: entry("sysctls"),
  tmpfs: list("tmpfs"),
  tty: flag("tty"),
  ulimit: { add: addLimit },
  user: set("user"),
  userns: set("userns_mode"),
  uts: set("uts"),
  volume: { add: addVolume },
  "volumes-from": {
    add: ({ service }, value) => push(service, "volumes_from", `container:${value}`),
  },
  workdir: set("working_dir"),
  // Compose has nothing for these.
  ...Object.fromEntries(
    ["publish-all", "rm", "use-api-socket", "env-host", "http-proxy", "no-hosts", "no-hostname"]
      .concat(["read-only-tmpfs", "rmi", "rootfs", "tls-verify", "passwd"])
      .map((name) => [name, { isFlag: true } satisfies Option]),
  ),
  ...Object.fromEntries(
    ["cidfile", "cpu-count", "cpu-percent", "cpuset-mems", "io-maxbandwidth", "io-maxiops"]
      .concat(["kernel-memory", "volume-driver", "arch", "authfile", "conmon-pidfile", "creds"])
      .concat(["gidmap", "health-on-failure", "hostuser", "image-volume", "os", "pod", "secret"])
      .concat(["systemd", "subgidname", "subuidname", "timeout", "tz", "uidmap", "umask"])
      .map((name) => [name, {} satisfies Option]),
  ),
};

/** Other names of options. */
export const ALIASES: Readonly<Record<string, string>> = {
  a: "attach",
  c: "cpu-shares",
  d: "detach",
  e: "env",
  h: "hostname",
  i: "interactive",
  l: "label",
  m: "memory",
  net: "network",
  "net-alias": "network-alias",
  p: "publish",
  P: "publish-all",
  q: "quiet",
  t: "tty",
  u: "user",
  v: "volume",
  w: "workdir",
};

/** `/dev/sda:500` as an entry of a list with the device and one value. */
function devicePair(key: string, value: string): Option {
  return {
    add: ({ service }, text) => {
      const at = text.lastIndexOf(":");
      if (at < 1) throw new Error("must be a device, a colon and a value");
      push(within(service, "blkio_config"), key, {
        path: text.slice(0, at),
        [value]: text.slice(at + 1),
      });
    },
  };
}

/** Volumes keep the names that the command gives them: no project's name is put before. */
function addVolume({ service, volumes }: Conversion, value: string): void {
  const [source = "", target] = value.split(":");
  if (target !== undefined && /^[a-zA-Z0-9][\w.-]*$/.test(source)) volumes.add(source);
  push(service, "volumes", /^\.[^./:]/.test(value) ? `./${value}` : value);
}

/** Keys of `--mount` with the names that Compose's mounts have. */
const MOUNT_KEYS: Readonly<Record<string, string>> = {
  type: "type",
  source: "source",
  src: "source",
  target: "target",
  dst: "target",
  destination: "target",
  readonly: "read_only",
  ro: "read_only",
  "bind-propagation": "propagation",
  "tmpfs-size": "size",
};

/** `type=bind,src=/data,dst=/data,readonly` as the long form of Compose. */
function addMount({ service, volumes }: Conversion, value: string): void {
  const given: Record<string, string> = {};
  // The last one counts, also of two names of the same key.
  for (const part of value.split(",")) {
    const [name, text] = pair(part);
    const known = name.trim().toLowerCase();
    if (!Object.hasOwn(MOUNT_KEYS, known)) {
      throw new Error(`has ${known.slice(0, 50)}, which cannot be converted`);
    }
    const key = MOUNT_KEYS[known]!;
    if (text === undefined && key !== "read_only") throw new Error(`has ${known} without a value`);
    given[key] = text ?? "true";
  }
  const { type = "volume", source, target = "", read_only, propagation, size } = given;
  if (type === "volume" && source !== undefined) volumes.add(source);
  push(service, "volumes", {
    type,
    ...(source !== undefined && { source }),
    target,
    ...(read_only !== undefined && boolean(read_only) && { read_only: true }),
    ...(propagation !== undefined && { bind: { propagation } }),
    ...(size !== undefined && { tmpfs: { size } }),
  });
}

/** A mode of the engine, or a network with the settings of the long form: `name=net,alias=a`. */
function addNetwork({ service, networks }: Conversion, value: string): void {
  if (NETWORK_MODES.test(value)) {
    if (value !== "default") service.network_mode = value;
    return;
  }
  if (!value.includes("=")) return void networks.set(value, {});
  const settings: Part = {};
  let name = "";
  for (const part of value.split(",")) {
    const [key, text = ""] = pair(part);
    if (key === "name") name = text;
    else if (key === "alias") settings.aliases = append(settings.aliases, text);
    else if (key === "ip") settings.ipv4_address = text;
    else if (key === "ip6") settings.ipv6_address = text;
    else if (key === "mac-address") settings.mac_address = text;
    else throw new Error(`has ${key}, which cannot be converted`);
  }
  if (name === "") throw new Error("must have name=");
  networks.set(name, settings);
}

/** `nofile=1024:2048`, or one number for both. */
function addLimit({ service }: Conversion, value: string): void {
  const [name, limits = ""] = pair(value);
  const [soft = "", hard] = limits.split(":");
  within(service, "ulimits")[name] = hard === undefined
    ? number(soft)
    : { soft: number(soft), hard: number(hard) };
}

function append(before: unknown, value: string): unknown[] {
  return [...(Array.isArray(before) ? before : []), value];
}

function push(part: Part, key: string, value: unknown): void {
  ((part[key] ??= []) as unknown[]).push(value);
}

/** The map at a path of a service, which is made if it is missing. */
function within(service: Part, path: string): Part {
  return path.split(".").reduce((part, key) => (part[key] ??= {}) as Part, service);
}

function pair(text: string): [name: string, value: string | undefined] {
  const at = text.indexOf("=");
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
