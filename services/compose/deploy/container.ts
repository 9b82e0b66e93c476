/**
 * The request that creates a container of a service, so that Compose sees it as its own.
 *
 * @module
 */

import type {
  ContainerConfig,
  ContainerCreateBody,
  ContainerInspect,
  EndpointSettings,
} from "../../../engine/containers.ts";
import { isAtLeast } from "../../../engine/query.ts";
import { definedFields } from "../../change.ts";
import type { Recreation } from "../../updates/recreate/recreate.ts";
import { LABEL, LABELS_VERSION } from "../labels.ts";
import type { DiskPlace } from "../validate.ts";
import { keptVolumes } from "../plan/mounts.ts";
import { dependenciesOf, type Project, type Service } from "../load/resolve.ts";
import { parseDuration } from "../load/values.ts";
import { composeHash } from "./config_hash.ts";
import { CONFIG_FIELDS, fieldsOf } from "./fields.ts";
import type { FileHashes } from "./files.ts";
import { type FindPeer, hostConfigOf, mountsOf, namespaceOf } from "./host_config.ts";

/** Container whose anonymous volumes another one keeps. */
export type VolumeSource = Pick<ContainerInspect, "Config" | "Mounts">;

export interface ContainerContext {
  project: Project;
  /** Location of the project on disk. */
  place?: DiskPlace | undefined;
  /** The service's key in the project. */
  key: string;
  /** From 1. */
  number: number;
  image: { id: string; config: ContainerConfig };
  findPeer: FindPeer;
  /** The container that is replaced. */
  old: VolumeSource | undefined;
  /** See {@linkcode LABEL}; `undefined` without configs and secrets. */
  fileHashes: FileHashes | undefined;
  apiVersion: string | undefined;
}

/** The name that a container of the service has. */
export const containerNameOf = (project: Project, key: string, number: number): string =>
  project.services[key]!.container_name ?? `${project.name}-${key}-${number}`;

/** Plans the requests that create a container. */
export function planServiceContainer(context: ContainerContext): Recreation {
  const { project, key, image, old, findPeer, apiVersion } = context;
  const service = project.services[key]!;
  const networks = networksOf(context);
  const [primary, ...others] = networks;
  const mode = namespaceOf(service.network_mode, findPeer);
  // Only there, every engine since then applies all settings of each network.
  const joinsAll = isAtLeast(apiVersion, "1.44");
  const joined = joinsAll ? networks : networks.slice(0, 1);
  const create: Record<string, unknown> = {
    ...configOf(service),
    Image: service.image,
    Labels: { ...service.labels, ...labelsOf(context) },
    HostConfig: definedFields({
      ...hostConfigOf(service, findPeer),
      ...mountsOf(service, project, Object.keys(image.config.Volumes ?? {}), old),
      NetworkMode: mode ?? primary?.network ?? "none",
    }),
    ...(primary && {
      NetworkingConfig: {
        EndpointsConfig: Object.fromEntries(
          joined.map(({ network, endpoint }) => [network, endpoint]),
        ),
      },
    }),
  };
  if (service.mac_address !== undefined && primary) {
    // Newer engines and Podman expect it per network.
    primary.endpoint.MacAddress = service.mac_address;
    if (!joinsAll) create.MacAddress = service.mac_address;
  }
  return {
    create: definedFields(create) as ContainerCreateBody,
    platform: isAtLeast(apiVersion, "1.41") ? service.platform : undefined,
    connect: joinsAll ? [] : others,
    disconnect: [],
  };
}

function configOf(service: Service): Record<string, unknown> {
  const { command, entrypoint, environment = {}, expose = [], ports = [] } = service;
  const targets = [
    ...ports.map(({ target, protocol }) => `${target}/${protocol}`),
    ...expose.flatMap(exposedPorts),
  ];
  return {
    ...fieldsOf(service, CONFIG_FIELDS),
    // A name without a value removes the variable of the image.
    Env: Object.entries(environment).map(([name, value]) =>
      value === null ? name : `${name}=${value}`
    ),
    // An empty list as such would leave the setting to the image.
    Entrypoint: entrypoint?.length === 0 ? [""] : entrypoint ?? undefined,
    Cmd: command ?? undefined,
    ExposedPorts: Object.fromEntries(targets.map((target) => [target, {}])),
    Healthcheck: healthcheckOf(service),
    StopTimeout: service.stop_grace_period === undefined
      ? undefined
      : Math.ceil(parseDuration(service.stop_grace_period) / 1e9),
  };
}

