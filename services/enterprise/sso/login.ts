/**
 * Logging in by an identity provider: what a browser brings back from there, and who that is.
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
import { type OpenLogin, storeLogin, type TokenPair, tokenPairOf } from "../../ce/auth/sessions.ts";
import { warnAnonymous } from "../../auth/anonymous_log.ts";
import type { Deps } from "../../deps.ts";
import { AppError, LimitError } from "../../errors.ts";
import { SamlError, type SamlReason } from "../saml/error.ts";
import type { SamlExpectations, VerifiedAssertion } from "../saml/response.ts";
import { serviceProviderFor } from "./service_provider.ts";
import { findUser, type Found } from "./provisioning.ts";
import { assertProviderEnabled, notProven, SsoRefusal } from "./refusal.ts";
import { useRequest } from "./requests.ts";

/** How long a session lasts whose identity provider does not say. */
const SESSION_MS = 8 * 60 * 60 * 1000;

/** A session that ends this soon is none. */
const SESSION_MIN_MS = 1_000;

/** The last moment that compares rightly as text. */
const LATEST = new Date("9999-12-31T23:59:59.999Z");

/** Longest name of an unknown issuer in the logs. */
const ISSUER_SHOWN_MAX = 200;

/** What a browser brings back. */
export interface AcsMessage {
  samlResponse: string;
  relayState: string | undefined;
}

/** What is known of a login so far, also where it fails. */
export interface LoginNote {
  /** The user's id. */
  actor?: string;
  /** The name of the provider. */
  target?: string;
}

/** What a login by an identity provider is answered with. */
export interface SsoLogin extends TokenPair {
  sessionId: string;
  user: { id: string; email: string; role: TokenPair["role"]; name: string | null };
  relayState?: string;
}

type AcsDeps = Pick<
  Deps,
  "accounts" | "config" | "db" | "license" | "log" | "now" | "secrets"
>;

/**
 * Logs in whoever an enabled identity provider vouches for.
 *
 * @param note Is told whom it is about as soon as that is known.
 * @throws {SsoRefusal} `invalid` for what is no message; `unauthorized` for one that proves
 * nothing; `forbidden` for somebody who may not come in.
 * @throws {LimitError} When the user would have to be created and the license allows no more.
 */
export async function acceptAssertion(
  deps: AcsDeps,
  { samlResponse, relayState }: AcsMessage,
  address: string,
  note: LoginNote = {},
): Promise<SsoLogin> {
  const { log } = deps;
  try {
    // The XML and signature libraries are loaded with the first login.
    const saml = await import("../saml/response.ts");
    const response = saml.readSamlResponse(samlResponse);
    const provider = findProvider(deps, saml.claimedIssuer(response), note);
    const expected = expectationsOf(deps, provider);
    const assertion = await saml.verifySamlResponse(response, expected);
    const { login, found, sessionId } = store(deps, provider, assertion, address);
    note.actor = found.user.id;
    const { id: userId } = found.user;
    log.info("SSO login", { providerId: provider.id, userId, sessionId, address });
    return {
      ...await tokenPairOf(deps, login),
      sessionId,
      user: { id: userId, email: found.user.email, role: login.role, name: assertion.name },
      ...(relayState !== undefined && { relayState }),
    };
  } catch (error) {
    const refusal = error instanceof SamlError ? refusalOf(error) : error;
    if (refusal instanceof AppError) {
      const reason = refusal instanceof SsoRefusal ? refusal.reason : refusal.code;
      warnAnonymous(deps, "SSO login refused", { reason, provider: note.target, address });
    }
    throw refusal;
  }
}

/** The provider whose certificate decides; at this point nothing is proven. */
function findProvider(
  { db }: Pick<Deps, "db">,
  issuer: string,
  note: LoginNote,
): IdentityProvider {
  const provider = selectProviderByEntityId(db, issuer);
  note.target = provider?.name ?? shown(issuer);
  if (!provider) throw notProven("unknown_issuer", "No identity provider has this issuer's name");
  assertProviderEnabled(provider);
  return provider;
}

/** Unverified text for the log, without line breaks and control characters. */
const shown = (issuer: string) =>
  issuer.slice(0, ISSUER_SHOWN_MAX).replace(/[\p{C}\u2028\u2029]/gu, "\uFFFD");

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

interface Stored {
  login: OpenLogin;
  found: Found;
  sessionId: string;
}

/**
 * Uses the assertion up and stores the login that follows from it, in one transaction: of two that
 * bring the same message at once, one gets in. A message whose user is refused is used up as well,
 * or it would wait for somebody who finds it.
 */
function store(
  deps: AcsDeps,
  provider: IdentityProvider,
  assertion: VerifiedAssertion,
  address: string,
): Stored {
  const { db, accounts } = deps;
  let found: Found | undefined;
  try {
    const outcome = db.transaction((): Stored | AppError => {
      assertUnchanged(db, provider);
      assertFirstUse(db, provider, assertion);
      try {
        useRequest(deps, provider, assertion);
        const endsAt = endOf(assertion, deps.now());
        found = findUser(deps, provider, assertion);
        return storeSession(deps, provider, found, endsAt, address);
      } catch (error) {
        if (error instanceof SsoRefusal || error instanceof LimitError) return error;
        throw error;
      }
    });
    if (outcome instanceof AppError) throw outcome;
    return outcome;
  } catch (error) {
    // What was not stored must not stay in memory.
    if (found?.created) accounts.remove(found.user.id);
    throw error;
  }
}

/** What was verified must hold now: an admin may have acted in the meantime. */
function assertUnchanged(db: Deps["db"], provider: IdentityProvider): void {
  const current = selectProvider(db, provider.id);
  if (current) assertProviderEnabled(current);
  if (JSON.stringify(current) !== JSON.stringify(provider)) {
    throw notProven(
      "provider_changed",
      "The identity provider was changed while its message was checked; try again",
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
  throw notProven("replay", "The assertion was used before");
}

function endOf({ sessionNotOnOrAfter }: VerifiedAssertion, now: Date): Date {
  const end = sessionNotOnOrAfter ?? new Date(now.getTime() + SESSION_MS);
  if (end.getTime() < now.getTime() + SESSION_MIN_MS) {
    throw notProven("session_ended", "The identity provider's own session has ended");
  }
  return earlier(end, LATEST);
}

function storeSession(
  deps: AcsDeps,
  provider: IdentityProvider,
  found: Found,
  endsAt: Date,
  address: string,
): Stored {
  const login = storeLogin(deps, found.user.id, { endsAt });
  const sessionId = crypto.randomUUID();
  insertSession(deps.db, {
    id: sessionId,
    provider_id: provider.id,
    user_id: found.user.id,
    family_id: login.session.familyId,
    email: found.email,
    ip: address,
    created_at: deps.now().toISOString(),
    expires_at: endsAt.toISOString(),
  });
  return { login, found, sessionId };
}

/** Reasons for which there is nothing that could be believed or not: no message was understood. */
const UNREADABLE: ReadonlySet<SamlReason> = new Set<SamlReason>([
  "too_large",
  "base64",
  "compressed",
  "encoding",
  "character",
  "dtd",
  "cdata",
  "processing_instruction",
  "entity",
  "malformed",
  "namespace",
  "too_deep",
  "too_many_nodes",
  "too_many_references",
  "parsers_disagree",
  "not_a_response",
]);

function refusalOf(error: SamlError): SsoRefusal {
  const code = UNREADABLE.has(error.reason) ? "invalid" : "unauthorized";
  return new SsoRefusal(error.reason, code, error.message, { cause: error });
}

const earlier = (a: Date, b: Date) => a < b ? a : b;
