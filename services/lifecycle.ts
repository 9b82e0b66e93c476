/** Background workers: one shape, one way to start, one way to stop. @module */

import type { Deps } from "./deps.ts";
import { type Edition, includesEdition } from "./edition.ts";
import { errorFields } from "./log.ts";
import type { WorkerState } from "./deps.ts";
import { systemReason } from "./text/system_reason.ts";
import { every, sleep } from "./waiting.ts";

/** Work that runs for as long as the service does. */
export interface Worker {
  /** The name in the log, e.g. `"alert evaluator"`. */
  name: string;
  /** The lowest edition that runs it. */
  edition: Edition;
  /**
   * Works until `signal` aborts, then releases everything and returns. Calls `round` at the end of
   * each round; `GET /api/health` shows the time of the last one.
   */
  run(deps: Deps, signal: AbortSignal, round: () => void): Promise<void>;
}

/** Delay before a failed worker is restarted, in milliseconds. */
const RESTART_DELAY_MS = 5_000;

/** Interval of the license check, in milliseconds. */
const LICENSE_CHECK_MS = 1_000;

/**
 * Runs the workers of the license's edition until `signal` aborts, and returns when all of them have
 * stopped. A worker that throws is logged and restarted. When the edition changes, workers are
 * started and stopped without a restart of the service.
 */
export async function runWorkers(
  workers: readonly Worker[],
  deps: Deps,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(workers.map((worker) => keepRunning(worker, deps, signal)));
}

async function keepRunning(worker: Worker, deps: Deps, signal: AbortSignal): Promise<void> {
  const state: WorkerState = {
    name: worker.name,
    lastRoundAt: null,
    lastError: null,
    lastErrorAt: null,
  };
  const isLicensed = () => includesEdition(deps.license.edition, worker.edition);
  const round = () => state.lastRoundAt = deps.now().toISOString();

  while (!signal.aborted) {
    if (!isLicensed()) {
      deps.workers.delete(worker.name);
      await sleep(LICENSE_CHECK_MS, signal);
      continue;
    }
    deps.workers.set(worker.name, state);
    const term = limitToLicense(worker, isLicensed, signal);
    try {
      await worker.run(deps, term.signal, round);
    } catch (error) {
      state.lastError = systemReason(error);
      state.lastErrorAt = deps.now().toISOString();
      deps.log.error("worker failed", { worker: worker.name, ...errorFields(error) });
    } finally {
      term.end();
    }
    await sleep(RESTART_DELAY_MS, signal);
  }
}

/** Returns a signal that aborts with `signal`, or when the license no longer covers the worker. */
function limitToLicense(worker: Worker, isLicensed: () => boolean, signal: AbortSignal) {
  const term = new AbortController();
  const abort = () => term.abort();
  signal.addEventListener("abort", abort, { once: true });
  const timer = worker.edition === "ce"
    ? undefined
    : setInterval(() => isLicensed() || abort(), LICENSE_CHECK_MS);
  if (signal.aborted) abort();
  return {
    signal: term.signal,
    end() {
      clearInterval(timer);
      signal.removeEventListener("abort", abort);
    },
  };
}

/** A worker that consists of its rounds: `work` at once and then after every `everyMs`. */
export function rounds(
  everyMs: number,
  work: (deps: Deps, signal: AbortSignal) => unknown,
): Worker["run"] {
  return async (deps, signal, round) => {
    for await (const _ of every(everyMs, signal)) {
      await work(deps, signal);
      round();
    }
  };
}