/** `8000-8002/udp` as single ports. */
export function exposedPorts(entry: string): string[] {
  const [range = "", protocol = "tcp"] = entry.split("/");
  const [first = 0, last = first] = range.split("-").map(Number);
  return Array.from({ length: last - first + 1 }, (_, index) => `${first + index}/${protocol}`);
}

/** The health check for the engine, in nanoseconds; `undefined` for that of the image. */
export function healthcheckOf(
  { healthcheck }: Service,
): Record<string, unknown> | undefined {
  if (!healthcheck) return undefined;
  if (healthcheck.disable) return { Test: ["NONE"] };
  const ns = (duration: string | undefined) =>
    duration === undefined ? undefined : parseDuration(duration);
  return definedFields({
    Test: healthcheck.test,
    Interval: ns(healthcheck.interval),
    Timeout: ns(healthcheck.timeout),
    StartPeriod: ns(healthcheck.start_period),
    StartInterval: ns(healthcheck.start_interval),
    Retries: healthcheck.retries,
  });
}

function labelsOf(context: ContainerContext): Record<string, string> {
  const { project, place, key, number, image, fileHashes, old } = context;
  const service = project.services[key]!;
  const kept = old ? keptVolumes(service, Object.keys(image.config.Volumes ?? {}), old) : [];
  const dependencies = Object.entries(dependenciesOf(service)).map((
    [name, { condition, restart }],
  ) => `${name}:${condition}:${restart}`);
  return {
    [LABEL.project]: project.name,
    [LABEL.service]: key,
    [LABEL.containerNumber]: String(number),
    [LABEL.oneOff]: "False",
    [LABEL.configHash]: composeHash(service),
    [LABEL.dependsOn]: dependencies.join(","),
    [LABEL.image]: image.id,
    [LABEL.version]: LABELS_VERSION,
    ...(place && {
      [LABEL.workingDir]: place.directory,
      [LABEL.configFiles]: place.configFiles.join(","),
    }),
    ...(kept.length > 0 && { [LABEL.keptVolumes]: JSON.stringify(kept) }),
    ...(fileHashes && {
      [LABEL.files]: fileHashes.all,
      [LABEL.eachFile]: JSON.stringify(fileHashes.each),
    }),
  };
}

interface JoinedNetwork {
  network: string;
  endpoint: EndpointSettings;
}

/** The networks in the order in which Compose joins them: by priority, then by key. */
function networksOf(context: ContainerContext): JoinedNetwork[] {
  const { project, key, number, findPeer } = context;
  const service = project.services[key]!;
  const joined = Object.entries(service.networks ?? {}).sort(([a, one], [b, other]) =>
    (other?.priority ?? 0) - (one?.priority ?? 0) || (a < b ? -1 : 1)
  );
  const links = linksOf(service, findPeer);
  return joined.map(([network, settings]) => {
    const { ipv4_address, ipv6_address, link_local_ips, mac_address } = settings ?? {};
    const hasAddress = ipv4_address ?? ipv6_address ?? link_local_ips;
    return {
      network: project.networks[network]?.name ?? network,
      endpoint: definedFields({
        Aliases: [
          ...new Set([containerNameOf(project, key, number), key, ...settings?.aliases ?? []]),
        ],
        Links: links.length > 0 ? links : undefined,
        IPAMConfig: hasAddress === undefined ? undefined : definedFields({
          IPv4Address: ipv4_address,
          IPv6Address: ipv6_address,
          LinkLocalIPs: link_local_ips,
        }),
        MacAddress: mac_address,
        DriverOpts: settings?.driver_opts,
        GwPriority: settings?.gw_priority,
      }),
    };
  });
}

/** Links as `container:alias`. */
function linksOf({ links = [], external_links = [] }: Service, findPeer: FindPeer): string[] {
  return [
    ...links.map((link) => {
      const [service = "", alias = service] = link.split(":");
      return `${findPeer(service).name}:${alias}`;
    }),
    ...external_links.map((link) => link.includes(":") ? link : `${link}:${link}`),
  ];
}
