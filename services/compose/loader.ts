/**
 * Loads Compose projects in workers: hostile sources take neither the time nor the memory of the service.
 *
 * @module
 */

import type { ResourceLimits, Worker } from "node:worker_threads";
import { createFairLimiter } from "../access/fair_limiter.ts";
import type { Holder } from "../access/shares.ts";
import { workerScript } from "../config/worker_script.ts";
import { AppError } from "../errors.ts";
import { createLimiter } from "../limiter.ts";

/** Projects that are loaded at the same time. */
const RUNNING_MAX = 2;

/** Projects of viewers among these, so that they cannot keep others waiting. */
const CHECKS_MAX = 1;

/** Projects that wait; more are refused at once. */
const WAITING_MAX = 32;

/** Longest work on a project. One of 9,000 lines takes about a second on a small host. */
const DEADLINE_MS = 5_000;

/** Longest start of a worker. It takes 0.2 s. */
const START_MS = 60_000;

/** Time for which a worker waits for the next project before it ends. */
const IDLE_MS = 30_000;

/**
 * Limits of the heap of a worker, in MiB. Beyond them the worker stops without a word, and the
 * deadline ends it. Strings of the loader are too short to exceed them at once.
 */
const MEMORY = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 8 };

/** Loads one project: JSON of `GivenSources` in, JSON of `LoadedTexts` out. */
export interface ProjectRunner {
  /** @throws {RunawayError} For a project beyond the limits. The runner cannot be used again. */
  run(job: string): Promise<string>;
  close(): void;
}

/** A project exceeds the limits of time or memory. */
export class RunawayError extends Error {
  override readonly name = "RunawayError";
}

export type ComposeLoader = ReturnType<typeof createComposeLoader>;

/** @param createRunner Tests load without a worker. */
export function createComposeLoader(createRunner: () => Promise<ProjectRunner>) {
  const busy = () =>
    new AppError("unavailable", "Too many Compose files are being loaded; try again");
  const limits = { what: "Compose files", waiting: WAITING_MAX, busy };
  const limit = createLimiter({ ...limits, running: RUNNING_MAX });
  const limitChecks = createFairLimiter({ ...limits, running: CHECKS_MAX });
  const idle: ProjectRunner[] = [];
  let idleTimer: ReturnType<typeof setTimeout> | undefined;
  const closeIdle = () => {
    for (const runner of idle.splice(0)) runner.close();
  };

  const load = (job: string): Promise<string> =>
    limit(async () => {
      const runner = idle.pop() ?? await createRunner();
      try {
        const result = await runner.run(job);
        idle.push(runner);
        return result;
      } catch (error) {
        runner.close();
        if (!(error instanceof RunawayError)) throw error;
        throw new AppError(
          "invalid",
          `The Compose text takes more than ${DEADLINE_MS / 1000} s or too much memory to load; ` +
            "make it smaller",
          { cause: error },
        );
      } finally {
        clearTimeout(idleTimer);
        idleTimer = setTimeout(closeIdle, IDLE_MS);
        idleTimer.unref();
      }
    });

  return {
    /**
     * Loads a project.
     *
     * @param job JSON of `GivenSources`.
     * @returns JSON of `LoadedTexts`.
     * @throws {AppError} `invalid` for one that takes too much time or memory; `unavailable` if too
     * many wait.
     */
    load,
    /** The same for a caller who may only check sources. */
    check: (caller: Holder, job: string): Promise<string> => limitChecks(caller, () => load(job)),
    /** Ends the workers without a project. */
    close() {
      clearTimeout(idleTimer);
      closeIdle();
    },
  };
}

/** Script of the worker that loads projects. */
export const composeWorkerScript = (): Promise<URL> =>
  workerScript(new URL("./load/worker.ts", import.meta.url), "compose_worker.js");

/**
 * Starts a worker. Its first project does not pay for the start.
 *
 * @param script Sends one message when it has started, and then one for each that it gets.
 */
export async function startWorker(
  script: URL,
  { deadlineMs = DEADLINE_MS, memory = MEMORY }: {
    deadlineMs?: number;
    memory?: ResourceLimits;
  } = {},
): Promise<ProjectRunner> {
  const { Worker } = await import("node:worker_threads");
  const worker = new Worker(script, { resourceLimits: memory });
  await nextMessage(worker, START_MS);
  // A worker that waits does not keep the process alive.
  worker.unref();
  return {
    async run(job) {
      worker.ref();
      try {
        const result = nextMessage(worker, deadlineMs);
        worker.postMessage(job);
        return await result;
      } finally {
        worker.unref();
      }
    },
    close: () => void worker.terminate(),
  };
}

function nextMessage(worker: Worker, deadlineMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new RunawayError(`no result after ${deadlineMs} ms`)),
      deadlineMs,
    );
    const end = (settle: () => void) => {
      clearTimeout(timer);
      worker.removeAllListeners();
      settle();
    };
    worker.once("message", (result: string) => end(() => resolve(result)));
    worker.once("error", (error) => end(() => reject(error)));
    worker.once("exit", (code) => end(() => reject(new Error(`the worker ended with ${code}`))));
  });
}
