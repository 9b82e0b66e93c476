/**
 * Images that failed as the update of a container: they are not tried again until a person lifts the
 * block, or an update to another image succeeds.
 *
 * @module
 */

import {
  type BlockedUpdate,
  deleteBlockedUpdate,
  EVERY_DIGEST,
  findBlockedUpdate,
  selectBlockedUpdate,
  selectBlockedUpdates,
} from "../../../db/updates/blocked.ts";
import type { Deps } from "../../deps.ts";
import { requireFound } from "../../errors.ts";

export type { BlockedUpdate };

/** Whether a digest must not be installed on a container automatically. */
export function isBlocked(deps: Pick<Deps, "db">, containerName: string, digest: string): boolean {
  return blockOf(deps, containerName, digest) !== undefined;
}

/** The block of a digest; of all digests if it is unknown. */
export function blockOf(
  { db }: Pick<Deps, "db">,
  containerName: string,
  digest: string | undefined,
): BlockedUpdate | undefined {
  return selectBlockedUpdate(db, { containerName, digest: digest ?? EVERY_DIGEST });
}

/** Newest first. */
export const listBlocked = ({ db }: Pick<Deps, "db">): BlockedUpdate[] => selectBlockedUpdates(db);

/** @throws {AppError} `not_found` */
export function liftBlock({ db }: Pick<Deps, "db">, id: string): BlockedUpdate {
  const found = requireFound(findBlockedUpdate(db, id), "Blocked update", id);
  deleteBlockedUpdate(db, id);
  return found;
}
