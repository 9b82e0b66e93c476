/** The jobs of snapshots. @module */

import type { Deps } from "../deps.ts";
import type { JobRun, NamedJobKind } from "../jobs/kind.ts";
import type { Identity } from "../containers/reservations.ts";
import type { Held } from "./hold.ts";
import type { Mode } from "./modes.ts";
import type { Stored } from "./store.ts";

/** Why a snapshot was made; a tag of it. */
export const REASONS = ["manual", "schedule", "update", "undo"] as const;
export type Reason = (typeof REASONS)[number];

export interface SnapshotInput {
  /** `null` for single volumes. */
  stack: string | null;
  /** Names; `null` for a stack. */
  volumes: string[] | null;
  targetId: string;
  /** Name of the target. */
  place: string;
  mode: Mode;
  reason: Reason;
  note: string | null;
  /** Containers that the job reserves. */
  affected: Identity[];
}

export interface SnapshotResult extends Stored {
  /** Name of the target. */
  target: string;
  mode: Mode;
  /** How long containers were stopped or paused, in milliseconds. */
  downtimeMs: number;
  /** Directories of the host that are not below `STACK_ROOTS`. */
  leftOut: string[];
}

export type SnapshotJob = JobRun<SnapshotInput>;

/** Job steps, which are also what a restart finds. */
export const SNAPSHOT_STEPS = {
  plan: "Plan",
  hold: "Stop or pause containers",
  read: "Read and store",
  release: "Start containers",
} as const;

export const snapshotKind: NamedJobKind<SnapshotInput, SnapshotResult> = {
  id: "backup.snapshot",
  group: "Backups",
  title: "Backup",
  running: "Backing up {target}",
  steps: SNAPSHOT_STEPS,
  unit: "bytes",
  isListed: true,
  targetType: "host",
  role: "operator",
  permission: "backup:run",
  reserve: ({ reservations }, { target, input: { affected: [first, ...affected] } }) =>
    reservations.reserve(first ?? { id: target, name: target }, "backed up", {
      affected,
      operation: operationOf(target),
    }),
  run: take,
  recover: (deps, job) => interrupted(deps, job),
  endEvent: ({ id: jobId, target: backup, input, status, error, result }) => {
    const data = { backup, place: (input as SnapshotInput).place, jobId };
    if (status === "succeeded") {
      const { snapshot, size, downtimeMs } = result as SnapshotResult;
      return { event: "backup.succeeded", data: { ...data, snapshot, size, downtimeMs } };
    }
    if (status === "cancelled") return undefined;
    return { event: "backup.failed", data: { ...data, reason: error } };
  },
};

/** The actions of a job on containers belong to its reservation, also after a restart. */
export const operationOf = (target: string) => Symbol.for(`backup ${target}`);

async function take(deps: Deps, job: SnapshotJob): Promise<SnapshotResult> {
  return await (await import("./take.ts")).takeSnapshot(deps, job);
}

async function interrupted(deps: Deps, job: SnapshotJob): Promise<never> {
  return await (await import("./take.ts")).releaseInterrupted(deps, job);
}

/** Value of the step `plan`. */
export interface SnapshotPlan {
  held: Held | null;
}
