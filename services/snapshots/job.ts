/** The job that makes a snapshot: its request, its result and its plan. @module */

import type { JobRun } from "../jobs/kind.ts";
import type { Identity } from "../containers/reservations.ts";
import type { Held } from "./hold.ts";
import type { Mode } from "./modes.ts";
import type { Stored } from "../backup/trees/store.ts";
import type { Reason } from "../backup/trees/tags.ts";

export interface SnapshotInput {
  /** `null` for single volumes. */
  stack: string | null;
  /** Names; `null` for a stack. */
  volumes: string[] | null;
  targetId: string;
  /** Name of the target. */
  place: string;
  /** Whether the target was created for this snapshot, the first one. */
  hasNewTarget?: boolean;
  mode: Mode;
  /** Whether the images of the containers are stored, too. */
  withImages?: boolean;
  /** Whether all containers of the stack stay stopped after a success. */
  keepStopped?: boolean;
  reason: Reason;
  note: string | null;
  /** Estimated bytes of all files; `null` if unknown. */
  size: number | null;
  /** Parts in which the last backup has found SQLite databases. */
  sqlite?: string[];
  /** Containers that the job reserves. */
  affected: Identity[];
  /** Volumes and directories that it reads; missing in jobs of earlier versions. */
  read?: Identity[];
}

export interface SnapshotResult extends Stored {
  /** Name of the target. */
  target: string;
  /** Set if the target was created for this snapshot. */
  hasNewTarget?: boolean;
  mode: Mode;
  /** How long containers were stopped or paused, in milliseconds; for those that stay stopped until its end. */
  downtimeMs: number;
  /** Directories of the host that are not below `STACK_ROOTS`. */
  leftOut: string[];
}

export type SnapshotJob = JobRun<SnapshotInput>;

/** Value of the step `plan`. */
export interface SnapshotPlan {
  held: Held | null;
  /** Containers with hooks, and the command that runs afterwards. */
  hooked: { id: string; name: string; post: string | null }[];
  leftOut: string[];
}

/**
 * The actions of a job on containers belong to its reservation, also after a restart. Jobs of different
 * kinds on one target exclude each other.
 */
export const operationOf = (
  kind: "backup.snapshot" | "backup.restore" | "backup.restore_stack",
  target: string,
): symbol => Symbol.for(`${kind} ${target}`);
