/**
 * From the description of a container to what creates it anew: everything is kept that somebody
 * asked for, nothing is pinned that came from its image or from the engine.
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
import { isAtLeast } from "../../../engine/query.ts";

/** A container's description as requests to the engine, in this order. */
export interface Recreation {
  create: ContainerCreateBody;
  /** Networks beyond the first; engines before API 1.44 take only one at creation. */
  connect: { network: string; endpoint: EndpointSettings }[];
  /** Networks that the engine attaches by itself, and that the container had been taken off. */
  disconnect: string[];
}

export interface RecreateOptions {
  /**
   * What the image of the old container sets by itself; what equals it is left to the new image.
   * Without it everything is kept as it is.
   */
  image?: ContainerConfig | null | undefined;
  /** What the new container is made of; default what the old one was made of. */
  reference?: string | undefined;
  /** Id of the image that the new container is made of; default that of the old one. */
  imageId?: string | undefined;
  /** Of the engine, e.g. "1.41". */
  apiVersion?: string | undefined;
  /** Instead of `container:<id>` in the modes that share a namespace: the id's successor. */
  successors?: ReadonlyMap<string, string> | undefined;
}

/** Compose recreates a container whose label differs from the id of its image. */
const COMPOSE_IMAGE_LABEL = "com.docker.compose.image";

/** Digits of the id that the engine uses as host name and as an alias. */
const SHORT_ID_LENGTH = 12;

/** Describes a container like `old`. */
export function recreation(
  old: ContainerInspect,
  { image, reference, imageId, apiVersion, successors = new Map() }: RecreateOptions = {},
): Recreation {
  const config = ownConfig(old, image ?? {});
  if (imageId !== undefined && config.Labels?.[COMPOSE_IMAGE_LABEL] !== undefined) {
    config.Labels[COMPOSE_IMAGE_LABEL] = imageId;
  }
  const { primary, others, disconnect } = networks(old);
  const mac = old.Config.MacAddress;
  if (mac && primary && isAtLeast(apiVersion, "1.44")) {
    // Newer engines take a fixed address per network; the old place is deprecated.
    primary.endpoint.MacAddress = mac;
    delete config.MacAddress;
  }
  return {
    create: {
      ...config,
      ...(reference !== undefined && { Image: reference }),
      HostConfig: ownHostConfig(old, successors),
      ...(primary && {
        NetworkingConfig: { EndpointsConfig: { [primary.network]: primary.endpoint } },
      }),
    },
    connect: others,
    disconnect,
  };
}

/** The configuration without what `image` alone accounts for. */
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
  // Triggers for builds upon the image; they mean nothing to a container.
  delete own.OnBuild;

  // The engine's default host name is the short id; the new container shall get its own.
  const joins = isContainerMode(HostConfig.NetworkMode);
  if (Config.Hostname === Id.slice(0, SHORT_ID_LENGTH) || joins || HostConfig.UTSMode === "host") {
    delete own.Hostname;
  }
  if (joins) {
    // They belong to the container whose network is shared; the engine refuses them here.
    delete own.Domainname;
    delete own.MacAddress;
    delete own.ExposedPorts;
  }
  if (!own.MacAddress) delete own.MacAddress;
  return own;
}

/**
 * Entrypoint and command go together: an own entrypoint keeps the image's command away, and an
 * empty one takes the image's off.
 */
function ownCommand(
  { Entrypoint, Cmd }: ContainerConfig,
  image: ContainerConfig,
): Pick<ContainerConfig, "Entrypoint" | "Cmd"> {
  const isEmpty = (list: string[] | null | undefined) => !list || list.length === 0;
  // With the image's entrypoint, but without its command: only an own entrypoint does that.
  const lacksCommand = isEmpty(Cmd) && !isEmpty(image.Cmd);
  if (isSame(Entrypoint ?? [], image.Entrypoint ?? []) && !lacksCommand) {
    // Null leaves both to the image; without any entrypoint there is nothing to take off.
    return { Entrypoint: null, Cmd: isSame(Cmd ?? [], image.Cmd ?? []) ? null : Cmd ?? null };
  }
  return { Entrypoint: isEmpty(Entrypoint) ? [""] : Entrypoint!, Cmd: Cmd ?? null };
}

/** The engine fills what a health check leaves open from the image, field by field. */
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
  successors: ReadonlyMap<string, string>,
): HostConfig {
  const own: HostConfig = {
    ...HostConfig,
    ...mounts(HostConfig, Mounts ?? []),
    Links: HostConfig.Links?.map(linkRequest) ?? null,
  };
  // Where the command line client wrote the id; that file is not ours to write again.
  delete own.ContainerIDFile;
  for (const mode of ["NetworkMode", "IpcMode", "PidMode"] as const) {
    const shared = sharedContainer(own[mode]);
    const successor = shared && successors.get(shared);
    if (successor) own[mode] = `container:${successor}`;
  }
  return own;
}

/** Describes as `/db:/web/alias` what is asked for as `db:alias`. */
function linkRequest(link: string): string {
  const [source = "", target = ""] = link.split(":");
  return `${source.replace(/^\//, "")}:${target.slice(target.lastIndexOf("/") + 1)}`;
}

/** Volumes without a name of the user's are attached again by the name that the engine gave. */
function mounts(
  { Binds, Mounts, Tmpfs }: HostConfig,
  made: MountPoint[],
): Pick<HostConfig, "Binds" | "Mounts"> {
  const volumes = new Map(
    made.filter(({ Type, Name }) => Type === "volume" && Name)
      .map((volume) => [cleanPath(volume.Destination), volume]),
  );
  const asked = (Mounts ?? []).map((mount): MountRequest => {
    const name = volumes.get(cleanPath(mount.Target ?? ""))?.Name;
    return mount.Type === "volume" && !mount.Source && name ? { ...mount, Source: name } : mount;
  });
  // One that is only a target asks for a new volume.
  const binds = (Binds ?? []).filter((bind) => bind.includes(":") || !volumes.has(cleanPath(bind)));
  for (
    const taken of [
      ...asked.map(({ Target }) => Target ?? ""),
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
  const all = [...asked, ...anonymous];
  return { Binds: binds.length > 0 ? binds : null, Mounts: all.length > 0 ? all : null };
}

/** The engine shows paths so, and keeps requests as they were. */
const cleanPath = (path: string) => path.replace(/\/{2,}/g, "/").replace(/(?<=.)\/$/, "");

interface NetworkRequest {
  network: string;
  endpoint: EndpointSettings;
}

/** Splits the networks into the one of the network mode, and the rest. */
function networks({ Id, HostConfig, Config, NetworkSettings }: ContainerInspect): {
  primary: NetworkRequest | undefined;
  others: NetworkRequest[];
  disconnect: string[];
} {
  const mode = HostConfig.NetworkMode || "default";
  // These modes are no networks to which one could attach.
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
    endpoint: ownEndpoint(settings, Id),
  });
  return {
    primary: first && request(first),
    others: attached.filter((entry) => entry !== first).map(request),
    disconnect: first ? [] : [wanted],
  };
}

/** What was asked for, without what came out. */
function ownEndpoint(
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

/** Id or name of the container whose namespace a mode shares. */
export function sharedContainer(mode: string | undefined): string | undefined {
  return mode?.startsWith("container:") ? mode.slice("container:".length) : undefined;
}

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

/** The engine writes lists in the order in which they were given. */
const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
