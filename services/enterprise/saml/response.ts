/**
 * Verifies SAML responses.
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
  assertConditions,
  CLOCK_SKEW_MS,
  findValidConfirmation,
  hasBegun,
  resolveInResponseTo,
} from "./conditions.ts";
import { decodeSamlMessage } from "./document.ts";
import { SamlError } from "./error.ts";
import { NAME_ID_EMAIL, NAME_ID_PERSISTENT, NAME_ID_UNSPECIFIED } from "./name_id.ts";
import { readMessage, type SamlMessage } from "./message.ts";
import { type SignedParts, verifySignatures } from "./verification.ts";
import { attributeOf, type XmlElement } from "./tree.ts";
import { readXml } from "./xml.ts";

export { SamlError, type SamlReason } from "./error.ts";

/** The expected values of a message. */
export interface SamlExpectations {
  /** The entity ID of the identity provider, which has to be the issuer. */
  entityId: string;
  /** One or more signing certificates, PEM. */
  certificate: string;
  acsUrl: string;
  /** The entity ID of this service. */
  audience: string;
  now: Date;
  /** Names of the attributes with the user's email and name. */
  attributeMapping: { email?: string | undefined; name?: string | undefined };
  /** The format of name identifiers without a format. */
  nameIdFormat?: string;
}

export interface VerifiedAssertion {
  assertionId: string;
  issuer: string;
  nameId: string;
  /** The name identifier if it is persistent and issued for this service; else null. */
  persistentId: string | null;
  sessionIndex: string | null;
  /** The ID of the answered request; null for an unsolicited response. */
  inResponseTo: string | null;
  email: string | null;
  name: string | null;
  /** The ID has to be remembered as used until this time, which includes the clock skew. */
  notOnOrAfter: Date;
  sessionNotOnOrAfter: Date | null;
  /** Whether the provider says that it has asked for several factors. */
  isMultiFactor: boolean;
}

/** A parsed message whose signatures have not been verified. */
export interface UnverifiedResponse extends SamlMessage {
  /** The decoded XML, without its declaration. */
  text: string;
}

/**
 * Reads the value of the form field `SAMLResponse`.
 *
 * @throws {SamlError} For a message that cannot be decoded or has an invalid structure.
 */
export function readSamlResponse(base64: string): UnverifiedResponse {
  const text = decodeSamlMessage(base64);
  return { text, ...readMessage(readXml(text)) };
}

/**
 * Returns the unverified issuer of the assertion, or of the response without one. It only selects the
 * provider whose certificates verify the message.
 *
 * @throws {SamlError} `issuer_missing`.
 */
export function claimedIssuer({ response, assertion }: UnverifiedResponse): string {
  return issuerOf(assertion ?? response);
}

/** Returns the unverified ID of the answered request. It only selects the form of a refusal. */
export const claimedRequest = ({ response }: UnverifiedResponse): string | undefined =>
  attributeOf(response, "InResponseTo");

/**
 * Verifies a message. The caller has to check stored state: whether the request is known and not yet
 * answered, and whether the assertion has been used before.
 *
 * @throws {SamlError} With the reason.
 */
export async function verifySamlResponse(
  unverified: UnverifiedResponse,
  expected: SamlExpectations,
): Promise<VerifiedAssertion> {
  // A failure reported by the identity provider has no assertion and often no signature.
  assertSuccess(unverified.response);
  if (unverified.assertion === undefined) {
    throw new SamlError("assertion_missing", "The response does not contain an assertion");
  }
  const signed = await verifySignatures(unverified, expected.certificate);
  return validate(
    readResponse(signed.response ?? unverified.response),
    readAssertion(signedAssertion(signed)),
    { ...expected, isResponseSigned: signed.response !== undefined },
  );
}

/** Returns the assertion from the signed bytes, never from the message. */
function signedAssertion({ response, assertion }: SignedParts): XmlElement {
  if (response) assertSuccess(response);
  const found = assertion ?? (response && readMessage(response).assertion);
  if (found === undefined) {
    throw new SamlError("assertion_missing", "The signed part does not contain an assertion");
  }
  return found;
}

function validate(
  response: SamlResponse,
  assertion: SamlAssertion,
  expected: SamlExpectations & { isResponseSigned: boolean },
): VerifiedAssertion {
  const { entityId, acsUrl, now } = expected;
  if (assertion.issuer !== entityId) {
    throw new SamlError("issuer", "The assertion has another issuer");
  }
  if (response.issuer !== undefined && response.issuer !== assertion.issuer) {
    throw new SamlError("response_issuer", "The response has another issuer");
  }
  if (response.destination !== undefined && response.destination !== acsUrl) {
    throw new SamlError("destination", "The response has another destination");
  }
  if (!hasBegun(response.issueInstant, now) || !hasBegun(assertion.issueInstant, now)) {
    throw new SamlError("issue_instant", "The message was issued in the future");
  }
  const notOnOrAfter = assertConditions(assertion.conditions, expected);
  const confirmation = findValidConfirmation(assertion.confirmations, expected);
  const inResponseTo = resolveInResponseTo(
    confirmation.inResponseTo,
    response.inResponseTo,
    expected,
  );
  const { sessionNotOnOrAfter = null } = assertion;
  // Without clock skew, because the new session ends at this time by the service's own clock.
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
    persistentId: persistentIdOf(assertion, expected) ?? null,
    sessionIndex: assertion.sessionIndex ?? null,
    inResponseTo,
    email: emailOf(assertion, expected) ?? null,
    name: mappedText(assertion, expected.attributeMapping.name) ?? null,
    notOnOrAfter: new Date(notOnOrAfter.getTime() + CLOCK_SKEW_MS),
    sessionNotOnOrAfter,
    isMultiFactor: assertion.isMultiFactor,
  };
}

/**
 * Returns the mapped attribute, else a name identifier with the format emailAddress. A name
 * identifier with an unspecified format is used if no attribute is mapped.
 */
function emailOf(assertion: SamlAssertion, expected: SamlExpectations): string | undefined {
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
 * Returns the name identifier if it is persistent. The message decides on the format, because
 * requests are not signed: the user could request another format, e.g. one with a name of the user's
 * choice. An identifier of another domain or service provider may belong to another user.
 */
function persistentIdOf(assertion: SamlAssertion, expected: SamlExpectations): string | undefined {
  const { nameId, issuer } = assertion;
  const { value, nameQualifier = issuer, spNameQualifier = expected.audience } = nameId;
  const isPersistent = formatOf(assertion, expected) === NAME_ID_PERSISTENT &&
    nameQualifier === issuer && spNameQualifier === expected.audience;
  return isPersistent ? value : undefined;
}

function formatOf({ nameId }: SamlAssertion, { nameIdFormat }: SamlExpectations): string {
  const { format = NAME_ID_UNSPECIFIED } = nameId;
  return format === NAME_ID_UNSPECIFIED ? nameIdFormat ?? NAME_ID_UNSPECIFIED : format;
}

function mappedText({ attributes }: SamlAssertion, name: string | undefined): string | undefined {
  return name === undefined ? undefined : attributeText(attributes.get(name));
}
