/** Matches certificate names against a host by the rules of browsers. @module */

/** The subject alternative names of a certificate, in its order. */
interface CertificateNames {
  /** Host names, possibly with a wildcard: `*.example.com`. */
  dns: string[];
  ip: string[];
}

/**
 * Parses the runtime's text form of the extension, e.g. `DNS:example.com, IP Address:192.0.2.1`. A
 * name that contains a comma or a quote appears there as a JSON string; it stays one name, which
 * matches no host.
 */
export function parseAltNames(text: string | undefined): CertificateNames {
  const names: CertificateNames = { dns: [], ip: [] };
  for (const entry of splitOutsideQuotes(text ?? "")) {
    const [, kind, name] = /^(DNS|IP Address):(.+)$/s.exec(entry.trim()) ?? [];
    if (kind !== undefined) names[kind === "DNS" ? "dns" : "ip"].push(name!);
  }
  return names;
}

/** Splits at commas outside of quotes. */
function splitOutsideQuotes(text: string): string[] {
  const entries = [""];
  let isQuoted = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (char === "," && !isQuoted) {
      entries.push("");
      continue;
    }
    if (char === '"') isQuoted = !isQuoted;
    entries[entries.length - 1] += isQuoted && char === "\\" ? char + (text[++i] ?? "") : char;
  }
  return entries;
}

/**
 * Whether a certificate with these names is valid for `host`, a host name or an IP address (RFC
 * 9525, 6.3 and 6.5). Names are compared label by label, ignoring case. A wildcard matches the
 * leftmost label only and needs at least two more labels. An address matches IP entries only. The
 * subject's common name is ignored.
 */
export function coversHost({ dns, ip }: CertificateNames, host: string): boolean {
  const address = normalizeAddress(host);
  if (address !== undefined) return ip.some((name) => normalizeAddress(name) === address);
  const labels = hostLabels(host);
  return labels !== undefined && dns.some((name) => matches(name, labels));
}

function matches(name: string, labels: string[]): boolean {
  const [first, ...rest] = name.toLowerCase().replace(/\.$/, "").split(".");
  if (rest.length + 1 !== labels.length) return false;
  if (!rest.every((label, i) => label === labels[i + 1])) return false;
  return first === labels[0] || (first === "*" && rest.length >= 2);
}

/** In lower case and without the trailing dot; `undefined` if it is not a host name. */
function hostLabels(host: string): string[] | undefined {
  const labels = host.toLowerCase().replace(/\.$/, "").split(".");
  return labels.every((label) => /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/.test(label))
    ? labels
    : undefined;
}

/** The canonical form of an IP address, or `undefined` if it is not one. */
function normalizeAddress(text: string): string | undefined {
  const bare = text.replace(/^\[(.*)\]$/, "$1");
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(bare)) {
    return bare.split(".").every((part) => part === String(Number(part)) && Number(part) <= 255)
      ? bare
      : undefined;
  }
  return bare.includes(":") ? URL.parse(`http://[${bare}]`)?.hostname : undefined;
}
