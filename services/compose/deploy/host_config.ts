/** The part of a container's configuration that depends on the host, from a service. @module */

import type {
  ContainerInspect,
  HostConfig,
  MountRequest,
  PortMap,
  RestartPolicy,
} from "../../../engine/containers.ts";
import type { Mount } from "../load/mounts.ts";
import { fieldsOf, HOST_FIELDS } from "./fields.ts";
import type { Project, Service } from "../load/resolve.ts";
import { grantsOf, keptVolumes } from "../plan/mounts.ts";

/** Containers of other services, as references to them need. */
export interface Peer {
  id: string;
  name: string;
}

/** Returns the first container of a service. @throws {AppError} Without one. */
export type FindPeer = (service: string) => Peer;

const size = (bytes: string | undefined) => bytes === undefined ? undefined : Number(bytes);

/** Devices that the engine chooses. */
export interface DeviceRequest {
  Driver?: string;
  /** -1 for all. */
  Count?: number;
  DeviceIDs?: string[] | null | undefined;
  Capabilities?: string[][] | null;
  Options?: Record<string, string> | null;
}

/** Without networks and mounts. Undefined fields are left to the engine. */
export function hostConfigOf(service: Service, findPeer: FindPeer): Record<string, unknown> {
  const { blkio_config: blkio, deploy, logging } = service;
  const { limits, reservations } = deploy?.resources ?? {};
  const cpus = service.cpus ?? limits?.cpus;
  return {
    ...fieldsOf(service, HOST_FIELDS),
    Annotations: service.annotations,
    BlkioWeight: blkio?.weight,
    BlkioWeightDevice: blkio?.weight_device?.map(({ path, weight }) => ({
      Path: path,
      Weight: weight,
    })),
    BlkioDeviceReadBps: rates(blkio?.device_read_bps),
    BlkioDeviceReadIOps: rates(blkio?.device_read_iops),
    BlkioDeviceWriteBps: rates(blkio?.device_write_bps),
    BlkioDeviceWriteIOps: rates(blkio?.device_write_iops),
    CapAdd: service.cap_add,
    CapDrop: service.cap_drop,
    CgroupnsMode: service.cgroup,
    NanoCpus: cpus === undefined ? undefined : Math.round(Number(cpus) * 1e9),
    Devices: service.devices?.filter(({ target }) => target !== undefined).map((device) => ({
      PathOnHost: device.source,
      PathInContainer: device.target,
      CgroupPermissions: device.permissions ?? "rwm",
    })),
    DeviceRequests: deviceRequests(service),
    // The engines before 27 accept a colon only.
    ExtraHosts: service.extra_hosts?.map((entry) => entry.replace("=", ":")),
    IpcMode: namespaceOf(service.ipc, findPeer),
    Isolation: service.isolation,
    LogConfig: logging && { Type: logging.driver ?? "", Config: logging.options ?? {} },
    Memory: size(service.mem_limit ?? limits?.memory),
    MemoryReservation: size(service.mem_reservation ?? reservations?.memory),
    MemorySwap: size(service.memswap_limit),
    PidMode: namespaceOf(service.pid, findPeer),
    PidsLimit: service.pids_limit ?? limits?.pids,
    PortBindings: portBindings(service),
    RestartPolicy: restartPolicyOf(service),
    Runtime: service.runtime,
    SecurityOpt: service.security_opt,
    ShmSize: size(service.shm_size),
    Tmpfs: service.tmpfs && Object.fromEntries(
      service.tmpfs.map((entry) => {
        const colon = entry.indexOf(":");
        return colon < 0 ? [entry, ""] : [entry.slice(0, colon), entry.slice(colon + 1)];
      }),
    ),
    Ulimits: service.ulimits &&
      Object.entries(service.ulimits).map(([Name, limit]) =>
        typeof limit === "number"
          ? { Name, Soft: limit, Hard: limit }
          : { Name, Soft: limit.soft, Hard: limit.hard }
      ),
    VolumesFrom: service.volumes_from?.map((entry) => volumesFrom(entry, findPeer)),
  };
}

/** `service:NAME` becomes `container:ID`. */
export function namespaceOf(mode: string | undefined, findPeer: FindPeer): string | undefined {
  const [, service] = /^service:(.+)$/.exec(mode ?? "") ?? [];
  return service === undefined ? mode : `container:${findPeer(service).id}`;
}

function volumesFrom(entry: string, findPeer: FindPeer): string {
  if (entry.startsWith("container:")) return entry.slice("container:".length);
  const [service = "", ...mode] = entry.split(":");
  return [findPeer(service).id, ...mode].join(":");
}

const rates = (list: { path?: string; rate?: string | number }[] | undefined) =>
  list?.map(({ path, rate }) => ({ Path: path, Rate: Number(rate) }));

