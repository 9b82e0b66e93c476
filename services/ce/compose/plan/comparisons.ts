/**
 * Everything that the plan compares, by the key of the Compose Specification: the value in the model
 * and that in the description of a container.
 *
 * @module
 */

import type {
  ContainerConfig,
  ContainerInspect,
  HostConfig,
} from "../../../../engine/containers.ts";
import { isAtLeast } from "../../../../engine/query.ts";
import { exposedPorts } from "../deploy/container.ts";
import { CONFIG_FIELDS, HOST_FIELDS } from "../deploy/fields.ts";
import { type DeviceRequest, deviceRequests, restartPolicyOf } from "../deploy/host_config.ts";
import { LABEL } from "../labels.ts";
import type { Project, Service } from "../load/resolve.ts";
import { parseDuration, printDuration } from "../load/values.ts";
import { aliasOf, attachmentText, isNumbered, linksOf } from "./links.ts";
import { foundMounts, wantedMounts } from "./mounts.ts";

/** A setting. Lists are maps from their entries if their order means nothing. */
export type Setting = string | readonly string[] | Readonly<Record<string, string>>;

/** What a comparison may need to know besides the values. */
export interface Context {
  /** The key of the service. */
  name: string;
  service: Service;
  project: Project;
  /** The service of one of the project's containers, by its id or name. */
  serviceOf: (container: string) => string | undefined;
  /** What the engine uses where a container has no own setting. */
  defaults: EngineDefaults;
}

export interface EngineDefaults {
  /** E.g. `1.41`; without it, every setting is compared. */
  apiVersion?: string | undefined;
  /** E.g. `json-file`. */
  logDriver?: string | undefined;
  /** E.g. `runc`. */
  runtime?: string | undefined;
}

type Value = Setting | number | boolean | null | undefined;

export interface Comparison {
  wanted: (service: Service, context: Context) => Value;
  /** @param own The configuration without what comes from the image. */
  found: (
    own: ContainerConfig,
    host: HostConfig,
    inspect: ContainerInspect,
    context: Context,
  ) => Value;
}

const COMPOSE_LABELS = "com.docker.compose.";

/** What Docker and Podman use if `shm_size` is not given, in bytes. */
const SHM_SIZES = [64 * 1024 ** 2, 64_000 * 1024];

/** The limit of processes that Podman sets by itself. */
const PODMAN_PIDS = 2048;

/** Compares fields that the engine has under another name only. */
function comparisonsOf(
  part: "own" | "host",
  fields: Readonly<Partial<Record<keyof Service, string>>>,
): Record<string, Comparison> {
  const unordered = (value: unknown) => Array.isArray(value) ? entries(value) : value as Value;
  return Object.fromEntries(
    Object.entries(fields).map(([key, field]) => [key, {
      wanted: (service) => unordered(service[key as keyof Service]),
      found: (own, host) => unordered((part === "own" ? own : host)[field]),
    }]),
  );
}

