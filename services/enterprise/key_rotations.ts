/**
 * Rotations of the database key: that one was begun, and how it ended. The key itself is changed
 * by whoever has it.
 *
 * @module
 */

import {
  countKeyRotations,
  insertKeyRotation,
  type KeyRotation as StoredRotation,
  type RotationEnd,
  selectKeyRotation,
  selectKeyRotations,
  selectPendingRotation,
  updateKeyRotationEnded,
} from "../../db/enterprise/key_rotations.ts";
import type { Caller } from "../caller.ts";
import type { Deps } from "../deps.ts";
import { AppError, notFound } from "../errors.ts";
import { recordEncryptionEvent } from "./encryption_audit.ts";

export { ROTATION_ENDS, ROTATION_STATUSES } from "../../db/enterprise/key_rotations.ts";

/** One rotation as shown. */
export interface KeyRotation {
  id: string;
  status: StoredRotation["status"];
  notes: string;
  initiated_by: string;
  started_at: string;
  completed_at: string | null;
}

/** Newest first. */
export function listKeyRotations(
  { db }: Pick<Deps, "db">,
  { limit, offset }: { limit: number; offset: number },
): { rotations: KeyRotation[]; total: number; limit: number; offset: number } {
  const rotations = selectKeyRotations(db, { limit, offset }).map(shown);
  return { rotations, total: countKeyRotations(db), limit, offset };
}

/** Records that a rotation was begun. @throws {AppError} `conflict` while another one is pending. */
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
        `The rotation ${pending.id} is pending since ${pending.startedAt}; end it first`,
      );
    }
    insertKeyRotation(db, {
      id,
      status: "pending",
      notes,
      initiatedBy: caller.userId,
      startedAt: now().toISOString(),
      completedAt: null,
    });
    recordEncryptionEvent(deps, caller, "rotation_initiated", detailOf(id, "pending", notes));
  });
  log.info("key rotation initiated", { rotationId: id });
  return {
    id,
    status: "pending",
    message: "Recorded as pending. Change the key where the database is opened, then tell with " +
      `PUT /rotations/${id} how it went`,
  };
}

/**
 * Records how a rotation ended.
 *
 * @param notes Take the place of those it was begun with.
 * @throws {AppError} `not_found`, or `conflict` when it has ended already.
 */
export function endKeyRotation(
  deps: Pick<Deps, "db" | "now" | "log">,
  caller: Caller,
  id: string,
  { status, notes }: { status: RotationEnd; notes?: string | undefined },
): KeyRotation {
  const { db, now, log } = deps;
  const rotation = db.transaction(() => {
    const before = selectKeyRotation(db, id);
    if (!before) throw notFound("Key rotation", id);
    const ended = {
      id,
      status,
      notes: notes ?? before.notes,
      completedAt: now().toISOString(),
    };
    if (!updateKeyRotationEnded(db, ended)) {
      throw new AppError(
        "conflict",
        `The rotation ${id} has ended already (${before.status}, ${before.completedAt})`,
      );
    }
    recordEncryptionEvent(deps, caller, "rotation_ended", detailOf(id, status, notes ?? ""));
    return { ...before, ...ended };
  });
  log.info("key rotation ended", { rotationId: id, status });
  return shown(rotation);
}

const detailOf = (id: string, status: string, notes: string) =>
  `Rotation ${id}: ${status}${notes === "" ? "" : ` (${notes})`}`;

function shown({ initiatedBy, startedAt, completedAt, ...rest }: StoredRotation): KeyRotation {
  return {
    ...rest,
    initiated_by: initiatedBy,
    started_at: startedAt,
    completed_at: completedAt,
  };
}
