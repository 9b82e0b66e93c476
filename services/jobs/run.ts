/** One run of a job: its steps, its progress and its changes, each stored when it happens. @module */

import { type Job, type JobStep, updateJob } from "../../db/jobs.ts";
import type { Deps } from "../deps.ts";
import { asAppError } from "../errors.ts";
import { emit } from "../events/emit.ts";
import type { NewEvent } from "../events/events.ts";
import { sleep } from "../waiting.ts";
import { errorFields } from "../log.ts";
import type { ActiveJob } from "./active_jobs.ts";
import type { JobRun } from "./kind.ts";
import { toView } from "./view.ts";

/** Longest time between two stored states of a progress, in milliseconds. */
const PROGRESS_MS = 500;

/** Longest stored error, in characters. */
const ERROR_MAX = 2_000;

/** Returns the functions by which a kind reports its steps and progress. */
export function createRun<Input, Attachment>(
  deps: Deps,
  job: ActiveJob,
  attachment: Attachment | undefined,
): JobRun<Input, Attachment> {
  const { jobs, log, now } = deps;
  const { id, target, input } = job.record;
  const { signal } = job.controller;
  let isStoring = false;

  const stepOf = (name: string) => job.record.steps.find((step) => step.name === name);
  const putStep = (step: JobStep) => {
    const isKnown = stepOf(step.name) !== undefined;
    const { steps } = job.record;
    update(deps, job, {
      steps: isKnown
        ? steps.map((each) => each.name === step.name ? step : each)
        : [...steps, step],
    });
  };
  const storeProgress = () => {
    isStoring = false;
    // The end of a job stores its last progress.
    if (jobs.isClosed || job.record.endedAt !== null) return;
    try {
      updateJob(deps.db, id, { progress: job.record.progress });
    } catch (error) {
      log.warn("failed to record the progress of a job", { job: id, ...errorFields(error) });
    }
    job.notify();
  };

  return {
    id,
    target,
    input: input as Input,
    attachment,
    signal,
    resultOf(name) {
      const step = stepOf(name);
      return step?.status === "succeeded" ? step.value : undefined;
    },
    hasBegun: (name) => stepOf(name) !== undefined,
    async step<Value>(name: string, work: () => Promise<Value>) {
      const earlier = stepOf(name);
      if (earlier?.status === "succeeded") return earlier.value as Value;
      const at = now().toISOString();
      const begun: JobStep = {
        name,
        status: "running",
        startedAt: at,
        endedAt: null,
        message: null,
      };
      putStep(begun);
      try {
        const value = await work();
        putStep({ ...begun, status: "succeeded", endedAt: now().toISOString(), value });
        return value;
      } catch (error) {
        // After a restart an interrupted step runs again.
        if (!jobs.stopping.aborted) {
          const message = cut(messageOf(error));
          putStep({ ...begun, status: "failed", endedAt: now().toISOString(), message });
        }
        throw error;
      }
    },
    progress(progress) {
      job.record.progress = progress;
      if (isStoring) return;
      isStoring = true;
      void sleep(PROGRESS_MS, job.ended.signal).then(storeProgress);
    },
    log: (line) => job.write(line),
  };
}

/** Stores changes, with the event that reports them, then shows them. */
export function update(deps: Deps, job: ActiveJob, changes: Partial<Job>, event?: NewEvent): void {
  const store = () => updateJob(deps.db, job.record.id, changes);
  if (event) emit(deps, event.event, event.data, store);
  else store();
  job.record = { ...job.record, ...changes };
  job.notify();
  publish(deps, job);
}

/** Sends the job without its result, which may be large, to the clients of `GET /api/stream`. */
export function publish({ stream }: Pick<Deps, "stream">, { record }: ActiveJob): void {
  stream.publish("job", { ...toView(record), result: null });
}

/** An unexpected error is logged; its text may contain internals. */
export const messageOf = (error: unknown) => asAppError(error)?.message ?? "Internal error";

export const cut = (text: string) => text.slice(0, ERROR_MAX).toWellFormed();
