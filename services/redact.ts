/**
 * Secrets in what is shown.
 *
 * @module
 */

/** Stands for a secret in an answer; sent back in an update it means "keep". */
export const REDACTED = "********";

/** An address and what follows it, up to the next address. */
const ADDRESSES = /([a-z][a-z0-9+.-]*:\/\/)((?:(?![a-z][a-z0-9+.-]*:\/\/)[^])*)/gi;

/**
 * A text without the user names and passwords of the addresses in it. Where it is not clear where a
 * password ends, everything up to the next address goes.
 */
export function withoutCredentials(text: string): string {
  return text.replace(ADDRESSES, (_, scheme: string, rest: string) => {
    const end = rest.search(/[\s|]/);
    const [address, behind] = end < 0 ? [rest, ""] : [rest.slice(0, end), rest.slice(end)];
    if (behind.includes("@")) return scheme + REDACTED;
    const url = URL.parse(scheme + address);
    if (!url) return scheme + REDACTED + behind;
    if (url.username === "" && url.password === "") return scheme + rest;
    // The authority ends at the first of these, and the password at the last @ before it.
    const path = address.search(/[/\\?#]/);
    const at = address.lastIndexOf("@", path < 0 ? address.length : path);
    return scheme + REDACTED + rest.slice(at);
  });
}

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
