/** The job that restores volumes and files: its request and its result. @module */

import type { JobRun } from "../../jobs/kind.ts";
import type { RestoredPart } from "../../backup/trees/part.ts";
import type { WrittenParts } from "../../backup/trees/write.ts";
import type { ReplacementInput } from "../replacement.ts";

export interface RestoreInput extends ReplacementInput {
  /** Id of the snapshot. */
  snapshot: string;
  /** Only these files of the parts, as bytes; `null` for everything. */
  files: string[] | null;
  parts: RestoredPart[];
  to: "new" | "replace";
  /** How long the containers must stay up; `null` for the default. */
  stableSeconds: number | null;
}

export interface RestoreResult extends WrittenParts {
  /** Names of volumes, or directories. */
  restored: string[];
  /** Snapshot of what was replaced; `null` for new volumes. */
  kept: string | null;
  /** Name of the target with the snapshots. */
  target: string;
  /** How long containers were stopped, in milliseconds. */
  downtimeMs: number;
  /** Why the containers count as well; `null` if none ran. */
  verdict: string | null;
}

export type RestoreJob = JobRun<RestoreInput>;
