/**
 * Describes a container as a service of a Compose file, without what its image already says.
 *
 * @module
 */

import type { ContainerInspect, HostConfig } from "../../../engine/containers.ts";
import type { DeviceRequest } from "../deploy/host_config.ts";
import { LABEL } from "../labels.ts";
import type { Setting } from "../plan/comparison.ts";
import { type Settings, settingsOfContainer } from "../plan/settings.ts";
import { namespaceOf, type ServiceContext } from "./context.ts";
import { volumesOf } from "./mounts.ts";
import { networkingOf } from "./networking.ts";
import { given, literal, type Part } from "./part.ts";

/** Keys with a list, which {@linkcode settingsOfContainer} returns as the keys of a map. */
const LISTS = [
  "cap_add",
  "cap_drop",
  "device_cgroup_rules",
  "devices",
  "dns",
  "dns_opt",
  "dns_search",
  "expose",
  "extra_hosts",
  "group_add",
  "security_opt",
] as const;

const MAPS = ["annotations", "labels", "storage_opt", "sysctls"] as const;

const NUMBERS = [
  "cpu_count",
  "cpu_percent",
  "cpu_period",
  "cpu_quota",
  "cpu_rt_period",
  "cpu_rt_runtime",
  "cpu_shares",
  "mem_swappiness",
  "oom_score_adj",
  "pids_limit",
] as const;

const SIZES = ["mem_limit", "mem_reservation", "memswap_limit", "shm_size"] as const;

const SWITCHES = [
  "init",
  "oom_kill_disable",
  "privileged",
  "read_only",
  "stdin_open",
  "tty",
] as const;

const TEXTS = [
  "cgroup_parent",
  "container_name",
  "cpus",
  "cpuset",
  "domainname",
  "hostname",
  "isolation",
  "restart",
  "runtime",
  "stop_signal",
  "user",
  "userns_mode",
  "uts",
  "working_dir",
] as const;

/** Modes of namespaces that the engine uses by default. */
const OWN_NAMESPACE = /^(?:private|shareable|)$/;

const MIB = 1024 ** 2;

/** Returns the service of a container. */
export function describeService(inspect: ContainerInspect, context: ServiceContext): Part {
  const { key, project = "", defaults, serviceOf } = context;
  const settings = settingsOfContainer(inspect, context.image, {
    name: key,
    service: { image: context.reference },
    project: { name: project, services: {}, networks: {}, volumes: {}, secrets: {}, configs: {} },
    serviceOf,
    defaults,
  });
  const { HostConfig } = inspect;
  return ordered({
    image: literal(context.reference),
    ...mapped(settings, TEXTS, literalOf),
    ...mapped(settings, ["command", "entrypoint"], argumentsOf),
    ...mapped(settings, LISTS, (setting) => keysOf(setting).map(literal)),
    ...mapped(settings, MAPS, literalValues),
    ...mapped(settings, NUMBERS, Number),
    ...mapped(settings, SIZES, sizeText),
    ...mapped(settings, SWITCHES, () => true),
    ...mapped(settings, ["stop_grace_period"], (setting) => `${setting}s`),
    ...mapped(settings, ["tmpfs"], (setting) => tmpfsOf(valuesOf(setting))),
    ...mapped(settings, ["ulimits"], (setting) => ulimitsOf(valuesOf(setting))),
    ...mapped(settings, ["healthcheck"], (setting) => healthcheckOf(valuesOf(setting))),
    ...mapped(settings, ["environment"], (setting) => secretValues(valuesOf(setting), context)),
    ...given({
      blkio_config: blkioOf(HostConfig),
      deploy: devicesOf(HostConfig),
      depends_on: dependenciesOf(inspect, context),
      ipc: OWN_NAMESPACE.test(HostConfig.IpcMode ?? "")
        ? undefined
        : namespaceOf(HostConfig.IpcMode, context),
      logging: loggingOf(HostConfig, context),
      mac_address: inspect.Config.MacAddress,
      ports: portsOf(HostConfig),
      pid: HostConfig.PidMode === "private" ? undefined : namespaceOf(HostConfig.PidMode, context),
      volumes: volumesOf(inspect, context),
      volumes_from: volumesFromOf(HostConfig, context),
      ...networkingOf(inspect, context),
    }),
  });
}

const literalOf = (setting: Setting) => literal(String(setting));

const keysOf = (setting: Setting): string[] => Object.keys(setting as Record<string, string>);

const valuesOf = (setting: Setting) => setting as Readonly<Record<string, string>>;

const argumentsOf = (setting: Setting): string[] => {
  const list = (setting as readonly string[]).map(literal);
  // The engine's way to disable the entry point of an image.
  return list.length === 1 && list[0] === "" ? [] : list;
};

const literalValues = (setting: Setting): Part =>
  Object.fromEntries(
    Object.entries(valuesOf(setting)).map(([name, value]) => [name, literal(value)]),
  );

const secretValues = (values: Readonly<Record<string, string>>, { secretText }: ServiceContext) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, secretText(name, value)]),
  );

/** The settings of these keys, each as its value in a Compose file. */
function mapped<Key extends string>(
  settings: Settings,
  keys: readonly Key[],
  write: (setting: Setting) => unknown,
): Part {
  return Object.fromEntries(
    keys.flatMap((key) => settings[key] === undefined ? [] : [[key, write(settings[key])]]),
  );
}

