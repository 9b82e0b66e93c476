/**
 * Whether a certificate is for a name, as browsers judge it.
 *
 * @module
 */

/** The names that a certificate carries (subject alternative names), in its order. */
export interface CertificateNames {
  /** Host names, also with a wildcard: `*.example.com`. */
  dns: string[];
  ip: string[];
}

/**
 * Reads the text that the runtime makes of the extension, e.g.
 * `DNS:example.com, IP Address:192.0.2.1`. A name with a comma or a quote in it is given as a JSON
 * string there; it stays one name, which no host has.
 */
export function parseAltNames(text: string | undefined): CertificateNames {
  const names: CertificateNames = { dns: [], ip: [] };
  for (const entry of splitOutsideQuotes(text ?? "")) {
    const [, kind, name] = /^(DNS|IP Address):(.+)$/s.exec(entry.trim()) ?? [];
    if (kind !== undefined) names[kind === "DNS" ? "dns" : "ip"].push(name!);
  }
  return names;
}

/** Splits at commas; a comma between quotes is part of the entry. */
function splitOutsideQuotes(text: string): string[] {
  const entries = [""];
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (char === "," && !quoted) {
      entries.push("");
      continue;
    }
    if (char === '"') quoted = !quoted;
    entries[entries.length - 1] += quoted && char === "\\" ? char + (text[++i] ?? "") : char;
  }
  return entries;
}

/**
 * Whether a certificate with these names is for `host`, a host name or an IP address (RFC 9525,
 * 6.3 and 6.5): names are compared label by label and without case, a wildcard stands for exactly
 * the leftmost label and only where at least two more follow, an address is only found among the
 * addresses, and the subject's common name counts for nothing.
 */
export function isNamed({ dns, ip }: CertificateNames, host: string): boolean {
  const address = addressOf(host);
  if (address !== undefined) return ip.some((name) => addressOf(name) === address);
  const labels = labelsOf(host);
  return labels !== undefined && dns.some((name) => matches(name, labels));
}

function matches(name: string, labels: string[]): boolean {
  const [first, ...rest] = name.toLowerCase().replace(/\.$/, "").split(".");
  if (rest.length + 1 !== labels.length) return false;
  if (!rest.every((label, i) => label === labels[i + 1])) return false;
  return first === labels[0] || (first === "*" && rest.length >= 2);
}

/** In lower case and without the root's dot; `undefined` for what is no host name. */
function labelsOf(host: string): string[] | undefined {
  const labels = host.toLowerCase().replace(/\.$/, "").split(".");
  return labels.every((label) => /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/.test(label))
    ? labels
    : undefined;
}

/** An IP address in the one form that equal ones share, or `undefined`. */
function addressOf(text: string): string | undefined {
  const bare = text.replace(/^\[(.*)\]$/, "$1");
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(bare)) {
    return bare.split(".").every((part) => part === String(Number(part)) && Number(part) <= 255)
      ? bare
      : undefined;
  }
  return bare.includes(":") ? URL.parse(`http://[${bare}]`)?.hostname : undefined;
}
