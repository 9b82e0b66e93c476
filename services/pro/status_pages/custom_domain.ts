/** Custom domains of status pages. @module */

/** Limit of a host name (RFC 1035, 2.3.4), in characters. */
export const DOMAIN_MAX = 253;

export const DOMAIN_RULE =
  "must be a host name without scheme, port or path, e.g. status.example.com";

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * Normalizes a domain for comparison with a `Host` header: lower case, Punycode, no trailing dot.
 *
 * @returns `undefined` if the text is not a host name; an IP address is not one.
 */
export function normalizeDomain(text: string): string | undefined {
  // The URL parser accepts more than a host name.
  if (/[\s/\\?#@:%[\]<>"\p{C}]/u.test(text)) return undefined;
  const host = URL.parse(`http://${text}`)?.hostname.replace(/\.$/, "");
  if (!host || host.length > DOMAIN_MAX) return undefined;
  const labels = host.split(".");
  return labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1)!)
    ? host
    : undefined;
}
