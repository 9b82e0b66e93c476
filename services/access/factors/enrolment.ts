/** `MFA_REQUIRED`: logins without a second factor may only set one up. @module */

import { hasSecondFactor } from "../../../db/second_factors.ts";
import { selectSession } from "../../../db/sessions.ts";
import type { Deps } from "../../deps.ts";
import { EnrolmentError } from "../../errors.ts";
import { type Caller, mayDo } from "../caller.ts";

/**
 * Refuses a login of an account that still has to set up a second factor. API tokens are not asked,
 * and logins are not whose identity provider has asked for several factors.
 *
 * @throws {EnrolmentError}
 */
export function assertEnrolled(
  { accounts, config, db }: Pick<Deps, "accounts" | "config" | "db">,
  caller: Caller,
): void {
  const { userId, familyId, apiToken } = caller;
  const { mfaRequired } = config;
  if (mfaRequired === "off" || apiToken || familyId === "") return;
  if (mfaRequired === "admins" && !managesServer(caller) || accounts.mode !== "users") return;
  if (hasSecondFactor(db, userId) || selectSession(db, familyId)?.hasSecondFactor) return;
  throw new EnrolmentError();
}

/** Whether the caller is an admin, or has what is most of that by a custom role. */
const managesServer = (caller: Caller): boolean =>
  mayDo(caller, "admin", "users:write") || mayDo(caller, "admin", "settings:write");
