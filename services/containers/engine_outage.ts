/**
 * Reports that the container engine went down and came back, and that it responds, but its containers
 * cannot be listed: once for each outage, also if this service is restarted meanwhile.
 *
 * @module
 */

import { selectServiceStop } from "../../db/service_stops.ts";
import { deleteSetting, selectSetting, upsertSetting } from "../../db/settings.ts";
import type { Deps } from "../deps.ts";
import { emit, type EmitDeps } from "../events/emit.ts";

/** Name of the setting with the {@linkcode Outage}; it exists while the engine is down. */
const OUTAGE = "engine_outage";

/** Name of the setting with the time since which the containers cannot be listed. */
const UNREADABLE = "engine_unreadable";

/** Failures to connect in a row that are an outage; they are half a second apart. */
const FAILURES = 2;

/** Longest start of the engine with the host, in milliseconds. */
const START_MS = 60_000;

/** Longest stop of the engine, in milliseconds. */
const STOPPING_MS = 90_000;

interface Outage {
  /** ISO 8601, UTC. */
  since: string;
  /** Names of the containers that ran before. */
  running: string[];
}

type OutageDeps = EmitDeps & Pick<Deps, "inventory" | "startedAt">;

/** Reports of the container watcher. */
interface OutageReporter {
  recordFailure(error: string): void;
  /** The engine responded, but its containers could not be listed. */
  recordUnreadable(error: string): void;
  /** The engine responded, and the inventory is complete. */
  recordSuccess(): void;
}

export function createOutageReporter(deps: OutageDeps): OutageReporter {
  const { db, inventory, now, startedAt } = deps;
  let failures = 0;
  let unreadable = 0;
  let hasResponded = false;

  return {
    recordFailure(error) {
      failures++;
      const waitMs = hasResponded ? 0 : START_MS;
      if (failures < FAILURES || now().getTime() - startedAt.getTime() < waitMs) return;
      if (selectOutage(db)) return;
      // An engine stops its containers before it is gone.
      const since = new Date(now().getTime() - STOPPING_MS).toISOString();
      const running = inventory.listFollowed()
        .filter(({ finishedAt, id, state }) =>
          state === "running" ||
          finishedAt !== null && finishedAt >= since && selectServiceStop(db, id) === undefined
        ).map(({ name }) => name);
      const outage: Outage = { since: now().toISOString(), running };
      emit(deps, "engine.down", { error, containers: running.length }, () => {
        upsertSetting(db, OUTAGE, JSON.stringify(outage));
      });
    },
    recordUnreadable(error) {
      endOutage();
      if (++unreadable < FAILURES || selectSetting(db, UNREADABLE) !== undefined) return;
      emit(deps, "engine.unreadable", { error }, () => {
        upsertSetting(db, UNREADABLE, now().toISOString());
      });
    },
    recordSuccess() {
      unreadable = 0;
      const since = selectSetting(db, UNREADABLE);
      if (since !== undefined) {
        const unreadableSeconds = Math.round((now().getTime() - Date.parse(since)) / 1000);
        emit(deps, "engine.readable", { unreadableSeconds }, () => deleteSetting(db, UNREADABLE));
      }
      endOutage();
    },
  };

  function endOutage(): void {
    failures = 0;
    hasResponded = true;
    const outage = selectOutage(db);
    if (!outage) return;
    const running = runningNames(inventory.list());
    emit(deps, "engine.up", {
      downtimeSeconds: Math.round((now().getTime() - Date.parse(outage.since)) / 1000),
      containers: running.length,
      stopped: outage.running.filter((name) => !running.includes(name)),
    }, () => deleteSetting(db, OUTAGE));
  }
}

function selectOutage(db: Deps["db"]): Outage | undefined {
  const text = selectSetting(db, OUTAGE);
  return text === undefined ? undefined : JSON.parse(text);
}

const runningNames = (containers: ReturnType<Deps["inventory"]["list"]>): string[] =>
  containers.filter(({ state }) => state === "running").map(({ name }) => name);
