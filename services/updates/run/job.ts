/** Input, step records and result of an update's job. @module */

import type { KeptData } from "../../../db/updates/previous.ts";
import type { Deps } from "../../deps.ts";
import { messageFor } from "../../errors.ts";
import { emit } from "../../events/emit.ts";
import type { EventKind } from "../../events/kinds/mod.ts";
import type { Identity } from "../../containers/reservations.ts";
import type { JobRun } from "../../jobs/kind.ts";
import type { PullPolicy } from "../../images/pull_policy.ts";
import type { Stored } from "../../backup/trees/store.ts";
import type { VolumeImage } from "../../backup/volumes/writing_images.ts";
import type { Evidence } from "./evidence.ts";
import type { Member, Pair } from "./members.ts";
import type { RehearsalChoice } from "../rehearsal/choice.ts";
import type { Obstacle } from "./survey.ts";

export interface UpdateInput {
  containerId: string;
  name: string;
  /** The reference of the new image. */
  reference: string;
  /** The containers that the update replaces or stops besides. */
  affected: Identity[];
  /** The image to go back to; `null` for a newer one. */
  previousImageId: string | null;
  pull: PullPolicy;
  stableSeconds: number | null;
  verifyTimeoutSeconds: number | null;
  logPattern: string | null;
  /** Ids of the uptime monitors whose check must succeed. */
  monitors: string[];
  force: boolean;
  /** The only digest that may be installed; `null` for any. */
  expectedDigest: string | null;
  /**
   * A rebuild ends when the new container has started, without an observation, and its caller waits
   * for the outcome.
   */
  isRebuild: boolean;
  /** Id of the backup target to which the data before it goes; missing if it stays as it is written. */
  targetId?: string | undefined;
  /** Name of the target. */
  place?: string | undefined;
  /** Data that a rollback brings back. */
  restored?: KeptData | undefined;
  /** Ids of containers that earlier parts of a stack's update have stopped, and remove in the end. */
  replaced?: string[] | undefined;
  /** Missing in jobs of older versions. */
  rehearsal?: RehearsalChoice;
  /** Whether no person has requested it now; missing in jobs of older versions. */
  isAutomatic?: boolean | undefined;
  /** Obstacles in the registry's answer before the job; they end the job of an automatic update. */
  obstacles?: Obstacle[] | undefined;
}

export type UpdateJob = JobRun<UpdateInput>;

/** Record of the step `plan`. */
export interface Planned {
  oldImageId: string;
  oldReference: string;
  /** Of the image that the container runs, in its repository. */
  oldDigests: string[];
  /** Image that the reference named on this host before the pull. */
  namedId: string | null;
  /** The target first, then its dependents in topological order. */
  members: Member[];
  watched: Identity[];
  defaultRuntime: string | null;
  /** Missing if the data stays as it is written. */
  undone?: UndoneData | undefined;
}

/** Data that is kept, so that a failure can bring it back. */
export interface UndoneData {
  /** Names of volumes. */
  volumes: string[];
  /** Of the containers, for helper containers. */
  images: VolumeImage[];
  stack: string | null;
}

/** Snapshots of an update that can bring data back. */
export interface DataResult {
  /** Name of the target that has them. */
  target: string;
  /** Data from before it. */
  before: string;
  /** Bytes of its files. */
  size: number;
  /** Data that the failed version wrote; `null` unless the data from before is back. */
  written: string | null;
  /** Files that this snapshot lacks, as in `Stored`; missing if it has all. */
  skipped?: Stored["skipped"];
  skippedCount?: number;
  /** The data that the volumes got; `null` if they have what was written last. */
  restored: string | null;
}

/** Record of the step `pull`. */
export interface Pulled {
  imageId: string;
  /** Of the manifest, or the image's id. */
  digest: string;
  /** All of the image in the repository: manifests of one content may have several digests. */
  digests: string[];
  /** E.g. `linux/amd64`; missing in jobs of older versions. */
  platform?: string | undefined;
}

