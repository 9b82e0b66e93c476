/**
 * Requirements of Compose settings on the engine. An older API ignores fields that
 * it does not know, and a kernel without a control group discards limits, both without an error.
 *
 * @see https://github.com/moby/moby/blob/master/api/docs/CHANGELOG.md
 * @module
 */

import { isAtLeast } from "../../../engine/query.ts";
import type { Network } from "../load/project_keys.ts";
import type { Mount } from "../load/mounts.ts";
import type { Service } from "../load/resolve.ts";
import type { Attachment } from "../load/service_keys.ts";
import type { EngineDefaults } from "./comparison.ts";

/**
 * The API version since which the engine has a setting, by its path in a service or network. This is
 * every field that Longshore sends and that is newer than API 1.40, the oldest one that it accepts.
 */
const SINCE = {
  "annotations": "1.43",
  "cgroup": "1.41",
  "devices (CDI)": "1.44",
  "enable_ipv4: false": "1.48",
  "healthcheck.start_interval": "1.44",
  "networks.gw_priority": "1.48",
  "networks.mac_address": "1.44",
  "volumes.bind.recursive: readonly": "1.44",
  "volumes.bind.recursive: writable": "1.44",
  "volumes.type: image": "1.48",
  "volumes.volume.subpath": "1.45",
} as const;

type Setting = keyof typeof SINCE;

/** The engine would mount other data than the file says, or let the container write to it. */
const REFUSED: ReadonlySet<Setting> = new Set([
  "devices (CDI)",
  "enable_ipv4: false",
  "volumes.bind.recursive: readonly",
  "volumes.type: image",
  "volumes.volume.subpath",
]);

/** A setting of a service that an engine may not have. */
interface Need {
  /** E.g. `networks.front.gw_priority`. */
  path: string;
  setting: Setting;
}

function needsOf(
  { annotations, cgroup, devices, healthcheck, networks, volumes }: Service,
): Need[] {
  return [
    ...need("annotations", annotations),
    ...need("cgroup", cgroup),
    ...need("healthcheck.start_interval", healthcheck?.start_interval),
    ...(devices ?? []).filter(({ target }) => target === undefined)
      .map(({ source }): Need => ({ path: `devices (${source})`, setting: "devices (CDI)" })),
    ...Object.entries(networks ?? {}).flatMap(([network, attachment]) =>
      (["mac_address", "gw_priority"] as const).flatMap((key) =>
        need(`networks.${key}`, attachment?.[key], `networks.${network}.${key}`)
      )
    ),
    ...(volumes ?? []).flatMap(needsOfMount),
  ];
}

const need = (setting: Setting, value: unknown, path: string = setting): Need[] =>
  value === undefined ? [] : [{ path, setting }];

function needsOfMount({ type, target, bind, volume }: Mount): Need[] {
  const recursive = bind?.recursive;
  return [
    ...(type === "image"
      ? need("volumes.type: image", type, `volumes (${target}): type image`)
      : []),
    ...need("volumes.volume.subpath", volume?.subpath, `volumes (${target}): volume.subpath`),
    ...(recursive === "readonly" || recursive === "writable"
      ? need(
        `volumes.bind.recursive: ${recursive}`,
        recursive,
        `volumes (${target}): bind.recursive`,
      )
      : []),
  ];
}

/** Settings that Podman does not take from requests of Docker's API. */
function ignoredByPodman(service: Service, { kind }: EngineDefaults): string[] {
  if (kind !== "podman") return [];
  return [
    ...(["links", "external_links"] as const).filter((key) => service[key] !== undefined),
    ...Object.entries(service.networks ?? {}).flatMap(([network, attachment]) =>
      IGNORED_OF_NETWORK.filter((key) => attachment?.[key] !== undefined)
        .map((key) => `networks.${network}.${key}`)
    ),
  ];
}

const IGNORED_OF_NETWORK = ["driver_opts", "link_local_ips"] as const;

/** Fields of `GET /info` that are false if the host's control groups cannot do something. */
const HOST_FLAGS: Partial<Record<keyof Service, string>> = {
  cpu_period: "CpuCfsPeriod",
  cpu_quota: "CpuCfsQuota",
  cpu_shares: "CPUShares",
  cpus: "CpuCfsQuota",
  cpuset: "CPUSet",
  mem_limit: "MemoryLimit",
  memswap_limit: "SwapLimit",
  oom_kill_disable: "OomKillDisable",
  pids_limit: "PidsLimit",
};

/** Settings that only Windows has. Linux ignores the numbers. */
const WINDOWS_ONLY = ["cpu_count", "cpu_percent"] as const;

/** Settings that the engine does not support, in sentences. */
export interface Unsupported {
  /** A deploy is refused. */
  refusals: string[];
  /** The deploy leaves the setting out. */
  warnings: string[];
}

