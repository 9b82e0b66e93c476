/**
 * The `key_rotations` table: when the key of the database was changed, and how that went.
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
  initiatedBy: string;
  startedAt: string;
  /** When it ended, however that was. */
  completedAt: string | null;
}

const COLUMNS = `
  id, status, notes, initiated_by AS initiatedBy, started_at AS startedAt,
  completed_at AS completedAt`;

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

/** The one that has not ended, if there is one. */
export function selectPendingRotation(db: Database): KeyRotation | undefined {
  return db.get<KeyRotation>(`SELECT ${COLUMNS} FROM key_rotations WHERE status = 'pending'`);
}

/** When the last one was completed; `null` when none ever was. */
export function selectLastRotationAt(db: Database): string | null {
  return db.get<{ at: string | null }>(
    "SELECT max(completed_at) AS at FROM key_rotations WHERE status = 'completed'",
  )!.at;
}

export function insertKeyRotation(db: Database, rotation: KeyRotation): void {
  db.run(
    `INSERT INTO key_rotations (id, status, notes, initiated_by, started_at, completed_at)
     VALUES (:id, :status, :notes, :initiatedBy, :startedAt, :completedAt)`,
    { ...rotation },
  );
}

/** @returns Whether it was pending. */
export function updateKeyRotationEnded(
  db: Database,
  { id, status, notes, completedAt }: {
    id: string;
    status: RotationEnd;
    notes: string;
    completedAt: string;
  },
): boolean {
  return db.run(
    `UPDATE key_rotations SET status = :status, notes = :notes, completed_at = :completedAt
     WHERE id = :id AND status = 'pending'`,
    { id, status, notes, completedAt },
  ) > 0;
}
