/** Common parts of the drills of safe updates and deploys. @module */

import { equal } from "node:assert/strict";
import { getJob } from "../../services/jobs/jobs.ts";
import type { JobView } from "../../services/jobs/view.ts";
import type { EngineCall, EngineProxy, Moment } from "./engine_proxy.ts";
import type { LiveApp } from "./live_app.ts";
import { until } from "./until.ts";

/** Set by `tests/drill.ts`: the seed of random drills, and the file of the results. */
export const SEED_VARIABLE = "LONGSHORE_DRILL";
export const REPORT_VARIABLE = "LONGSHORE_DRILL_REPORT";

/** Seed of a full drill; `undefined` by default, when only a part runs that takes seconds. */
export const FULL_DRILL_SEED = Number(Deno.env.get(SEED_VARIABLE)) || undefined;

/** Adds a row to the results of a full drill. */
export function reportDrill(drill: string, result: string): void {
  const file = Deno.env.get(REPORT_VARIABLE);
  if (file) Deno.writeTextFileSync(file, `| ${drill} | ${result} |\n`, { append: true });
}

/** Numbers from 0 to below 1 that depend on the seed only (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Numbers of calls at which a drill strikes: `3:7` is each third one from number 7. */
export interface Numbers {
  step: number;
  first: number;
}

/** @returns `undefined` if the argument of the command line is neither a step nor a step and a number. */
export function parseNumbers(text: string): Numbers | undefined {
  const [, step, first = 0] = /^(\d+)(?::(\d+))?$/.exec(text) ?? [];
  return step === undefined ? undefined : { step: Number(step), first: Number(first) };
}

/** Whether a call changes something. */
export const isWrite = ({ method }: EngineCall) => method !== "GET" && method !== "HEAD";

/** E.g. `12 succeeded, 3 rolled_back`. */
export function summaryOf(outcomes: readonly string[]): string {
  const counts = Map.groupBy(outcomes, (outcome) => outcome);
  return [...counts].map(([outcome, { length }]) => `${length} ${outcome}`).join(", ");
}

/** Strikes at the call with this number, and loses its connection. */
export function interrupt(
  proxy: EngineProxy,
  { number, moment, isCounted, strike = () => Promise.resolve() }: {
    number: number;
    /** `during`: when a part of its request or response has passed. */
    moment: Moment | "during";
    isCounted(call: EngineCall): boolean;
    /** Ends Longshore or the engine; by default only the connection is lost. */
    strike?(): Promise<void>;
  },
): { at(): string | undefined; struck: Promise<void> } {
  let count = 0;
  let at: string | undefined;
  const struck = Promise.withResolvers<void>();
  const pass = async (call: EngineCall, now: typeof moment) => {
    if (now !== moment || at !== undefined || !isCounted(call)) return;
    // Reads change nothing: after one, everything is as before it.
    if (moment === "after" && !isWrite(call)) return;
    if (count++ !== number) return;
    at = `${moment} ${call.method} ${call.path}`;
    await strike().then(struck.resolve, struck.reject);
    throw new Error("connection lost");
  };
  const seen = new WeakSet<EngineCall>();
  proxy.observe(pass, async (call) => {
    if (seen.has(call)) return;
    seen.add(call);
    await pass(call, "during");
  });
  return { at: () => at, struck: struck.promise };
}

/** Updates a container, and returns the job when it has ended. */
export async function updateContainer(
  app: LiveApp,
  name: string,
  body: object = {},
): Promise<JobView> {
  const request = { stableSeconds: 2, ...body };
  const started = await app.call("POST", `/api/containers/${name}/update`, request);
  equal(started.status, 202, JSON.stringify(started.body));
  return await until(`the update of ${name} has ended`, () => {
    const job = getJob(app.deps, ADMIN, started.body.id);
    return job.endedAt !== null && job;
  }, { deadlineMs: 180_000 });
}

/** Caller that reads jobs. */
export const ADMIN = { userId: "key", role: "admin", familyId: "", address: "192.0.2.1" } as const;
