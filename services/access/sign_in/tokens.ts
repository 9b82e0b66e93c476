/**
 * Access tokens: JWTs with a lifetime of 15 minutes, issued and verified by this service.
 *
 * @module
 */

import { jwtVerify, SignJWT } from "jose";
import type { Session } from "../accounts.ts";
import type { UserRole } from "../caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";

/** Longest lifetime of an access token, in seconds. */
export const ACCESS_TOKEN_S = 15 * 60;

const ISSUER = "longshore";
const AUDIENCE = "longshore";

/** Longest token that is verified, in characters; those of this service have about 400. */
const TOKEN_LENGTH_MAX = 2_048;

/** Limit of the cache of verified tokens; the oldest entry is dropped. */
const VERIFIED_MAX = 10_000;

/**
 * Lifetime of an access token, in whole seconds.
 *
 * @param endsAt When the login and all its tokens end; `null` for no end.
 */
export function accessTokenLifeS(issuedAt: Date, endsAt: Date | null): number {
  if (endsAt === null) return ACCESS_TOKEN_S;
  return Math.min(ACCESS_TOKEN_S, secondsOf(endsAt) - secondsOf(issuedAt));
}

interface AccessTokenTerms {
  id: string;
  issuedAt: Date;
  /** See {@linkcode accessTokenLifeS}. */
  endsAt: Date | null;
}

/**
 * Signs an access token. Its role only informs the client; permissions are read at each request.
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

/** The login of an access token, and when the token expires, in Unix milliseconds. */
export type TokenSession = Session & { expiresAtMs: number };

/**
 * Creates the verifier of access tokens. Verified tokens are cached until they expire, because
 * verifying a signature takes longer than answering from memory. It does not check whether the user
 * and the login still exist; call {@linkcode Accounts.roleOf} for each request.
 *
 * The verifier throws an {@linkcode AppError} `unauthorized` for an invalid or expired token.
 */
export function createTokenVerifier(
  { secrets, now }: Pick<Deps, "secrets" | "now">,
): (token: string) => Promise<TokenSession> {
  const verified = new Map<string, TokenSession>();

  return async (token) => {
    const known = verified.get(token);
    if (!known) return await verify(token);
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
      if (typeof sub !== "string" || typeof sid !== "string") throw new Error("sub or sid missing");
      return { userId: sub, familyId: sid, expiresAtMs: exp! * 1000 };
    } catch (cause) {
      throw refused(cause);
    }
  }
}

const secondsOf = (time: Date) => Math.floor(time.getTime() / 1000);

/** The message does not say which check failed, because that would help an attacker. */
const refused = (cause?: unknown) =>
  new AppError("unauthorized", "The access token is not valid or has expired", { cause });
