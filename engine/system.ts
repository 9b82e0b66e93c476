/** The engine itself: version, host and disk usage. @module */

import type { Engine } from "./client.ts";
import { EngineError } from "./errors.ts";
import { type Filters, filtersText, isAtLeast, type Signal, withMargin } from "./query.ts";
import { LIST_LIMITS } from "./shortened_json.ts";

/** Response of `GET /version`. */
export interface EngineVersion {
  Version: string;
  ApiVersion: string;
  MinAPIVersion?: string;
  Os?: string;
  KernelVersion?: string;
  Platform?: { Name?: string };
  Components?: { Name: string; Version: string; Details?: Record<string, string> | null }[] | null;
  [field: string]: unknown;
}

/** Response of `GET /info`; the commonly used fields. */
export interface EngineInfo {
  ID?: string;
  Name: string;
  ServerVersion?: string;
  Containers: number;
  ContainersRunning: number;
  ContainersPaused: number;
  ContainersStopped: number;
  Images: number;
  Driver?: string;
  /** `"1"` or `"2"`; missing on old engines. */
  CgroupVersion?: string;
  /** Has `io.containerd.snapshotter.v1` if images are in containerd's store. */
  DriverStatus?: [name: string, value: string][] | null;
  KernelVersion?: string;
  OperatingSystem?: string;
  /** `linux` or `windows`. */
  OSType?: string;
  /** As the kernel names it, e.g. `x86_64`. */
  Architecture?: string;
  /** Empty if devices cannot be requested by a CDI name; since API 1.44. */
  CDISpecDirs?: string[] | null;
  /** Since API 1.50. */
  DiscoveredDevices?: { Source?: string; ID?: string }[] | null;
  NCPU: number;
  /** Bytes. */
  MemTotal: number;
  DockerRootDir?: string;
  /** E.g. `runc`. */
  DefaultRuntime?: string;
  /** E.g. `json-file`. */
  LoggingDriver?: string;
  Labels?: string[] | null;
  /** E.g. `name=seccomp,profile=default`, `name=rootless`. */
  SecurityOptions?: string[] | null;
  Warnings?: string[] | null;
  Swarm?: {
    NodeID?: string;
    /** inactive, pending, active, error or locked. */
    LocalNodeState?: string;
    /** Whether this node is a manager. */
    ControlAvailable?: boolean;
    /** Why it is not active, or that the swarm has no leader. */
    Error?: string;
    /** Managers that the node knows, with address and port. */
    RemoteManagers?: { NodeID?: string; Addr?: string }[] | null;
    [field: string]: unknown;
  } | null;
  [field: string]: unknown;
}

/** Whether the engine keeps the images of several platforms under one name. */
export const hasContainerdStore = ({ DriverStatus }: Partial<EngineInfo>): boolean =>
  DriverStatus?.some(([, value]) => value === "io.containerd.snapshotter.v1") ?? false;

/** Number of objects, and their bytes on disk. */
export interface DiskUsagePart {
  count: number;
  size: number;
}

/** `/system/df`, in the same form for all API versions. */
export interface DiskUsage {
  containers: DiskUsagePart;
  /** Shared layers are counted once. */
  images: DiskUsagePart;
  volumes: DiskUsagePart & {
    /** `size` and `refCount` are -1 if unknown. */
    items: { name: string; size: number; refCount: number }[];
  };
  buildCache: DiskUsagePart & { items: BuildCacheRecord[] };
}

/** One record of the build cache. */
export interface BuildCacheRecord {
  id: string;
  /** E.g. `regular`, `source.local`, `internal`, `frontend`. */
  type: string;
  size: number;
  inUse: boolean;
  shared: boolean;
  /** RFC 3339: the last use, or the creation of a record that was never used. */
  lastUsedAt: string | undefined;
}

export async function systemPing(engine: Engine, { signal }: Signal = {}): Promise<void> {
  await engine.send("GET", "/_ping", { signal, headTimeoutMs: 5_000 });
}

export function systemVersion(engine: Engine, { signal }: Signal = {}): Promise<EngineVersion> {
  return engine.json("GET", "/version", { signal });
}

export const systemInfo = (engine: Engine): Promise<EngineInfo> => engine.json("GET", "/info");

/**
 * Disk usage by kind. The engine scans its whole storage for this, which can take minutes.
 *
 * @throws {EngineError} 409 if the engine is already computing it.
 */
