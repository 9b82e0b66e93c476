/**
 * Container operations of the engine's API. Functions in this folder are named after the operation
 * ids of its documentation (https://docs.docker.com/reference/api/engine/).
 *
 * @module
 */

import type { CallPath } from "./calls.ts";
import type { Engine } from "./client.ts";
import type {
  ContainerConfig,
  EndpointSettings,
  HostConfig,
  MountPoint,
} from "./container_config.ts";
import { runningJson } from "./container_stats.ts";
import { type Filters, filtersText, type Signal, withMargin } from "./query.ts";
import { segment } from "./path.ts";
import { LIST_LIMITS, type Shortened } from "./shortened_json.ts";

export * from "./container_config.ts";
export * from "./container_inspect.ts";
export * from "./container_logs.ts";
export { containerStats } from "./container_stats.ts";
export type { BlkioEntry, ContainerStats } from "./container_stats.ts";

/** One entry of `GET /containers/json`. */
export interface ContainerSummary extends Shortened {
  Id: string;
  /** With a leading slash. */
  Names: string[];
  /** The reference it was created from; the image's id if that now names another image. */
  Image: string;
  ImageID?: string;
  Command: string;
  /** Unix seconds. */
  Created: number;
  /** created, running, paused, restarting, removing, exited or dead. */
  State: string;
  /** E.g. `Up 3 minutes (healthy)`. */
  Status: string;
  /** Since API 1.52. */
  Health?: { Status?: string; FailingStreak?: number };
  Labels: Record<string, string> | null;
  HostConfig?: { NetworkMode?: string; [field: string]: unknown };
  NetworkSettings?: { Networks?: Record<string, EndpointSettings> | null } | null;
  Mounts: MountPoint[] | null;
  /** Only with `size`. */
  SizeRw?: number;
  SizeRootFs?: number;
  [field: string]: unknown;
}

/** Request body of `POST /containers/create`. */
export interface ContainerCreateBody extends ContainerConfig {
  HostConfig?: HostConfig;
  NetworkingConfig?: { EndpointsConfig?: Record<string, EndpointSettings> };
}

/**
 * Longest creation, start or removal of a container, whose files may be many and on a slow disk; and
 * longest stop with an unknown timeout of the container, in seconds.
 */
const SLOW_MAX_S = 600;

/** Longest stop with the container's own timeout, in seconds. */
const GRACE_MAX_S = 3_600;

/** Whether the engine changed anything. */
export interface Changed {
  changed: boolean;
}

/** Containers, newest first; only running ones without `all`. */
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
    limits: LIST_LIMITS,
  });
}

/**
 * Creates a container without starting it.
 *
 * @param request.platform E.g. `linux/arm64`, which the image must have; since API 1.41.
 * @throws {EngineError} 404 if the image does not exist locally; 409 if the name is taken; 400.
 */
export async function containerCreate(
  engine: Engine,
  { name, platform, body, signal }:
    & { name?: string | undefined; platform?: string | undefined; body: ContainerCreateBody }
    & Signal,
): Promise<{ id: string; warnings: string[] }> {
  const created = await engine.json<{ Id: string; Warnings: string[] | null }>(
    "POST",
    "/containers/create",
    { query: { name, platform }, body, signal, long: true, headTimeoutMs: withMargin(SLOW_MAX_S) },
  );
  return { id: created.Id, warnings: created.Warnings ?? [] };
}

/**
 * Starts a container. The engine may have to change the owner of many files first, or to mount a slow
 * volume, and does not answer other requests about the container until then.
 *
 * @returns `changed` false if it was already running.
 * @throws {EngineError} 404 if the container does not exist; 400, 409 or 500 if it cannot start.
 */
export function containerStart(engine: Engine, id: string, { signal }: Signal = {}) {
  return postAction(
    engine,
    `/containers/${segment("container", id)}/start`,
    {},
    SLOW_MAX_S,
    signal,
  );
}

/**
 * Stops a container: its stop signal, then SIGKILL after `timeoutS` (default: the container's own
 * timeout, otherwise 10). Waits until it has stopped.
 *
 * @returns `changed` false if it was not running.
 * @throws {EngineError} 404 if the container does not exist.
 */
export function containerStop(
  engine: Engine,
  id: string,
  { timeoutS, graceS, signal }: {
    timeoutS?: number | undefined;
    /** The container's own timeout, if known: the longest wait without `timeoutS`. */
    graceS?: number | undefined;
  } & Signal = {},
): Promise<Changed> {
  // -1 is an unlimited one.
  const graceMaxS = graceS !== undefined && graceS >= 0
    ? Math.min(graceS, GRACE_MAX_S)
    : GRACE_MAX_S;
  const ownS = graceS === undefined ? SLOW_MAX_S : Math.max(graceMaxS, SLOW_MAX_S);
  return postAction(
    engine,
    `/containers/${segment("container", id)}/stop`,
    { t: timeoutS },
    timeoutS ?? ownS,
    signal,
  );
}

