/**
 * Verifies SAML responses: which user a response names, or why it is refused.
 *
 * `readSamlResponse()` reads a message once, `claimedIssuer()` selects the provider, and
 * `verifySamlResponse()` decides: structure, signatures, then the content, which is read from the
 * signed bytes only (canonical, so without comments). The response, its assertion or both have to be
 * signed; if both are, both signatures have to be valid.
 *
 * @module
 */

import {
  assertSuccess,
  attributeText,
  issuerOf,
  readAssertion,
  readResponse,
  type SamlAssertion,
  type SamlResponse,
} from "./assertion.ts";
import {
  answeredRequest,
  assertConditions,
  CLOCK_SKEW_MS,
  hasBegun,
  holdingConfirmation,
} from "./conditions.ts";
import { decodeSamlMessage } from "./document.ts";
import { SamlError } from "./error.ts";
import { NAME_ID_EMAIL, NAME_ID_PERSISTENT, NAME_ID_UNSPECIFIED } from "./name_id.ts";
import { readMessage, type SamlMessage } from "./message.ts";
import { type SignedParts, verifySignatures } from "./verification.ts";
import type { XmlElement } from "./tree.ts";
import { readXml } from "./xml.ts";

export { SamlError, type SamlReason } from "./error.ts";

/** What a message has to agree with. */
export interface SamlExpectations {
  /** The identity provider's entity id, which has to be the issuer. */
  entityId: string;
  /** PEM. */
  certificate: string;
  acsUrl: string;
  /** Our entity id. */
  audience: string;
  now: Date;
  /** Names of the attributes that hold them. */
  attributeMapping: { email?: string; name?: string };
  /** The format of a name identifier that does not say its own. */
  nameIdFormat?: string;
}

export interface VerifiedAssertion {
  assertionId: string;
  issuer: string;
  nameId: string;
  /** The name identifier where it stays with its user and is nobody else's; else null. */
  lastingName: string | null;
  sessionIndex: string | null;
  /** The request that is answered; null for an unsolicited message. */
  inResponseTo: string | null;
  email: string | null;
  name: string | null;
  /** Until when its id has to be remembered as used; the clock skew is included. */
  notOnOrAfter: Date;
  sessionNotOnOrAfter: Date | null;
}

/** A message that was read, and of which nothing is proven yet. */
export interface UnverifiedResponse extends SamlMessage {
  /** The decoded XML, without its declaration. */
  text: string;
}

/**
 * Reads the value of the form field `SAMLResponse`.
 *
 * @throws {SamlError} For a message that cannot be decoded, or whose elements are misplaced.
 */
export function readSamlResponse(base64: string): UnverifiedResponse {
  const text = decodeSamlMessage(base64);
  return { text, ...readMessage(readXml(text)) };
}

/**
 * The issuer that a message claims to have: its assertion's, or the response's where there is no
 * assertion. It only selects the provider whose certificate decides.
 *
 * @throws {SamlError} `issuer_missing`.
 */
export function claimedIssuer({ response, assertion }: UnverifiedResponse): string {
  return issuerOf(assertion ?? response);
}

/**
 * Verifies a message. The caller checks, because that needs stored state, whether the request is known
 * and unanswered, and whether the assertion was used before.
 *
 * @throws {SamlError} With one reason for each rule.
 */
export async function verifySamlResponse(
  unverified: UnverifiedResponse,
  expected: SamlExpectations,
): Promise<VerifiedAssertion> {
  // A refusal by the identity provider has no assertion, and often no signature.
  assertSuccess(unverified.response);
  if (unverified.assertion === undefined) {
    throw new SamlError("assertion_missing", "The response does not contain an assertion");
  }
  const signed = await verifySignatures(unverified, expected.certificate);
  return decide(
    readResponse(signed.response ?? unverified.response),
    readAssertion(signedAssertion(signed)),
    { ...expected, isResponseSigned: signed.response !== undefined },
  );
}

