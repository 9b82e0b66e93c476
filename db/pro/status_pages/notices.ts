/**
 * The `status_page_notices` table: what subscribers of a status page are told.
 *
 * @module
 */

import type { Database } from "../../database.ts";

/** One notice, to however many. */
export interface StatusPageNotice {
  id: string;
  page_id: string;
  content: NoticeContent;
  /** ISO 8601, UTC. */
  created_at: string;
}

/** What happened to a component, an incident or a planned maintenance. */
export interface NoticeContent {
  component: string | null;
  incident: string | null;
  /** The title of a maintenance; only there for one, as are its times (ISO 8601, UTC). */
  maintenance?: string;
  starts_at?: string;
  ends_at?: string;
  /** `null` for an incident that begins. */
  old_status: string | null;
  new_status: string;
  message: string | null;
}

/** One notice, or `undefined` when the id is unknown. */
export function selectNotice(db: Database, id: string): StatusPageNotice | undefined {
  const row = db.get<Omit<StatusPageNotice, "content"> & { content: string }>(
    "SELECT id, page_id, content, created_at FROM status_page_notices WHERE id = :id",
    { id },
  );
  return row && { ...row, content: JSON.parse(row.content) };
}

export function insertNotice(db: Database, { content, ...notice }: StatusPageNotice): void {
  db.run(
    `INSERT INTO status_page_notices (id, page_id, content, created_at)
     VALUES (:id, :page_id, :content, :created_at)`,
    { ...notice, content: JSON.stringify(content) },
  );
}

/** @returns How many went. */
export function deleteNoticesBefore(db: Database, createdAt: string): number {
  return db.run("DELETE FROM status_page_notices WHERE created_at < :createdAt", { createdAt });
}
