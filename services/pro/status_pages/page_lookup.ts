/** Finds the status page of a request. @module */

import type { Database } from "../../../db/database.ts";
import { selectStatusPage, type StatusPage } from "../../../db/pro/status_pages/pages.ts";
import { requireFound } from "../../errors.ts";

/** @throws {AppError} `not_found`. */
export function requirePage(db: Database, id: string): StatusPage {
  return requireFound(selectStatusPage(db, id), "Status page", id);
}
