/**
 * Crash loops: a container that exits 3 times within 5 minutes is reported once, and again when it
 * neither exited nor started for 10 minutes, or was stopped or removed.
 *
 * @module
 */

import {
  type CrashLoop,
  deleteCrashLoop,
  replaceCrashLoop,
  selectCrashLoop,
  selectQuietCrashLoops,
  updateCrashLoop,
  updateCrashLoopsChangedAt,
} from "../../db/crash_loops.ts";
import { deleteServiceStop, upsertServiceStop } from "../../db/service_stops.ts";
import type { Deps } from "../deps.ts";
import { emit, type EmitDeps } from "../events/emit.ts";
import type { LoopOutcome } from "../events/kinds/containers.ts";
import type { Container } from "./inventory.ts";
import type { Down } from "./life.ts";
import { isUp } from "./reads.ts";

/** This number of exits within this time, in milliseconds, is a crash loop. */
const EXITS = 3;
const WINDOW_MS = 5 * 60_000;

/** A crash loop ends after this time without an exit or start, in milliseconds. */
const STABLE_MS = 10 * 60_000;

/** A stop is the end of a crash loop unless a start follows within this time, as in a restart. */
const RESTART_MS = 3_000;

type LoopDeps = EmitDeps & Pick<Deps, "inventory">;

type Identified = Pick<Down, "container" | "id">;

/** Reports that a container went down, unless it is known to be in a crash loop. */
export function reportExit(deps: LoopDeps, down: Down): void {
  const { db, now } = deps;
  if (!isFailure(deps, down)) {
    const emitDown = () => void emit(deps, "container.down", { ...down }, () => forget(deps, down));
    return reportChange(deps, down, { stopped: true }, emitDown);
  }
  const at = now();
  const container = nameOf(deps, down);
  const loop = selectCrashLoop(db, container);
  const exits = [...(loop?.exits ?? []), at.toISOString()]
    .filter((exit) => at.getTime() - Date.parse(exit) <= WINDOW_MS).slice(-EXITS);
  const next: CrashLoop = {
    container,
    containerId: down.id,
    exits,
    exitCount: loop?.since ? loop.exitCount + 1 : exits.length,
    since: loop?.since ?? (exits.length >= EXITS ? exits[0]! : null),
    stopped: false,
    changedAt: at.toISOString(),
  };
  const store = () => {
    replaceCrashLoop(db, next);
    forget(deps, down);
  };
  if (loop?.since) db.transaction(store);
  else if (next.since === null) emit(deps, "container.down", { ...down }, store);
  else emit(deps, "container.crash_looping", { ...down }, store);
}

/** Records that this service stopped a container. */
export function recordServiceStop(deps: LoopDeps, down: Down): void {
  upsertServiceStop(deps.db, down.id, deps.now().toISOString());
  recordStop(deps, down);
}

/** Records that a container was stopped, also between two runs, when nothing exits. */
export function recordStop(deps: LoopDeps, stopped: Identified): void {
  const { db, now } = deps;
  updateCrashLoop(db, nameOf(deps, stopped), { stopped: true, changedAt: now().toISOString() });
}

/**
 * Records that a container was removed. One without a restart policy may be created again for each
 * run, as a supervisor does with `docker run --rm`.
 */
export function recordRemoval(deps: LoopDeps, removed: Identified): void {
  const policy = deps.inventory.get(removed.id)?.details.restartPolicy.name;
  if (policy && policy !== "no") recordStop(deps, removed);
}

/** Reports that a container started, unless it is in a crash loop. */
export function reportStart(deps: LoopDeps, started: Identified): void {
  reportChange(deps, started, { stopped: false }, () => {
    emit(deps, "container.up", started, () => forget(deps, started));
  });
}

/** Reports that an unhealthy container is healthy again, unless it is in a crash loop. */
export function reportHealthy(deps: LoopDeps, healthy: Identified): void {
  if (selectCrashLoop(deps.db, nameOf(deps, healthy))?.since) return;
  emit(deps, "container.healthy", healthy);
}

/** The quiet time of the container begins again; in a crash loop, nothing else is reported. */
function reportChange(
  deps: LoopDeps,
  changed: Identified,
  change: Pick<CrashLoop, "stopped">,
  report: () => void,
): void {
  const { db, now } = deps;
  const container = nameOf(deps, changed);
  const loop = selectCrashLoop(db, container);
  if (loop) updateCrashLoop(db, container, { ...change, changedAt: now().toISOString() });
  if (loop?.since) forget(deps, changed);
  else report();
}

/** A container that changed by itself is not stopped by this service any more. */
const forget = ({ db }: Pick<Deps, "db">, { id }: { id: string }) => deleteServiceStop(db, id);

/** Counts all quiet times again, because exits may have been missed. */
export function restartQuietTimes({ db, now }: Pick<Deps, "db" | "now">): void {
  updateCrashLoopsChangedAt(db, now().toISOString());
}

/** Reports the end of crash loops, and forgets exits that did not become one. */
export function endCrashLoops(deps: LoopDeps): void {
  const { db, inventory, now } = deps;
  const at = now();
  const quiet = selectQuietCrashLoops(db, new Date(at.getTime() - RESTART_MS).toISOString());
  for (const { changedAt, container, containerId, exitCount, since, stopped } of quiet) {
    const isStable = at.getTime() - Date.parse(changedAt) >= STABLE_MS;
    if (!isStable && (since === null || !stopped)) continue;
    const end = () => deleteCrashLoop(db, container);
    if (since === null) {
      end();
      continue;
    }
    const current = inventory.list().find(({ originalName }) => originalName === container);
    if (!isStable && (isBeingReplaced(deps, container, containerId) || current && isUp(current))) {
      continue;
    }
    emit(deps, "container.stable", {
      container,
      id: current?.id ?? containerId,
      outcome: classifyLoopEnd(current, stopped),
      exits: exitCount,
      durationSeconds: Math.round((at.getTime() - Date.parse(since)) / 1000),
    }, end);
  }
}

/** An update, deploy or rebuild stops the container, and starts another one. */
const isBeingReplaced = ({ reservations }: LoopDeps, name: string, id: string): boolean =>
  reservations.find({ id, name }) !== undefined;

function classifyLoopEnd(container: Container | undefined, stopped: boolean): LoopOutcome {
  if (!container) return "removed";
  if (isUp(container)) return "running";
  return stopped ? "stopped" : "exited";
}

/** Whether an exit counts: the container was not stopped, and is not a task that finished. */
function isFailure({ inventory }: Pick<Deps, "inventory">, down: Down): boolean {
  if (down.reason === "stopped") return false;
  if (down.reason !== "exited" || down.exitCode !== 0) return true;
  const policy = inventory.get(down.id)?.details.restartPolicy.name;
  return policy === "always" || policy === "unless-stopped";
}

/** During a rebuild a container has a temporary name. */
const nameOf = ({ inventory }: LoopDeps, { container: name, id }: Identified): string =>
  inventory.temporary.originalOf({ id, name });
