/** Shapes and values that endpoints of second factors share. @module */

import * as z from "zod";
import type { Caller } from "../../services/access/caller.ts";
import { RECOVERY_CODE } from "../../services/access/factors/recovery_codes.ts";
import { describeCaller } from "../../services/access/users/users.ts";
import type { Deps } from "../../services/deps.ts";
import { PASSWORD_LENGTH_MAX } from "../../services/input/password_rule.ts";
import type { Note } from "../contract/endpoint.ts";

export const Code = z.string().regex(/^\d{6}$/, { error: "must be 6 digits" }).meta({
  description: "Code of an authenticator app",
  example: "287082",
});

export const RecoveryCode = z.string().regex(RECOVERY_CODE, {
  error: "must be 16 letters and digits as in K7QF-2MXA-9RTD-4HVW",
}).meta({ example: "K7QF-2MXA-9RTD-4HVW" });

export const Password = z.string().min(1).max(PASSWORD_LENGTH_MAX).optional().meta({
  description: "Required for an account with a password",
});

/** Proof of the owner, after {@linkcode NeededProof}. */
export const PROOF = { password: Password, recoveryCode: RecoveryCode.optional() };

export const NeededProof = z.enum(["password", "code"]).nullable().meta({
  description: "What has to be sent to prove that you are the owner: `password`, or `code` or " +
    "`recoveryCode`. null for 5 minutes after a sign-in",
});

export const RecoveryCodes = z.object({
  recoveryCodes: z.array(z.string()).meta({
    description: "Shown this once. Each replaces the second factor once. None if the account " +
      "has unused ones",
  }),
}).meta({ id: "RecoveryCodes" });

export const OWN = { role: "viewer", loginOnly: true, withoutFactor: true } as const;

export const PROOFS_THROTTLED = { 429: "Too many wrong passwords or codes; see `Retry-After`" };

export const OFF = { 404: "Users mode is off" };

/** Names the caller's account in the audit entry. */
export function noteOwnAccount(deps: Pick<Deps, "db">, caller: Caller, note: Note): void {
  note.targets = [describeCaller(deps, caller).email ?? caller.userId];
}
