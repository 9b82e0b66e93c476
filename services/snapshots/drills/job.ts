/** The job of a drill: its request and its result. @module */

import type { Evidence } from "../../updates/run/evidence.ts";
import type { JobRun } from "../../jobs/kind.ts";

export interface DrillInput {
  targetId: string;
  /** Name of the target. */
  place: string;
  /** Id of the snapshot. */
  snapshot: string;
  /** How long containers without a health check must stay up. */
  stableSeconds: number;
}

export interface DrillResult {
  /** Whether the containers worked on what was restored. */
  ok: boolean;
  /** Why: the verdict, or what failed. */
  reason: string;
  snapshot: string;
  /** Name of the target. */
  target: string;
  durationMs: number;
  /** Mounts of the host that the snapshot does not have, so that the containers ran without them. */
  leftOut: string[];
  /** Logs of the containers that failed. */
  evidence: Evidence[];
}

export type DrillJob = JobRun<DrillInput>;
