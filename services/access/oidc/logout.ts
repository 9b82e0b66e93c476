/** Sign-out from both sides: at the provider too, and by the provider. @module */

import {
  type OidcSession,
  selectOidcSession,
  selectSessionIdsOfLogout,
} from "../../../db/oidc_sessions.ts";
import { sha256 } from "../../builtins.ts";
import type { Deps } from "../../deps.ts";
import { AppError, asAppError } from "../../errors.ts";
import { isProviderUrl } from "../../input/provider_url.ts";
import { createLimiter, type Limiter } from "../../limiter.ts";
import { revokeFamilies } from "../sign_in/families.ts";
import type { PresentedTokens } from "../sign_in/open_login.ts";
import { findRefreshToken } from "../sign_in/refresh_tokens.ts";
import type { Claims } from "./claims.ts";
import type { ClientDeps } from "./fetch.ts";
import { allOidcProviders, knownOidcProvider, type OidcProvider } from "./provider.ts";
import { logoutKeysOf } from "./logout_keys.ts";
import { openTokens } from "./session_tokens.ts";

type LogoutDeps = ClientDeps & Pick<Deps, "accounts" | "db" | "log" | "secrets">;

/** Longest ID token that is put into an address, in characters. */
const HINT_MAX = 4_096;

/** Validity of a logout token, whatever it says: with some clock difference, it arrives at once. */
const AGE_MAX_MS = 5 * 60 * 1000;

/** Maximum number of accepted tokens that are remembered; they are signed by a provider. */
const USED_MAX = 10_000;

/** The event that makes a token a logout token (OpenID Connect Back-Channel Logout 1.0, 2.4). */
const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";

/** The session of a provider to which a browser's tokens belong. */
export function logoutSessionOf(
  { db }: Pick<Deps, "db">,
  presented: PresentedTokens,
): OidcSession | undefined {
  const sessionId = findRefreshToken(db, presented)?.found.familyId;
  return sessionId === undefined ? undefined : selectOidcSession(db, sessionId);
}

/**
 * The address at which a browser ends its session at the provider as well; `undefined` if the provider
 * was removed, has none or cannot be reached. The session here may have ended already.
 *
 * @param baseUrl The address of this service, to which the browser returns.
 */
export async function logoutUrlOf(
  deps: LogoutDeps,
  session: OidcSession,
  baseUrl: string,
): Promise<string | undefined> {
  const { secrets } = deps;
  const provider = knownOidcProvider(deps, session.providerId);
  if (!provider) return undefined;
  const endpoint = await endSessionEndpoint(deps, provider);
  if (endpoint === undefined) return undefined;
  const url = new URL(endpoint);
  const hint = openTokens(secrets, session)?.idToken ?? "";
  if (hint !== "" && hint.length <= HINT_MAX) url.searchParams.set("id_token_hint", hint);
  url.searchParams.set("client_id", provider.clientId);
  url.searchParams.set("post_logout_redirect_uri", `${baseUrl}/sign-in`);
  return url.href;
}

async function endSessionEndpoint(
  deps: LogoutDeps,
  provider: OidcProvider,
): Promise<string | undefined> {
  try {
    const { connectProvider } = await import("./client.ts");
    const { server } = await connectProvider(deps, provider);
    const { end_session_endpoint: endpoint } = server;
    return typeof endpoint === "string" && isProviderUrl(endpoint) ? endpoint : undefined;
  } catch (error) {
    if (!asAppError(error)) throw error;
    return undefined;
  }
}

/**
 * Ends the sessions that a logout token names.
 *
 * @throws {AppError} `invalid` for a token that is not valid. @throws {ThrottledError}
 */
