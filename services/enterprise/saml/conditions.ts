/**
 * Validates the conditions and subject confirmations of an assertion, without XML.
 *
 * "Assertions and Protocols for SAML V2.0" (OASIS), 2.4 and 2.5; "Profiles for SAML V2.0", 4.1.4.
 *
 * @module
 */

import { SamlError } from "./error.ts";

/** Tolerated clock difference to the identity provider, in milliseconds. */
export const CLOCK_SKEW_MS = 5 * 60 * 1000;

/** The Conditions element of an assertion. */
export interface Conditions {
  notBefore: Date | undefined;
  notOnOrAfter: Date | undefined;
  audiences: string[][];
  /** Names of elements that SAML 2.0 does not define. */
  unknown: string[];
}

/** A SubjectConfirmation with the method bearer. */
export interface SubjectConfirmation {
  recipient: string | undefined;
  notBefore: Date | undefined;
  notOnOrAfter: Date | undefined;
  inResponseTo: string | undefined;
}

/** Whether `now` is at or after `notBefore`, with clock skew. */
export function hasBegun(notBefore: Date | undefined, now: Date): boolean {
  return notBefore === undefined || now.getTime() >= notBefore.getTime() - CLOCK_SKEW_MS;
}

/** Whether `now` is at or after `notOnOrAfter`, with clock skew. */
export function hasEnded(notOnOrAfter: Date, now: Date): boolean {
  return now.getTime() >= notOnOrAfter.getTime() + CLOCK_SKEW_MS;
}

/**
 * @param audience The entity ID of this service.
 * @returns NotOnOrAfter of the assertion, without clock skew.
 * @throws {SamlError} `condition_unknown`, `conditions_missing`, `not_yet_valid`, `expired`,
 * `audience_missing`, `audience`.
 */
export function assertConditions(
  { notBefore, notOnOrAfter, audiences, unknown }: Conditions,
  { audience, now }: { audience: string; now: Date },
): Date {
  // An assertion with an unknown condition is not valid (2.5.1.1).
  if (unknown.length > 0) {
    throw new SamlError("condition_unknown", `The condition ${unknown[0]} is not supported`);
  }
  if (notOnOrAfter === undefined) {
    throw new SamlError("conditions_missing", "The conditions have no NotOnOrAfter");
  }
  if (!hasBegun(notBefore, now)) {
    throw new SamlError("not_yet_valid", `The assertion is valid from ${notBefore!.toISOString()}`);
  }
  if (hasEnded(notOnOrAfter, now)) {
    throw new SamlError("expired", `The assertion expired at ${notOnOrAfter.toISOString()}`);
  }
  if (audiences.length === 0) {
    throw new SamlError("audience_missing", "The assertion has no audience restriction");
  }
  if (!audiences.every((restriction) => restriction.includes(audience))) {
    throw new SamlError("audience", "The assertion is for another audience");
  }
  return notOnOrAfter;
}

/**
 * Returns the first valid confirmation; one is sufficient (2.4.1.1).
 *
 * @param confirmations Those of the method bearer.
 * @throws {SamlError} `subject_confirmation_missing`; else why the first of them does not hold:
 * `recipient`, `subject_confirmation_times`.
 */
export function findValidConfirmation(
  confirmations: SubjectConfirmation[],
  expected: { acsUrl: string; now: Date },
): SubjectConfirmation {
  const [first] = confirmations;
  if (first === undefined) {
    throw new SamlError("subject_confirmation_missing", "The subject has no bearer confirmation");
  }
  const valid = confirmations.find((each) => findFault(each, expected) === undefined);
  if (valid === undefined) throw findFault(first, expected)!;
  return valid;
}

/**
 * Determines the signed InResponseTo of a message.
 *
 * @param ofConfirmation InResponseTo of the subject confirmation, which is signed.
 * @param ofResponse InResponseTo of the response.
 * @throws {SamlError} `in_response_to_mismatch`; `in_response_to_unsigned`, if only an unsigned
 * response has it, because an attacker could add it to a stolen unsolicited assertion.
 */
export function resolveInResponseTo(
  ofConfirmation: string | undefined,
  ofResponse: string | undefined,
  { isResponseSigned }: { isResponseSigned: boolean },
): string | null {
  if (ofConfirmation !== undefined && ofResponse !== undefined && ofConfirmation !== ofResponse) {
    throw new SamlError(
      "in_response_to_mismatch",
      "The response and the assertion answer different requests",
    );
  }
  if (ofConfirmation === undefined && ofResponse !== undefined && !isResponseSigned) {
    throw new SamlError(
      "in_response_to_unsigned",
      "Only the unsigned part of the message has an InResponseTo",
    );
  }
  return ofConfirmation ?? ofResponse ?? null;
}

/**
 * Parses a time of a SAML message: UTC with `Z` (1.3.3). Digits after milliseconds are ignored.
 *
 * @throws {SamlError} `timestamp`, also for dates that do not exist.
 */
export function readInstant(text: string): Date {
  const [, seconds, fraction = ""] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,12}))?Z$/.exec(text) ?? [];
  const milliseconds = fraction.slice(0, 3).padEnd(3, "0");
  const instant = new Date(`${seconds}.${milliseconds}Z`);
  const isValid = !Number.isNaN(instant.getTime()) &&
    instant.toISOString() === `${seconds}.${milliseconds}Z`;
  if (!isValid) throw new SamlError("timestamp", "A time in the message is not a valid UTC time");
  return instant;
}

function findFault(
  { recipient, notBefore, notOnOrAfter }: SubjectConfirmation,
  { acsUrl, now }: { acsUrl: string; now: Date },
): SamlError | undefined {
  if (recipient !== acsUrl) {
    return new SamlError("recipient", "The assertion is addressed to another recipient");
  }
  // NotBefore is not allowed here (Profiles, 4.1.4.2), but respected if present.
  if (notOnOrAfter === undefined || hasEnded(notOnOrAfter, now) || !hasBegun(notBefore, now)) {
    return new SamlError(
      "subject_confirmation_times",
      "The subject confirmation has expired, is not yet valid, or has no NotOnOrAfter",
    );
  }
}