/** A size in bytes, in the largest unit without a fraction. */
function sizeText(setting: Setting): string | number {
  const bytes = Number(setting);
  if (bytes <= 0 || bytes % 1024 !== 0) return bytes;
  return bytes % MIB === 0 ? `${bytes / MIB}m` : `${bytes / 1024}k`;
}

const tmpfsOf = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).map(([path, options]) => literal(options ? `${path}:${options}` : path));

const ulimitsOf = (values: Readonly<Record<string, string>>): Part =>
  Object.fromEntries(
    Object.entries(values).map(([name, limits]) => {
      const [soft, hard] = limits.split(":").map(Number);
      return [name, soft === hard ? soft : { soft, hard }];
    }),
  );

function healthcheckOf(values: Readonly<Record<string, string>>): Part {
  const { test, retries, ...times } = values;
  if (test === "disabled") return { disable: true };
  return given({
    test: test && (JSON.parse(test) as string[]).map(literal),
    ...times,
    retries: retries && Number(retries),
  });
}

/** E.g. `127.0.0.1:8080:80`, or `127.0.0.1::80` for a port that the engine chooses. */
const portsOf = ({ PortBindings }: HostConfig): string[] =>
  Object.entries(PortBindings ?? {}).flatMap(([port, bindings]) =>
    (bindings ?? []).map(({ HostIp = "", HostPort = "" }) => {
      const address = HostIp.includes(":") ? `[${HostIp}]` : HostIp;
      const isAnywhere = address === "" || address === "0.0.0.0";
      const published = isAnywhere ? HostPort && `${HostPort}:` : `${address}:${HostPort}:`;
      return `${published}${port.replace(/\/tcp$/, "")}`;
    })
  );

function blkioOf(host: HostConfig): Part {
  const devices = (list: unknown[] | null | undefined, key: "weight" | "rate", field: string) =>
    (list as Record<string, string | number>[] | null | undefined)?.map((device) => ({
      path: device.Path,
      [key]: device[field],
    }));
  return given({
    weight: host.BlkioWeight || undefined,
    weight_device: devices(host.BlkioWeightDevice, "weight", "Weight"),
    device_read_bps: devices(host.BlkioDeviceReadBps, "rate", "Rate"),
    device_read_iops: devices(host.BlkioDeviceReadIOps, "rate", "Rate"),
    device_write_bps: devices(host.BlkioDeviceWriteBps, "rate", "Rate"),
    device_write_iops: devices(host.BlkioDeviceWriteIOps, "rate", "Rate"),
  });
}

/** Requests of GPUs and other devices by their properties. */
function devicesOf({ DeviceRequests }: HostConfig): Part | undefined {
  const devices = ((DeviceRequests ?? []) as DeviceRequest[]).map((request) =>
    given({
      driver: request.Driver,
      count: request.Count === -1 ? "all" : request.Count || undefined,
      device_ids: request.DeviceIDs,
      capabilities: request.Capabilities?.flat(),
      options: request.Options,
    })
  );
  return devices.length > 0 ? { resources: { reservations: { devices } } } : undefined;
}

/** From the label, as `db:service_healthy:true`; only services of the file. */
function dependenciesOf({ Config }: ContainerInspect, { serviceOf, project }: ServiceContext) {
  const label = project === undefined ? "" : Config.Labels?.[LABEL.dependsOn] ?? "";
  const dependencies = label.split(",").map((entry) => entry.split(":")).filter(([name]) =>
    name && serviceOf(name) === name
  );
  return Object.fromEntries(
    dependencies.map(([name = "", condition = "service_started", restart]) => [
      name,
      { condition, ...(restart === "true" && { restart: true }) },
    ]),
  );
}

/** The engine writes its default options into the container, where they are not distinguishable. */
function loggingOf({ LogConfig }: HostConfig, { defaults, secretText }: ServiceContext) {
  const { Type = "", Config } = LogConfig ?? {};
  const options = Object.fromEntries(
    Object.entries(Config ?? {}).map(([name, value]) => [name, secretText(`log ${name}`, value)]),
  );
  if (Object.keys(options).length > 0) return { driver: Type, options };
  return Type === defaults.logDriver ? undefined : given({ driver: Type });
}

function volumesFromOf(
  { VolumesFrom }: HostConfig,
  { serviceOf, nameOf }: ServiceContext,
): string[] | undefined {
  return VolumesFrom?.map((entry) => {
    const [container = "", mode] = entry.split(":");
    const service = serviceOf(container);
    const source = service ?? `container:${nameOf(container)}`;
    return mode === undefined || mode === "rw" ? source : `${source}:${mode}`;
  });
}

/** The order in which people write the keys of a service. */
const FIRST = [
  "image",
  "container_name",
  "restart",
  "command",
  "entrypoint",
  "depends_on",
  "environment",
  "ports",
  "volumes",
  "networks",
  "network_mode",
  "healthcheck",
];

function ordered(service: Part): Part {
  const keys = [
    ...FIRST.filter((key) => Object.hasOwn(service, key)),
    ...Object.keys(service).filter((key) => !FIRST.includes(key)).sort(),
  ];
  return Object.fromEntries(keys.map((key) => [key, service[key]]));
}
