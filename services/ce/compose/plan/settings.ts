/**
 * Settings of a service in one form, from the model and from a container, so that they can be
 * compared.
 *
 * @module
 */

import type {
  ContainerConfig,
  ContainerInspect,
  HostConfig,
} from "../../../../engine/containers.ts";
import { planRecreation } from "../../rebuild/recreate.ts";
import { LABEL } from "../labels.ts";
import type { Project, Service } from "../load/resolve.ts";
import { parseDuration } from "../load/values.ts";

/**
 * Settings by the key of the Compose Specification. A setting that is not given is missing. Lists
 * are maps from their entries, because their order means nothing; commands are lists.
 */
export type Settings = Record<string, Setting | undefined>;
export type Setting = string | readonly string[] | Readonly<Record<string, string>>;

const COMPOSE_LABELS = "com.docker.compose.";

/** Names of volumes that the engine chose. */
const ANONYMOUS = /^[0-9a-f]{64}$/;

/** A setting with its value in the model and in the description of a container. */
interface Comparison {
  wanted: (service: Service, project: Project) => Setting | number | boolean | undefined;
  found: (
    own: ContainerConfig,
    host: HostConfig,
    inspect: ContainerInspect,
  ) => Setting | number | boolean | null | undefined;
}

/** The values that mean "not given". */
const isUnset = (value: unknown) =>
  value === undefined || value === null || value === "" || value === false || value === 0 ||
  (typeof value === "object" && Object.keys(value).length === 0);

const entries = (list: readonly string[] | null | undefined) =>
  Object.fromEntries((list ?? []).map((entry) => [entry, ""]));

const bytes = (size: string | undefined) => size === undefined ? undefined : Number(size);

const seconds = (duration: string | undefined) =>
  duration === undefined ? undefined : Math.ceil(parseDuration(duration) / 1e9);

/** A namespace of another service is `container:<id>` in the engine, which the name does not show. */
const namespace = (mode: string | undefined) =>
  mode?.startsWith("service:") || mode?.startsWith("container:") ? "container" : mode;

/** Everything that is compared, by the key. */
const COMPARISONS: Readonly<Record<string, Comparison>> = {
  cap_add: {
    wanted: ({ cap_add }) => entries(cap_add?.map(capability)),
    found: (_, { CapAdd }) => entries(CapAdd?.map(capability)),
  },
  cap_drop: {
    wanted: ({ cap_drop }) => entries(cap_drop?.map(capability)),
    found: (_, { CapDrop }) => entries(CapDrop?.map(capability)),
  },
  command: {
    wanted: ({ command }) => command ?? undefined,
    found: ({ Cmd }) => Cmd,
  },
  cpus: {
    wanted: ({ cpus, deploy }) => cpus ?? deploy?.resources?.limits?.cpus,
    found: (_, { NanoCpus }) => (NanoCpus ?? 0) / 1e9,
  },
  dns: { wanted: ({ dns }) => entries(dns), found: (_, { Dns }) => entries(Dns) },
  domainname: { wanted: ({ domainname }) => domainname, found: ({ Domainname }) => Domainname },
  entrypoint: {
    wanted: ({ entrypoint }) => entrypoint ?? undefined,
    found: ({ Entrypoint }) => Entrypoint,
  },
  environment: {
    wanted: ({ environment = {} }) =>
      Object.fromEntries(
        Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== null),
      ),
    found: ({ Env }) => variablesOf(Env),
  },
  extra_hosts: {
    wanted: ({ extra_hosts }) => entries(extra_hosts),
    found: (_, { ExtraHosts }) => entries(ExtraHosts?.map((entry) => entry.replace(":", "="))),
  },
  group_add: {
    wanted: ({ group_add }) => entries(group_add),
    found: (_, { GroupAdd }) => entries(GroupAdd),
  },
  hostname: { wanted: ({ hostname }) => hostname, found: ({ Hostname }) => Hostname },
  init: { wanted: ({ init }) => init, found: (_, { Init }) => Init },
  labels: {
    wanted: ({ labels }) => labels,
    found: ({ Labels }) =>
      Object.fromEntries(
        Object.entries(Labels ?? {}).filter(([name]) =>
          !name.startsWith(COMPOSE_LABELS) && name !== LABEL.files
        ),
      ),
  },
  mem_limit: {
    wanted: ({ mem_limit, deploy }) => bytes(mem_limit ?? deploy?.resources?.limits?.memory),
    found: (_, { Memory }) => Memory,
  },
  network_mode: {
    wanted: ({ network_mode }) => namespace(network_mode),
    found: (_, { NetworkMode = "" }, inspect) =>
      networksOf(inspect).includes(NetworkMode) || NetworkMode === "default"
        ? undefined
        : namespace(NetworkMode),
  },
  networks: {
    wanted: ({ networks }, project) =>
      entries(Object.keys(networks ?? {}).map((key) => project.networks[key]?.name ?? key)),
    found: (_, { NetworkMode = "" }, inspect) =>
      /^(?:host|none|container:.*)$/.test(NetworkMode) ? {} : entries(networksOf(inspect)),
  },
  pid: { wanted: ({ pid }) => namespace(pid), found: (_, { PidMode }) => namespace(PidMode) },
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
  privileged: {
    wanted: ({ privileged }) => privileged,
    found: (_, { Privileged }) => Privileged,
  },
  read_only: {
    wanted: ({ read_only }) => read_only,
    found: (_, { ReadonlyRootfs }) => ReadonlyRootfs,
  },
  restart: {
    wanted: ({ restart }) => restart === "no" ? undefined : restart?.replace(/:0$/, ""),
    found: (_, { RestartPolicy }) => {
      const { Name = "", MaximumRetryCount = 0 } = RestartPolicy ?? {};
      if (Name === "no") return undefined;
      return MaximumRetryCount > 0 ? `${Name}:${MaximumRetryCount}` : Name;
    },
  },
  security_opt: {
    wanted: ({ security_opt }) => entries(security_opt),
    found: (_, { SecurityOpt }) => entries(SecurityOpt),
  },
  stdin_open: { wanted: ({ stdin_open }) => stdin_open, found: ({ OpenStdin }) => OpenStdin },
  stop_grace_period: {
    wanted: ({ stop_grace_period }) => seconds(stop_grace_period),
    found: ({ StopTimeout }) => StopTimeout,
  },
  stop_signal: { wanted: ({ stop_signal }) => stop_signal, found: ({ StopSignal }) => StopSignal },
  sysctls: { wanted: ({ sysctls }) => sysctls, found: (_, { Sysctls }) => Sysctls },
  tty: { wanted: ({ tty }) => tty, found: ({ Tty }) => Tty },
  user: { wanted: ({ user }) => user, found: ({ User }) => User },
  volumes: {
    wanted: ({ volumes = [] }, project) =>
      Object.fromEntries(
        volumes.filter(({ type, source }) => type !== "volume" || source !== undefined)
          .map(({ type, source = "", target, read_only }) => [
            target,
            mountText(type, project.volumes[source]?.name ?? source, !read_only),
          ]),
      ),
    found: (_, __, { Mounts }) =>
      Object.fromEntries(
        (Mounts ?? []).filter(({ Name = "" }) => !ANONYMOUS.test(Name))
          .map(({ Type = "", Name, Source = "", Destination, RW }) => [
            Destination,
            mountText(Type, Type === "tmpfs" ? "" : Name || Source, RW !== false),
          ]),
      ),
  },
  working_dir: {
    wanted: ({ working_dir }) => working_dir,
    found: ({ WorkingDir }) => WorkingDir,
  },
};

