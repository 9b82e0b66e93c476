/**
 * Plans the requests that recreate a container from its description. Settings of the user are kept;
 * settings that came from the image or the engine are left out.
 *
 * @module
 */

import type {
  ContainerConfig,
  ContainerCreateBody,
  ContainerInspect,
  EndpointSettings,
  HealthConfig,
  HostConfig,
  MountPoint,
  MountRequest,
} from "../../../engine/containers.ts";
import { sharedContainer } from "../../../engine/containers.ts";
import { isAtLeast } from "../../../engine/query.ts";
import { cpuRequests, ulimitRequests } from "./podman.ts";

/** The requests that recreate a container, in this order. */
export interface Recreation {
  create: ContainerCreateBody;
  /** The platform that the image must have, e.g. `linux/arm64`. */
  platform?: string | undefined;
  /** Networks beyond the first; engines before API 1.44 accept only one at creation. */
  connect: { network: string; endpoint: EndpointSettings }[];
  /** Networks that the engine connects by default, but the container is disconnected from. */
  disconnect: string[];
}

export interface RecreateOptions {
  /**
   * The configuration of the old container's image. Equal settings are left to the new image;
   * without it, all settings are kept.
   */
  image?: ContainerConfig | null | undefined;
  /** The new container's image; default: that of the old one. */
  reference?: string | undefined;
  /** The id of the new container's image; default: that of the old one. */
  imageId?: string | undefined;
  /** The engine's API version, e.g. "1.41". */
  apiVersion?: string | undefined;
  /** The engine's default runtime, e.g. `runc`; a container with it gets the default again. */
  defaultRuntime?: string | undefined;
  /**
   * New ids of containers whose namespaces are shared or which are linked, by old id or name as
   * the old container has it.
   */
  successors?: ReadonlyMap<string, string> | undefined;
}

/** Compose recreates a container whose label differs from the id of its image. */
const COMPOSE_IMAGE_LABEL = "com.docker.compose.image";

/** Length of the id that the engine uses as host name and alias. */
const SHORT_ID_LENGTH = 12;

/** Plans a container like `old`. */
export function planRecreation(
  old: ContainerInspect,
  { image, reference, imageId, apiVersion, defaultRuntime, successors = new Map() }:
    RecreateOptions = {},
): Recreation {
  const config = ownConfig(old, image ?? {});
  if (imageId !== undefined && config.Labels?.[COMPOSE_IMAGE_LABEL] !== undefined) {
    config.Labels[COMPOSE_IMAGE_LABEL] = imageId;
  }
  const { primary, others, disconnect } = planNetworks(old);
  const mac = old.Config.MacAddress;
  if (mac && primary && isAtLeast(apiVersion, "1.44")) {
    // Newer engines expect a fixed address per network; the old field is deprecated.
    primary.endpoint.MacAddress = mac;
    delete config.MacAddress;
  }
  return {
    create: {
      ...config,
      ...(reference !== undefined && { Image: reference }),
      HostConfig: ownHostConfig(old, { successors, defaultRuntime }),
      ...(primary && {
        NetworkingConfig: { EndpointsConfig: { [primary.network]: primary.endpoint } },
      }),
    },
    connect: others,
    disconnect,
  };
}

/** The configuration without the settings of the image. */
function ownConfig(
  { Id, Config, HostConfig }: ContainerInspect,
  image: ContainerConfig,
): ContainerConfig {
  const own: ContainerConfig = {
    ...Config,
    // Podman adds the host name, which by default is the short id.
    Env: without(Config.Env, [...image.Env ?? [], `HOSTNAME=${Id.slice(0, SHORT_ID_LENGTH)}`]),
    Labels: withoutEntries(Config.Labels, image.Labels),
    ExposedPorts: withoutEntries(Config.ExposedPorts, image.ExposedPorts),
    Volumes: withoutEntries(Config.Volumes, image.Volumes),
    Healthcheck: ownHealthcheck(Config.Healthcheck, image.Healthcheck),
    ...ownCommand(Config, image),
  };
  for (const field of ["User", "WorkingDir", "StopSignal", "Shell", "ArgsEscaped"] as const) {
    if (isSame(Config[field], image[field])) delete own[field];
  }
  // Build triggers have no effect on a container.
  delete own.OnBuild;

  // The engine's default host name is the short id, which changes.
  const joins = isContainerMode(HostConfig.NetworkMode);
  if (Config.Hostname === Id.slice(0, SHORT_ID_LENGTH) || joins || HostConfig.UTSMode === "host") {
    delete own.Hostname;
  }
  if (joins) {
    // The engine refuses these settings for a container that shares a network.
    delete own.Domainname;
    delete own.MacAddress;
    delete own.ExposedPorts;
  }
  if (!own.MacAddress) delete own.MacAddress;
  return own;
}