/** Settings of a service that the engine does not support. */
export function unsupportedSettings(
  name: string,
  service: Service,
  defaults: EngineDefaults,
): Unsupported {
  const { apiVersion, info = {} } = defaults;
  const [refused, ignored] = [true, false].map((isRefused) =>
    needsOf(service).filter(({ setting }) =>
      REFUSED.has(setting) === isRefused && !isKnown(setting, defaults)
    ).map(({ path, setting }) => versionText(`${path} of ${name}`, setting, apiVersion))
  );
  const withoutEffect = [
    ...missingOnHost(service, defaults).map((key) =>
      `${key} of ${name} has no effect: the engine reports that its host cannot do it ` +
      `(${HOST_FLAGS[key]} is false)`
    ),
    ...ignoredByPodman(service, defaults)
      .map((path) => `${path} of ${name} has no effect: Podman does not have it`),
    ...windowsOnly(service, defaults)
      .map((key) => `${key} of ${name} has no effect: only Windows has it`),
  ];
  const isolation = service.isolation ?? "default";
  return {
    refusals: [
      ...refused!.map((text) => `${text}; remove the setting or update the engine`),
      ...deviceRefusals(name, service, defaults),
      ...(isolation !== "default" && info.OSType === "linux"
        ? [`isolation of ${name} must be default, because the engine runs on Linux`]
        : []),
    ],
    warnings: [...ignored!, ...withoutEffect],
  };
}

/** @param subject E.g. `annotations of web`. */
function versionText(subject: string, setting: Setting, apiVersion: string | undefined): string {
  const versions = `needs API version ${SINCE[setting]}, the engine has ${apiVersion}`;
  return REFUSED.has(setting)
    ? `${subject} ${versions}`
    : `${subject} has no effect: it ${versions}`;
}

/** Names of devices that an engine cannot resolve stop a container only at its start. */
function deviceRefusals(
  name: string,
  { devices = [] }: Service,
  defaults: EngineDefaults,
): string[] {
  const { apiVersion, info: { CDISpecDirs, DiscoveredDevices } = {} } = defaults;
  const names = devices.flatMap(({ source, target }) => target === undefined ? [source] : []);
  if (names.length === 0 || apiVersion === undefined || !isKnown("devices (CDI)", defaults)) {
    return [];
  }
  if (!CDISpecDirs?.length) {
    return [`devices (${names[0]}) of ${name}: CDI is not enabled on the engine`];
  }
  const found = DiscoveredDevices?.map(({ ID }) => ID);
  return names.filter((device) => found && !found.includes(device))
    .map((device) => `devices (${device}) of ${name}: the engine does not know this device`);
}

const missingOnHost = (service: Service, { info = {} }: EngineDefaults) =>
  (Object.keys(HOST_FLAGS) as (keyof Service)[])
    .filter((key) => service[key] !== undefined && info[HOST_FLAGS[key]!] === false);

const windowsOnly = (service: Service, { info = {} }: EngineDefaults) =>
  WINDOWS_ONLY.filter((key) => service[key] !== undefined && info.OSType === "linux");

/** The service without what the engine ignores, so that a plan does not find it missing. */
export function supportedService(service: Service, defaults: EngineDefaults): Service {
  const supported: { -readonly [Key in keyof Service]: Service[Key] } = { ...service };
  for (const key of missingOnHost(service, defaults)) delete supported[key];
  for (const key of ["links", "external_links"] as const) {
    if (defaults.kind === "podman") delete supported[key];
  }
  const { healthcheck, networks, volumes } = service;
  if (!isKnown("annotations", defaults)) delete supported.annotations;
  if (!isKnown("cgroup", defaults)) delete supported.cgroup;
  if (healthcheck && !isKnown("healthcheck.start_interval", defaults)) {
    const { start_interval: _, ...check } = healthcheck;
    supported.healthcheck = check;
  }
  if (networks) {
    supported.networks = Object.fromEntries(
      Object.entries(networks).map(([network, attachment]) => [
        network,
        attachment && supportedAttachment(attachment, defaults),
      ]),
    );
  }
  if (volumes && !isKnown("volumes.bind.recursive: writable", defaults)) {
    supported.volumes = volumes.map((mount) =>
      mount.bind?.recursive === "writable"
        ? { ...mount, bind: { ...mount.bind, recursive: "enabled" } }
        : mount
    );
  }
  return supported;
}

function supportedAttachment(
  attachment: NonNullable<Attachment>,
  defaults: EngineDefaults,
): NonNullable<Attachment> {
  const known = { ...attachment };
  if (!isKnown("networks.mac_address", defaults)) delete known.mac_address;
  if (!isKnown("networks.gw_priority", defaults)) delete known.gw_priority;
  if (defaults.kind === "podman") { for (const key of IGNORED_OF_NETWORK) delete known[key]; }
  return known;
}

/** Settings of a network that the engine does not support. */
export const unsupportedNetwork = (
  { name, enable_ipv4 }: Network & { name: string },
  defaults: EngineDefaults,
): string[] =>
  enable_ipv4 === false && !isKnown("enable_ipv4: false", defaults)
    ? [
      versionText(
        `enable_ipv4: false of network ${name}`,
        "enable_ipv4: false",
        defaults.apiVersion,
      ),
    ]
    : [];

const isKnown = (setting: Setting, { apiVersion, kind }: EngineDefaults) =>
  apiVersion === undefined ||
  // Podman has it although it reports an older API version.
  (kind === "podman" && setting === "networks.mac_address") ||
  isAtLeast(apiVersion, SINCE[setting]);