export async function systemDiskUsage(engine: Engine): Promise<DiskUsage> {
  if (engine.apiVersion === undefined) await systemPing(engine);
  const usage = await engine.json<WireDiskUsage>("GET", "/system/df", {
    // Since 1.52 required for the list of volumes.
    query: { verbose: isAtLeast(engine.apiVersion, "1.52") ? true : undefined },
    long: true,
    headTimeoutMs: DISK_USAGE_TIMEOUT_MS,
    limits: LIST_LIMITS,
  });
  return toDiskUsage(usage);
}

/** Removes the unused build cache. On Podman, which has none, nothing is removed. */
export async function buildPrune(
  engine: Engine,
  { filters }: { filters?: Filters | undefined } = {},
): Promise<{ deleted: string[]; spaceReclaimed: number }> {
  try {
    const pruned = await engine.json<
      { CachesDeleted?: string[] | null; SpaceReclaimed?: number } | null
    >("POST", "/build/prune", {
      query: { filters: filtersText(filters) },
      long: true,
      headTimeoutMs: withMargin(600),
    });
    return { deleted: pruned?.CachesDeleted ?? [], spaceReclaimed: pruned?.SpaceReclaimed ?? 0 };
  } catch (error) {
    if (engine.kind === "podman" && error instanceof EngineError && error.status === 404) {
      return { deleted: [], spaceReclaimed: 0 };
    }
    throw error;
  }
}

const DISK_USAGE_TIMEOUT_MS = 900_000;

interface WireCacheRecord {
  ID?: string;
  Type?: string;
  Size?: number;
  InUse?: boolean;
  Shared?: boolean;
  CreatedAt?: string;
  LastUsedAt?: string | null;
}

interface WireVolume {
  Name: string;
  UsageData?: { Size?: number; RefCount?: number } | null;
}

/** Since API 1.52. */
interface WireUsagePart<Item> {
  TotalCount?: number;
  TotalSize?: number;
  Items?: Item[] | null;
}

interface WireDiskUsage {
  LayersSize?: number;
  Images?: { Size?: number }[] | null;
  Containers?: { SizeRw?: number }[] | null;
  Volumes?: WireVolume[] | null;
  BuildCache?: WireCacheRecord[] | null;
  ImageUsage?: WireUsagePart<unknown>;
  ContainerUsage?: WireUsagePart<unknown>;
  VolumeUsage?: WireUsagePart<WireVolume>;
  BuildCacheUsage?: WireUsagePart<WireCacheRecord>;
}

/**
 * Converts the response of any API version. Up to API 1.52 it has lists of all objects, since 1.52
 * also totals, and since 1.53 only totals
 * (https://docs.docker.com/reference/api/engine/version-history/).
 */
function toDiskUsage(usage: WireDiskUsage): DiskUsage {
  const volumes = usage.VolumeUsage?.Items ?? usage.Volumes ?? [];
  return {
    containers: sumUp(usage.ContainerUsage, usage.Containers, (container) => container.SizeRw),
    images: {
      ...sumUp(usage.ImageUsage, usage.Images, (image) => image.Size),
      // Always 0 on Podman.
      ...(usage.ImageUsage === undefined && usage.LayersSize ? { size: usage.LayersSize } : {}),
    },
    volumes: {
      ...sumUp(usage.VolumeUsage, usage.Volumes, (volume) => volume.UsageData?.Size),
      items: volumes.map(({ Name, UsageData }) => ({
        name: Name,
        size: UsageData?.Size ?? -1,
        refCount: UsageData?.RefCount ?? -1,
      })),
    },
    buildCache: {
      ...sumUp(
        usage.BuildCacheUsage,
        usage.BuildCache,
        (record) => record.Shared ? 0 : record.Size,
      ),
      items: (usage.BuildCacheUsage?.Items ?? usage.BuildCache ?? []).map(toCacheRecord),
    },
  };
}

function toCacheRecord(record: WireCacheRecord): BuildCacheRecord {
  return {
    id: record.ID ?? "",
    type: record.Type ?? "",
    size: Math.max(0, record.Size ?? 0),
    inUse: record.InUse ?? false,
    shared: record.Shared ?? false,
    lastUsedAt: record.LastUsedAt ?? record.CreatedAt,
  };
}

function sumUp<Item>(
  totals: WireUsagePart<unknown> | undefined,
  items: Item[] | null | undefined,
  sizeOf: (item: Item) => number | undefined,
): DiskUsagePart {
  if (totals) {
    return { count: totals.TotalCount ?? totals.Items?.length ?? 0, size: totals.TotalSize ?? 0 };
  }
  let size = 0;
  // Unknown sizes are -1.
  for (const item of items ?? []) size += Math.max(0, sizeOf(item) ?? 0);
  return { count: items?.length ?? 0, size };
}