/**
 * Entrypoint and command depend on each other: a custom entrypoint disables the image's command, and
 * an empty one disables the image's entrypoint.
 */
function ownCommand(
  { Entrypoint, Cmd }: ContainerConfig,
  image: ContainerConfig,
): Pick<ContainerConfig, "Entrypoint" | "Cmd"> {
  const isEmpty = (list: string[] | null | undefined) => !list || list.length === 0;
  // Only a custom entrypoint disables the image's command.
  const lacksCommand = isEmpty(Cmd) && !isEmpty(image.Cmd);
  if (isSame(Entrypoint ?? [], image.Entrypoint ?? []) && !lacksCommand) {
    // Null leaves the setting to the image.
    return { Entrypoint: null, Cmd: isSame(Cmd ?? [], image.Cmd ?? []) ? null : Cmd ?? null };
  }
  return { Entrypoint: isEmpty(Entrypoint) ? [""] : Entrypoint!, Cmd: Cmd ?? null };
}

/** The engine takes missing fields of a health check from the image. */
function ownHealthcheck(
  own: HealthConfig | null | undefined,
  image: HealthConfig | null | undefined,
): HealthConfig | null {
  if (!own) return null;
  const kept = Object.entries(own).filter(([field, value]) => !isSame(value, image?.[field]));
  return kept.length === 0 ? null : Object.fromEntries(kept);
}

function ownHostConfig(
  { HostConfig, Mounts }: ContainerInspect,
  { successors, defaultRuntime }: {
    successors: ReadonlyMap<string, string>;
    defaultRuntime: string | undefined;
  },
): HostConfig {
  const own: HostConfig = {
    ...HostConfig,
    ...cpuRequests(HostConfig),
    ...planMounts(HostConfig, Mounts ?? []),
    Links: HostConfig.Links?.map((link) => linkRequest(link, successors)) ?? null,
    // Engines describe devices without permissions, but refuse them so.
    ...(HostConfig.Devices && {
      Devices: HostConfig.Devices.map((device) => ({
        ...device,
        CgroupPermissions: device.CgroupPermissions || "rwm",
      })),
    }),
    ...(HostConfig.Ulimits && { Ulimits: ulimitRequests(HostConfig.Ulimits) ?? null }),
  };
  if (defaultRuntime !== undefined && own.Runtime === defaultRuntime) delete own.Runtime;
  // A file on the client's host.
  delete own.ContainerIDFile;
  for (const mode of ["NetworkMode", "IpcMode", "PidMode"] as const) {
    const shared = sharedContainer(own[mode]);
    const successor = shared && successors.get(shared);
    if (successor) own[mode] = `container:${successor}`;
  }
  return own;
}

