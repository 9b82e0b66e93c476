/**
 * Resource use of containers as the engine reports it.
 *
 * @module
 */

import type { Engine, RequestOptions } from "./client.ts";
import { EngineError, EngineProtocolError } from "./errors.ts";
import { segment } from "./path.ts";

export interface CpuStats {
  cpu_usage: {
    /** Nanoseconds of all cores since the start of the container. */
    total_usage: number;
    /** Per core; cgroup v1 only. */
    percpu_usage?: number[] | null;
    usage_in_kernelmode?: number;
    usage_in_usermode?: number;
  };
  /** Nanoseconds of the whole host; missing in the sample before the first. */
  system_cpu_usage?: number;
  /** Missing on old engines; then the length of `percpu_usage` counts. */
  online_cpus?: number;
  throttling_data?: { periods: number; throttled_periods: number; throttled_time: number };
  [field: string]: unknown;
}

export interface MemoryStats {
  /** Bytes with page cache. Missing while the container does not run. */
  usage?: number;
  /** cgroup v1 only. */
  max_usage?: number;
  failcnt?: number;
  /** Bytes; the host's memory where there is no limit. */
  limit?: number;
  /**
   * `total_inactive_file` (cgroup v1) or `inactive_file` (cgroup v2) is what the engine's own
   * command line takes off `usage`. Podman 4 leaves this out.
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
  /** When the sample was taken, RFC 3339; `0001-01-01T00:00:00Z` when the container does not run. */
  read: string;
  preread?: string;
  id?: string;
  name?: string;
  num_procs?: number;
  pids_stats?: { current?: number; limit?: number };
  cpu_stats: CpuStats;
  /** The sample before; empty numbers with `oneShot`. */
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
 * One sample. The engine takes its time: up to 1 s with `oneShot` (no CPU figures of the sample
 * before; compute the difference to an earlier sample), about 2 s without.
 *
 * @throws {EngineError} 404 when there is no such container; 409 when it does not run (Docker
 * answers a sample without figures instead).
 */
export function containerStats(
  engine: Engine,
  id: string,
  { oneShot = true, signal }: {
    oneShot?: boolean | undefined;
    signal?: AbortSignal | undefined;
  } = {},
): Promise<ContainerStats> {
  return runningJson(engine, id, "stats", {
    query: { stream: false, "one-shot": oneShot ? true : undefined },
    signal,
    long: true,
  });
}

/**
 * What the engine tells about a running container; Podman says nothing at all about others.
 *
 * @throws {EngineError} 404 when there is no such container; 409 when it does not run.
 */
export async function runningJson<T>(
  engine: Engine,
  id: string,
  what: string,
  options: RequestOptions,
): Promise<T> {
  const path = `/containers/${segment("container", id)}/${what}`;
  const text = await (await engine.request("GET", path, options)).text();
  if (text === "") throw new EngineError(409, `Container ${id} is not running`);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new EngineProtocolError("The container engine sent an answer that is not JSON", {
      cause,
    });
  }
}