/** Keys that do not belong to the container, or that the plan checks by itself. */
const OTHER_KEYS = new Set([
  "configs",
  "container_name",
  "depends_on",
  "deploy",
  "image",
  "profiles",
  "pull_policy",
  "scale",
  "secrets",
]);

/** The settings of the model. */
export function settingsOfService(service: Service, project: Project): Settings {
  return mapSettings(({ wanted }) => wanted(service, project));
}

/**
 * The settings of a container that its image does not have.
 *
 * @param image The configuration of the container's image; `undefined` if it was removed.
 */
export function settingsOfContainer(
  inspect: ContainerInspect,
  image: ContainerConfig | undefined,
): Settings {
  const { HostConfig, ...own } = planRecreation(inspect, { image }).create;
  return mapSettings(({ found }) => found(own, HostConfig ?? {}, inspect));
}

/** The settings without those that the image has as well. */
export function withoutThoseOf(
  image: ContainerConfig | undefined,
  { environment, labels, ...settings }: Settings,
): Settings {
  const { Cmd, Entrypoint, User, WorkingDir, StopSignal } = image ?? {};
  const own: Settings = { ...settings };
  const defaults = {
    command: Cmd,
    entrypoint: Entrypoint,
    user: User,
    working_dir: WorkingDir,
    stop_signal: StopSignal,
  };
  for (const [key, value] of Object.entries(defaults)) {
    if (JSON.stringify(own[key]) === JSON.stringify(value)) delete own[key];
  }
  return {
    ...own,
    ...whereDifferent("environment", environment, variablesOf(image?.Env)),
    ...whereDifferent("labels", labels, image?.Labels ?? {}),
  };
}

/** The keys of a service that are not compared. */
export const uncomparedKeys = (service: Service): string[] =>
  Object.entries(service).filter(([key, value]) =>
    !Object.hasOwn(COMPARISONS, key) && !OTHER_KEYS.has(key) && !isUnset(value)
  ).map(([key]) => key);

function mapSettings(read: (comparison: Comparison) => unknown): Settings {
  return Object.fromEntries(
    Object.entries(COMPARISONS).flatMap(([key, comparison]) => {
      const value = read(comparison);
      if (isUnset(value)) return [];
      return [[key, typeof value === "object" ? value as Setting : String(value)]];
    }),
  );
}

function whereDifferent(
  key: string,
  own: Setting | undefined,
  defaults: Readonly<Record<string, string>>,
): Settings {
  const different = Object.entries(own ?? {}).filter(([name, value]) => defaults[name] !== value);
  return different.length === 0 ? {} : { [key]: Object.fromEntries(different) };
}

const variablesOf = (list: readonly string[] | null | undefined) =>
  Object.fromEntries(
    (list ?? []).map((entry) => {
      const at = entry.indexOf("=");
      return at < 0 ? [entry, ""] : [entry.slice(0, at), entry.slice(at + 1)];
    }),
  );

const networksOf = ({ NetworkSettings }: ContainerInspect) =>
  Object.keys(NetworkSettings.Networks ?? {});

const capability = (name: string) => name.toUpperCase().replace(/^CAP_/, "");

const portText = (ip: string | undefined, published: string | undefined, target: string) =>
  `${ip && ip !== "0.0.0.0" ? `${ip}:` : ""}${published ? `${published}:` : ""}${target}`;

const mountText = (type: string, source: string, isWritable: boolean) =>
  [type, source, isWritable ? "" : "read-only"].filter(Boolean).join(" ");
