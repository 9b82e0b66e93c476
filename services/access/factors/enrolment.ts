/** `MFA_REQUIRED`: logins without a second factor may only set one up. @module */

import { hasSecondFactor } from "../../../db/second_factors.ts";
import { selectSession } from "../../../db/sessions.ts";
import type { Deps } from "../../deps.ts";
import { EnrolmentError } from "../../errors.ts";
import type { Caller } from "../caller.ts";

/**
 * Refuses a login of an account that still has to set up a second factor. API tokens are not asked,
 * and logins are not whose identity provider has asked for several factors.
 *
 * @throws {EnrolmentError}
 */
export function assertEnrolled(
  { accounts, config, db }: Pick<Deps, "accounts" | "config" | "db">,
  { userId, familyId, role, apiToken }: Caller,
): void {
  const { mfaRequired } = config;
  if (mfaRequired === "off" || apiToken || familyId === "") return;
  if (mfaRequired === "admins" && role !== "admin" || accounts.mode !== "users") return;
  if (hasSecondFactor(db, userId) || selectSession(db, familyId)?.hasSecondFactor) return;
  throw new EnrolmentError();
}
