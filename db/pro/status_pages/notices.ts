/**
 * The `status_page_notices` table: notices to the subscribers of status pages.
 *
 * @module
 */

import { table } from "../../columns.ts";
import type { Database } from "../../database.ts";

/** One notice to all subscribers of a page. */
export interface StatusPageNotice {
  id: string;
  page_id: string;
  content: NoticeContent;
  /** ISO 8601, UTC. */
  created_at: string;
}

/** What happened to a component, an incident or a planned maintenance. */
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

const notices = table<StatusPageNotice>("status_page_notices", {
  id: "value",
  page_id: "value",
  content: "json",
  created_at: "value",
});

export const { find: selectNotice, insert: insertNotice } = notices;

/** @returns How many were deleted. */
export function deleteNoticesBefore(db: Database, createdAt: string): number {
  return db.run("DELETE FROM status_page_notices WHERE created_at < :createdAt", { createdAt });
}
