/** The second factors of an account: authenticator app, passkeys, recovery codes. @module */

import { countPasskeys, deletePasskeysOfUser } from "../../../db/passkeys.ts";
import { countUnusedRecoveryCodes, deleteRecoveryCodes } from "../../../db/recovery_codes.ts";
import { hasSecondFactor } from "../../../db/second_factors.ts";
import { deleteTotpSecret, selectTotpSecret } from "../../../db/totp_secrets.ts";
import type { User } from "../../../db/users.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { EmitDeps } from "../../events/emit.ts";
import type { Caller } from "../caller.ts";
import { revokeFamiliesOfUser } from "../sign_in/families.ts";
import { reportAccountChange } from "../users/changes.ts";
import { assertMayManage, findActiveUser } from "../users/users.ts";
import { createRecoveryCodes } from "./recovery_codes.ts";

/** Ways to prove a second factor. */
export const MFA_METHODS = ["totp", "passkey", "recoveryCode"] as const;
export type MfaMethod = (typeof MFA_METHODS)[number];

type ChangeDeps = Pick<Deps, "db" | "accounts" | "now" | "log">;

/** A factor that is proved without the other. */
type FactorName = "Authenticator app" | "Passkey";

/** Whether an account has an authenticator app that has proved a code. */
export const hasTotp = (db: Deps["db"], userId: string): boolean =>
  (selectTotpSecret(db, userId)?.confirmedAt ?? null) !== null;

/** Ways of an account to prove its second factor now; none without a factor. */
export function methodsOf(db: Deps["db"], userId: string): MfaMethod[] {
  if (!hasSecondFactor(db, userId)) return [];
  const has: Record<MfaMethod, boolean> = {
    totp: hasTotp(db, userId),
    passkey: countPasskeys(db, userId) > 0,
    recoveryCode: countUnusedRecoveryCodes(db, userId) > 0,
  };
  return MFA_METHODS.filter((method) => has[method]);
}

/**
 * Adds a factor and ends the other sessions of the account, which began without it.
 *
 * @param store Stores the factor.
 * @returns New recovery codes, if the account has no unused ones.
 */
export function addFactor(
  deps: ChangeDeps & EmitDeps,
  caller: Caller,
  factor: FactorName,
  store: () => void,
): string[] {
  const { db } = deps;
  const { userId } = caller;
  let recoveryCodes: string[] = [];
  changeFactors(deps, caller, () => {
    store();
    if (countUnusedRecoveryCodes(db, userId) === 0) recoveryCodes = createRecoveryCodes(db, userId);
  });
  deps.log.info("second factor added", { userId, factor });
  reportAccountChange(deps, caller, "account.factor_changed", `${factor} added`);
  return recoveryCodes;
}

/**
 * Removes a factor and ends the other sessions of the account. With the last factor, the recovery
 * codes go, too.
 */
export function removeFactor(
  deps: ChangeDeps & EmitDeps,
  caller: Caller,
  factor: FactorName,
  remove: () => void,
): void {
  const { userId } = caller;
  changeFactors(deps, caller, () => {
    remove();
    deleteUnneededCodes(deps.db, userId);
  });
  deps.log.info("second factor removed", { userId, factor });
  reportAccountChange(deps, caller, "account.factor_changed", `${factor} removed`);
}

/** Deletes all passkeys of an account. Runs inside the caller's transaction. */
export function deletePasskeys(db: Deps["db"], userId: string): void {
  deletePasskeysOfUser(db, userId);
  deleteUnneededCodes(db, userId);
}

/** Recovery codes belong to a factor. */
function deleteUnneededCodes(db: Deps["db"], userId: string): void {
  if (!hasSecondFactor(db, userId)) deleteRecoveryCodes(db, userId);
}

/** Does both in one transaction: stores a change and ends the other sessions of the account. */
const changeFactors = (deps: ChangeDeps, { userId, familyId }: Caller, change: () => void) =>
  revokeFamiliesOfUser(deps, userId, { change, except: familyId });

/** Removes all factors of a user and ends all their sessions. Asks for nothing. */
export function resetFactors(deps: ChangeDeps, { id: userId }: User): void {
  const { db, log } = deps;
  revokeFamiliesOfUser(deps, userId, { change: () => deleteFactors(db, userId) });
  log.info("second factors reset", { userId });
}

/** Deletes all factors of a user. Runs inside the caller's transaction. */
export function deleteFactors(db: Deps["db"], userId: string): void {
  deleteTotpSecret(db, userId);
  deletePasskeysOfUser(db, userId);
  deleteRecoveryCodes(db, userId);
}

/**
 * Resets the factors of another user.
 *
 * @throws {AppError} `not_found` for an unknown user and in key mode; `forbidden` for a user with
 * more rights; `conflict` for the caller's own account, which needs its password and a code.
 */
export function resetFactorsOf(deps: ChangeDeps, caller: Caller, id: string): User {
  const user = findActiveUser(deps, id);
  assertMayManage(caller, user);
  if (caller.userId === id) {
    throw new AppError("conflict", "Remove your own second factors in your account");
  }
  resetFactors(deps, user);
  return user;
}
