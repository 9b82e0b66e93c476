/** A job whose service ends at one of its steps, and that goes on with the stored steps. @module */

import { equal } from "node:assert/strict";
import type { Deps } from "../../services/deps.ts";
import type { JobRun } from "../../services/jobs/kind.ts";

class Killed extends Error {}

/** When the service ends: with the step undone in part, done but not stored, or stored. */
export interface KillAt {
  step: string;
  moment: "midway" | "unstored" | "stored";
}

/**
 * Runs a job until it is killed, calls `meanwhile`, and runs it again to its end.
 *
 * @returns `succeeded`, or the status of its failure.
 */
export async function runTwice<Input>(
  deps: Deps,
  { target, input }: { target: string; input: Input },
  { step: last, moment }: KillAt,
  { run, meanwhile }: {
    run(deps: Deps, job: JobRun<Input>): Promise<unknown>;
    meanwhile(): Promise<unknown>;
  },
): Promise<string> {
  const steps = new Map<string, { value: unknown } | undefined>();
  const stop = new AbortController();
  const die = () => {
    stop.abort();
    throw new Killed();
  };
  const job = (isKilled: boolean): JobRun<Input> => ({
    id: "00000000-0000-4000-8000-000000000000",
    target,
    input,
    attachment: undefined,
    signal: new AbortController().signal,
    async step(step, work) {
      const known = steps.get(step);
      if (known) return known.value as Awaited<ReturnType<typeof work>>;
      steps.set(step, undefined);
      const value = await work();
      const isLast = isKilled && step === last;
      if (isLast && moment !== "stored") die();
      steps.set(step, { value: JSON.parse(JSON.stringify(value ?? null)) });
      if (isLast) die();
      return value;
    },
    resultOf: (step) => steps.get(step)?.value,
    hasBegun: (step) => steps.has(step),
    progress() {
      if (isKilled && moment === "midway" && [...steps.keys()].at(-1) === last) die();
    },
    log() {},
  });
  const jobs = Object.create(deps.jobs, { stopping: { value: stop.signal } });
  const end = await run({ ...deps, jobs }, job(true)).catch((error) => error);
  equal(stop.signal.aborted, true, `${last} ${moment} was not reached: ${end}`);
  await meanwhile();
  try {
    await run(deps, job(false));
    return "succeeded";
  } catch (error) {
    return (error as { status?: string }).status ?? String((error as Error).stack);
  }
}
