/**
 * Background workers: one shape, one way to start, one way to stop.
 *
 * @module
 */

import type { Deps } from "./deps.ts";
import { type Edition, includesEdition } from "./license/edition.ts";
import { errorFields } from "./log.ts";
import type { WorkerState } from "./state/worker_state.ts";
import { systemReason } from "./system_reason.ts";

/** Work that goes on from the start of the service to its end. */
export interface Worker {
  /** As it reads in the log, e.g. `"alert evaluator"`. */
  name: string;
  /** The least edition that runs it. */
  edition: Edition;
  /**
   * Works until `signal` aborts; returns when it has let go of everything. Calls `round` at the
   * end of each round, which is what `GET /api/health` shows of it.
   */
  run(deps: Deps, signal: AbortSignal, round: () => void): Promise<void>;
}

/** Pause before a failed worker runs again, in milliseconds. */
const RESTART_DELAY_MS = 5_000;

/** How often the workers are compared with the license, in milliseconds. */
const LICENSE_CHECK_MS = 1_000;

/**
 * Runs the workers of the license's edition until `signal` aborts. A worker that throws is logged
 * and run again; the others do not notice. One whose edition ends is stopped, and one whose
 * edition begins is started, without a restart of the service.
 *
 * @returns When all of them have ended.
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
  const licensed = () => includesEdition(deps.license.edition, worker.edition);
  const round = () => state.lastRoundAt = deps.now().toISOString();

  while (!signal.aborted) {
    if (!licensed()) {
      deps.workers.delete(worker.name);
      await sleep(LICENSE_CHECK_MS, signal);
      continue;
    }
    deps.workers.set(worker.name, state);
    const term = licenseTerm(worker, licensed, signal);
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

/** A signal that aborts with `signal`, or when the license no longer covers the worker. */
function licenseTerm(worker: Worker, licensed: () => boolean, signal: AbortSignal) {
  const term = new AbortController();
  const abort = () => term.abort();
  signal.addEventListener("abort", abort, { once: true });
  const timer = worker.edition === "ce"
    ? undefined
    : setInterval(() => licensed() || abort(), LICENSE_CHECK_MS);
  if (signal.aborted) abort();
  return {
    signal: term.signal,
    end() {
      clearInterval(timer);
      signal.removeEventListener("abort", abort);
    },
  };
}

/** Yields at once and then after every `intervalMs`, until `signal` aborts. Rounds never overlap. */
export async function* every(intervalMs: number, signal: AbortSignal): AsyncGenerator<void> {
  while (!signal.aborted) {
    yield;
    await sleep(intervalMs, signal);
  }
}

/** Waits; an abort ends the wait early instead of failing it. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done, { once: true });
  });
}

/** Waits for the abort, however long it takes. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
