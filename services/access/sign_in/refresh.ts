/** Renews a login with its refresh token. @module */

import { type RefreshToken, updateRefreshTokenSpent } from "../../../db/refresh_tokens.ts";
import { selectSession, updateSessionUse } from "../../../db/sessions.ts";
import { selectUser } from "../../../db/users.ts";
import { type RecheckDeps, recheckLogin } from "../oidc/recheck.ts";
import type { Deps } from "../../deps.ts";
import type { PresentedTokens } from "./open_login.ts";
import { AppError } from "../../errors.ts";
import { emailKey } from "../users/emails.ts";
import { revokeFamily } from "./families.ts";
import { findRefreshToken, refreshTokenAfter, storeRefreshToken } from "./refresh_tokens.ts";
import { type Admit, type SessionDeps, type TokenPair, tokenPairOf } from "./sessions.ts";

/** Time in which a used token is accepted again, for clients that send parallel refreshes. */
const REPEAT_MS = 10_000;

/** A renewed login. */
export interface Renewal extends TokenPair {
  /** Whether the client was elsewhere at its sign-in or last renewal. */
  isNewAddress: boolean;
}

type RefreshDeps = SessionDeps & RecheckDeps & Pick<Deps, "throttle">;

/**
 * Exchanges the client's refresh token for a new pair. Within {@linkcode REPEAT_MS} the same address gets the
 * same pair again. Any other use of a used token revokes the login with all its tokens, because the
 * token was copied and the thief cannot be distinguished from the owner.
 *
 * @param admit Called before the token is marked as used.
 * @throws {AppError} `unauthorized` for a token that is unknown, used, revoked or expired, and if
 * the user's identity provider has ended the login; `unavailable` if it cannot be asked.
 * @throws {ThrottledError} After too many failures from the address.
 */
export async function refreshSession(
  deps: RefreshDeps,
  presented: PresentedTokens,
  address: string,
  admit: Admit,
): Promise<Renewal> {
  const { db, log, throttle, accounts } = deps;
  const known = findRefreshToken(db, presented);
  const token = known?.token ?? "";
  const next = await refreshTokenAfter(deps, token);
  // A used token that is not a repeat ends the login below; the provider is not asked for it.
  if (known && known.found.spentAt === null) await recheckLogin(deps, known.found.familyId);

  // No await until the token is marked as used: parallel requests see each other's mark, and none
  // counts as failed while another one is checked.
  const attempt = throttle.begin(address);
  const at = deps.now();
  const found = findRefreshToken(db, { ...presented, tokens: [token] })?.found;
  if (!found) throw new AppError("unauthorized", REFUSED);
  if (found.spentAt !== null && !isRepeat(found, address, at)) {
    revokeFamily(deps, found.familyId);
    log.warn("refresh token reused; session revoked", { userId: found.userId, address });
    throw new ReusedTokenError(found.userId);
  }
  const role = accounts.roleOf(found);
  const isExpired = found.expiresAt <= at.toISOString();
  if (found.revokedAt !== null || isExpired || !role) throw new AppError("unauthorized", REFUSED);
  attempt.succeeded();
  admit(found.userId);

  const { tokenHash, pageHash } = found;
  const isNewAddress = selectSession(db, found.familyId)?.address !== address;
  const endsAt = found.endsAt === null ? null : new Date(found.endsAt);
  if (found.spentAt === null) {
    db.transaction(() => {
      const lastUsedAt = at.toISOString();
      updateRefreshTokenSpent(db, { tokenHash, spentAt: lastUsedAt, spentFrom: address });
      const expiresAt = storeRefreshToken(db, next, found, at, { endsAt, pageHash });
      updateSessionUse(db, found.familyId, { address, lastUsedAt, expiresAt });
    });
  }
  const user = selectUser(db, found.userId);
  if (user) throttle.remember(address, emailKey(user.email));
  const issuedAt = new Date(found.spentAt ?? at);
  const login = { session: found, role, refreshToken: next, issuedAt, endsAt, pageHash };
  return { ...await tokenPairOf(deps, login), isNewAddress };
}

function isRepeat({ spentAt, spentFrom }: RefreshToken, address: string, at: Date): boolean {
  const elapsedMs = at.getTime() - Date.parse(spentAt ?? "");
  return spentFrom === address && elapsedMs >= 0 && elapsedMs < REPEAT_MS;
}

const REFUSED = "The refresh token is invalid or has expired; log in again";

/** A reused token. The response does not say so, but the logs name the user. */
export class ReusedTokenError extends AppError {
  constructor(readonly userId: string) {
    super("unauthorized", REFUSED);
  }
}
