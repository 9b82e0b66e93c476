/**
 * Secrets in what is shown.
 *
 * @module
 */

/** Stands for a secret in an answer; sent back in an update it means "keep". */
export const REDACTED = "********";

/** Why a secret is not kept: it would be sent to where it was not given for. */
export const GIVE_AGAIN = "give it again, the address changed";

/**
 * Whether an address has another scheme, host or port than before. A stored secret is kept for the
 * place that it was given for; otherwise whoever may change an address, but was never told the
 * secret, could have it sent to a host of their own.
 */
export function isElsewhere(before: string, address: string): boolean {
  const [known, given] = [URL.parse(before), URL.parse(address)];
  return !known || !given || known.origin !== given.origin;
}
