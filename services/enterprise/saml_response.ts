/**
 * The decision about a SAML response: whom it names, or why it is not believed.
 *
 * In this order: the message's text, what stands where in it, its signatures; then, from the
 * signed bytes only (canonical, so without comments), what it says. A message is believed when its
 * response, its assertion or both are signed; if both are, both signatures must be right.
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
} from "./saml_assertion.ts";
import {
  answeredRequest,
  assertConditions,
  CLOCK_SKEW_MS,
  hasBegun,
  holdingConfirmation,
} from "./saml_conditions.ts";
import { decodeSamlMessage } from "./saml_document.ts";
import { SamlError } from "./saml_error.ts";
import { NAME_ID_EMAIL, NAME_ID_PERSISTENT, NAME_ID_UNSPECIFIED } from "./saml_name_id.ts";
import { readMessage, type SamlMessage } from "./saml_message.ts";
import { type SignedParts, verifySignatures } from "./saml_verification.ts";
import type { XmlElement } from "./saml_tree.ts";
import { readXml } from "./saml_xml.ts";

export { SamlError, type SamlReason } from "./saml_error.ts";

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

/**
 * The issuer that a message claims to have: its assertion's, or the response's where there is no
 * assertion. Nothing is verified; it serves to choose the provider whose certificate decides.
 *
 * @throws {SamlError} For what cannot be read or stands where it must not; `issuer_missing`.
 */
// Asynchronous as its twin is, so that refusals of both arrive in one way.
// deno-lint-ignore require-await
export async function claimedIssuer(samlResponseBase64: string): Promise<string> {
  const { response, assertion } = readText(decodeSamlMessage(samlResponseBase64));
  return issuerOf(assertion ?? response);
}

/**
 * Whether a request is known and unanswered, and whether an assertion was used before, is for the
 * caller to check: that takes memory, and here is none.
 *
 * @throws {SamlError} With one reason for each rule.
 */
export async function verifySamlResponse(
  samlResponseBase64: string,
  expected: SamlExpectations,
): Promise<VerifiedAssertion> {
  const text = decodeSamlMessage(samlResponseBase64);
  const message = readText(text);
  // A refusal of the identity provider has no assertion, and is often not signed.
  assertSuccess(message.response);
  if (message.assertion === undefined) {
    throw new SamlError("assertion_missing", "The response holds no assertion");
  }
  const signed = await verifySignatures(text, message, expected.certificate);
  return decide(
    readResponse(signed.response ?? message.response),
    readAssertion(signedAssertion(signed)),
    { ...expected, isResponseSigned: signed.response !== undefined },
  );
}

function readText(text: string): SamlMessage {
  return readMessage(readXml(text));
}

/** Never the message's own: that of the assertion's signed bytes, or in the response's. */
function signedAssertion({ response, assertion }: SignedParts): XmlElement {
  if (response) assertSuccess(response);
  const found = assertion ?? (response && readMessage(response).assertion);
  if (found === undefined) {
    throw new SamlError("assertion_missing", "What is signed holds no assertion");
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
