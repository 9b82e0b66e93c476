/**
 * Finds the status page of a request.
 *
 * @module
 */

import type { Database } from "../../../db/database.ts";
import { selectStatusPage, type StatusPage } from "../../../db/pro/status_pages/pages.ts";
import { notFound } from "../../errors.ts";

/** @throws {AppError} `not_found`. */
export function requirePage(db: Database, id: string): StatusPage {
  const page = selectStatusPage(db, id);
  if (!page) throw notFound("Status page", id);
  return page;
}