/** Requests of GPUs and other devices by their properties, and of devices by a CDI name. */
export function deviceRequests({ deploy, devices, gpus }: Service): DeviceRequest[] | undefined {
  const names = (devices ?? []).filter(({ target }) => target === undefined);
  const requests = [...deploy?.resources?.reservations?.devices ?? [], ...gpus ?? []];
  const all = [
    ...requests.map(({ capabilities, count, device_ids, driver, options }) => ({
      Driver: driver ?? "",
      // As Compose does: all devices, unless some are selected.
      Count: count ?? (device_ids ? 0 : -1),
      DeviceIDs: device_ids,
      Capabilities: capabilities ? [capabilities] : [],
      Options: options ?? {},
    })),
    ...(names.length > 0
      ? [{ Driver: "cdi", DeviceIDs: names.map(({ source }) => source), Capabilities: [] }]
      : []),
  ];
  return all.length > 0 ? all : undefined;
}

function portBindings({ ports = [] }: Service): PortMap {
  const bindings: PortMap = {};
  for (const { host_ip, published, target, protocol } of ports) {
    (bindings[`${target}/${protocol}`] ??= []).push({
      HostIp: host_ip ?? "",
      HostPort: published ?? "",
    });
  }
  return bindings;
}

const CONDITIONS: Readonly<Record<string, string>> = { none: "no", any: "always" };

/** The restart policy; that of `deploy` wins. */
export function restartPolicyOf({ restart, deploy }: Service): RestartPolicy | undefined {
  const policy = deploy?.restart_policy;
  if (policy) {
    const condition = policy.condition ?? "any";
    const attempts = condition === "on-failure" ? policy.max_attempts ?? 0 : 0;
    return { Name: CONDITIONS[condition] ?? condition, MaximumRetryCount: attempts };
  }
  const [name, attempts = "0"] = restart?.split(":") ?? [];
  return name === undefined ? undefined : { Name: name, MaximumRetryCount: Number(attempts) };
}

/**
 * The mounts of a service.
 *
 * @param old The container that is replaced; its anonymous volumes stay.
 */
export function mountsOf(
  service: Service,
  project: Project,
  imageVolumes: readonly string[],
  old: Pick<ContainerInspect, "Config" | "Mounts"> | undefined,
): Pick<HostConfig, "Binds" | "Mounts"> {
  const { volumes = [] } = service;
  const binds: string[] = [];
  const mounts: MountRequest[] = grantsOf(service, project).flatMap(({ target, file }) =>
    file === undefined ? [] : [{ Type: "bind", Source: file, Target: target, ReadOnly: true }]
  );
  for (const mount of volumes) {
    const bind = bindText(mount);
    if (bind === undefined) mounts.push(mountRequest(mount, project));
    else binds.push(bind);
  }
  // Those of the Compose file, those that the image declares, and those that an image before declared.
  const named = new Set(
    volumes.filter(({ type, source }) => type !== "volume" || source !== undefined)
      .map(({ target }) => target),
  );
  const kept = old ? keptVolumes(service, imageVolumes, old) : [];
  const wanted = new Set([...imageVolumes, ...volumes.map(({ target }) => target), ...kept]);
  for (const { Type, Name, Destination, RW } of old?.Mounts ?? []) {
    if (Type !== "volume" || !Name || named.has(Destination) || !wanted.has(Destination)) continue;
    const own = mounts.find(({ Target }) => Target === Destination);
    if (own) own.Source = Name;
    else mounts.push({ Type, Source: Name, Target: Destination, ReadOnly: RW === false });
  }
  return { Binds: binds, Mounts: mounts };
}

/** Only the short form lets the engine create a missing directory, and relabel it for SELinux. */
function bindText({ type, source = "", target, read_only, bind }: Mount): string | undefined {
  if (type !== "bind" || source.includes(":")) return undefined;
  if (!bind?.create_host_path && !bind?.selinux) return undefined;
  const options = [read_only ? "ro" : "rw", bind.propagation, bind.selinux].filter(Boolean);
  return `${source}:${target}:${options.join(",")}`;
}

const bindOptions = ({ propagation, recursive }: NonNullable<Mount["bind"]>) => ({
  ...(propagation !== undefined && { Propagation: propagation }),
  ...(recursive === "disabled" && { NonRecursive: true }),
  ...(recursive === "writable" && { ReadOnlyNonRecursive: true }),
  ...(recursive === "readonly" && { ReadOnlyForceRecursive: true }),
});

/** A mount that is not in the short form. */
export function mountRequest(mount: Mount, { volumes }: Project): MountRequest {
  const { type, source, target, read_only, consistency, bind, volume, tmpfs, image } = mount;
  const name = type === "volume" && source !== undefined ? volumes[source]?.name ?? source : source;
  return {
    Type: type,
    Target: target,
    ...(name !== undefined && { Source: name }),
    ...(read_only && { ReadOnly: true }),
    ...(consistency !== undefined && { Consistency: consistency }),
    ...(bind && { BindOptions: bindOptions(bind) }),
    ...(volume && {
      VolumeOptions: {
        ...(volume.nocopy && { NoCopy: true }),
        ...(volume.subpath !== undefined && { Subpath: volume.subpath }),
        ...(volume.labels && { Labels: volume.labels }),
      },
    }),
    ...(tmpfs && {
      TmpfsOptions: {
        ...(tmpfs.size !== undefined && { SizeBytes: Number(tmpfs.size) }),
        ...(tmpfs.mode !== undefined && { Mode: parseInt(tmpfs.mode, 8) }),
      },
    }),
    ...(image?.subpath !== undefined && { ImageOptions: { Subpath: image.subpath } }),
  };
}
