/** Checks of codes: from an authenticator app, or a recovery code. @module */

import { selectTotpSecret, type TotpSecret, updateTotpStep } from "../../../db/totp_secrets.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { openOrConflict } from "../../secrets/secrets.ts";
import type { Caller } from "../caller.ts";
import { useRecoveryCode } from "./recovery_codes.ts";
import { findStep } from "./totp.ts";

/** A code that proves a second factor. */
export type GivenCode = { code: string } | { recoveryCode: string };

/** The user whose code it is; `familyId` is the session, missing during a sign-in. */
type CodeUser = Pick<Caller, "userId" | "address"> & { familyId?: string };

export type CodeDeps = Pick<Deps, "db" | "secrets" | "codeThrottle" | "log" | "now">;

/**
 * Uses up a code of an account. Wrong ones count per account, and in a sign-in per address, apart from passwords:
 * a right password does not reset them.
 *
 * @param refusal Code of the error for a wrong one.
 * @throws {AppError} For a wrong or used code; `conflict` if the stored secret cannot be opened.
 * @throws {ThrottledError} After too many wrong codes.
 */
export function useCode(
  deps: CodeDeps,
  user: CodeUser,
  given: GivenCode,
  refusal: "unauthorized" | "forbidden",
): void {
  const what = "code" in given ? "code" : "recovery code";
  checkCode(
    deps,
    user,
    () => isRight(deps, user.userId, given),
    () => new AppError(refusal, `The ${what} is wrong or was used already`),
  );
}

/**
 * Counts a check of a code that was wrong: of a session only for its account, because its user is known
 * and must not block others at the same address.
 *
 * @throws The refusal; else as {@linkcode useCode}.
 */
export function checkCode(
  { codeThrottle, log }: Pick<CodeDeps, "codeThrottle" | "log">,
  { userId, address, familyId }: CodeUser,
  check: () => boolean,
  refusal: () => AppError,
): void {
  const attempt = codeThrottle.begin(familyId === undefined ? address : userId, userId);
  if (!check()) {
    log.warn("wrong second factor", { userId, address });
    throw refusal();
  }
  attempt.succeeded();
  codeThrottle.remember(address, userId);
}

function isRight(deps: CodeDeps, userId: string, given: GivenCode): boolean {
  if ("recoveryCode" in given) return useRecoveryCode(deps, userId, given.recoveryCode);
  const stored = selectTotpSecret(deps.db, userId);
  return !!stored && stored.confirmedAt !== null && useTotpCode(deps, stored, given.code);
}

/** Marks a code as used. @returns Whether it was right and unused. */
export function useTotpCode(
  { db, secrets, now }: Pick<Deps, "db" | "secrets" | "now">,
  stored: TotpSecret,
  code: string,
): boolean {
  const secret = openOrConflict(
    () => Uint8Array.fromBase64(secrets.open(stored.secret, totpPurpose(stored.userId))),
    "use a recovery code, or have an administrator reset your second factors",
  );
  const step = findStep(secret, code, { now: now(), lastStep: stored.lastStep });
  return step !== undefined && updateTotpStep(db, stored, step);
}

/** Purpose of a sealed secret. */
export const totpPurpose = (userId: string): string => `totp ${userId}`;
