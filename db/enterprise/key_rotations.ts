/** The `key_rotations` table: rotations of the database key and their results. @module */

import { type Row, table, text } from "../columns.ts";
import type { Database } from "../database.ts";

/** Final statuses of a rotation. */
export const ROTATION_ENDS = ["completed", "failed", "cancelled"] as const;
export type RotationEnd = (typeof ROTATION_ENDS)[number];

export const ROTATION_STATUSES = ["pending", ...ROTATION_ENDS] as const;

const rotations = table("key_rotations", {
  id: text(),
  status: text<(typeof ROTATION_STATUSES)[number]>(),
  notes: text(),
  /** Id of the user, or `key`. */
  initiated_by: text(),
  started_at: text(),
  /** When it ended with any result; `null` while it is pending. */
  completed_at: text<string | null>(),
}, { order: "started_at DESC, id" });

/** One rotation as stored. Times are ISO 8601, UTC. */
export type KeyRotation = Row<typeof rotations>;

export const {
  find: selectKeyRotation,
  count: countKeyRotations,
  insert: insertKeyRotation,
  /** Newest first. */
  page: selectKeyRotations,
} = rotations;

/** The pending rotation, or `undefined`: at most one is pending. */
export function selectPendingRotation(db: Database): KeyRotation | undefined {
  return rotations.selectOne(db, "WHERE status = 'pending'");
}

/** When a rotation was last completed; `null` if never. */
export function selectLastRotationAt(db: Database): string | null {
  return db.get<{ at: string | null }>(
    "SELECT max(completed_at) AS at FROM key_rotations WHERE status = 'completed'",
  )!.at;
}

/** @returns Whether it was pending. */
export function updateKeyRotationEnded(
  db: Database,
  { id, status, notes, completed_at }: {
    id: string;
    status: RotationEnd;
    notes: string;
    completed_at: string;
  },
): boolean {
  return rotations.update(db, id, { status, notes, completed_at }, "status = 'pending'");
}