export const COMPARISONS: Readonly<Record<string, Comparison>> = {
  ...comparisonsOf("own", CONFIG_FIELDS),
  ...comparisonsOf("host", HOST_FIELDS),
  annotations: {
    wanted: ({ annotations }, { defaults }) => isKnown("annotations", defaults) && annotations,
    found: (_, { Annotations }) => Annotations,
  },
  blkio_config: {
    wanted: ({ blkio_config: { weight, weight_device, ...rates } = {} }) => ({
      ...(weight ? { weight: String(weight) } : {}),
      ...byDevice("weight", weight_device, ({ path, weight }) => [path, weight]),
      ...Object.assign(
        {},
        ...Object.entries(rates).map(([kind, list]) =>
          byDevice(kind.slice("device_".length), list, ({ path, rate }) => [path, rate])
        ),
      ),
    }),
    found: (_, host) => ({
      ...(host.BlkioWeight ? { weight: String(host.BlkioWeight) } : {}),
      ...foundByDevice("weight", host.BlkioWeightDevice, "Weight"),
      ...foundByDevice("read_bps", host.BlkioDeviceReadBps, "Rate"),
      ...foundByDevice("read_iops", host.BlkioDeviceReadIOps, "Rate"),
      ...foundByDevice("write_bps", host.BlkioDeviceWriteBps, "Rate"),
      ...foundByDevice("write_iops", host.BlkioDeviceWriteIOps, "Rate"),
    }),
  },
  cap_add: {
    wanted: ({ cap_add }) => entries(cap_add?.map(capability)),
    found: (_, { CapAdd }) => entries(CapAdd?.map(capability)),
  },
  cap_drop: {
    wanted: ({ cap_drop }) => entries(cap_drop?.map(capability)),
    found: (_, { CapDrop }) => entries(CapDrop?.map(capability)),
  },
  cgroup: {
    wanted: ({ cgroup }) => cgroup,
    // The default depends on the host.
    found: (_, { CgroupnsMode }, __, { service }) => service.cgroup && CgroupnsMode,
  },
  command: {
    wanted: ({ command }) => command,
    found: ({ Cmd }) => Cmd,
  },
  container_name: {
    wanted: ({ container_name }) => container_name,
    found: (_, __, { Name, Config }, { name, project, service }) => {
      const found = Name.replace(/^\//, "");
      if (service.container_name !== undefined) return found;
      const number = Config.Labels?.[LABEL.containerNumber] ?? "1";
      // Between them is a dash, with docker-compose 1 an underscore.
      const own = [`${project.name}-${name}-${number}`, `${project.name}_${name}_${number}`];
      return own.some((each) => found === each || found.endsWith(`_${each}`)) ? undefined : found;
    },
  },
  cpu_count: { wanted: ({ cpu_count }) => cpu_count, found: (_, host) => count(host.CpuCount) },
  cpu_percent: {
    wanted: ({ cpu_percent }) => cpu_percent,
    found: (_, host) => count(host.CpuPercent),
  },
  cpus: {
    wanted: ({ cpus, deploy }) => cpus ?? deploy?.resources?.limits?.cpus,
    found: (_, { NanoCpus }) => (NanoCpus ?? 0) / 1e9,
  },
  devices: {
    wanted: ({ devices = [] }) =>
      entries(
        devices.filter(({ target }) => target !== undefined)
          .map(({ source, target = source, permissions = "rwm" }) =>
            [source, target, permissions].join(":")
          ),
      ),
    found: (_, { Devices }) =>
      entries(
        Devices?.map(({ PathOnHost, PathInContainer, CgroupPermissions }) =>
          [PathOnHost, PathInContainer, CgroupPermissions].join(":")
        ),
      ),
  },
  entrypoint: {
    wanted: ({ entrypoint }) => entrypoint,
    found: ({ Entrypoint }) => Entrypoint,
  },
  environment: {
    wanted: ({ environment = {} }) =>
      Object.fromEntries(
        Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== null),
      ),
    found: ({ Env }) => variablesOf(Env),
  },
  expose: {
    wanted: (service) => {
      if (sharesNetwork(service.network_mode)) return undefined;
      const published = service.ports?.map(({ target, protocol }) => `${target}/${protocol}`);
      return entries(withoutAll((service.expose ?? []).flatMap(exposedPorts), published ?? []));
    },
    found: ({ ExposedPorts }, { PortBindings }) =>
      entries(withoutAll(Object.keys(ExposedPorts ?? {}), Object.keys(PortBindings ?? {}))),
  },
  external_links: {
    wanted: ({ external_links }) => entries(external_links?.map(aliasOf)),
    found: (_, __, inspect, context) =>
      entries(
        linksOf(inspect).filter(({ container }) => context.serviceOf(container) === undefined)
          .map(({ alias }) => alias),
      ),
  },
  extra_hosts: {
    wanted: ({ extra_hosts }) => entries(extra_hosts),
    found: (_, { ExtraHosts }) => entries(ExtraHosts?.map((entry) => entry.replace(":", "="))),
  },
  gpus: {
    wanted: (service) => entries(deviceRequests(service)?.map(deviceText)),
    found: (_, { DeviceRequests }) =>
      entries(DeviceRequests?.map((request) => deviceText(request as DeviceRequest))),
  },
  healthcheck: {
    wanted: ({ healthcheck: { test, disable, retries, ...times } = {} }, { defaults }) =>
      disable ? { test: DISABLED } : withoutEmpty({
        test: test?.length ? JSON.stringify(test) : "",
        retries: retries ? String(retries) : "",
        ...Object.fromEntries(
          Object.entries(times).filter(([name]) =>
            name !== "start_interval" || isKnown("healthcheck.start_interval", defaults)
          ).map(([name, time]) => [name, nanoseconds(parseDuration(time!))]),
        ),
      }),
    found: ({ Healthcheck }) => healthcheckOf(Healthcheck),
  },
  hostname: {
    wanted: ({ hostname }) => hostname,
    // On the host's network, the engine gives the container the name of the host.
    found: ({ Hostname }, { NetworkMode }, _, { service }) =>
      NetworkMode === "host" && service.hostname === undefined ? undefined : Hostname,
  },
  ipc: {
    wanted: ({ ipc }) => ipc,
    found: (_, { IpcMode }, __, context) =>
      context.service.ipc === undefined && /^(?:private|shareable|)$/.test(IpcMode ?? "")
        ? undefined
        : namespaceOf(IpcMode, context),
  },
  isolation: {
    wanted: ({ isolation }) => isolation === "default" ? undefined : isolation,
    found: (_, { Isolation }) => Isolation === "default" ? undefined : Isolation,
  },
  labels: {
    wanted: ({ labels }) => labels,
    found: ({ Labels }) =>
      Object.fromEntries(
        Object.entries(Labels ?? {}).filter(([name]) =>
          !name.startsWith(COMPOSE_LABELS) && name !== LABEL.files
        ),
      ),
  },
  links: {
    wanted: ({ links }) => entries(links?.map(aliasOf)),
    found: (_, __, inspect, context) =>
      entries(
        linksOf(inspect).filter(({ container, alias }) =>
          context.serviceOf(container) !== undefined && !isNumbered(alias, container)
        ).map(({ alias }) => alias),
      ),
  },
  "logging.driver": {
    wanted: ({ logging }) => logging?.driver,
    found: (_, { LogConfig }, __, { service, defaults: { logDriver } }) =>
      service.logging?.driver === undefined &&
        (logDriver === undefined || LogConfig?.Type === logDriver)
        ? undefined
        : LogConfig?.Type,
  },
  "logging.options": {
    wanted: ({ logging }) => logging?.options,
    // The engine adds its own options, which are not distinguishable.
    found: (_, { LogConfig }, __, { service }) =>
      service.logging?.options === undefined ? undefined : Object.fromEntries(
        Object.entries(LogConfig?.Config ?? {}).filter(([name]) =>
          Object.hasOwn(service.logging!.options!, name)
        ),
      ),
  },
  mac_address: {
    wanted: ({ mac_address }) => mac_address?.toLowerCase(),
    found: ({ MacAddress }, _, { NetworkSettings }, { service }) =>
      service.mac_address === undefined
        ? undefined
        : (MacAddress || Object.values(NetworkSettings.Networks ?? {})[0]?.MacAddress)
          ?.toLowerCase(),
  },
  mem_limit: {
    wanted: ({ mem_limit, deploy }) => bytes(mem_limit ?? deploy?.resources?.limits?.memory),
    found: (_, { Memory }) => Memory,
  },
  mem_reservation: {
    wanted: ({ mem_reservation, deploy }) =>
      bytes(mem_reservation ?? deploy?.resources?.reservations?.memory),
    found: (_, { MemoryReservation }) => MemoryReservation,
  },
  mem_swappiness: {
    wanted: ({ mem_swappiness }) => mem_swappiness,
    found: (_, { MemorySwappiness }) => count(MemorySwappiness),
  },
  memswap_limit: {
    wanted: ({ memswap_limit }) => bytes(memswap_limit),
    // Without the key, the engine allows as much swap as memory.
    found: (_, { MemorySwap, Memory = 0 }, __, { service }) =>
      service.memswap_limit === undefined && MemorySwap === 2 * Memory ? undefined : MemorySwap,
  },
  network_mode: {
    wanted: ({ network_mode }) => network_mode,
    found: (_, { NetworkMode = "" }, inspect, context) => {
      if (/^(?:host|none)$/.test(NetworkMode)) return NetworkMode;
      // The engine's own network; a service that does not ask for it is on others.
      if (/^(?:bridge|default)$/.test(NetworkMode)) {
        return context.service.network_mode === "bridge" ? "bridge" : undefined;
      }
      return networksOf(inspect).includes(NetworkMode)
        ? undefined
        : namespaceOf(NetworkMode, context);
    },
  },
  networks: {
    wanted: ({ networks, hostname = "" }, { name, project }) =>
      Object.fromEntries(
        Object.entries(networks ?? {}).map(([key, attachment]) => {
          const { aliases = [], ipv4_address, ipv6_address, link_local_ips, driver_opts } =
            attachment ?? {};
          return [
            project.networks[key]?.name ?? key,
            attachmentText(withoutAll(aliases, [name, hostname]), {
              IPv4Address: ipv4_address,
              IPv6Address: ipv6_address,
              LinkLocalIPs: link_local_ips,
            }, driver_opts),
          ];
        }),
      ),
    found: (_, { NetworkMode = "" }, { Config, Id, Name, NetworkSettings }, { name, service }) => {
      if (/^(?:host|none|container:.*)$/.test(NetworkMode)) return {};
      // The engine adds the short id and the host name.
      const { Hostname = "" } = Config;
      const automatic = [name, Id.slice(0, 12), Name.replace(/^\//, ""), Hostname];
      const networks = Object.entries(NetworkSettings.Networks ?? {})
        .filter(([network]) => service.network_mode !== "bridge" || network !== "bridge");
      return Object.fromEntries(networks.map(([network, { Aliases, IPAMConfig, DriverOpts }]) => [
        network,
        attachmentText(withoutAll(Aliases ?? [], automatic), IPAMConfig, DriverOpts),
      ]));
    },
  },
  pid: {
    wanted: ({ pid }) => pid,
    found: (_, { PidMode }, __, context) =>
      PidMode === "private" ? undefined : namespaceOf(PidMode, context),
  },
  pids_limit: {
    wanted: ({ pids_limit, deploy }) => limit(pids_limit ?? deploy?.resources?.limits?.pids),
    found: (_, { PidsLimit }, __, { service }) =>
      service.pids_limit === undefined && PidsLimit === PODMAN_PIDS ? undefined : limit(PidsLimit),
  },
  ports: {
    wanted: ({ ports = [] }) =>
      entries(
        ports.map(({ host_ip, published, target, protocol }) =>
          portText(host_ip, published, `${target}/${protocol}`)
        ),
      ),
    found: (_, { PortBindings }) =>
      entries(
        Object.entries(PortBindings ?? {}).flatMap(([port, bindings]) =>
          (bindings ?? []).map(({ HostIp, HostPort }) => portText(HostIp, HostPort, port))
        ),
      ),
  },
  restart: {
    wanted: (service) => restartText(restartPolicyOf(service)),
    found: (_, { RestartPolicy }) => restartText(RestartPolicy),
  },
  runtime: {
    wanted: ({ runtime }) => runtime,
    found: (_, { Runtime }, __, { service, defaults }) =>
      service.runtime === undefined &&
        (defaults.runtime === undefined || Runtime === defaults.runtime || Runtime === "oci")
        ? undefined
        : Runtime,
  },
  security_opt: {
    wanted: ({ security_opt }) => entries(security_opt?.map(securityOption)),
    found: (_, { SecurityOpt }, __, { service: { security_opt, privileged, pid, ipc } }) => {
      const found = SecurityOpt?.map(securityOption) ?? [];
      if (!privileged && pid === undefined && ipc === undefined) return entries(found);
      // The engine adds labels to containers that share its namespaces.
      const wanted = security_opt?.map(securityOption) ?? [];
      return entries(
        found.filter((option) => !option.startsWith("label=") || wanted.includes(option)),
      );
    },
  },
  shm_size: {
    wanted: ({ shm_size }) => bytes(shm_size),
    found: (_, { ShmSize = 0 }, __, { service }) =>
      service.shm_size === undefined && SHM_SIZES.includes(ShmSize) ? undefined : ShmSize,
  },
  stop_grace_period: {
    wanted: ({ stop_grace_period }) => seconds(stop_grace_period),
    found: ({ StopTimeout }) => StopTimeout,
  },
  tmpfs: {
    wanted: ({ tmpfs = [] }) =>
      Object.fromEntries(tmpfs.map((entry) => {
        const [path = "", ...options] = entry.split(":");
        return [path, options.join(":")];
      })),
    found: (_, { Tmpfs }) => Tmpfs,
  },
  ulimits: {
    wanted: ({ ulimits = {} }) =>
      Object.fromEntries(
        Object.entries(ulimits).map(([name, limit]) => {
          const { soft, hard } = typeof limit === "number" ? { soft: limit, hard: limit } : limit;
          return [name, `${soft}:${hard}`];
        }),
      ),
    found: (_, { Ulimits }, __, { service }) =>
      Object.fromEntries(
        (Ulimits ?? []).map(({ Name = "", Soft, Hard }) =>
          [Name.toLowerCase().replace(/^rlimit_/, ""), `${Soft}:${Hard}`, Name] as const
        )
          // Podman sets some by itself.
          .filter(([name, , written]) =>
            !written.startsWith("RLIMIT_") || Object.hasOwn(service.ulimits ?? {}, name)
          ),
      ),
  },
  volumes: {
    wanted: (service, { project }) => wantedMounts(service, project),
    found: foundMounts,
  },
  volumes_from: {
    wanted: ({ volumes_from }) =>
      entries(volumes_from?.map((entry) => entry.replace(/^container:/, "").replace(/:rw$/, ""))),
    found: (_, { VolumesFrom }, __, { serviceOf }) =>
      entries(
        VolumesFrom?.map((entry) => {
          const [container = "", mode] = entry.split(":");
          const source = serviceOf(container) ?? container;
          return mode === undefined || mode === "rw" ? source : `${source}:${mode}`;
        }),
      ),
  },
};

/** The API versions of the engine since which it has a setting; older ones ignore it. */
const SINCE = {
  annotations: "1.43",
  "healthcheck.start_interval": "1.44",
} as const;

const isKnown = (setting: keyof typeof SINCE, { apiVersion }: EngineDefaults) =>
  apiVersion === undefined || isAtLeast(apiVersion, SINCE[setting]);

/** Returns a sentence for each setting of a service that the engine is too old for. */
export function unknownSettings(
  name: string,
  service: Service,
  defaults: EngineDefaults,
): string[] {
  const given = {
    annotations: service.annotations,
    "healthcheck.start_interval": service.healthcheck?.start_interval,
  };
  return (Object.keys(SINCE) as (keyof typeof SINCE)[])
    .filter((setting) => given[setting] !== undefined && !isKnown(setting, defaults))
    .map((setting) =>
      `${setting} of ${name} has no effect: it needs API version ${
        SINCE[setting]
      }, the engine has ` +
      defaults.apiVersion
    );
}

/** The settings of a health check; without those that are not given. */
export function healthcheckOf(check: ContainerConfig["Healthcheck"]): Record<string, string> {
  const { Test = [], Retries, Interval, Timeout, StartPeriod, StartInterval } = check ?? {};
  if (Test[0] === "NONE") return { test: DISABLED };
  return withoutEmpty({
    test: Test.length > 0 ? JSON.stringify(Test) : "",
    retries: Retries ? String(Retries) : "",
    interval: nanoseconds(Interval),
    timeout: nanoseconds(Timeout),
    start_period: nanoseconds(StartPeriod),
    start_interval: nanoseconds(StartInterval),
  });
}

/** The entries of a list that is compared without its order. */
export const entries = (list: readonly string[] | null | undefined) =>
  Object.fromEntries((list ?? []).map((entry) => [entry, ""]));

/** Variables by name; a name without a value is not set. */
export const variablesOf = (list: readonly string[] | null | undefined) =>
  Object.fromEntries(
    (list ?? []).filter((entry) => entry.includes("=")).map((entry) => {
      const at = entry.indexOf("=");
      return [entry.slice(0, at), entry.slice(at + 1)];
    }),
  );

const DISABLED = "disabled";

const withoutEmpty = (values: Record<string, string>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));

const withoutAll = (list: readonly string[], others: readonly string[]) =>
  list.filter((each) => !others.includes(each));

const nanoseconds = (ns: number | undefined) => ns ? printDuration(ns) : "";

const seconds = (duration: string | undefined) =>
  duration === undefined ? undefined : Math.ceil(parseDuration(duration) / 1e9);

const bytes = (size: string | undefined) => size === undefined ? undefined : Number(size);

/** `0` and `-1` mean "unlimited". */
const limit = (count: number | null | undefined) => count && count > 0 ? count : undefined;

/** Engines describe what is not given as `null`, `0` or `-1`. */
const count = (value: unknown) => typeof value === "number" && value > 0 ? value : undefined;

const capability = (name: string) => name.toUpperCase().replace(/^CAP_/, "");

/** Older engines and files separate name and value with a colon. */
const securityOption = (option: string) =>
  option.replace(/^(seccomp|apparmor|label|no-new-privileges):/, "$1=")
    .replace(/^no-new-privileges=true$/, "no-new-privileges");

const portText = (ip: string | undefined, published: string | undefined, target: string) =>
  `${ip && ip !== "0.0.0.0" ? `${ip}:` : ""}${published ? `${published}:` : ""}${target}`;

function restartText(policy: HostConfig["RestartPolicy"]): string | undefined {
  const { Name = "", MaximumRetryCount = 0 } = policy ?? {};
  if (Name === "no") return undefined;
  return MaximumRetryCount > 0 ? `${Name}:${MaximumRetryCount}` : Name;
}

const networksOf = ({ NetworkSettings }: ContainerInspect) =>
  Object.keys(NetworkSettings.Networks ?? {});

const sharesNetwork = (mode = "") => /^(?:service|container):/.test(mode);

/** The engine knows the namespace of another container by its id. */
function namespaceOf(mode: string | undefined, { service, serviceOf }: Context) {
  const [, container] = /^container:(.+)$/.exec(mode ?? "") ?? [];
  if (container === undefined) return mode;
  const found = serviceOf(container);
  if (found !== undefined) return `service:${found}`;
  // The file may have the name of a container of another project.
  const named = [service.network_mode, service.ipc, service.pid].find((each) =>
    each?.startsWith("container:")
  );
  return named ?? `container:${container.slice(0, 12)}`;
}

const deviceText = ({ Driver, Count, DeviceIDs, Capabilities, Options }: DeviceRequest) =>
  [
    Driver ?? "",
    Count ? (Count === -1 ? "all" : `${Count}`) : "",
    ...DeviceIDs ?? [],
    ...(Capabilities ?? []).flat().sort(),
    ...Object.entries(Options ?? {}).map((option) => option.join("=")),
  ].filter(Boolean).join(" ");

function byDevice<Entry>(
  kind: string,
  list: readonly Entry[] | undefined,
  read: (entry: Entry) => readonly [path: string | undefined, value: string | number | undefined],
): Record<string, string> {
  return Object.fromEntries((list ?? []).map((entry) => {
    const [path, value] = read(entry);
    return [`${kind} ${path}`, String(value)];
  }));
}

const foundByDevice = (kind: string, list: unknown[] | null | undefined, field: string) =>
  byDevice(kind, list as Record<string, string>[], (entry) => [entry.Path, entry[field]]);
