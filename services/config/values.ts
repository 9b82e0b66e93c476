/**
 * Parsers for the values of variables. Each throws an `Error` whose message continues a sentence that
 * starts with the variable: "must be 1 to 65535".
 *
 * @module
 */

import { normalize } from "node:path";
import { passwordProblem } from "../input/password_rule.ts";
import { configuredNetwork } from "../ip_address.ts";
import { REDACTED, withoutCredentials } from "../text/redact.ts";
import { trimEnd } from "../text/trim_end.ts";

/** An HTTP endpoint to probe. */
interface ProbedEndpoint {
  name: string;
  url: string;
  expectedStatus: number;
}

/** A host whose certificate is checked. */
interface TlsDomain {
  domain: string;
  port: number;
}

/** Any text. */
export function anyText(text: string): string {
  return text;
}

/** A whole number in decimal digits. */
export function integer(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new Error(`must be a whole number from ${min} to ${max}`);
    }
    return value;
  };
}

/** One of the listed words. */
export function oneOf<const Values extends readonly string[]>(values: Values) {
  return (text: string): Values[number] => {
    if (!values.includes(text)) throw new Error(`must be one of ${values.join(", ")}`);
    return text;
  };
}

/** Any text of at least `min` bytes (UTF-8) or characters. */
export function secretOf(min: number, unit: "bytes" | "characters") {
  return (text: string): string => {
    const length = unit === "bytes" ? new TextEncoder().encode(text).length : text.length;
    if (length < min) throw new Error(`must have at least ${min} ${unit}, but has ${length}`);
    return text;
  };
}

/** A password that accounts accept. */
export function adminPassword(text: string): string {
  const problem = passwordProblem(text);
  if (problem !== undefined) throw new Error(problem);
  return text;
}

/** Splits a list, trims its entries and drops empty ones. */
export function list(text: string, separator = ","): string[] {
  return text.split(separator).map((part) => part.trim()).filter((part) => part !== "");
}

/** `name=value`, separated by commas. */
export function labels(text: string): Record<string, string> {
  return Object.fromEntries(
    list(text).map((entry) => {
      const [, name, value] = /^([a-z][a-z0-9._-]{0,62})=(.{0,63})$/.exec(entry) ?? [];
      if (name === undefined) throw new Error(`has ${quoted(entry)}, which is not name=value`);
      return [name, value!];
    }),
  );
}

/** `unix:///path` or `tcp://host:port` */
export function engineAddress(text: string): string {
  if (!/^unix:\/\/\/./.test(text) && !tcpAddress(text)) {
    throw new Error("must be a Unix socket as unix:///path, or a TCP address as tcp://host:port");
  }
  return text;
}

