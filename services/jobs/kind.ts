/** Kinds of jobs: what a feature provides so that its work can run as a job. @module */

import type { Job, JobProgress, JobTargetType } from "../../db/jobs.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import type { NewEvent } from "../events/events.ts";
import type { JobGuard } from "./active_jobs.ts";

/** Parts of the dashboard that show jobs. */
export const JOB_GROUPS = [
  "Backups",
  "Fleet",
  "Images",
  "Stacks",
  "Swarm",
  "Takeover",
  "Updates",
] as const;

/** How a kind of job is described to people. */
export interface JobWords {
  group: (typeof JOB_GROUPS)[number];
  /** E.g. `Update`. */
  title: string;
  /** A job in progress, in which `{target}` stands for its target: `Updating {target}`. */
  running: string;
  /** Names of its steps in words. Jobs on several objects add the name or the number of each. */
  steps?: Readonly<Record<string, string>>;
  /** Unit of its progress. Default: it counts steps. */
  unit?: "bytes";
  /** The history of its group lists ended jobs. */
  isListed?: true;
}

/**
 * One kind of job. Several jobs of a kind may run at the same time, but never two with the same
 * target.
 */
export interface JobKind<Input = unknown, Result = unknown, Attachment = unknown> extends JobGuard {
  /** The guard of a job whose input decides about it; default: that of the kind. */
  guardOf?(input: Input): JobGuard;
  /** E.g. `image.pull`; stored with the jobs. */
  id: string;
  targetType: JobTargetType;
  /**
   * Reserves what the job changes until the job has ended, e.g. containers. Called before the job is
   * stored, and again when it is resumed after a restart.
   *
   * @throws {AppError} `conflict`; no job is created then.
   */
  reserve?(deps: Deps, job: { target: string; input: Input }): Disposable;
  /** The stack of a target that is not a container. */
  stackOf?(input: Input): string | null;
  /**
   * Does the work. What it throws fails the job, unless a {@linkcode JobEnd} says otherwise. It
   * should stop when `job.signal` aborts; a job that then succeeds nevertheless counts as succeeded.
   */
  run(deps: Deps, job: JobRun<Input, Attachment>): Promise<Result>;
  /**
   * Called instead of `run` for a job that a stop of the service interrupted. It may continue
   * (steps that succeeded are not repeated), roll back, or give up with
   * {@linkcode failInterrupted}. It is repeated while the engine is unreachable.
   */
  recover(deps: Deps, job: JobRun<Input, Attachment>): Promise<Result>;
  /** Returns the event that reports the end of a job; it is stored with the end. */
  endEvent?(ended: Job): NewEvent | undefined;
  /**
   * Whether `recover` also continues a job whose `run` lost the engine, or could not store a step.
   * Otherwise that fails it.
   */
  outlivesEngine?: boolean;
}

/** A kind of job of this version. */
export type NamedJobKind<Input = unknown, Result = unknown, Attachment = unknown> =
  & JobKind<Input, Result, Attachment>
  & JobWords;

/** A job as its kind sees it. */
export interface JobRun<Input = unknown, Attachment = unknown> {
  readonly id: string;
  readonly target: string;
  /** Stored as JSON with the job, so it must not contain secrets. Not null. */
  readonly input: Input;
  /** Not stored: `undefined` for a job that was started before a restart. */
  readonly attachment: Attachment | undefined;
  /** Aborts when the job is cancelled or the service stops. */
  readonly signal: AbortSignal;
  /**
   * Runs a step and stores its outcome. A step that succeeded before a restart is not repeated; its
   * stored result is returned.
   *
   * @param name Unique in the job. Shown to every reader of the job, so it must not contain names of
   * containers other than the target.
   * @param work Its result is stored as JSON. After a restart during `work` it is called again.
   */
  step<Value>(name: string, work: () => Promise<Value>): Promise<Value>;
  /** Returns the result of a step; `undefined` unless it has succeeded. */
  resultOf(step: string): unknown;
  /** Whether a step was begun, also by an earlier process. */
  hasBegun(step: string): boolean;
  /** Reports progress. May be called often: it is stored and sent twice a second. */
  progress(progress: JobProgress): void;
  /** Sends a line to the followers of the job. Lines are not stored. */
  log(line: string): void;
}

/**
 * Thrown by a kind that failed: `rolled_back` if it restored the state before the job,
 * `needs_attention` if it could not, `failed` if there was nothing, or not all, to restore.
 */
export class JobEnd extends AppError {
  override readonly name = "JobEnd";

  /** @param result Stored as the result of the job. */
  constructor(
    readonly status: "failed" | "rolled_back" | "needs_attention",
    message: string,
    readonly result: unknown = null,
  ) {
    super("conflict", message);
  }
}

/** A `recover` for work that cannot be continued and leaves nothing behind. */
export function failInterrupted(): Promise<never> {
  const message = "The service stopped before the job had finished";
  return Promise.reject(new AppError("unavailable", message));
}
