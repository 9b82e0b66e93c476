/** The worker that reports changes of the swarm: degraded services, rollbacks, nodes down. @module */

import { EngineError, EngineUnreachableError } from "../../engine/errors.ts";
import { type Service, serviceList, type Task, taskList } from "../../engine/swarm.ts";
import { type Node, nodeList } from "../../engine/swarm_nodes.ts";
import type { Deps } from "../deps.ts";
import { emit, type EmitDeps } from "../events/emit.ts";
import type { Worker } from "../lifecycle.ts";
import { sleep } from "../waiting.ts";
import { hostnameOf, isReachable } from "./quorum.ts";
import { hasEarlierVersion } from "./service_views.ts";
import { modeOf, shortImage, STACK_LABEL, TASK_ID_LABEL, toSwarmService } from "./services.ts";
import { readWatched, storeWatched, type WatchedState } from "./watched_state.ts";

/** Interval of rounds on a manager, and on other engines, in milliseconds. */
const ROUND_MS = 5_000;
const IDLE_MS = 60_000;

/** Shortest pause, in durations of a round. */
const PAUSE_FACTOR = 10;

/** Time for which tasks are missing before a service counts as degraded, in milliseconds. */
const GRACE_MS = 15_000;

type WatchDeps = EmitDeps & Pick<Deps, "engine" | "inventory" | "now" | "swarm">;

/** Since when tasks of services are missing, by the services' ids, in Unix milliseconds. */
export type MissingSince = Map<string, number>;

export const swarmWatcher: Worker = {
  name: "swarm watcher",
  edition: "ce",
  async run(deps, signal, round) {
    const missingSince: MissingSince = new Map();
    while (!signal.aborted) {
      const begun = performance.now();
      const isManager = await runSwarmRound(deps, missingSince);
      round();
      // A large swarm must not keep this process busy.
      const pauseMs = Math.max(ROUND_MS, PAUSE_FACTOR * (performance.now() - begun));
      await sleep(isManager ? Math.min(pauseMs, IDLE_MS) : IDLE_MS, signal);
    }
  },
};

/**
 * Reports what has changed since the last round. Nothing changes while the engine is away or the swarm
 * has no leader.
 *
 * @returns Whether the engine manages a swarm, or may do so.
 */
export async function runSwarmRound(deps: WatchDeps, missingSince: MissingSince): Promise<boolean> {
  try {
    if (!await deps.swarm.isActive()) return false;
    const { engine } = deps;
    const [nodes, services, tasks] = await Promise.all([
      nodeList(engine),
      serviceList(engine),
      taskList(engine, { filters: { "desired-state": ["running"] } }),
    ]);
    const stored = readWatched(deps);
    const state = stored ?? { degraded: {}, down: {}, rolledBack: {} };
    // One that does not report keeps its state, so that it can take over.
    const report = isReporter(deps, nodes, tasks) ? emit : emitNothing;
    reportNodes(deps, report, state, nodes);
    reportServices(deps, report, state, { services, tasks, missingSince });
    reportRollbacks(deps, report, state, services, { isFirst: stored === undefined });
    return true;
  } catch (error) {
    if (error instanceof EngineError || error instanceof EngineUnreachableError) return true;
    throw error;
  }
}

type Report = (...given: Parameters<typeof emit>) => void;

const emitNothing: Report = (_deps, _kind, _data, store) => store?.();

/**
 * Whether this Longshore reports. Of those that run in one service of the swarm, only one does: that on
 * the leader, or else that on the first manager by id. One that runs outside of the swarm always does.
 */
export function isReporter(
  { inventory }: Pick<Deps, "inventory">,
  nodes: readonly Node[],
  tasks: readonly Task[],
): boolean {
  const { labels = {} } = inventory.list().find(({ self }) => self) ?? {};
  const own = tasks.find(({ ID }) => ID === labels[TASK_ID_LABEL]);
  if (!own) return true;
  const hosts = new Set(
    tasks.filter(({ ServiceID, Status }) =>
      ServiceID === own.ServiceID && Status.State === "running"
    ).map(({ NodeID }) => NodeID),
  );
  const [first] = nodes.filter((node) => hosts.has(node.ID) && isReachable(node))
    .sort((a, b) => leads(b) - leads(a) || (a.ID < b.ID ? -1 : 1));
  return first === undefined || first.ID === own.NodeID;
}

const leads = ({ ManagerStatus }: Node) => ManagerStatus?.Leader ? 1 : 0;

