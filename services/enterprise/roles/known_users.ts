/**
 * Whom custom roles and IP rules can be given to: users with an account, and the two callers that
 * have none.
 *
 * @module
 */

import { selectUser } from "../../../db/ce/users.ts";
import { KEY_USER, METRICS_USER } from "../../auth/accounts.ts";
import type { UserRole } from "../../auth/caller.ts";
import type { Deps } from "../../deps.ts";
import { notFound } from "../../errors.ts";

/**
 * The base role of a user; in key mode also that of `key`, and with METRICS_TOKEN that of `metrics`.
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
