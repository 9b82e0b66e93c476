/** The overview of the host, read from memory. @module */

import { withDeadline } from "../deadline.ts";
import type { Deps } from "../deps.ts";
import { asAppError } from "../errors.ts";
import type { Container } from "../containers/inventory.ts";
import type { ReadDeps } from "../containers/reads.ts";
import { currentContainers } from "../containers/containers.ts";
import type { EngineStatus } from "../containers/engine_status.ts";
import type { MaintenanceState } from "../automation/maintenance/maintenance.ts";
import { type SystemSummary, systemSummary } from "../metrics/host/metrics.ts";
import { summarizeStacks } from "../stacks/stacks.ts";

/** Number of containers by state; `null` while the engine is unreachable. */
type ContainerCounts = Nullable<{
  running: number;
  /** All states except running and paused. */
  stopped: number;
  total: number;
  /** Running containers with a failing health check. */
  unhealthy: number;
  paused: number;
}>;

/** Number of stacks by status; `null` while the engine is unreachable. */
type StackCounts = Nullable<{
  /** Whether no stack has another status. */
  allHealthy: boolean;
  healthy: number;
  degraded: number;
  stopped: number;
  total: number;
}>;

interface Overview {
  serverName: string;
  /** Same as `serverName`. */
  hostname: string;
  system: SystemSummary;
  containers: ContainerCounts;
  stacks: StackCounts;
  engine: EngineStatus;
  maintenance: MaintenanceState;
  /** Clients of the event stream. */
  sseClients: number;
  /** ISO 8601, UTC. */
  timestamp: string;
}

type Nullable<Counts> = { [Name in keyof Counts]: Counts[Name] | null };

/** Timeout for reading from the engine while the inventory is not live, in milliseconds. */
const ENGINE_WAIT_MS = 1_000;

/** @throws {AppError} `unavailable` when `PROC_PATH` cannot be read. */
export async function readOverview(
  deps:
    & ReadDeps
    & Pick<Deps, "config" | "engineStatus" | "host" | "maintenance" | "now" | "stream">,
): Promise<Overview> {
  const containers = await containersIfReachable(deps);
  const [{ system }, engine] = await Promise.all([
    systemSummary(deps),
    engineStatusFor(deps, containers),
  ]);
  return {
    serverName: deps.config.serverName,
    hostname: deps.config.serverName,
    system,
    containers: countContainers(containers),
    stacks: countStacks(containers),
    engine,
    maintenance: deps.maintenance.state,
    sseClients: deps.stream.count,
    timestamp: deps.now().toISOString(),
  };
}

/** All containers, or `undefined` if the engine does not answer in time. */
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

/** The engine's status; unreachable if its containers could not be read, whatever it was before. */
export function engineStatusFor(
  { engineStatus }: Pick<Deps, "engineStatus">,
  containers: readonly Container[] | undefined,
): EngineStatus | Promise<EngineStatus> {
  return containers ? engineStatus.read() : { reachable: false, version: null, apiVersion: null };
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
  if (!containers) {
    return { allHealthy: null, healthy: null, degraded: null, stopped: null, total: null };
  }
  const statuses = summarizeStacks(containers).map(({ status }) => status);
  const count = (status: string) => statuses.filter((each) => each === status).length;
  return {
    allHealthy: count("healthy") === statuses.length,
    healthy: count("healthy"),
    degraded: count("degraded"),
    stopped: count("stopped"),
    total: statuses.length,
  };
}
