/**
 * The unfinished jobs of this process: which run, which wait for their turn, and who follows them.
 *
 * @module
 */

import type { Job } from "../../db/jobs.ts";
import type { Role } from "../access/caller.ts";
import { createShares } from "../access/shares.ts";
import { AppError } from "../errors.ts";
import { type JobLimits, type JobOwner, limitReached } from "./parts.ts";

/**
 * Limits of jobs that run at the same time; further ones wait in order. An update may take a day, so
 * each account leaves one place to others, and each API token one to its account.
 */
const RUNNING_MAX: JobLimits = { all: 4, single: 2, account: 3 };

/** Limits of jobs that run or wait. */
const UNFINISHED_MAX: JobLimits = { all: 200, single: 100, account: 150 };

/** Limit of log lines that are kept for new followers, per job. */
const LINES_MAX = 500;

/** The least role and the permission that allow a caller to start and to cancel a job. */
export interface JobGuard {
  role: Exclude<Role, "public">;
  permission: `${string}:${string}`;
}

export type ActiveJobs = ReturnType<typeof createActiveJobs>;

/** @param options.followersMax Limit of open streams of jobs. */
export function createActiveJobs({ followersMax = 10_000 }: { followersMax?: number } = {}) {
  const active = new Map<string, ActiveJob>();
  const stopping = new AbortController();
  const running = new Set<{ owner: JobOwner }>();
  const waiting = new Set<{ owner: JobOwner; enter: () => void }>();
  let isClosed = false;
  let onRemove = Promise.withResolvers<void>();

  const mayRun = (owner: JobOwner) =>
    !limitReached(owner, running.values().map((each) => each.owner), RUNNING_MAX);

  /** Gives free slots to the jobs that have waited longest; one above its limits is passed. */
  const fillSlots = () => {
    for (const turn of waiting) {
      if (!mayRun(turn.owner)) continue;
      waiting.delete(turn);
      running.add(turn);
      turn.enter();
    }
  };

  return {
    /** Aborts when the service stops: no more jobs start, and failures are not recorded. */
    stopping: stopping.signal,
    /** The open streams of jobs. */
    followers: createShares({ what: "job streams", max: followersMax }),
    /** Whether nothing may be recorded any more. */
    get isClosed() {
      return isClosed;
    },
    get: (id: string) => active.get(id),

    /** @throws {AppError} `unavailable` while the service stops; `conflict` if there are too many. */
    assertRoom(owner: JobOwner): void {
      if (stopping.signal.aborted) throw new AppError("unavailable", "The service is stopping");
      const others = active.values().map(({ record }) => record);
      const reached = limitReached(owner, others, UNFINISHED_MAX);
      if (!reached) return;
      const { max, whose } = reached;
      throw new AppError("conflict", `Limit of ${max} unfinished jobs${whose} reached`);
    },

    add(record: Job, guard: JobGuard): ActiveJob {
      const job = createActiveJob(record, guard);
      active.set(record.id, job);
      return job;
    },

    remove(id: string): void {
      active.delete(id);
      onRemove.resolve();
      onRemove = Promise.withResolvers();
    },

    /**
     * Waits for a free slot, in the order of the calls except for those above their limits; disposing
     * the result frees the slot.
     *
     * @throws The signal's reason.
     */
    async acquire(owner: JobOwner, signal: AbortSignal): Promise<Disposable> {
      signal.throwIfAborted();
      const { promise, resolve: enter, reject } = Promise.withResolvers<void>();
      const turn = { owner, enter };
      // A job that has the slot already keeps it until it is disposed.
      const leave = () => {
        if (waiting.delete(turn)) reject(signal.reason);
      };
      waiting.add(turn);
      signal.addEventListener("abort", leave, { once: true });
      fillSlots();
      await promise;
      signal.removeEventListener("abort", leave);
      return {
        [Symbol.dispose]() {
          if (running.delete(turn)) fillSlots();
        },
      };
    },

    /** Aborts all jobs. */
    stop(): void {
      const reason = new AppError("unavailable", "The service is stopping");
      stopping.abort(reason);
      for (const { controller, notify } of active.values()) {
        controller.abort(reason);
        notify();
      }
    },

    /** Resolves when no job is left. */
    async idle(): Promise<void> {
      while (active.size > 0) await onRemove.promise;
    },

    close(): void {
      isClosed = true;
    },
  };
}

/** One unfinished job. */
export type ActiveJob = ReturnType<typeof createActiveJob>;

function createActiveJob(record: Job, guard: JobGuard) {
  const log = { dropped: 0, lines: [] as string[] };
  let change = Promise.withResolvers<void>();
  const notify = () => {
    change.resolve();
    change = Promise.withResolvers();
  };
  return {
    /** The current record; its progress may be newer than the stored one. */
    record,
    guard,
    /** Aborts when the job is cancelled or the service stops. */
    controller: new AbortController(),
    /** Aborts when the job has ended or was left for the next start. */
    ended: new AbortController(),
    /** Whether it waits for the engine before it can recover; it cannot be cancelled then. */
    isWaiting: false,
    /** The last lines of its log, and the number of lines before them. */
    log,
    /** Resolves at the next change. */
    changed: () => change.promise,
    notify,
    /** Adds a line to the log. */
    write(line: string): void {
      if (log.lines.push(line) > LINES_MAX) {
        log.lines.shift();
        log.dropped++;
      }
      notify();
    },
  };
}
