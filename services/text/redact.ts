/** Redaction of secrets in output. @module */

/** Replaces a secret in responses. In an update it means: keep the stored value. */
export const REDACTED = "********";

/** Error message for a redacted value without a stored one. */
export const NOTHING_STORED = `"${REDACTED}" keeps a stored value, and there is none`;

/** Error message for a value of which only a part is redacted. */
export const PARTLY_REDACTED = `must be given as a whole, without "${REDACTED}"`;

export const isPartlyRedacted = (value: unknown): boolean =>
  typeof value === "string" && value !== REDACTED && value.includes(REDACTED);

/** A URL and what follows it, up to the next URL. */
const ADDRESSES = /([a-z][a-z0-9+.-]*:\/\/)((?:(?![a-z][a-z0-9+.-]*:\/\/)[^])*)/gi;

/**
 * Removes user names and passwords from the URLs in a text. If the end of a password is not clear,
 * everything up to the next URL is removed.
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

/** Error message for a stored secret that would be sent to another host. */
export const GIVE_AGAIN = "give it again, the address changed";

/**
 * Whether a URL has another scheme, host or port than before. Stored secrets are kept only for the
 * same origin; otherwise a user who may change the URL, but does not know the secret, could have it
 * sent to another host.
 */
export function isElsewhere(before: string, address: string): boolean {
  const [known, given] = [URL.parse(before), URL.parse(address)];
  return !known || !given || known.origin !== given.origin;
}
