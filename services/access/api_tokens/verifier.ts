/** Finds the API token of a request. @module */

import { type ApiToken, updateApiTokenUse } from "../../../db/api_tokens.ts";
import type { TokenSession } from "../sign_in/tokens.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { errorFields } from "../../log.ts";
import { hashApiToken, isWellFormedApiToken } from "./secret.ts";

/** Limit of the cache of hashes; the oldest entry is dropped. */
const HASHES_MAX = 1_000;

/** Shortest time between two stored uses of a token, in milliseconds. */
const USE_MS = 60_000;

/**
 * Creates the verifier of API tokens, which returns the session of a token. Every request looks up
 * the token, its owner and its expiry in memory; only the hash is cached.
 *
 * The verifier throws an {@linkcode AppError} `unauthorized` for an unknown or expired token.
 */
export function createApiTokenVerifier(
  { accounts, db, log, now }: Pick<Deps, "accounts" | "db" | "log" | "now">,
): (secret: string, address: string) => TokenSession {
  const hashes = new Map<string, string>();

  return (secret, address) => {
    const hash = hashes.get(secret) ??
      (isWellFormedApiToken(secret) ? hashApiToken(secret) : undefined);
    const token = hash === undefined ? undefined : accounts.findToken(hash);
    if (hash === undefined || !token) {
      hashes.delete(secret);
      throw refused();
    }
    if (!hashes.has(secret)) {
      if (hashes.size >= HASHES_MAX) hashes.delete(hashes.keys().next().value!);
      hashes.set(secret, hash);
    }
    const { id, name, userId, expiresAt } = token;
    const apiToken = { id, name, hash };
    const session = { userId, familyId: "", apiToken };
    if (!accounts.roleOf(session)) throw refused();
    recordUse(token, address);
    return { ...session, expiresAtMs: expiresAt === null ? Infinity : Date.parse(expiresAt) };
  };

  /** A failing write, e.g. on a full disk, must not fail the request. */
  function recordUse(token: ApiToken, address: string): void {
    const at = now();
    const { lastUsedAt } = token;
    if (lastUsedAt !== null && Math.abs(at.getTime() - Date.parse(lastUsedAt)) < USE_MS) return;
    const use = { lastUsedAt: at.toISOString(), lastUsedAddress: address };
    // Also after a failure, so that it is not tried again with each request.
    accounts.putToken({ ...token, ...use });
    try {
      updateApiTokenUse(db, token.id, use);
    } catch (error) {
      log.warn("use of an API token not recorded", { token: token.id, ...errorFields(error) });
    }
  }
}

/** The message does not say which check failed, because that would help an attacker. */
const refused = () =>
  new AppError("unauthorized", "The API token is not valid, was revoked, or has expired");
