/** The caller's own authenticator app: setting it up and removing it. @module */

import { countUnusedRecoveryCodes } from "../../../db/recovery_codes.ts";
import {
  deleteTotpSecret,
  replaceTotpSecret,
  selectTotpSecret,
  updateTotpConfirmed,
} from "../../../db/totp_secrets.ts";
import { selectPasswordHash } from "../../../db/users.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { EmitDeps } from "../../events/emit.ts";
import type { Caller } from "../caller.ts";
import { assertCurrentPassword } from "../users/passwords.ts";
import { findActiveUser } from "../users/users.ts";
import { encodeBase32 } from "./base32.ts";
import {
  checkCode,
  type CodeDeps,
  type GivenCode,
  totpPurpose,
  useCode,
  useTotpCode,
} from "./codes.ts";
import { addFactor, hasTotp, removeFactor } from "./factors.ts";
import {
  type NeededProof,
  neededProof,
  type Proof,
  type ProofDeps,
  requireProof,
} from "./proof.ts";
import { otpauthUrl } from "./totp.ts";

/** 160 bits, the length of SHA-1 (RFC 4226, section 4). */
const SECRET_BYTES = 20;

/** Shown by authenticator apps above the account. */
const ISSUER = "Longshore";

type OwnDeps = CodeDeps & Pick<Deps, "accounts">;

type ChangeDeps = OwnDeps & EmitDeps & ProofDeps;

/** State of the caller's authenticator app. @throws {AppError} `not_found` in key mode. */
export function describeTotp(
  deps: Pick<Deps, "accounts" | "db">,
  { userId }: Caller,
): { enabled: boolean; recoveryCodesLeft: number } {
  findActiveUser(deps, userId);
  return {
    enabled: hasTotp(deps.db, userId),
    recoveryCodesLeft: countUnusedRecoveryCodes(deps.db, userId),
  };
}

/**
 * Creates a secret, which becomes a factor with its first right code. One that was not confirmed is
 * replaced.
 *
 * @throws {AppError} `not_found` in key mode; `conflict` for an account with an authenticator app.
 */
export async function startTotp(
  deps: OwnDeps & Pick<Deps, "config">,
  caller: Caller,
): Promise<{ secret: string; otpauthUrl: string; qrSvg: string; proof: NeededProof | null }> {
  const { userId } = caller;
  const { email } = findActiveUser(deps, userId);
  const { renderSVG } = await import("uqr");
  assertWithoutTotp(deps.db, userId);
  const secret = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  replaceTotpSecret(deps.db, {
    userId,
    secret: deps.secrets.seal(secret.toBase64(), totpPurpose(userId)),
    createdAt: deps.now().toISOString(),
    confirmedAt: null,
    lastStep: -1,
  });
  const url = otpauthUrl(secret, { issuer: `${ISSUER} ${deps.config.serverName}`, account: email });
  return {
    ...{ secret: encodeBase32(secret), otpauthUrl: url, qrSvg: renderSVG(url) },
    proof: neededProof(deps, caller),
  };
}

/**
 * Makes the secret a second factor. The code counts as used, and the caller's other sessions end.
 *
 * @param code Of the new secret.
 * @param proof Without a code, which the account does not have yet.
 * @returns The recovery codes; none if the account has unused ones.
 * @throws {AppError} `not_found` in key mode; `conflict` without a new secret; `forbidden` for a wrong
 * code, and as {@linkcode requireProof}.
 * @throws {ThrottledError} After too many wrong codes.
 */
export async function confirmTotp(
  deps: ChangeDeps,
  caller: Caller,
  code: string,
  proof: Omit<Proof, "code">,
): Promise<{ recoveryCodes: string[] }> {
  const { db, now } = deps;
  const { userId } = caller;
  findActiveUser(deps, userId);
  assertWithoutTotp(db, userId);
  await requireProof(deps, caller, proof);
  const stored = selectTotpSecret(db, userId);
  if (!stored) throw new AppError("conflict", "Set up an authenticator app first");
  checkCode(
    deps,
    caller,
    () => useTotpCode(deps, stored, code),
    () => new AppError("forbidden", "The code is wrong; compare the clocks of both devices"),
  );
  return {
    recoveryCodes: addFactor(
      deps,
      caller,
      "Authenticator app",
      () => updateTotpConfirmed(db, userId, now().toISOString()),
    ),
  };
}

/**
 * Removes the authenticator app, and ends the caller's other sessions.
 *
 * @param proof The password, unless the account has none, and a code.
 * @throws {AppError} `not_found` in key mode and without an app; `invalid` without the password;
 * `forbidden` for a wrong password or code.
 * @throws {ThrottledError} After too many wrong passwords or codes.
 */
export async function removeTotp(
  deps: ChangeDeps,
  caller: Caller,
  { password, ...given }: GivenCode & { password?: string | undefined },
): Promise<void> {
  const { db } = deps;
  const { userId } = caller;
  findActiveUser(deps, userId);
  if (selectPasswordHash(db, userId) !== null) {
    if (password === undefined) throw new AppError("invalid", "body.password: is required");
    await assertCurrentPassword(deps, caller, password);
  }
  if (!hasTotp(db, userId)) throw new AppError("not_found", "You have no authenticator app");
  useCode(deps, caller, given, "forbidden");
  removeFactor(deps, caller, "Authenticator app", () => deleteTotpSecret(db, userId));
}

function assertWithoutTotp(db: Deps["db"], userId: string): void {
  if (!hasTotp(db, userId)) return;
  throw new AppError("conflict", "An authenticator app is set up already; remove it first");
}