/** Converts a link from its description (`/db:/web/alias`) to a request (`db:alias`). */
function linkRequest(link: string, successors: ReadonlyMap<string, string>): string {
  const [path = "", target = ""] = link.split(":");
  const source = path.replace(/^\//, "");
  return `${successors.get(source) ?? source}:${target.slice(target.lastIndexOf("/") + 1)}`;
}

/** Mounts anonymous volumes again by the name that the engine generated. */
function planMounts(
  { Binds, Mounts, Tmpfs }: HostConfig,
  existing: MountPoint[],
): Pick<HostConfig, "Binds" | "Mounts"> {
  const volumes = new Map(
    existing.filter(({ Type, Name }) => Type === "volume" && Name)
      .map((volume) => [cleanPath(volume.Destination), volume]),
  );
  const requested = (Mounts ?? []).map((mount): MountRequest => {
    const name = volumes.get(cleanPath(mount.Target ?? ""))?.Name;
    return mount.Type === "volume" && !mount.Source && name ? { ...mount, Source: name } : mount;
  });
  // A bind without a source would create a new volume.
  const binds = (Binds ?? []).filter((bind) => bind.includes(":") || !volumes.has(cleanPath(bind)));
  for (
    const taken of [
      ...requested.map(({ Target }) => Target ?? ""),
      ...binds.map((bind) => bind.split(":")[1] ?? bind),
      ...Object.keys(Tmpfs ?? {}),
    ]
  ) volumes.delete(cleanPath(taken));
  const anonymous = [...volumes.values()].map(({ Name, Destination, RW }): MountRequest => ({
    Type: "volume",
    Source: Name!,
    Target: Destination,
    ReadOnly: RW === false,
  }));
  const all = [...requested, ...anonymous];
  return { Binds: binds.length > 0 ? binds : null, Mounts: all.length > 0 ? all : null };
}

/** Normalizes a path as the engine does in descriptions, but not in requests. */
const cleanPath = (path: string) => path.replace(/\/{2,}/g, "/").replace(/(?<=.)\/$/, "");

interface NetworkRequest {
  network: string;
  endpoint: EndpointSettings;
}

/** Splits the networks into that of the network mode and the others. */
function planNetworks({ Id, HostConfig, Config, NetworkSettings }: ContainerInspect): {
  primary: NetworkRequest | undefined;
  others: NetworkRequest[];
  disconnect: string[];
} {
  const mode = HostConfig.NetworkMode || "default";
  // These modes do not allow other networks.
  if (isContainerMode(mode) || ["host", "none"].includes(mode) || Config.NetworkDisabled) {
    return { primary: undefined, others: [], disconnect: [] };
  }
  const wanted = mode === "default" ? "bridge" : mode;
  const attached = Object.entries(NetworkSettings.Networks ?? {});
  const first = attached.find(([name, { NetworkID }]) =>
    name === wanted || (NetworkID && NetworkID === wanted)
  );
  const request = ([network, settings]: [string, EndpointSettings]): NetworkRequest => ({
    network,
    endpoint: requestEndpoint(settings, Id),
  });
  return {
    primary: first && request(first),
    others: attached.filter((entry) => entry !== first).map(request),
    disconnect: first ? [] : [wanted],
  };
}

/** The requested settings of a connection, without assigned ones. */
export function requestEndpoint(
  { IPAMConfig, Links, Aliases, DriverOpts, GwPriority }: EndpointSettings,
  id: string,
): EndpointSettings {
  const own: EndpointSettings = {};
  const hasAddress = IPAMConfig &&
    (IPAMConfig.IPv4Address || IPAMConfig.IPv6Address || IPAMConfig.LinkLocalIPs?.length);
  if (hasAddress) own.IPAMConfig = IPAMConfig;
  if (Links?.length) own.Links = Links;
  // Engines before API 1.45 add the short id to the aliases.
  const aliases = Aliases?.filter((alias) => alias !== id.slice(0, SHORT_ID_LENGTH));
  if (aliases?.length) own.Aliases = aliases;
  if (DriverOpts && Object.keys(DriverOpts).length > 0) own.DriverOpts = DriverOpts;
  if (GwPriority) own.GwPriority = GwPriority;
  return own;
}

const isContainerMode = (mode: string | undefined) => sharedContainer(mode) !== undefined;

const without = (own: string[] | null | undefined, image: string[] | null | undefined) =>
  own?.filter((entry) => !image?.includes(entry)) ?? null;

function withoutEntries<Value>(
  own: Record<string, Value> | null | undefined,
  image: Record<string, Value> | null | undefined,
): Record<string, Value> | null {
  if (!own) return null;
  return Object.fromEntries(
    Object.entries(own).filter(([name, value]) =>
      !(image && Object.hasOwn(image, name) && isSame(value, image[name]))
    ),
  );
}

/** The engine keeps the order of lists. */
const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
