/**
 * Records of database key rotations: start, end and outcome. The operator changes the key itself,
 * outside of this service.
 *
 * @module
 */

import {
  countKeyRotations,
  insertKeyRotation,
  type KeyRotation,
  type RotationEnd,
  selectKeyRotation,
  selectKeyRotations,
  selectPendingRotation,
  updateKeyRotationEnded,
} from "../../../db/enterprise/key_rotations.ts";
import type { Page, Paged } from "../../../db/page.ts";
import type { Caller } from "../../access/caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError, requireFound } from "../../errors.ts";
import { recordEncryptionEvent } from "./audit.ts";

export { ROTATION_ENDS, ROTATION_STATUSES } from "../../../db/enterprise/key_rotations.ts";

/** Lists rotations, newest first. */
export function listKeyRotations(
  { db }: Pick<Deps, "db">,
  page: Page,
): { rotations: KeyRotation[] } & Paged {
  const rotations = selectKeyRotations(db, page);
  return { rotations, total: countKeyRotations(db), ...page };
}

/** Records the start of a rotation. @throws {AppError} `conflict` while another one is pending. */
export function startKeyRotation(
  deps: Pick<Deps, "db" | "now" | "log">,
  caller: Caller,
  notes: string,
): { id: string; status: "pending"; message: string } {
  const { db, now, log } = deps;
  const id = crypto.randomUUID();
  db.transaction(() => {
    const pending = selectPendingRotation(db);
    if (pending) {
      throw new AppError(
        "conflict",
        `Rotation ${pending.id} has been pending since ${pending.started_at}; end it first`,
      );
    }
    insertKeyRotation(db, {
      id,
      status: "pending",
      notes,
      initiated_by: caller.userId,
      started_at: now().toISOString(),
      completed_at: null,
    });
    recordEncryptionEvent(deps, caller, "rotation_initiated", detailOf(id, "pending", notes));
  });
  log.info("key rotation initiated", { rotationId: id });
  return {
    id,
    status: "pending",
    message: "Recorded as pending. Change the key where the database is opened, then report the " +
      `outcome with PUT /encryption/rotations/${id}`,
  };
}

/**
 * Records the end of a rotation.
 *
 * @param notes Replace the previous notes if given.
 * @throws {AppError} `not_found`; `conflict` if it has already ended.
 */
export function endKeyRotation(
  deps: Pick<Deps, "db" | "now" | "log">,
  caller: Caller,
  id: string,
  { status, notes }: { status: RotationEnd; notes?: string | undefined },
): KeyRotation {
  const { db, now, log } = deps;
  const rotation = db.transaction(() => {
    const before = requireFound(selectKeyRotation(db, id), "Key rotation", id);
    const ended = {
      id,
      status,
      notes: notes ?? before.notes,
      completed_at: now().toISOString(),
    };
    if (!updateKeyRotationEnded(db, ended)) {
      throw new AppError(
        "conflict",
        `Rotation ${id} has already ended (${before.status}, ${before.completed_at})`,
      );
    }
    recordEncryptionEvent(deps, caller, "rotation_ended", detailOf(id, status, notes ?? ""));
    return { ...before, ...ended };
  });
  log.info("key rotation ended", { rotationId: id, status });
  return rotation;
}

const detailOf = (id: string, status: string, notes: string) =>
  `Rotation ${id}: ${status}${notes === "" ? "" : ` (${notes})`}`;
