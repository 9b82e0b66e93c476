/**
 * The users that custom roles and IP rules can refer to: users with an account, and the two built-in
 * callers without one.
 *
 * @module
 */

import { selectUser } from "../../../db/users.ts";
import { KEY_USER, METRICS_USER } from "../../access/accounts.ts";
import type { UserRole } from "../../access/caller.ts";
import { signInMode } from "../../access/sign_in/mode.ts";
import type { Deps } from "../../deps.ts";
import { requireFound } from "../../errors.ts";

/**
 * Returns the base role of a user. `key` is known in key mode, `metrics` if METRICS_TOKEN is set.
 *
 * @throws {AppError} `not_found`
 */
export function knownUserRole(
  { config, db }: Pick<Deps, "config" | "db">,
  userId: string,
): UserRole {
  if (userId === KEY_USER && signInMode(db, config) === "key") return "admin";
  if (userId === METRICS_USER && config.metricsToken !== null) return "viewer";
  const user = requireFound(selectUser(db, userId), "User", userId);
  return user.role;
}