/**
 * Stops (as `containerStop()`) and starts a container; a stopped container is started.
 *
 * @throws {EngineError} 404 if the container does not exist.
 */
export async function containerRestart(
  engine: Engine,
  id: string,
  { timeoutS, signal }: { timeoutS?: number | undefined } & Signal = {},
): Promise<void> {
  await postAction(
    engine,
    `/containers/${segment("container", id)}/restart`,
    { t: timeoutS },
    timeoutS,
    signal,
  );
}

/**
 * Suspends all processes of a container.
 *
 * @throws {EngineError} 404 if the container does not exist; 409 if it is paused or not running.
 */
export async function containerPause(
  engine: Engine,
  id: string,
  { signal }: Signal = {},
): Promise<void> {
  await postAction(engine, `/containers/${segment("container", id)}/pause`, {}, 60, signal);
}

/**
 * Resumes a paused container.
 *
 * @throws {EngineError} 404 if the container does not exist; 409 if it is not paused.
 */
export async function containerUnpause(
  engine: Engine,
  id: string,
  { signal }: Signal = {},
): Promise<void> {
  await postAction(engine, `/containers/${segment("container", id)}/unpause`, {}, 60, signal);
}

/**
 * Sends a signal to the first process of a container. Docker waits for the end after SIGKILL.
 *
 * @param options.name Name or number of the signal, e.g. `SIGHUP`, `HUP` or `1`.
 * @throws {EngineError} 404 if the container does not exist; 409 if it is not running; 400 or 500
 * for an unknown signal.
 */
export async function containerKill(
  engine: Engine,
  id: string,
  { name, signal }: { name: string } & Signal,
): Promise<void> {
  await postAction(
    engine,
    `/containers/${segment("container", id)}/kill`,
    { signal: name },
    60,
    signal,
  );
}

/** @throws {EngineError} 404 if the container does not exist; 409 if the name is taken. */
export async function containerRename(
  engine: Engine,
  id: string,
  { name, signal }: { name: string } & Signal,
): Promise<void> {
  await postAction(engine, `/containers/${segment("container", id)}/rename`, { name }, 30, signal);
}

/**
 * Removes a container.
 *
 * @param options.force Kills it first if it is running.
 * @param options.volumes Also removes its anonymous volumes.
 * @throws {EngineError} 404 if the container does not exist; 409 if it is running or being removed.
 */
export async function containerRemove(
  engine: Engine,
  id: string,
  { force, volumes, signal }: {
    force?: boolean | undefined;
    volumes?: boolean | undefined;
  } & Signal = {},
): Promise<void> {
  await engine.send("DELETE", `/containers/${segment("container", id)}`, {
    query: { force, v: volumes },
    signal,
    long: true,
    headTimeoutMs: withMargin(SLOW_MAX_S),
  });
}

/**
 * Waits until a container has stopped. One that does not run has stopped, also before its first start.
 *
 * @param request.timeoutS Longest wait.
 * @returns Its exit code.
 * @throws {EngineError} 404 if the container does not exist.
 */
export async function containerWait(
  engine: Engine,
  id: string,
  { timeoutS, signal }: { timeoutS: number } & Signal,
): Promise<number> {
  const { StatusCode } = await engine.json<{ StatusCode: number }>(
    "POST",
    `/containers/${segment("container", id)}/wait`,
    { signal, long: true, headTimeoutMs: withMargin(timeoutS) },
  );
  return StatusCode;
}

/** Response of `GET /containers/{id}/top`. */
export interface ContainerTop {
  Titles: string[];
  /** One row per process, one cell per title. */
  Processes: string[][];
}

/**
 * Processes in a container.
 *
 * @throws {EngineError} 404 if the container does not exist; 409 if it is not running.
 */
export async function containerTop(engine: Engine, id: string): Promise<ContainerTop> {
  const path = `/containers/${segment("container", id)}/top` as const;
  const { Titles, Processes } = await runningJson<Partial<ContainerTop>>(engine, id, path, {});
  return splitColumns({ Titles: Titles ?? [], Processes: Processes ?? [] });
}

/** Splits rows that Podman returns unsplit for a container's own `ps`. */
function splitColumns({ Titles, Processes }: ContainerTop): ContainerTop {
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

/** The engine responds with 304 if the container is already in the desired state. */
async function postAction(
  engine: Engine,
  path: CallPath<"POST">,
  query: Record<string, string | number | undefined>,
  maxSeconds: number | undefined,
  signal: AbortSignal | undefined,
): Promise<Changed> {
  const response = await engine.send("POST", path, {
    query,
    signal,
    long: true,
    headTimeoutMs: withMargin(maxSeconds ?? SLOW_MAX_S),
  });
  return { changed: response.status !== 304 };
}

/** The id or name of the container whose namespace a mode shares. */
export function sharedContainer(mode: string | undefined): string | undefined {
  return mode?.startsWith("container:") ? mode.slice("container:".length) : undefined;
}
