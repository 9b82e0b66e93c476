/**
 * When, where and for whom an assertion holds: pure rules over values, without XML.
 *
 * "Assertions and Protocols for SAML V2.0" (OASIS), 2.4 and 2.5; "Profiles for SAML V2.0", 4.1.4.
 *
 * @module
 */

import { SamlError } from "./error.ts";

/** How far the clocks of an identity provider and this service may differ, in milliseconds. */
export const CLOCK_SKEW_MS = 5 * 60 * 1000;

/** An assertion's Conditions. */
export interface Conditions {
  notBefore: Date | undefined;
  notOnOrAfter: Date | undefined;
  /** The audiences of each AudienceRestriction. */
  audiences: string[][];
  /** Names of elements that are no condition of SAML 2.0. */
  unknown: string[];
}

/** One bearer SubjectConfirmation. */
export interface Confirmation {
  recipient: string | undefined;
  notBefore: Date | undefined;
  notOnOrAfter: Date | undefined;
  inResponseTo: string | undefined;
}

/**
 * Whether `now` has come to `notBefore`; the very instant 5 minutes before it counts.
 */
export function hasBegun(notBefore: Date | undefined, now: Date): boolean {
  return notBefore === undefined || now.getTime() >= notBefore.getTime() - CLOCK_SKEW_MS;
}

/**
 * Whether `now` is past `notOnOrAfter`; the very instant 5 minutes after it is.
 */
export function hasEnded(notOnOrAfter: Date, now: Date): boolean {
  return now.getTime() >= notOnOrAfter.getTime() + CLOCK_SKEW_MS;
}

/**
 * @param audience Our entity id.
 * @returns The end of the assertion's validity, without skew.
 * @throws {SamlError} `condition_unknown`, `conditions_missing`, `not_yet_valid`, `expired`,
 * `audience_missing`, `audience`.
 */
export function assertConditions(
  { notBefore, notOnOrAfter, audiences, unknown }: Conditions,
  { audience, now }: { audience: string; now: Date },
): Date {
  // A condition that is not understood cannot be said to hold (2.5.1.1).
  if (unknown.length > 0) {
    throw new SamlError("condition_unknown", `The condition ${unknown[0]} is not known`);
  }
  if (notOnOrAfter === undefined) {
    throw new SamlError("conditions_missing", "The assertion does not say when it ends");
  }
  if (!hasBegun(notBefore, now)) {
    throw new SamlError("not_yet_valid", `The assertion begins at ${notBefore!.toISOString()}`);
  }
  if (hasEnded(notOnOrAfter, now)) {
    throw new SamlError("expired", `The assertion ended at ${notOnOrAfter.toISOString()}`);
  }
  if (audiences.length === 0) {
    throw new SamlError("audience_missing", "The assertion does not say for whom it is");
  }
  if (!audiences.every((some) => some.includes(audience))) {
    throw new SamlError("audience", "The assertion is meant for another service");
  }
  return notOnOrAfter;
}

/**
 * The first confirmation that holds: any one suffices (2.4.1.1).
 *
 * @param confirmations Those of the method bearer.
 * @throws {SamlError} `subject_confirmation_missing`; else why the first of them does not hold:
 * `recipient`, `subject_confirmation_times`.
 */
export function holdingConfirmation(
  confirmations: Confirmation[],
  expected: { acsUrl: string; now: Date },
): Confirmation {
  const [first] = confirmations;
  if (first === undefined) {
    throw new SamlError("subject_confirmation_missing", "The subject has no bearer confirmation");
  }
  const holding = confirmations.find((each) => flawOf(each, expected) === undefined);
  if (holding === undefined) throw flawOf(first, expected)!;
  return holding;
}

/**
 * The request that the message answers, as far as a signature vouches for it.
 *
 * @param confirmed What the (signed) confirmation says.
 * @param responded What the response says.
 * @throws {SamlError} `in_response_to_mismatch`; `in_response_to_unsigned`, when only an unsigned
 * response names a request: whoever steals an unsolicited assertion could write it there.
 */
export function answeredRequest(
  confirmed: string | undefined,
  responded: string | undefined,
  { isResponseSigned }: { isResponseSigned: boolean },
): string | null {
  if (confirmed !== undefined && responded !== undefined && confirmed !== responded) {
    throw new SamlError(
      "in_response_to_mismatch",
      "The response and the assertion answer different requests",
    );
  }
  if (confirmed === undefined && responded !== undefined && !isResponseSigned) {
    throw new SamlError(
      "in_response_to_unsigned",
      "Only the part of the message that is not signed names a request",
    );
  }
  return confirmed ?? responded ?? null;
}

/**
 * An instant as SAML writes them: UTC with `Z` (1.3.3). Digits beyond milliseconds are dropped.
 *
 * @throws {SamlError} `timestamp`, also for days that no month has.
 */
export function readInstant(text: string): Date {
  const [, seconds, fraction = ""] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,12}))?Z$/.exec(text) ?? [];
  const milliseconds = fraction.slice(0, 3).padEnd(3, "0");
  const instant = new Date(`${seconds}.${milliseconds}Z`);
  const isReal = !Number.isNaN(instant.getTime()) &&
    instant.toISOString() === `${seconds}.${milliseconds}Z`;
  if (!isReal) throw new SamlError("timestamp", "A time in the message is not one in UTC");
  return instant;
}

function flawOf(
  { recipient, notBefore, notOnOrAfter }: Confirmation,
  { acsUrl, now }: { acsUrl: string; now: Date },
): SamlError | undefined {
  if (recipient !== acsUrl) {
    return new SamlError("recipient", "The assertion is addressed to another recipient");
  }
  // A NotBefore must not be there (Profiles, 4.1.4.2). Where it is, it is kept.
  if (notOnOrAfter === undefined || hasEnded(notOnOrAfter, now) || !hasBegun(notBefore, now)) {
    return new SamlError(
      "subject_confirmation_times",
      "The subject's confirmation has ended, has not begun, or has no end",
    );
  }
}
