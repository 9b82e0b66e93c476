/**
 * Container operations of the engine's API. Functions here and in the neighboring files are named
 * after the operation ids of its documentation (https://docs.docker.com/reference/api/engine/).
 *
 * @module
 */

import type { Engine } from "./client.ts";
import type {
  ContainerConfig,
  EndpointSettings,
  HostConfig,
  MountPoint,
} from "./container_config.ts";
import { runningJson } from "./container_stats.ts";
import { type Filters, filtersText, withMargin } from "./query.ts";
import { segment } from "./path.ts";

export * from "./container_config.ts";
export * from "./container_inspect.ts";
export * from "./container_logs.ts";
export { containerStats } from "./container_stats.ts";
export type {
  BlkioEntry,
  ContainerStats,
  CpuStats,
  MemoryStats,
  NetworkStats,
} from "./container_stats.ts";

export interface ContainerPort {
  IP?: string;
  PrivatePort: number;
  /** Missing where the port is exposed, but not published. */
  PublicPort?: number;
  Type: string;
}

/** One entry of `GET /containers/json`. */
export interface ContainerSummary {
  Id: string;
  /** With a leading slash. */
  Names: string[];
  /** As it was asked for; the id where that reference has moved on. */
  Image: string;
  ImageID: string;
  Command: string;
  /** Unix seconds. */
  Created: number;
  /** created, running, paused, restarting, removing, exited or dead. */
  State: string;
  /** E.g. `Up 3 minutes (healthy)`. */
  Status: string;
  /** Since API 1.52. */
  Health?: { Status?: string; FailingStreak?: number };
  Ports: ContainerPort[] | null;
  Labels: Record<string, string> | null;
  HostConfig?: { NetworkMode?: string; [field: string]: unknown };
  NetworkSettings?: { Networks?: Record<string, EndpointSettings> | null } | null;
  Mounts: MountPoint[] | null;
  /** Only with `size`. */
  SizeRw?: number;
  SizeRootFs?: number;
  [field: string]: unknown;
}

/** What `POST /containers/create` takes. */
export interface ContainerCreateBody extends ContainerConfig {
  HostConfig?: HostConfig;
  NetworkingConfig?: { EndpointsConfig?: Record<string, EndpointSettings> };
}

/** Whether the engine had anything to do. */
export interface Changed {
  changed: boolean;
}

interface Signal {
  signal?: AbortSignal | undefined;
}

/** Containers, newest first; only running ones unless `all`. */
export function containerList(
  engine: Engine,
  { all, filters, size, signal }: {
    all?: boolean | undefined;
    /** E.g. `{ label: ["a=b"], status: ["exited"] }`. */
    filters?: Filters | undefined;
    /** Expensive on the engine: seconds to minutes. */
    size?: boolean | undefined;
  } & Signal = {},
): Promise<ContainerSummary[]> {
  return engine.json("GET", "/containers/json", {
    query: { all, size, filters: filtersText(filters) },
    signal,
    long: size ?? false,
  });
}

/**
 * Creates a container; it does not start.
 *
 * @param options.platform E.g. `linux/arm64`; only for images of several platforms.
 * @throws {EngineError} 404 when the image is not there; 409 when the name is taken; 400.
 */
export async function containerCreate(
  engine: Engine,
  { name, body, platform, signal }: {
    name?: string | undefined;
    body: ContainerCreateBody;
    platform?: string | undefined;
  } & Signal,
): Promise<{ id: string; warnings: string[] }> {
  const created = await engine.json<{ Id: string; Warnings: string[] | null }>(
    "POST",
    "/containers/create",
    { query: { name, platform }, body, signal, long: true, headTimeoutMs: withMargin(60) },
  );
  return { id: created.Id, warnings: created.Warnings ?? [] };
}

/**
 * Starts a container.
 *
 * @returns `changed` false when it already ran.
 * @throws {EngineError} 404 when there is no such container; 400, 409 or 500 when it cannot start.
 */
export function containerStart(engine: Engine, id: string, { signal }: Signal = {}) {
  return changing(engine, id, "start", {}, 120, signal);
}

/**
 * Stops a container: its stop signal, then SIGKILL after `timeoutS` (default the container's own,
 * else 10). Waits for the end of it.
 *
 * @returns `changed` false when it did not run.
 * @throws {EngineError} 404 when there is no such container.
 */
export function containerStop(
  engine: Engine,
  id: string,
  { timeoutS, signal }: { timeoutS?: number | undefined } & Signal = {},
): Promise<Changed> {
  return changing(engine, id, "stop", { t: timeoutS }, timeoutS, signal);
}