export async function acceptLogoutToken(deps: LogoutDeps, token: string): Promise<void> {
  const { decodeJwt } = await import("jose");
  const isAddressed = isAddressedTo(claimedBy(decodeJwt, token));
  const providers = allOidcProviders(deps).filter((each) => each.enabled && isAddressed(each));
  const [first] = providers;
  if (!first) throw refused("no provider has its issuer and audience");
  const claims = await limitOf(deps, first.id)(async () => {
    const { connectProvider } = await import("./client.ts");
    const { verify } = await connectProvider(deps, first);
    return await verify(token, ["iat", "jti", "events"]);
  });
  const named = namedBy(deps, claims);
  useOnce(deps, first, claims);
  // Several providers may have the same issuer and client.
  for (const provider of providers) endSessions(deps, provider, named);
}

/** Limit of the logout tokens of a provider that are checked at the same time. */
function limitOf({ oidc: { logoutLimits } }: LogoutDeps, providerId: string): Limiter {
  const limit = logoutLimits.get(providerId) ??
    createLimiter({ what: "logout tokens", running: 10, waiting: 100 });
  logoutLimits.set(providerId, limit);
  return limit;
}

/** The user or the session of the provider that a logout token names. */
interface Named {
  sub: string | null;
  sid: string | null;
}

/** Checks what is special in a logout token. @throws {AppError} `invalid` */
function namedBy({ now }: LogoutDeps, claims: Claims): Named {
  const { nonce, events, sub, sid, iat } = claims as Record<string, unknown>;
  if (!(Math.abs(now().getTime() - Number(iat) * 1000) <= AGE_MAX_MS)) {
    throw refused("it is too old");
  }
  if (nonce !== undefined) throw refused("it has a nonce, so that it is an ID token");
  if (!Object.hasOwn(Object(events), LOGOUT_EVENT)) throw refused("it has no logout event");
  const named = { sub: textOrNull(sub), sid: textOrNull(sid) };
  if (named.sub === null && named.sid === null) throw refused("it names no session");
  return named;
}

/** Refuses a token that was accepted before: it could end later sessions. @throws {AppError} `invalid` */
function useOnce(
  { now, oidc: { logoutTokens } }: LogoutDeps,
  { issuer }: OidcProvider,
  { jti }: Claims,
) {
  const atMs = now().getTime();
  for (const [hash, usedAtMs] of logoutTokens) {
    if (logoutTokens.size < USED_MAX && atMs - usedAtMs <= 2 * AGE_MAX_MS) break;
    logoutTokens.delete(hash);
  }
  const hash = sha256(JSON.stringify([issuer, jti]));
  if (logoutTokens.has(hash)) throw refused("it was used already");
  logoutTokens.set(hash, atMs);
}

function endSessions(deps: LogoutDeps, provider: OidcProvider, { sub, sid }: Named): void {
  const { id: providerId, issuer } = provider;
  // With a session's name, the user's other sign-ins go on.
  for (const key of logoutKeysOf(provider, sid === null ? { sub } : { sid })) {
    deps.accounts.endSignIns(key);
  }
  let ended = 0;
  revokeFamilies(deps, () => {
    const sessions = selectSessionIdsOfLogout(deps.db, { providerId, issuer, subject: sub, sid });
    ended = sessions.length;
    return sessions;
  });
  deps.log.info("sessions ended by identity provider", { providerId, sessions: ended });
}

/** Issuer and audience of a token that is not verified yet. */
function claimedBy(
  decode: (token: string) => { iss?: string; aud?: string | string[] },
  token: string,
): { issuer: string | undefined; audiences: string[] } {
  try {
    const { iss, aud } = decode(token);
    return { issuer: iss, audiences: [aud].flat().filter((each) => each !== undefined) };
  } catch {
    throw refused("it cannot be read");
  }
}

const isAddressedTo =
  ({ issuer, audiences }: ReturnType<typeof claimedBy>) => (provider: OidcProvider): boolean =>
    provider.issuer === issuer && audiences.includes(provider.clientId);

const textOrNull = (value: unknown) => typeof value === "string" && value !== "" ? value : null;

const refused = (reason: string) =>
  new AppError("invalid", `The logout token is not valid: ${reason}`);
