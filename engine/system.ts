/**
 * The engine itself: its version, its host, its use of the disk.
 *
 * @module
 */

import type { Engine } from "./client.ts";
import { EngineError } from "./errors.ts";
import { type Filters, filtersText, isAtLeast, withMargin } from "./query.ts";

/** Answer of `GET /version`. */
export interface EngineVersion {
  Version: string;
  ApiVersion: string;
  MinAPIVersion?: string;
  GitCommit?: string;
  GoVersion?: string;
  Os?: string;
  Arch?: string;
  KernelVersion?: string;
  BuildTime?: string;
  Platform?: { Name?: string };
  Components?: { Name: string; Version: string; Details?: Record<string, string> | null }[] | null;
  [field: string]: unknown;
}

/** Answer of `GET /info`; the fields of common interest. */
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
  CgroupDriver?: string;
  /** `"1"` or `"2"`; missing on old engines. */
  CgroupVersion?: string;
  KernelVersion?: string;
  OperatingSystem?: string;
  OSType?: string;
  Architecture?: string;
  NCPU: number;
  /** Bytes. */
  MemTotal: number;
  DockerRootDir?: string;
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
    [field: string]: unknown;
  } | null;
  [field: string]: unknown;
}

/** Count, and bytes on the disk. */
export interface DiskUsagePart {
  count: number;
  size: number;
}

/** `/system/df` of every API version in one shape. */
export interface DiskUsage {
  containers: DiskUsagePart;
  /** Layers that images share are counted once. */
  images: DiskUsagePart;
  volumes: DiskUsagePart & {
    /** `size` and `refCount` are -1 where the driver does not tell. */
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

interface Signal {
  signal?: AbortSignal | undefined;
}

/** Asks for nothing but an answer. */
export async function systemPing(engine: Engine, { signal }: Signal = {}): Promise<void> {
  const response = await engine.request("GET", "/_ping", { signal, headTimeoutMs: 5_000 });
  await response.bytes();
}

export function systemVersion(engine: Engine, { signal }: Signal = {}): Promise<EngineVersion> {
  return engine.json("GET", "/version", { signal });
}

export function systemInfo(engine: Engine, { signal }: Signal = {}): Promise<EngineInfo> {
  return engine.json("GET", "/info", { signal });
}

/**
 * Disk use by kind. The engine walks its whole storage for this: up to minutes on a real host.
 *
 * @throws {EngineError} 409 on engines that compute it only once at a time.
 */
export async function systemDiskUsage(
  engine: Engine,
  { signal }: Signal = {},
): Promise<DiskUsage> {
  if (engine.apiVersion === undefined) await systemPing(engine, { signal });
  const usage = await engine.json<WireDiskUsage>("GET", "/system/df", {
    // Older engines would ignore it; since 1.52 it brings the single volumes.
    query: { verbose: isAtLeast(engine.apiVersion, "1.52") ? true : undefined },
    signal,
    long: true,
    headTimeoutMs: DISK_USAGE_TIMEOUT_MS,
  });
  return asDiskUsage(usage);
}

/**
 * Removes the build cache that is not in use. Podman has none of its own: nothing is removed there.
 *
 * @param options.all Also what an image could be built from again.
 */
export async function buildPrune(
  engine: Engine,
  { all, filters, signal }: {
    all?: boolean | undefined;
    filters?: Filters | undefined;
  } & Signal = {},
): Promise<{ deleted: string[]; spaceReclaimed: number }> {
  try {
    const pruned = await engine.json<
      { CachesDeleted?: string[] | null; SpaceReclaimed?: number } | null
    >("POST", "/build/prune", {
      query: { all, filters: filtersText(filters) },
      signal,
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

/** Since API 1.52; the counts were named after the kind in its first drafts. */
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
 * Brings the answer into one shape. Up to API 1.52 there are lists of everything, since 1.52 there
 * are sums, and since 1.53 nothing else (https://docs.docker.com/reference/api/engine/version-history/).
 */
function asDiskUsage(usage: WireDiskUsage): DiskUsage {
  const volumes = usage.VolumeUsage?.Items ?? usage.Volumes ?? [];
  return {
    containers: part(usage.ContainerUsage, usage.Containers, (container) => container.SizeRw),
    images: {
      ...part(usage.ImageUsage, usage.Images, (image) => image.Size),
      // Podman always says 0.
      ...(usage.ImageUsage === undefined && usage.LayersSize ? { size: usage.LayersSize } : {}),
    },
    volumes: {
      ...part(usage.VolumeUsage, usage.Volumes, (volume) => volume.UsageData?.Size),
      items: volumes.map(({ Name, UsageData }) => ({
        name: Name,
        size: UsageData?.Size ?? -1,
        refCount: UsageData?.RefCount ?? -1,
      })),
    },
    buildCache: {
      ...part(
        usage.BuildCacheUsage,
        usage.BuildCache,
        (record) => record.Shared ? 0 : record.Size,
      ),
      items: (usage.BuildCacheUsage?.Items ?? usage.BuildCache ?? []).map(asCacheRecord),
    },
  };
}

function asCacheRecord(record: WireCacheRecord): BuildCacheRecord {
  return {
    id: record.ID ?? "",
    type: record.Type ?? "",
    size: Math.max(0, record.Size ?? 0),
    inUse: record.InUse ?? false,
    shared: record.Shared ?? false,
    lastUsedAt: record.LastUsedAt ?? record.CreatedAt,
  };
}

function part<Item>(
  sums: WireUsagePart<unknown> | undefined,
  items: Item[] | null | undefined,
  sizeOf: (item: Item) => number | undefined,
): DiskUsagePart {
  if (sums) {
    return { count: sums.TotalCount ?? sums.Items?.length ?? 0, size: sums.TotalSize ?? 0 };
  }
  let size = 0;
  // Unknown sizes are -1.
  for (const item of items ?? []) size += Math.max(0, sizeOf(item) ?? 0);
  return { count: items?.length ?? 0, size };
}
