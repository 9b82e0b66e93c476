/** The `status_page_notices` table: notices to the subscribers of status pages. @module */

import { json, type Row, table, text } from "../../columns.ts";
import type { Database } from "../../database.ts";

/** News of a component, an incident or a planned maintenance. */
interface NoticeContent {
  component: string | null;
  incident: string | null;
  /** The title of a maintenance; only set for one, as are its times (ISO 8601, UTC). */
  maintenance?: string;
  starts_at?: string;
  ends_at?: string;
  /** `null` for a new incident. */
  old_status: string | null;
  new_status: string;
  message: string | null;
}

const notices = table("status_page_notices", {
  id: text(),
  page_id: text(),
  content: json<NoticeContent>(),
  /** ISO 8601, UTC. */
  created_at: text(),
});

/** One notice to all subscribers of a page. */
export type StatusPageNotice = Row<typeof notices>;

export const { find: selectNotice, insert: insertNotice } = notices;

/** @returns How many were deleted. */
export function deleteNoticesBefore(db: Database, createdAt: string): number {
  return db.run("DELETE FROM status_page_notices WHERE created_at < :createdAt", { createdAt });
}
