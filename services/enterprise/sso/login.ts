/**
 * Single sign-on: logs in the user of a SAML response that the browser posts to the assertion
 * consumer service (ACS).
 *
 * @module
 */

import {
  type IdentityProvider,
  selectProvider,
  selectProviderByEntityId,
} from "../../../db/enterprise/sso/providers.ts";
import { insertAssertion } from "../../../db/enterprise/sso/assertions.ts";
import { insertSession } from "../../../db/enterprise/sso/sessions.ts";
import type { ProvedLogin } from "../../access/sign_in/open_login.ts";
import {
  continueSignIn,
  type MfaRequired,
  needsSecondStep,
  type SecondStepDeps,
} from "../../access/sign_in/second_step.ts";
import {
  type NewLogin,
  storeLogin,
  type TokenPair,
  tokenPairOf,
} from "../../access/sign_in/sessions.ts";
import type { Client } from "../../access/client.ts";
import type { BrowserLogin, LoginBrowser, LoginNote } from "../../access/sign_in/login_browser.ts";
import { revokeFamiliesOfUser } from "../../access/sign_in/families.ts";
import { SignInRefusal } from "../../access/sign_in/refusal.ts";
import { reportSignIn } from "../../access/sign_in/sign_ins.ts";
import type { Deps } from "../../deps.ts";
import { AppError, asAppError, LimitError } from "../../errors.ts";
import { SamlError, UNREADABLE } from "../saml/error.ts";
import type { SamlExpectations, UnverifiedResponse, VerifiedAssertion } from "../saml/response.ts";
import { serviceProviderFor } from "./service_provider.ts";
import { findUser, type ProvisionedUser } from "./provisioning.ts";
import { assertProviderEnabled, notAuthenticated } from "./refusal.ts";
import { claimedBrowser, useRequest } from "./requests.ts";

/** Session duration if the assertion has no SessionNotOnOrAfter. */
const SESSION_MS = 8 * 60 * 60 * 1000;

/** A session that ends sooner is refused. */
const SESSION_MIN_MS = 1_000;

/** The last time with a four-digit year: stored times are compared as text. */
const LATEST = new Date("9999-12-31T23:59:59.999Z");

/** Maximum length of an unknown issuer's name in the logs. */
const ISSUER_LOGGED_MAX = 200;

/** The form fields of the HTTP-POST binding. */
interface AcsMessage {
  samlResponse: string;
  relayState: string | undefined;
}

/** The response to a successful login. */
interface SsoLogin extends TokenPair {
  sessionId: string;
  user: { id: string; email: string; role: TokenPair["role"]; name: string | null };
  relayState?: string;
}

/** A refused message that claims to answer the login of a browser, which gets a page. */
interface BrowserRefusal extends Pick<BrowserLogin, "returnTo"> {
  refusal: AppError;
}

type AcsDeps = SecondStepDeps & Pick<Deps, "anonymousLog" | "completedLogins">;

/**
 * Logs in the user that an enabled identity provider asserts.
 *
 * @param note Receives the provider and the user as soon as they are known.
 * @returns A refusal of a browser's login; others are thrown.
 * @throws {SignInRefusal} `invalid` for an unreadable message; `unauthorized` if the assertion is not
 * valid; `forbidden` if the user may not log in.
 * @throws {LimitError} If the user has to be created and the license limit is reached.
 */
export async function acceptAssertion(
  deps: AcsDeps,
  { samlResponse, relayState }: AcsMessage,
  client: Client,
  note: LoginNote = {},
): Promise<SsoLogin | MfaRequired | BrowserLogin | BrowserRefusal> {
  const { log } = deps;
  const { address } = client;
  // The XML and signature libraries are loaded on the first login.
  const saml = await import("../saml/response.ts");
  let response: UnverifiedResponse | undefined;
  try {
    response = saml.readSamlResponse(samlResponse);
    const provider = findProvider(deps, saml.claimedIssuer(response), note);
    const expected = expectationsOf(deps, provider);
    const assertion = await saml.verifySamlResponse(response, expected);
    const { provisioned, proved, login, sessionId, browser } = createSession(
      deps,
      provider,
      assertion,
      client,
    );
    const { id: userId, email } = provisioned.user;
    note.actor = userId;
    if (provisioned.isLinked) {
      revokeFamiliesOfUser(deps, userId, { except: login?.session.familyId });
    }
    log.info("SSO login", { providerId: provider.id, userId, sessionId, address });
    if (browser) {
      const isValid = deps.accounts.isOpenOf([userId]);
      const code = deps.completedLogins.issue(
        { ...proved, isValid, browserHash: browser.hash },
        userId,
      );
      return { code, returnTo: browser.returnTo };
    }
    if (!login) return await continueSignIn(deps, proved, client) as MfaRequired;
    reportSignIn(deps, login);
    return {
      ...await tokenPairOf(deps, login),
      sessionId,
      user: { id: userId, email, role: login.role, name: assertion.name },
      ...(relayState !== undefined && { relayState }),
    };
  } catch (error) {
    const refusal = error instanceof SamlError ? refusalOf(error) : error;
    if (refusal instanceof AppError) {
      const reason = refusal instanceof SignInRefusal ? refusal.reason : refusal.code;
      deps.anonymousLog.warn("SSO login refused", { reason, provider: note.target, address });
    }
    const browser = response && claimedBrowser(deps, saml.claimedRequest(response));
    const known = browser && asAppError(refusal);
    if (known) return { refusal: known, returnTo: browser.returnTo };
    throw refusal;
  }
}

