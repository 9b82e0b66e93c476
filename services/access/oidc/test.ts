/** Tests of an OpenID Connect provider: discovery, keys, and a sign-in without a session. @module */

import type { Deps } from "../../deps.ts";
import { AppError, asAppError } from "../../errors.ts";
import type { Caller } from "../caller.ts";
import { forgetProvider, type TestResult } from "./cache.ts";
import { type Claims, hasSeveralFactors, rolesOf } from "./claims.ts";
import type { ClientDeps } from "./fetch.ts";
import { findOidcProvider, type OidcProvider } from "./provider.ts";
import { type AnsweredRequest, beginAt } from "./requests.ts";

/** Time for which the result is kept. */
const RESULT_MS = 15 * 60 * 1000;

/** Limit of kept results; the oldest is dropped. */
const RESULTS_MAX = 100;

/** The response to a test. */
interface ProviderCheck {
  ok: true;
  issuer: string;
  endpoints: {
    authorization: string;
    token: string;
    userinfo: string | null;
    jwks: string;
    endSession: string | null;
  };
  /** How many keys the provider publishes. */
  keys: number;
  /** The address of a sign-in that starts no session. */
  url: string;
}

type TestDeps = ClientDeps & Pick<Deps, "accounts" | "db" | "secrets">;

/**
 * Checks discovery and keys, and begins a sign-in whose claims are shown to the caller.
 *
 * @throws {AppError} `not_found`.
 * @throws {SignInRefusal} If the provider does not work.
 */
export async function testProvider(
  deps: TestDeps,
  caller: Caller,
  id: string,
  baseUrl: string,
): Promise<ProviderCheck> {
  const provider = findOidcProvider(deps, id);
  forgetProvider(deps.oidc, id);
  const { connectProvider } = await import("./client.ts");
  const { server, fetchKeys } = await connectProvider(deps, provider);
  const { keys } = await fetchKeys();
  deps.oidc.tests.delete(testKey(id, caller.userId));
  const browser = { hash: caller.userId, pageHash: "", returnTo: "/sso" };
  return {
    ok: true,
    issuer: server.issuer,
    endpoints: {
      authorization: server.authorization_endpoint!,
      token: server.token_endpoint!,
      userinfo: server.userinfo_endpoint ?? null,
      jwks: server.jwks_uri!,
      endSession: server.end_session_endpoint ?? null,
    },
    keys: keys.length,
    url: await beginAt(deps, provider, { baseUrl, address: caller.address }, browser),
  };
}

/**
 * The result of the caller's last test sign-in.
 *
 * @throws {AppError} `not_found` for an unknown provider, and without such a sign-in in the last 15
 * minutes.
 */
export function readTest(
  deps: Pick<Deps, "config" | "db" | "now" | "oidc" | "secrets">,
  { userId }: Caller,
  id: string,
): Omit<TestResult, "atMs"> & { at: string } {
  findOidcProvider(deps, id);
  const result = deps.oidc.tests.get(testKey(id, userId));
  if (!result || deps.now().getTime() - result.atMs >= RESULT_MS) {
    throw new AppError(
      "not_found",
      "No test sign-in has finished in the last 15 minutes; sign in at the provider first",
    );
  }
  const { atMs, ...shown } = result;
  return { ...shown, at: new Date(atMs).toISOString() };
}

/** Keeps what a test sign-in has returned, for the admin who began it. */
export async function recordTest(
  deps: Pick<Deps, "groupRoles" | "now" | "oidc">,
  { provider, request }: AnsweredRequest,
  prove: () => Promise<{ claims: Claims }>,
): Promise<void> {
  const { tests } = deps.oidc;
  let result: Omit<TestResult, "atMs">;
  try {
    result = describe(deps, provider, (await prove()).claims);
  } catch (error) {
    const refusal = asAppError(error);
    if (!refusal) throw error;
    result = { ...NOTHING, error: refusal.message };
  }
  tests.set(testKey(provider.id, request.browserHash), { ...result, atMs: deps.now().getTime() });
  if (tests.size > RESULTS_MAX) tests.delete(tests.keys().next().value!);
}

const NOTHING = { claims: {}, role: null, customRoles: [], secondFactor: false };

function describe(
  { groupRoles }: Pick<Deps, "groupRoles">,
  provider: OidcProvider,
  claims: Claims,
): Omit<TestResult, "atMs"> {
  const roles = rolesOf(provider, claims, groupRoles.current.has);
  return { error: null, claims, ...roles, secondFactor: hasSeveralFactors(provider, claims) };
}

const testKey = (providerId: string, userId: string) => `${providerId} ${userId}`;
