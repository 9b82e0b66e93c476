/** The job that restores volumes and files: its request and its result. @module */

import type { JobRun } from "../../jobs/kind.ts";
import type { Identity } from "../../containers/reservations.ts";
import type { Part } from "../contents.ts";

/** Volume that is restored. */
export interface RestoredPart {
  /** Directory or file in the snapshot, without the leading slash, as bytes. */
  from: string;
  /** Volume that is written. */
  to: Part;
}

export interface RestoreInput {
  targetId: string;
  /** Name of the target. */
  place: string;
  /** Id of the snapshot. */
  snapshot: string;
  /** Only these files of the parts, as bytes; `null` for everything. */
  files: string[] | null;
  parts: RestoredPart[];
  to: "new" | "replace";
  /** How long the containers must stay up; `null` for the default. */
  stableSeconds: number | null;
  /** Of the containers, for helper containers. */
  images: string[];
  /** Containers that use what is replaced. */
  affected: Identity[];
}

export interface RestoreResult {
  /** Names of volumes, or directories. */
  restored: string[];
  /** Snapshot of what was replaced; `null` for new volumes. */
  kept: string | null;
  /** Name of the target with the snapshots. */
  target: string;
  bytes: number;
  skippedCount: number;
  /** How long containers were stopped, in milliseconds. */
  downtimeMs: number;
  /** Why the containers count as well; `null` if none ran. */
  verdict: string | null;
}

export type RestoreJob = JobRun<RestoreInput>;
