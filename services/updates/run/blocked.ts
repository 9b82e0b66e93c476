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
import { gatePlatform, type Platform } from "./platform.ts";

export type { BlockedUpdate };

/** Whether a digest failed on a container, so that it must not be installed there automatically. */
export function isBlocked(deps: Pick<Deps, "db">, containerName: string, digest: string): boolean {
  return selectBlockedUpdate(deps.db, { containerName, digest }) !== undefined;
}

/**
 * Why a digest is blocked for a container, or for all by the fleet; all digests if it is unknown.
 *
 * @param platform Of the image, or of the image that the container runs.
 */
export function blockOf(
  { db, updateGate }: Pick<Deps, "db" | "updateGate">,
  containerName: string,
  { digest, platform }: { digest: string | undefined; platform: Platform | undefined },
): string | undefined {
  const own = selectBlockedUpdate(db, { containerName, digest: digest ?? EVERY_DIGEST });
  if (own) return `${own.reason}; the page Updates can allow it again`;
  if (digest === undefined || !platform) return undefined;
  return updateGate.blockOf({ digest, platform: gatePlatform(platform) });
}

/** Newest first. */
export const listBlocked = ({ db }: Pick<Deps, "db">): BlockedUpdate[] => selectBlockedUpdates(db);

/** @throws {AppError} `not_found` */
export function liftBlock({ db }: Pick<Deps, "db">, id: string): BlockedUpdate {
  const found = requireFound(findBlockedUpdate(db, id), "Blocked update", id);
  deleteBlockedUpdate(db, id);
  return found;
}
