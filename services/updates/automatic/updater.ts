/**
 * The worker that applies updates automatically: one container at a time, and one stack after the
 * other.
 *
 * @module
 */

import { selectJob, selectUnfinishedJobs } from "../../../db/jobs.ts";
import { EngineUnreachableError } from "../../../engine/errors.ts";
import type { Deps } from "../../deps.ts";
import { asAppError } from "../../errors.ts";
import type { Worker } from "../../lifecycle.ts";
import { every } from "../../waiting.ts";
import { errorFields } from "../../log.ts";
import { automaticActor, recordAudit } from "../../access/audit/audit.ts";
import { hasNotReached } from "../run/allowed.ts";
import { readUpdateSettings } from "../settings.ts";
import type { PendingUpdate } from "./pending.ts";

const ROUND_MS = 30_000;

/** Time for which the engine has to be reachable before updates: after its start all is loaded. */
const SETTLE_MS = 10 * 60_000;

/** Pause of a stack after a failed update, in milliseconds. */
const RETRY_MS = 60 * 60_000;

/** Time until the fleet is asked again about an image, in milliseconds. */
const ASK_AGAIN_MS = 60_000;

const ACTOR = automaticActor("update policy");

export const automaticUpdater: Worker = {
  name: "automatic updater",
  edition: "ce",
  async run(deps, signal, round) {
    const updater = createUpdater(deps);
    for await (const _ of every(ROUND_MS, signal)) {
      try {
        await updater.next();
      } catch (error) {
        // A lost engine is reported elsewhere.
        if (!(error instanceof EngineUnreachableError)) throw error;
      }
      round();
    }
  },
};

interface Updater {
  /** Starts the next update, unless one is running or none may start now. */
  next(): Promise<void>;
}

export function createUpdater(deps: Deps): Updater {
  const { db, eventStream, inventory, log, maintenance, now } = deps;
  /** When each paused group may be tried again, in Unix milliseconds. */
  const paused = new Map<string, number>();
  /** When to ask again about each image that has not reached this host, in Unix milliseconds. */
  const refused = new Map<string, number>();
  let running: { jobId: string; update: PendingUpdate } | undefined;
  let group: string | undefined;
  let breaks = eventStream.status().breaks;
  let settledAt = now().getTime() + SETTLE_MS;

  const observeEngine = () => {
    const { breaks: current } = eventStream.status();
    if (inventory.live && current === breaks) return;
    breaks = current;
    settledAt = now().getTime() + SETTLE_MS;
  };
  const pause = (name: string) => void paused.set(name, now().getTime() + RETRY_MS);
  const isPaused = (name: string) => (paused.get(name) ?? 0) > now().getTime();

  /** Records how the last update ended; a stack with a failed one pauses. */
  const endLast = () => {
    if (!running) return;
    const { jobId, update: { containerId, name, group } } = running;
    const job = selectJob(db, jobId);
    const hasSucceeded = job?.status === "succeeded";
    // The fleet is asked again about an image that has not reached this host.
    if (!hasSucceeded && !hasNotReached(job?.result)) pause(group);
    recordAudit(deps, {
      caller: ACTOR,
      action: "automatic update",
      target: name,
      targets: [name, containerId],
      outcome: hasSucceeded ? "success" : "failure",
    });
    running = undefined;
  };

  /** The first one whose image has reached this host. */
  const firstReached = async (pending: PendingUpdate[]) => {
    const { refusalOf } = await import("./reached.ts");
    for (const [key, until] of refused) if (until <= now().getTime()) refused.delete(key);
    for (const update of new Set(pending)) {
      const { containerId, name, digest, imageId, seenImage: image } = update;
      const key = `${containerId} ${digest}`;
      if (refused.has(key)) continue;
      const refusal = await refusalOf(deps, { imageId, image, digest });
      if (refusal === undefined) return update;
      refused.set(key, now().getTime() + ASK_AGAIN_MS);
      log.debug("automatic update waits", { container: name, digest, reason: refusal });
    }
    return undefined;
  };

  const start = async (update: PendingUpdate) => {
    const { startAutomaticUpdate } = await import("./start.ts");
    const { name, digest } = update;
    try {
      const job = await startAutomaticUpdate(deps, update, ACTOR);
      if (!job) return pause(update.group);
      running = { jobId: job.id, update };
      log.info("automatic update started", { container: name, job: job.id, digest });
    } catch (error) {
      pause(update.group);
      if (!asAppError(error)) throw error;
      log.warn("automatic update not started", { container: name, ...errorFields(error) });
    }
  };

  return {
    async next() {
      observeEngine();
      // One that an earlier process started is resumed by the job runner.
      if (selectUnfinishedJobs(db).some(({ createdBy }) => createdBy === ACTOR.userId)) return;
      endLast();
      const isSettled = now().getTime() >= settledAt;
      if (maintenance.active || !isSettled || !readUpdateSettings(deps).enabled) return;
      // Loaded on first use, because checks are off by default.
      const { pendingUpdates } = await import("./pending.ts");
      const pending = (await pendingUpdates(deps)).filter((update) => !isPaused(update.group));
      // The stack that was begun is completed first.
      const begun = pending.filter((each) => each.group === group);
      const update = await firstReached([...begun, ...pending]);
      group = update?.group;
      if (update) await start(update);
    },
  };
}
