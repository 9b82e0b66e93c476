/** Resource use of containers as the engine reports it. @module */

import type { CallPath } from "./calls.ts";
import type { Engine, RequestOptions } from "./client.ts";
import { EngineError } from "./errors.ts";
import { segment } from "./path.ts";
import type { Signal } from "./query.ts";
import { OBJECT_LIMITS } from "./shortened_json.ts";

export interface CpuStats {
  cpu_usage: {
    /** Nanoseconds on all cores since the container started. */
    total_usage: number;
    /** Per core; cgroup v1 only. */
    percpu_usage?: number[] | null;
    usage_in_kernelmode?: number;
    usage_in_usermode?: number;
  };
  /** Nanoseconds of the whole host; missing in the sample before the first. */
  system_cpu_usage?: number;
  /** Missing on old engines: use the length of `percpu_usage`. */
  online_cpus?: number;
  throttling_data?: { periods: number; throttled_periods: number; throttled_time: number };
  [field: string]: unknown;
}

export interface MemoryStats {
  /** Bytes, including page cache. Missing while the container is not running. */
  usage?: number;
  /** cgroup v1 only. */
  max_usage?: number;
  failcnt?: number;
  /** Bytes; the host's memory if unlimited. */
  limit?: number;
  /**
   * `total_inactive_file` (cgroup v1) or `inactive_file` (cgroup v2) is what the engine's own
   * command line subtracts from `usage`. Missing on Podman 4.
   */
  stats?: Record<string, number> | null;
  [field: string]: unknown;
}

export interface BlkioEntry {
  major: number;
  minor: number;
  /** `Read`, `Write`, `Sync`, ... on cgroup v1; lower case on v2. */
  op: string;
  value: number;
}

export interface NetworkStats {
  rx_bytes: number;
  rx_packets: number;
  rx_errors: number;
  rx_dropped: number;
  tx_bytes: number;
  tx_packets: number;
  tx_errors: number;
  tx_dropped: number;
}

/** One sample of `GET /containers/{id}/stats`. */
export interface ContainerStats {
  /**
   * When the sample was taken, RFC 3339; `0001-01-01T00:00:00Z` if the container is not running.
   */
  read: string;
  preread?: string;
  id?: string;
  name?: string;
  num_procs?: number;
  pids_stats?: { current?: number; limit?: number };
  cpu_stats: CpuStats;
  /** The previous sample; without figures with `oneShot`. */
  precpu_stats?: Partial<CpuStats>;
  memory_stats: MemoryStats;
  blkio_stats?: {
    io_service_bytes_recursive?: BlkioEntry[] | null;
    io_serviced_recursive?: BlkioEntry[] | null;
    [field: string]: unknown;
  };
  /** By interface; missing for containers in the host's or another container's network. */
  networks?: Record<string, NetworkStats> | null;
  [field: string]: unknown;
}

/**
 * One sample. It takes the engine up to 1 s with `oneShot` (without CPU figures of the previous
 * sample; compute the difference from an earlier one), about 2 s without.
 *
 * @throws {EngineError} 404 if the container does not exist; 409 if it is not running (Docker
 * returns a sample without figures instead).
 */
export function containerStats(
  engine: Engine,
  id: string,
  { oneShot = true, signal }: {
    oneShot?: boolean | undefined;
  } & Signal = {},
): Promise<ContainerStats> {
  return runningJson(engine, id, `/containers/${segment("container", id)}/stats`, {
    query: { stream: false, "one-shot": oneShot ? true : undefined },
    signal,
    long: true,
  });
}

/**
 * Reads JSON about a running container; for others, Podman returns an empty body.
 *
 * @throws {EngineError} 404 if the container does not exist; 409 if it is not running.
 */
export async function runningJson<T>(
  engine: Engine,
  id: string,
  path: CallPath<"GET">,
  options: RequestOptions,
): Promise<T> {
  const response = await engine.request("GET", path, options);
  const found = await response.shortenedJson<T>(OBJECT_LIMITS);
  if (found === undefined) throw new EngineError(409, `Container ${id} is not running`);
  return found;
}