/**
 * Stops (as `containerStop()`) and starts a container; one that does not run is started.
 *
 * @throws {EngineError} 404 when there is no such container.
 */
export async function containerRestart(
  engine: Engine,
  id: string,
  { timeoutS, signal }: { timeoutS?: number | undefined } & Signal = {},
): Promise<void> {
  await changing(engine, id, "restart", { t: timeoutS }, timeoutS, signal);
}

/**
 * Sends a signal, by default SIGKILL.
 *
 * @throws {EngineError} 404 when there is no such container; 409 when it does not run.
 */
export async function containerKill(
  engine: Engine,
  id: string,
  { killSignal, signal }: { killSignal?: string | undefined } & Signal = {},
): Promise<void> {
  await changing(engine, id, "kill", { signal: killSignal }, 30, signal);
}

/** @throws {EngineError} 404 when there is no such container; 409 when the name is taken. */
export async function containerRename(
  engine: Engine,
  id: string,
  { name, signal }: { name: string } & Signal,
): Promise<void> {
  await changing(engine, id, "rename", { name }, 30, signal);
}

/**
 * Removes a container.
 *
 * @param options.force Kills it first when it runs.
 * @param options.volumes Removes its anonymous volumes, too.
 * @throws {EngineError} 404 when there is no such container; 409 when it runs, or is being removed.
 */
export async function containerRemove(
  engine: Engine,
  id: string,
  { force, volumes, signal }: {
    force?: boolean | undefined;
    volumes?: boolean | undefined;
  } & Signal = {},
): Promise<void> {
  const response = await engine.request("DELETE", `/containers/${segment("container", id)}`, {
    query: { force, v: volumes },
    signal,
    long: true,
    headTimeoutMs: withMargin(120),
  });
  await response.bytes();
}

/** Answer of `GET /containers/{id}/top`. */
export interface ContainerTop {
  Titles: string[];
  /** One row per process, one text per title. */
  Processes: string[][];
}

/**
 * Processes in a container.
 *
 * @param options.psArgs Arguments for `ps` on the engine's host, e.g. `-eo pid,args`.
 * @throws {EngineError} 404 when there is no such container; 409 when it does not run.
 */
export async function containerTop(
  engine: Engine,
  id: string,
  { psArgs, signal }: { psArgs?: string | undefined } & Signal = {},
): Promise<ContainerTop> {
  const { Titles, Processes } = await runningJson<Partial<ContainerTop>>(engine, id, "top", {
    query: { ps_args: psArgs },
    signal,
  });
  return inColumns({ Titles: Titles ?? [], Processes: Processes ?? [] });
}

/** Podman may leave the lines of a container's own `ps` in one piece. */
function inColumns({ Titles, Processes }: ContainerTop): ContainerTop {
  const titles = Titles.length === 1 ? Titles[0]!.trim().split(/\s+/) : Titles;
  if (titles.length === Titles.length) return { Titles, Processes };
  return {
    Titles: titles,
    Processes: Processes.map((row) => {
      const words = row.join(" ").trim().split(/\s+/);
      const last = titles.length - 1;
      return [...words.slice(0, last), words.slice(last).join(" ")];
    }),
  };
}

/**
 * Removes every container that does not run.
 *
 * @returns Ids of what went, and the bytes that they had occupied.
 */
export async function containerPrune(
  engine: Engine,
  { filters, signal }: { filters?: Filters | undefined } & Signal = {},
): Promise<{ deleted: string[]; spaceReclaimed: number }> {
  const pruned = await engine.json<
    { ContainersDeleted?: string[] | null; SpaceReclaimed?: number } | null
  >("POST", "/containers/prune", {
    query: { filters: filtersText(filters) },
    signal,
    long: true,
    headTimeoutMs: withMargin(600),
  });
  return { deleted: pruned?.ContainersDeleted ?? [], spaceReclaimed: pruned?.SpaceReclaimed ?? 0 };
}

/** The engine answers 304 where the container already is what it shall become. */
async function changing(
  engine: Engine,
  id: string,
  verb: string,
  query: Record<string, string | number | undefined>,
  longestS: number | undefined,
  signal: AbortSignal | undefined,
): Promise<Changed> {
  const response = await engine.request("POST", `/containers/${segment("container", id)}/${verb}`, {
    query,
    signal,
    long: true,
    headTimeoutMs: withMargin(longestS ?? OWN_TIMEOUT_MAX_S),
  });
  await response.bytes();
  return { changed: response.status !== 304 };
}

/** How long a container's own stop timeout is waited for, when the caller names none. */
const OWN_TIMEOUT_MAX_S = 600;
