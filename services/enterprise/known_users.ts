/**
 * Whom custom roles can be about: users, and the callers that have no account.
 *
 * @module
 */

import { selectUser } from "../../db/ce/users.ts";
import { KEY_USER } from "../accounts.ts";
import type { UserRole } from "../caller.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../errors.ts";

/** The caller who brings METRICS_TOKEN, which opens the export of the metrics and nothing else. */
const METRICS_USER = "metrics";

/**
 * The base role of a user, in key mode also of `key`.
 *
 * @throws {AppError} `not_found`
 */
export function knownUserRole(
  { config, db }: Pick<Deps, "config" | "db">,
  userId: string,
): UserRole {
  if (userId === KEY_USER && config.authMode === "key") return "admin";
  if (userId === METRICS_USER && config.metricsToken !== null) return "viewer";
  const user = selectUser(db, userId);
  if (!user) throw notFound("User", userId);
  return user.role;
}