/** Finds the provider whose certificates verify the message. The issuer is not verified yet. */
function findProvider({ db }: Pick<Deps, "db">, issuer: string, note: LoginNote): IdentityProvider {
  const provider = selectProviderByEntityId(db, issuer);
  note.target = provider?.name ?? cleanIssuer(issuer);
  if (!provider) {
    throw notAuthenticated("unknown_issuer", "No identity provider has this entity ID");
  }
  assertProviderEnabled(provider);
  return provider;
}

/** Unverified text for the log, without line breaks and control characters. */
const cleanIssuer = (issuer: string) =>
  issuer.slice(0, ISSUER_LOGGED_MAX).replace(/[\p{C}\u2028\u2029]/gu, "\uFFFD");

function expectationsOf(
  { config, now }: Pick<Deps, "config" | "now">,
  provider: IdentityProvider,
): SamlExpectations {
  const { entityId, acsUrl } = serviceProviderFor(config, provider);
  return {
    entityId: provider.entity_id,
    certificate: provider.certificate,
    acsUrl,
    audience: entityId,
    now: now(),
    attributeMapping: provider.attribute_mapping,
    ...(provider.name_id_format !== null && { nameIdFormat: provider.name_id_format }),
  };
}

interface CreatedSession {
  proved: ProvedLogin;
  /** Missing if the login is stored later: when the browser collects it, or with a second factor. */
  login?: NewLogin;
  provisioned: ProvisionedUser;
  sessionId: string;
  /** Gets a session instead of tokens. */
  browser: LoginBrowser | undefined;
}

/**
 * Marks the assertion as used and stores the session, in one transaction, so that of two concurrent
 * requests with the same assertion only one succeeds. The assertion is also used if its user is
 * refused, so that it cannot be replayed later.
 */
function createSession(
  deps: AcsDeps,
  provider: IdentityProvider,
  assertion: VerifiedAssertion,
  client: Client,
): CreatedSession {
  const { db, accounts } = deps;
  let provisioned: ProvisionedUser | undefined;
  try {
    const outcome = db.transaction((): CreatedSession | AppError => {
      assertUnchanged(db, provider);
      assertFirstUse(db, provider, assertion);
      try {
        const browser = useRequest(deps, provider, assertion);
        const endsAt = sessionEnd(assertion, deps.now());
        provisioned = findUser(deps, provider, assertion);
        const sessionId = crypto.randomUUID();
        const proved = {
          userId: provisioned.user.id,
          endsAt,
          pageHash: browser?.pageHash ?? null,
          hasSecondFactor: assertion.isMultiFactor,
          record: recorderOf(deps, provider, { ...provisioned, sessionId, endsAt }, client),
        };
        const created = { proved, provisioned, sessionId, browser };
        if (browser || needsSecondStep(db, proved)) return created;
        return { ...created, login: storeLogin(deps, proved.userId, client, proved) };
      } catch (error) {
        if (error instanceof SignInRefusal || error instanceof LimitError) return error;
        throw error;
      }
    });
    if (outcome instanceof AppError) throw outcome;
    return outcome;
  } catch (error) {
    // The transaction was rolled back, and with it a new user and removed API tokens.
    if (provisioned) accounts.reread();
    throw error;
  }
}

/** An admin may have changed the provider during the verification. */
function assertUnchanged(db: Deps["db"], provider: IdentityProvider): void {
  const current = selectProvider(db, provider.id);
  if (current) assertProviderEnabled(current);
  if (JSON.stringify(current) !== JSON.stringify(provider)) {
    throw notAuthenticated(
      "provider_changed",
      "The identity provider was changed during the login; try again",
    );
  }
}

function assertFirstUse(
  db: Deps["db"],
  { entity_id }: IdentityProvider,
  { assertionId, notOnOrAfter }: VerifiedAssertion,
): void {
  const expires_at = earlier(notOnOrAfter, LATEST).toISOString();
  if (insertAssertion(db, { entity_id, assertion_id: assertionId, expires_at })) return;
  throw notAuthenticated("replay", "The assertion has already been used");
}

function sessionEnd({ sessionNotOnOrAfter }: VerifiedAssertion, now: Date): Date {
  const end = sessionNotOnOrAfter ?? new Date(now.getTime() + SESSION_MS);
  if (end.getTime() < now.getTime() + SESSION_MIN_MS) {
    throw notAuthenticated("session_ended", "The session at the identity provider has ended");
  }
  return earlier(end, LATEST);
}

/** Stores the session together with its login. The provider may have been changed meanwhile. */
const recorderOf = (
  { db, now }: AcsDeps,
  provider: IdentityProvider,
  { user, email, sessionId, endsAt }: ProvisionedUser & { sessionId: string; endsAt: Date },
  client: Client,
): NonNullable<ProvedLogin["record"]> =>
({ familyId }) => {
  assertUnchanged(db, provider);
  insertSession(db, {
    id: sessionId,
    provider_id: provider.id,
    user_id: user.id,
    family_id: familyId,
    email,
    ip: client.address,
    created_at: now().toISOString(),
    expires_at: endsAt.toISOString(),
  });
};

function refusalOf(error: SamlError): SignInRefusal {
  const code = UNREADABLE.some((reason) => reason === error.reason) ? "invalid" : "unauthorized";
  return new SignInRefusal(error.reason, code, error.message, { cause: error });
}

const earlier = (a: Date, b: Date) => a < b ? a : b;
