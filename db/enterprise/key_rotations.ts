/**
 * The `key_rotations` table: when rotations of the database key were begun, and how they ended.
 *
 * @module
 */

import type { Database } from "../database.ts";

/** How a rotation can end. */
export const ROTATION_ENDS = ["completed", "failed", "cancelled"] as const;
export type RotationEnd = (typeof ROTATION_ENDS)[number];

export const ROTATION_STATUSES = ["pending", ...ROTATION_ENDS] as const;

/** One rotation as stored. Times are ISO 8601, UTC. */
export interface KeyRotation {
  id: string;
  status: (typeof ROTATION_STATUSES)[number];
  notes: string;
  /** Id of the user, or `key`. */
  initiated_by: string;
  started_at: string;
  /** When it ended, in whichever way; `null` while it is pending. */
  completed_at: string | null;
}

const COLUMNS = "id, status, notes, initiated_by, started_at, completed_at";

/** Newest first. */
export function selectKeyRotations(
  db: Database,
  { limit, offset }: { limit: number; offset: number },
): KeyRotation[] {
  return db.all<KeyRotation>(
    `SELECT ${COLUMNS} FROM key_rotations ORDER BY started_at DESC, id
     LIMIT :limit OFFSET :offset`,
    { limit, offset },
  );
}

export function countKeyRotations(db: Database): number {
  return db.get<{ n: number }>("SELECT count(*) AS n FROM key_rotations")!.n;
}

/** One rotation, or `undefined` when the id is unknown. */
export function selectKeyRotation(db: Database, id: string): KeyRotation | undefined {
  return db.get<KeyRotation>(`SELECT ${COLUMNS} FROM key_rotations WHERE id = :id`, { id });
}

/** The rotation that has not ended, or `undefined`: there is at most one. */
export function selectPendingRotation(db: Database): KeyRotation | undefined {
  return db.get<KeyRotation>(`SELECT ${COLUMNS} FROM key_rotations WHERE status = 'pending'`);
}

/** When a rotation was last completed; `null` when none ever was. */
export function selectLastRotationAt(db: Database): string | null {
  return db.get<{ at: string | null }>(
    "SELECT max(completed_at) AS at FROM key_rotations WHERE status = 'completed'",
  )!.at;
}

export function insertKeyRotation(db: Database, rotation: KeyRotation): void {
  db.run(
    `INSERT INTO key_rotations (${COLUMNS})
     VALUES (:id, :status, :notes, :initiated_by, :started_at, :completed_at)`,
    { ...rotation },
  );
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
  return db.run(
    `UPDATE key_rotations SET status = :status, notes = :notes, completed_at = :completed_at
     WHERE id = :id AND status = 'pending'`,
    { id, status, notes, completed_at },
  ) > 0;
}
