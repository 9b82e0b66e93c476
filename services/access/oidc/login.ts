/** The end of a sign-in at an OpenID Connect provider. @module */

import { selectUserIdOfSubject } from "../../../db/oidc_identities.ts";
import { insertOidcSession } from "../../../db/oidc_sessions.ts";
import { asAppError } from "../../errors.ts";
import type { Deps } from "../../deps.ts";
import type { EmitDeps } from "../../events/emit.ts";
import type { Client } from "../client.ts";
import type { BrowserLogin, LoginNote } from "../sign_in/login_browser.ts";
import { revokeFamiliesOfUser } from "../sign_in/families.ts";
import { SignInRefusal } from "../sign_in/refusal.ts";
import type { ProvedLogin } from "../sign_in/open_login.ts";
import {
  type Claims,
  emailOf,
  hasSeveralFactors,
  isComplete,
  isEmailVerified,
  joinClaims,
} from "./claims.ts";
import type { ProviderTokens } from "./client.ts";
import type { ClientDeps } from "./fetch.ts";
import { knownOidcProvider, type OidcProvider } from "./provider.ts";
import { findOidcUser, type ProvisionedUser, recordRefusal } from "./provisioning.ts";
import { notAuthenticated } from "./refusal.ts";
import { type AnsweredRequest, isTest, takeRequest } from "./requests.ts";
import { logoutKeysOf } from "./logout_keys.ts";
import { sealTokens } from "./session_tokens.ts";
import { recordTest } from "./test.ts";

export type CallbackDeps =
  & EmitDeps
  & ClientDeps
  & Pick<
    Deps,
    "accounts" | "anonymousLog" | "completedLogins" | "groupRoles" | "license" | "secrets"
  >;

/** A user whom a provider has named. */
export interface ProvedUser {
  claims: Claims;
  tokens: ProviderTokens;
  idToken: string;
}

/**
 * Signs in the user whom a provider names, or ends the test of an admin.
 *
 * @param answer What the browser brought back, and the path of the redirect URI.
 * @param note Receives the provider, the user and the reason of a refusal.
 * @returns The code with which the page gets its session; `undefined` after a test.
 * @throws {SignInRefusal}
 * @throws {LimitError} If the user has to be created and the license limit is reached.
 */
export async function completeOidcLogin(
  deps: CallbackDeps,
  { query, path }: { query: URLSearchParams; path: string },
  client: Client,
  note: LoginNote = {},
): Promise<BrowserLogin | undefined> {
  try {
    const answered = takeRequest(deps, query.get("state") ?? undefined, path);
    note.target = answered.provider.name;
    note.returnTo = answered.request.returnTo;
    if (isTest(answered.request)) {
      await recordTest(deps, answered, () => proveUser(deps, answered, query));
      return undefined;
    }
    const { lastEnding } = deps.accounts;
    const proved = await proveUser(deps, answered, query);
    return issueLogin(deps, { ...answered, lastEnding }, proved, client, note);
  } catch (error) {
    const refusal = asAppError(error);
    if (!refusal) throw error;
    const reason = refusal instanceof SignInRefusal ? refusal.reason : refusal.code;
    note.command = `refused: ${reason}`;
    const { address } = client;
    deps.anonymousLog.warn("OIDC login refused", { reason, provider: note.target, address });
    throw refusal;
  }
}

/** Exchanges the code and reads the claims. @throws {SignInRefusal} */
async function proveUser(
  deps: ClientDeps,
  { provider, request }: AnsweredRequest,
  query: URLSearchParams,
): Promise<ProvedUser> {
  const { connectProvider, requireIdToken } = await import("./client.ts");
  const oidc = await connectProvider(deps, provider);
  const callback = await oidc.checkCallback(query, query.get("state")!);
  if (!callback.get("code")) {
    throw notAuthenticated("code_missing", "The answer of the identity provider has no code");
  }
  const tokens = await oidc.redeemCode(callback, request);
  const { text, claims } = requireIdToken(tokens);
  const userInfo = isComplete(provider, claims)
    ? undefined
    : await oidc.userInfo(tokens.accessToken, claims.sub);
  return { claims: joinClaims(claims, userInfo), tokens, idToken: text };
}

function issueLogin(
  deps: CallbackDeps,
  { provider, request, lastEnding }: AnsweredRequest & { lastEnding: number },
  proved: ProvedUser,
  client: Client,
  note: LoginNote,
): BrowserLogin {
  const { user, isLinked } = storeUser(deps, provider, proved, note);
  const keys = [user.id, ...logoutKeysOf(provider, proved.claims)];
  if (!deps.accounts.isOpenOf(keys, lastEnding)()) {
    throw notAuthenticated("ended", "Your sessions were ended during the sign-in; sign in again");
  }
  if (isLinked) revokeFamiliesOfUser(deps, user.id);
  const { address } = client;
  note.actor = user.id;
  deps.log.info("OIDC login", { providerId: provider.id, userId: user.id, address });
  const code = deps.completedLogins.issue({
    userId: user.id,
    endsAt: new Date(deps.now().getTime() + provider.sessionHours * 60 * 60 * 1000),
    pageHash: request.pageHash,
    hasSecondFactor: hasSeveralFactors(provider, proved.claims),
    isValid: deps.accounts.isOpenOf(keys),
    record: recorderOf(deps, provider, proved),
    browserHash: request.browserHash,
  }, user.id);
  return { code, returnTo: request.returnTo };
}

/** Stores the user in one transaction. The login is stored when its page collects it. */
function storeUser(
  deps: CallbackDeps,
  provider: OidcProvider,
  { claims }: ProvedUser,
  note: LoginNote,
): ProvisionedUser {
  try {
    return deps.db.transaction(() => {
      assertUnchanged(deps, provider);
      return findOidcUser(deps, provider, claims);
    });
  } catch (error) {
    // The transaction was rolled back, and with it new users and roles.
    deps.accounts.reread();
    const subject = { issuer: provider.issuer, subject: claims.sub };
    const userId = selectUserIdOfSubject(deps.db, subject);
    recordRefusal(deps, provider, userId, error);
    // Lone surrogates would find the user of another subject.
    if (userId !== undefined && claims.sub.isWellFormed()) note.actor = userId;
    const email = isEmailVerified(claims) ? emailOf(claims) : null;
    note.targets = [provider.name, claims.sub, email ?? ""].filter(Boolean);
    throw error;
  }
}

/** Stores the provider's tokens together with the login. */
const recorderOf = (
  deps: CallbackDeps,
  provider: OidcProvider,
  { claims: { sub: subject, sid }, tokens, idToken }: ProvedUser,
): NonNullable<ProvedLogin["record"]> =>
({ familyId: sessionId }) => {
  assertUnchanged(deps, provider);
  insertOidcSession(deps.db, {
    ...{ sessionId, providerId: provider.id, issuer: provider.issuer, subject },
    sid: typeof sid === "string" ? sid : null,
    sealed: sealTokens(deps.secrets, sessionId, { ...tokens, idToken, scopes: provider.scopes }),
    checkedAt: deps.now().toISOString(),
  });
};

/** An admin may have changed the provider meanwhile. @throws {SignInRefusal} `provider_changed`. */
function assertUnchanged(deps: CallbackDeps, provider: OidcProvider): void {
  const current = knownOidcProvider(deps, provider.id);
  if (JSON.stringify(current) === JSON.stringify(provider)) return;
  throw notAuthenticated(
    "provider_changed",
    "The identity provider was changed during the sign-in; sign in again",
  );
}
