/** The job that restores volumes and files from a snapshot. @module */

import type { Deps } from "../../deps.ts";
import type { JobRun, NamedJobKind } from "../../jobs/kind.ts";
import type { Identity } from "../../containers/reservations.ts";
import type { Part } from "../contents.ts";
import { operationOf } from "../kinds.ts";

/** Volume that is restored. */
export interface RestoredPart {
  /** Directory or file in the snapshot, without the leading slash, as bytes. */
  from: string;
  /** Volume that is written. */
  to: Part;
  /** Of a new volume. */
  driver?: string | undefined;
  options?: Record<string, string> | undefined;
  labels?: Record<string, string> | undefined;
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
  bytes: number;
  skippedCount: number;
  /** How long containers were stopped, in milliseconds. */
  downtimeMs: number;
  /** Why the containers count as well; `null` if none ran. */
  verdict: string | null;
}

export type RestoreJob = JobRun<RestoreInput>;

export const restoreKind: NamedJobKind<RestoreInput, RestoreResult> = {
  id: "backup.restore",
  group: "Backups",
  title: "Restore",
  running: "Restoring {target}",
  isListed: true,
  steps: {
    plan: "Plan",
    hold: "Stop containers",
    keep: "Keep what is there",
    write: "Write",
    release: "Start containers",
    verify: "Verify the containers",
    "stop again": "Stop containers",
    "put back": "Put back what was there",
    "start again": "Start containers",
  },
  unit: "bytes",
  targetType: "host",
  role: "admin",
  permission: "backup:write",
  reserve: ({ reservations }, { target, input: { affected: [first, ...affected] } }) =>
    reservations.reserve(first ?? { id: target, name: target }, "restored", {
      affected,
      operation: operationOf(target),
    }),
  run: restore,
  // Each step can be repeated, and the old bytes are kept before the first one is overwritten.
  recover: restore,
  outlivesEngine: true,
};

async function restore(deps: Deps, job: RestoreJob): Promise<RestoreResult> {
  return await (await import("./run.ts")).restoreParts(deps, job);
}
