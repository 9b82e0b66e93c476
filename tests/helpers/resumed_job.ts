/** A job that goes on after a restart: it has the results of some steps, and has begun others. @module */

import type { JobRun } from "../../services/jobs/kind.ts";

/** @returns The job, and the steps that run now. */
export function resumedJob<Input>(
  { target, input }: { target: string; input: Input },
  { results = {}, begun = [] }: {
    results?: Readonly<Record<string, unknown>>;
    begun?: readonly string[];
  },
): { job: JobRun<Input>; steps: string[] } {
  const known = new Map(Object.entries(results));
  const steps: string[] = [];
  const job: JobRun<Input> = {
    id: "1",
    target,
    input,
    attachment: undefined,
    signal: new AbortController().signal,
    async step(name, work) {
      if (known.has(name)) return known.get(name) as Awaited<ReturnType<typeof work>>;
      steps.push(name);
      const value = await work();
      known.set(name, value);
      return value;
    },
    resultOf: (name) => known.get(name),
    hasBegun: (name) => known.has(name) || steps.includes(name) || begun.includes(name),
    progress() {},
    log() {},
  };
  return { job, steps };
}