/** Read from the signed bytes of the assertion or of the response, never from the message. */
function signedAssertion({ response, assertion }: SignedParts): XmlElement {
  if (response) assertSuccess(response);
  const found = assertion ?? (response && readMessage(response).assertion);
  if (found === undefined) {
    throw new SamlError("assertion_missing", "The signed part does not contain an assertion");
  }
  return found;
}

function decide(
  response: SamlResponse,
  assertion: SamlAssertion,
  expected: SamlExpectations & { isResponseSigned: boolean },
): VerifiedAssertion {
  const { entityId, acsUrl, now } = expected;
  if (assertion.issuer !== entityId) {
    throw new SamlError("issuer", "The assertion comes from another issuer");
  }
  if (response.issuer !== undefined && response.issuer !== assertion.issuer) {
    throw new SamlError("response_issuer", "The response comes from another issuer");
  }
  if (response.destination !== undefined && response.destination !== acsUrl) {
    throw new SamlError("destination", "The response is addressed to another destination");
  }
  if (!hasBegun(response.issueInstant, now) || !hasBegun(assertion.issueInstant, now)) {
    throw new SamlError("issue_instant", "The message was issued in the future");
  }
  const end = assertConditions(assertion.conditions, expected);
  const confirmation = holdingConfirmation(assertion.confirmations, expected);
  const inResponseTo = answeredRequest(
    confirmation.inResponseTo,
    response.inResponseTo,
    expected,
  );
  const { sessionNotOnOrAfter = null } = assertion;
  // Without skew: the session that would begin ends by the same clock.
  if (sessionNotOnOrAfter && sessionNotOnOrAfter <= now) {
    throw new SamlError(
      "session_ended",
      `The session ended at ${sessionNotOnOrAfter.toISOString()}`,
    );
  }
  return {
    assertionId: assertion.id,
    issuer: assertion.issuer,
    nameId: assertion.nameId.value,
    lastingName: lastingNameOf(assertion, expected) ?? null,
    sessionIndex: assertion.sessionIndex ?? null,
    inResponseTo,
    email: emailOf(assertion, expected) ?? null,
    name: mappedText(assertion, expected.attributeMapping.name) ?? null,
    notOnOrAfter: new Date(end.getTime() + CLOCK_SKEW_MS),
    sessionNotOnOrAfter,
  };
}

/**
 * The mapped attribute; where there is none, the name identifier if it is an address by its
 * format. One of no particular format counts too while no attribute is mapped: then nothing else
 * could hold the address.
 */
function emailOf(
  assertion: SamlAssertion,
  expected: SamlExpectations,
): string | undefined {
  const { attributeMapping } = expected;
  const mapped = mappedText(assertion, attributeMapping.email);
  if (mapped !== undefined) return mapped;
  const { value } = assertion.nameId;
  const format = formatOf(assertion, expected);
  const isAddress = format === NAME_ID_EMAIL ||
    format === NAME_ID_UNSPECIFIED && attributeMapping.email === undefined && value.includes("@");
  return isAddress ? value : undefined;
}

/**
 * What kind of name it is, is for the message to say: requests are not signed, so whoever carries
 * one can ask the identity provider for another kind, e.g. for a name that its bearer chose. And
 * one of another provider's names, or made for another service, may be somebody else's here.
 */
function lastingNameOf(
  assertion: SamlAssertion,
  expected: SamlExpectations,
): string | undefined {
  const { nameId, issuer } = assertion;
  const { value, nameQualifier = issuer, spNameQualifier = expected.audience } = nameId;
  const isLasting = formatOf(assertion, expected) === NAME_ID_PERSISTENT &&
    nameQualifier === issuer && spNameQualifier === expected.audience;
  return isLasting ? value : undefined;
}

function formatOf({ nameId }: SamlAssertion, { nameIdFormat }: SamlExpectations): string {
  const { format = NAME_ID_UNSPECIFIED } = nameId;
  return format === NAME_ID_UNSPECIFIED ? nameIdFormat ?? NAME_ID_UNSPECIFIED : format;
}

function mappedText({ attributes }: SamlAssertion, name: string | undefined): string | undefined {
  return name === undefined ? undefined : attributeText(attributes.get(name));
}
