/**
 * Domains under which status pages are served.
 *
 * @module
 */

/** Longest host name (RFC 1035, 2.3.4), in characters. */
export const DOMAIN_MAX = 253;

export const DOMAIN_RULE =
  `must be a host name such as status.example.com, without scheme, port and path`;

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * A domain as a `Host` header has it: in lower case, without a dot at its end, and other scripts
 * in Punycode. `undefined` for what is no host name; addresses are none.
 */
export function normalDomain(text: string): string | undefined {
  // The URL parser would take much more than a host, and forgive it.
  if (/[\s/\\?#@:%[\]<>"\p{C}]/u.test(text)) return undefined;
  const host = URL.parse(`http://${text}`)?.hostname.replace(/\.$/, "");
  if (!host || host.length > DOMAIN_MAX) return undefined;
  const labels = host.split(".");
  return labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1)!)
    ? host
    : undefined;
}
