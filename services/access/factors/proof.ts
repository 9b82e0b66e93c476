/**
 * Proof that the owner of an account is at the session that changes its factors. An access token alone
 * could otherwise be turned into a lasting way in, or lock the owner out.
 *
 * @module
 */

import { hasSecondFactor } from "../../../db/second_factors.ts";
import { selectSession } from "../../../db/sessions.ts";
import { selectPasswordHash } from "../../../db/users.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { Caller } from "../caller.ts";
import { assertCurrentPassword } from "../users/passwords.ts";
import { type CodeDeps, useCode } from "./codes.ts";

/** Time after a sign-in in which it is the proof, in milliseconds. */
const FRESH_MS = 5 * 60_000;

/** Proof that comes with a request. */
export interface Proof {
  password?: string | undefined;
  code?: string | undefined;
  recoveryCode?: string | undefined;
}

/** Proof that is needed: the password, or a code where the account has no password. */
export type NeededProof = "password" | "code";

export type ProofDeps = CodeDeps & Pick<Deps, "passwords" | "throttle">;

/** Proof that the caller needs now; `null` after a recent sign-in, and if there is nothing to prove. */
export function neededProof(
  { db, now }: Pick<Deps, "db" | "now">,
  { userId, familyId }: Caller,
): NeededProof | null {
  const signedInAt = selectSession(db, familyId)?.createdAt;
  const elapsedMs = now().getTime() - Date.parse(signedInAt ?? "");
  if (elapsedMs >= 0 && elapsedMs < FRESH_MS) return null;
  if (selectPasswordHash(db, userId) !== null) return "password";
  return hasSecondFactor(db, userId) ? "code" : null;
}

/**
 * @throws {AppError} `forbidden` without a proof that is needed, and for a wrong one.
 * @throws {ThrottledError} After too many wrong ones.
 */
export async function requireProof(
  deps: ProofDeps,
  caller: Caller,
  { password, code, recoveryCode }: Proof,
): Promise<void> {
  const needed = neededProof(deps, caller);
  if (needed === null) return;
  if (needed === "password" && password !== undefined) {
    await assertCurrentPassword(deps, caller, password);
    return;
  }
  if (code !== undefined) return useCode(deps, caller, { code }, "forbidden");
  if (recoveryCode !== undefined) return useCode(deps, caller, { recoveryCode }, "forbidden");
  throw new AppError(
    "forbidden",
    `This sign-in is older than 5 minutes: send ${
      needed === "password" ? "the password, a code" : "a code"
    } or a recovery code, or sign in again`,
  );
}