function reportNodes(
  deps: WatchDeps,
  report: Report,
  state: WatchedState,
  nodes: readonly Node[],
): void {
  const at = deps.now().toISOString();
  for (const node of nodes) {
    const { ID: id, Spec, Status } = node;
    const isDown = Status.State === "down" || Status.State === "disconnected";
    if (!isDown || state.down[id]) continue;
    const name = hostnameOf(node);
    state.down[id] = { node: name, since: at };
    const data = { node: name, id, role: Spec.Role, reason: Status.Message ?? "" };
    report(deps, "node.down", data, () => storeWatched(deps, state));
  }
  for (const [id, { node, since }] of Object.entries(state.down)) {
    const found = nodes.find(({ ID }) => ID === id);
    if (found && found.Status.State !== "ready") continue;
    delete state.down[id];
    const downtimeSeconds = secondsSince(deps, since);
    const data = { node, id, downtimeSeconds, wasRemoved: found === undefined };
    report(deps, "node.up", data, () => storeWatched(deps, state));
  }
}

function reportServices(
  deps: WatchDeps,
  report: Report,
  state: WatchedState,
  { services, tasks, missingSince }: {
    services: readonly Service[];
    tasks: readonly Task[];
    missingSince: MissingSince;
  },
): void {
  const atMs = deps.now().getTime();
  const byService = Map.groupBy(tasks, ({ ServiceID }) => ServiceID);
  for (const service of services) {
    const own = byService.get(service.ID) ?? [];
    const { id, name, desired, running } = toSwarmService(service, own);
    if (completeness(service, own) !== "missing") {
      missingSince.delete(id);
      continue;
    }
    if (!missingSince.has(id)) missingSince.set(id, atMs);
    if (state.degraded[id] || atMs - missingSince.get(id)! < GRACE_MS) continue;
    const stack = service.Spec.Labels?.[STACK_LABEL] ?? null;
    state.degraded[id] = { service: name, stack, since: deps.now().toISOString() };
    const reason = own.find(({ Status }) => Status.Err)?.Status.Err ?? null;
    const data = { service: name, id, stack, running, desired, reason };
    report(deps, "service.degraded", data, () => storeWatched(deps, state));
  }
  for (const [id, { service, stack, since }] of Object.entries(state.degraded)) {
    const found = services.find(({ ID }) => ID === id);
    if (found && completeness(found, byService.get(id) ?? []) !== "complete") continue;
    delete state.degraded[id];
    const degradedSeconds = secondsSince(deps, since);
    const data = { service, id, stack, degradedSeconds, wasRemoved: found === undefined };
    report(deps, "service.recovered", data, () => storeWatched(deps, state));
  }
  for (const id of missingSince.keys()) {
    if (!services.some(({ ID }) => ID === id)) missingSince.delete(id);
  }
}

/** Whether all tasks run. During an update they are replaced, and those of a job complete. */
function completeness(
  service: Service,
  tasks: readonly Task[],
): "complete" | "missing" | "changing" {
  const state = service.UpdateStatus?.State;
  if (state === "updating" || state === "rollback_started") return "changing";
  const { desired, running } = toSwarmService(service, tasks);
  return modeOf(service) === "job" || running >= desired ? "complete" : "missing";
}

/** Swarm forgets the earlier version when it rolls back by itself. */
function reportRollbacks(
  deps: WatchDeps,
  report: Report,
  state: WatchedState,
  services: readonly Service[],
  { isFirst }: { isFirst: boolean },
): void {
  let isChanged = isFirst;
  for (const id of Object.keys(state.rolledBack)) {
    if (services.some(({ ID }) => ID === id)) continue;
    delete state.rolledBack[id];
    isChanged = true;
  }
  for (const service of services) {
    const { ID: id, Spec, UpdateStatus } = service;
    const startedAt = UpdateStatus?.StartedAt ?? "";
    if (UpdateStatus?.State !== "rollback_completed" || hasEarlierVersion(service)) continue;
    if (state.rolledBack[id] === startedAt) continue;
    state.rolledBack[id] = startedAt;
    isChanged = true;
    if (isFirst) continue;
    report(deps, "service.update_rolled_back", {
      service: Spec.Name ?? id,
      id,
      stack: Spec.Labels?.[STACK_LABEL] ?? null,
      image: shortImage(Spec.TaskTemplate?.ContainerSpec?.Image ?? ""),
      reason: UpdateStatus.Message ?? "",
    }, () => storeWatched(deps, state));
  }
  if (isChanged) storeWatched(deps, state);
}

const secondsSince = ({ now }: Pick<Deps, "now">, time: string) =>
  Math.max(0, Math.round((now().getTime() - Date.parse(time)) / 1000));