/** Record of the step `evidence`. It begins every rollback. */
export interface Failure {
  reason: string;
  /** Name of the container that failed, if it was one. */
  container: string | null;
  /** Whether it was cancelled, or ended before the new container: then the image is not blocked. */
  isCancelled: boolean;
  evidence: Evidence[];
}

/** The records that the end of an update depends on. */
export interface Replaced {
  planned: Planned;
  pulled: Pulled;
  pairs: readonly Pair[];
}

export interface UpdateResult {
  container: string;
  oldId: string;
  /** Of the new container; the old one if there was nothing to update. */
  id: string;
  image: string;
  imageId: string;
  digest: string;
  /** False if the container already runs that image. */
  updated: boolean;
  /** Set for a container that was recreated from its image (`force`). */
  isSameImage?: boolean;
  /** `inconclusive`: the container was not running, or did not work before. */
  verdict: "success" | "inconclusive";
  reason: string;
  /** Verdict of the rehearsal; missing without one. */
  rehearsal?: string;
  /** From the stop of the old container to the start of the new one; `null` if it did not run. */
  downtimeMs: number | null;
  /** `null` if no data was kept. */
  data: DataResult | null;
}

/** The result of an update that failed after containers were changed. */
export interface FailedUpdate {
  container: string;
  /** Of the container that has the name now. */
  id: string;
  image: string;
  digest: string;
  reason: string;
  evidence: Evidence[];
  data: DataResult | null;
}

export interface StackUpdateInput {
  /** Backup target for data, as with one container. */
  targetId?: string | undefined;
  place?: string | undefined;
  /** Names of the containers whose data is kept. */
  undone?: string[] | undefined;
  /** Names of the containers, in the order in which they are updated. */
  containers: string[];
  /** Everything that the update replaces or stops. */
  affected: Identity[];
  /** Whether the first failure takes back what was updated before. */
  atomic: boolean;
  pull: PullPolicy;
  stableSeconds: number | null;
  verifyTimeoutSeconds: number | null;
  force: boolean;
  /** As with one container. */
  isAutomatic?: boolean | undefined;
  /** Missing in jobs of older versions. */
  rehearsal?: RehearsalChoice;
  /** Images and data that a rollback brings back; missing for newer images. */
  previous?: StackRollback[];
}

/** Image and data to which a container of a stack goes back. */
export interface StackRollback {
  container: string;
  imageId: string;
  reference: string;
  /** `null` if its volumes stay as they are. */
  data: KeptData | null;
}

export type StackUpdateJob = JobRun<StackUpdateInput>;

export interface StackUpdateResult {
  results: UpdateResult[];
  /** Verdict of the rehearsal; missing without one. */
  rehearsal?: string;
  /** Containers of the stack that have stopped since the job began or they were updated. */
  warnings: string[];
}

type UpdateEvent = Extract<EventKind, `update.${string}`>;

/**
 * Emits an event of the job. After a crash it may be emitted again.
 *
 * @param store Stores what follows from it, in the same transaction.
 */
export function report(
  deps: Deps,
  job: UpdateJob,
  kind: UpdateEvent,
  { reason = null, digest = null }: { reason?: string | null; digest?: string | null },
  store?: () => void,
): void {
  const { id: jobId, input: { name, containerId, reference, isRebuild } } = job;
  // The caller of a rebuild gets the outcome as the response.
  if (isRebuild && kind !== "update.needs_attention") {
    if (store) deps.db.transaction(store);
    return;
  }
  const planned = job.resultOf("plan") as Planned | undefined;
  const id = planned?.members[0]?.oldId ?? containerId;
  const data = { container: name, id, image: reference, digest, reason, jobId };
  emit(deps, kind, data, store);
}

export const messageOf = ({ log }: Pick<Deps, "log">, error: unknown) =>
  messageFor(log, error, "update failed");
