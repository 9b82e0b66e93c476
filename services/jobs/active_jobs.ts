/**
 * The unfinished jobs of this process: which run, which wait for their turn, and who follows them.
 *
 * @module
 */

import type { Job } from "../../db/jobs.ts";
import type { Role } from "../access/caller.ts";
import { createShares } from "../access/shares.ts";
import { AppError } from "../errors.ts";

/** Limit of jobs that run at the same time; further ones wait in order. */
const RUNNING_MAX = 4;

/** Limit of jobs that run or wait. */
const UNFINISHED_MAX = 100;

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
  const waiting = new Set<() => void>();
  let running = 0;
  let isClosed = false;
  let onRemove = Promise.withResolvers<void>();

  const release = () => {
    // The job that has waited longest takes over the slot.
    const [enter] = waiting;
    if (enter) {
      waiting.delete(enter);
      enter();
    } else {
      running--;
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
    assertRoom(): void {
      if (stopping.signal.aborted) throw new AppError("unavailable", "The service is stopping");
      if (active.size >= UNFINISHED_MAX) {
        throw new AppError("conflict", `Limit of ${UNFINISHED_MAX} unfinished jobs reached`);
      }
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
     * Waits for a free slot, in the order of the calls; disposing the result frees the slot.
     *
     * @throws The signal's reason.
     */
    async acquire(signal: AbortSignal): Promise<Disposable> {
      signal.throwIfAborted();
      if (running < RUNNING_MAX) {
        running++;
      } else {
        const turn = Promise.withResolvers<void>();
        // A job that has the slot already keeps it until it is disposed.
        const leave = () => {
          if (waiting.delete(turn.resolve)) turn.reject(signal.reason);
        };
        waiting.add(turn.resolve);
        signal.addEventListener("abort", leave, { once: true });
        await turn.promise;
        signal.removeEventListener("abort", leave);
      }
      return { [Symbol.dispose]: release };
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
