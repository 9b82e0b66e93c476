/**
 * Access tokens: JWTs of 15 minutes that this service signs for itself.
 *
 * @module
 */

import { jwtVerify, SignJWT } from "jose";
import type { Session } from "../../auth/accounts.ts";
import type { UserRole } from "../../auth/caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";

/** How long an access token is good at most, in seconds. */
export const ACCESS_TOKEN_S = 15 * 60;

/** Who issues the tokens, and for whom: this service, both times. */
const ISSUER = "longshore";
const AUDIENCE = "longshore";

/** Ours have about 400; longer ones are not looked at. */
const TOKEN_LENGTH_MAX = 2_048;

/** Most tokens that are known to be good at a time; beyond, the oldest is checked afresh. */
const VERIFIED_MAX = 10_000;

/**
 * How long an access token is valid, in whole seconds.
 *
 * @param endsAt When the login ends, which no token of it outlives; `null` for one without an end.
 */
export function accessTokenLifeS(issuedAt: Date, endsAt: Date | null): number {
  if (endsAt === null) return ACCESS_TOKEN_S;
  return Math.min(ACCESS_TOKEN_S, secondsOf(endsAt) - secondsOf(issuedAt));
}

export interface AccessTokenTerms {
  id: string;
  issuedAt: Date;
  /** See {@linkcode accessTokenLifeS}. */
  endsAt: Date | null;
}

/**
 * Signs an access token. Its role informs the client only; permissions are looked up at each call.
 */
export async function signAccessToken(
  { secrets }: Pick<Deps, "secrets">,
  { userId, familyId }: Session,
  role: UserRole,
  { id, issuedAt, endsAt }: AccessTokenTerms,
): Promise<string> {
  return await new SignJWT({ role, sid: familyId })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject(userId)
    .setJti(id)
    .setIssuedAt(secondsOf(issuedAt))
    .setExpirationTime(secondsOf(issuedAt) + accessTokenLifeS(issuedAt, endsAt))
    .sign(await secrets.jwtKey());
}

/** Finds the login of an access token; at once for one that was seen before. */
export type TokenVerifier = (token: string) => TokenSession | Promise<TokenSession>;

/** The login of an access token, and when the token ends, in Unix milliseconds. */
export type TokenSession = Session & { expiresAtMs: number };

/**
 * Makes the check of access tokens. A verified token is remembered until it expires, for checking
 * a signature takes longer than answering from memory does. Whether user and login still hold is
 * not its business: ask {@linkcode Accounts.roleOf} at each call.
 *
 * The check throws an {@linkcode AppError} `unauthorized` for everything that is not an unexpired
 * token of ours.
 */
export function tokenVerifier({ secrets, now }: Pick<Deps, "secrets" | "now">): TokenVerifier {
  const verified = new Map<string, TokenSession>();

  return (token) => {
    const known = verified.get(token);
    if (!known) return verify(token);
    if (now().getTime() < known.expiresAtMs) return known;
    verified.delete(token);
    throw refused();
  };

  async function verify(token: string): Promise<TokenSession> {
    if (token.length > TOKEN_LENGTH_MAX) throw refused();
    const session = await sessionOf(token);
    if (verified.size >= VERIFIED_MAX) verified.delete(verified.keys().next().value!);
    verified.set(token, session);
    return session;
  }

  async function sessionOf(token: string): Promise<TokenSession> {
    try {
      const { payload } = await jwtVerify(token, await secrets.jwtKey(), {
        algorithms: ["HS256"],
        issuer: ISSUER,
        audience: AUDIENCE,
        requiredClaims: ["sub", "sid", "jti", "iat", "exp"],
        currentDate: now(),
      });
      const { sub, sid, exp } = payload;
      if (typeof sub !== "string" || typeof sid !== "string") throw new Error("no login named");
      return { userId: sub, familyId: sid, expiresAtMs: exp! * 1000 };
    } catch (cause) {
      throw refused(cause);
    }
  }
}

const secondsOf = (time: Date) => Math.floor(time.getTime() / 1000);

/** Says no more: which check failed helps only whoever forges. */
const refused = (cause?: unknown) =>
  new AppError("unauthorized", "The access token is not valid or has expired", { cause });