/** Host and port of `tcp://host:port`; IPv6 is in brackets, and the port may be missing. */
export function tcpAddress(text: string): { host: string; port?: number } | undefined {
  const found = /^tcp:\/\/(\[[\da-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?\/?$/i.exec(text);
  if (!found) return undefined;
  const [, host = "", digits] = found;
  if (digits === undefined) return { host };
  const port = Number(digits);
  return port >= 1 && port <= 65_535 ? { host, port } : undefined;
}

/** Any text, which stands for yes. */
export const presence = (): true => true;

export function absolutePath(text: string): string {
  if (!text.startsWith("/")) throw new Error("must be an absolute path");
  return text;
}

/** An absolute path without `..` and slashes at the end. */
export function directory(text: string): string {
  if (!text.startsWith("/")) throw new Error(`has ${quoted(text)}, which is not an absolute path`);
  // Normalized, it has no other slashes next to each other.
  return normalize(text).replace(/(?<=.)\/$/, "");
}

/** As `directory()`, but not the root of the file system. */
export function subdirectory(text: string): string {
  const path = directory(text);
  if (path === "/") throw new Error(`has ${quoted(text)}, which is the whole file system`);
  return path;
}

export function email(text: string): string {
  if (!/^[^\s@]+@[^\s@]+$/.test(text) || text.length > 254) {
    throw new Error("must be an email address");
  }
  return text;
}

/** `address` or `Name <address>`. */
export function mailSender(text: string): string {
  if (!/^(?:[^<>@,;\p{Cc}]+<[^\s@<>,;]+@[^\s@<>,;]+>|[^\s@<>,;]+@[^\s@<>,;]+)$/u.test(text)) {
    throw new Error("must be a mail address, or a name with one as in Status <status@example.com>");
  }
  return text;
}

/** An http: or https: URL, without trailing slashes. */
export function httpUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new Error("must be an http:// or https:// URL");
  }
  return trimEnd(text, "/");
}

/** An http: or https: URL without characters that a shell interprets. */
export function releaseUrl(text: string): string {
  if (!/^[\w.:/~%-]+$/.test(text)) {
    throw new Error("must be an address of letters, digits and the characters . : / ~ % _ -");
  }
  return httpUrl(text);
}

/** The address may have a user and a password. */
export function proxyUrl(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol !== "http:" || url.hostname === "" || url.pathname !== "/") {
    throw new Error("must be an address such as http://proxy:3128");
  }
  return text;
}

export function smtpUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !/^smtps?:$/.test(url.protocol)) {
    throw new Error("must be an smtp:// or smtps:// URL");
  }
  return text;
}

/** E.g. `https://host:8443`: scheme, host and port, nothing else. */
export function origin(text: string): string {
  if (URL.parse(text)?.origin !== text) {
    throw new Error(`has ${quoted(text)}, which is not an origin such as https://host:port`);
  }
  return text;
}

export function cidr(text: string): string {
  if (!isAddressOrNetwork(text)) {
    throw new Error(`has ${quoted(text)}, which is not an address or network such as 10.0.0.0/8`);
  }
  return text;
}

export function cidrOrHost(text: string): string {
  if (!isAddressOrNetwork(text) && !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text)) {
    throw new Error(`has ${quoted(text)}, which is neither a network nor a host name`);
  }
  return text;
}

/** A host name, or an address without brackets. */
export function hostOrAddress(text: string): string {
  const written = text.includes(":") ? `[${text}]` : text;
  if (URL.parse(`http://${written}`)?.host !== written.toLowerCase()) {
    throw new Error(`is ${quoted(text)}, which is neither a host name nor an address`);
  }
  return text;
}

const isAddressOrNetwork = (text: string) => configuredNetwork(text) !== undefined;

/** `Name|URL|ExpectedStatus`; name and status may be missing. */
export function probedEndpoint(text: string): ProbedEndpoint {
  const parts = text.split("|").map((part) => part.trim());
  if (parts.length === 1) parts.unshift("");
  const [name, address = "", status = "200"] = parts;
  const url = URL.parse(address);
  if (!url || !/^https?:$/.test(url.protocol) || parts.length > 3) {
    throw new Error(`has ${quoted(text)}, which is not Name|URL|ExpectedStatus`);
  }
  if (!/^[1-5]\d\d$/.test(status)) {
    throw new Error(`has ${quoted(text)}, whose status is not 100 to 599`);
  }
  return { name: name || url.host, url: address, expectedStatus: Number(status) };
}

/** `host`, `host:port` or `[v6]:port`. */
export function sslDomain(text: string): TlsDomain {
  const url = URL.parse(`tls://${text.toLowerCase()}`);
  const port = Number(url?.port || 443);
  if (!url?.hostname || url.host !== text.toLowerCase() || port < 1) {
    throw new Error(`has ${quoted(text)}, which is not host or host:port`);
  }
  return { domain: url.hostname, port };
}

/** A comma in a password splits it, and the rest is an entry without a URL. */
const quoted = (text: string) =>
  `"${text.includes("@") && !text.includes("://") ? REDACTED : withoutCredentials(text)}"`;
