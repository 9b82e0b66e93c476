/** The job that backs Longshore itself up: its request and its result. @module */

import type { Stored } from "../../backup/trees/store.ts";
import type { Reason } from "../../backup/trees/tags.ts";
import type { JobRun } from "../../jobs/kind.ts";

export interface OwnBackupInput {
  targetId: string;
  /** Name of the target. */
  place: string;
  reason: Reason;
  note: string | null;
}

export interface OwnBackupResult extends Pick<Stored, "snapshot" | "size" | "added"> {
  /** Name of the target. */
  target: string;
}

export type OwnBackupJob = JobRun<OwnBackupInput>;
