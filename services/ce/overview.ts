/**
 * The host at a glance. Everything comes from memory: nothing slow is on the way.
 *
 * @module
 */

import { withDeadline } from "../deadline.ts";
import type { Deps } from "../deps.ts";
import { asAppError } from "../errors.ts";
import type { Container } from "../state/inventory.ts";
import type { ReadDeps } from "./containers/reads.ts";
import { currentContainers } from "./containers/containers.ts";
import { type EngineStatus, engineStatus } from "./host/engine_status.ts";
import { type SystemSummary, systemSummary } from "./host/metrics.ts";
import { summarizeStacks } from "./stacks/stacks.ts";

/** How many containers are in which state; `null` while the engine is away. */
export type ContainerCounts = Nullable<{
  running: number;
  /** Every state but running and paused. */
  stopped: number;
  total: number;
  /** Running, but their health check says that they do not work. */
  unhealthy: number;
  paused: number;
}>;

/** How many stacks are in which state; `null` while the engine is away. */
export type StackCounts = Nullable<{
  healthy: number;
  degraded: number;
  stopped: number;
  total: number;
}>;

export interface Overview {
  serverName: string;
  /** The same name; clients read either field. */
  hostname: string;
  system: SystemSummary;
  containers: ContainerCounts;
  stacks: StackCounts;
  engine: EngineStatus;
  /** Clients of the event stream. */
  sseClients: number;
  /** ISO 8601, UTC. */
  timestamp: string;
}

type Nullable<Counts> = { [Name in keyof Counts]: Counts[Name] | null };

/** Longest wait for an engine that nobody follows at the moment, in milliseconds. */
const ENGINE_WAIT_MS = 1_000;

/** @throws {AppError} `unavailable` when `PROC_PATH` cannot be read. */
export async function readOverview(
  deps: ReadDeps & Pick<Deps, "config" | "host" | "now" | "stream">,
): Promise<Overview> {
  const containers = await containersIfReachable(deps);
  const [{ system }, engine] = await Promise.all([
    systemSummary(deps),
    statusGiven(deps, containers),
  ]);
  return {
    serverName: deps.config.serverName,
    hostname: deps.config.serverName,
    system,
    containers: countContainers(containers),
    stacks: countStacks(containers),
    engine,
    sseClients: deps.stream.count,
    timestamp: deps.now().toISOString(),
  };
}

/** All containers, or `undefined` when the engine cannot tell of them (soon enough). */
export async function containersIfReachable(
  deps: ReadDeps,
): Promise<readonly Container[] | undefined> {
  if (deps.inventory.live) return deps.inventory.list();
  try {
    return await withDeadline(currentContainers(deps), ENGINE_WAIT_MS);
  } catch (error) {
    if (asAppError(error)) return undefined;
    throw error;
  }
}

/** An engine that owes an answer is away, whatever its last one was. */
export function statusGiven(
  deps: Pick<Deps, "engine" | "now">,
  containers: readonly Container[] | undefined,
): EngineStatus | Promise<EngineStatus> {
  return containers ? engineStatus(deps) : { reachable: false, version: null, apiVersion: null };
}

export function countContainers(containers: readonly Container[] | undefined): ContainerCounts {
  if (!containers) {
    return { running: null, stopped: null, total: null, unhealthy: null, paused: null };
  }
  const running = containers.filter(({ state }) => state === "running");
  const paused = containers.filter(({ state }) => state === "paused").length;
  return {
    running: running.length,
    stopped: containers.length - running.length - paused,
    total: containers.length,
    unhealthy: running.filter(({ health }) => health === "unhealthy").length,
    paused,
  };
}

function countStacks(containers: readonly Container[] | undefined): StackCounts {
  if (!containers) return { healthy: null, degraded: null, stopped: null, total: null };
  const statuses = summarizeStacks(containers).map(({ status }) => status);
  const count = (wanted: string) => statuses.filter((status) => status === wanted).length;
  return {
    healthy: count("healthy"),
    degraded: count("degraded"),
    stopped: count("stopped"),
    total: statuses.length,
  };
}
