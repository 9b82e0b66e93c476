/** DNS lookups with results as comparable text. @module */

import { abortable } from "../../deadline.ts";
import { parseAddress } from "../../outbound/address.ts";

export const RECORD_TYPES = [
  "A",
  "AAAA",
  "CNAME",
  "MX",
  "NS",
  "TXT",
  "SRV",
  "PTR",
  "CAA",
  "SOA",
] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

/** A DNS server to query instead of the system's. */
export interface NameServer {
  ipAddr: string;
  port: number;
}

/**
 * Describes the problem with a domain name; `undefined` if it is valid. Underscores are allowed,
 * because names of services and keys contain them.
 */
export function dnsNameProblem(name: string): string | undefined {
  const labels = name.replace(/\.$/, "").split(".");
  const isName = name.length <= 253 &&
    labels.every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i.test(label));
  return isName ? undefined : "not a domain name";
}

/**
 * Looks up a name.
 *
 * @returns The answers as in a zone file without the trailing dot, e.g. an address, a name or
 * `10 mail.a`; an empty list if there are none.
 * @throws The signal's reason, and `Error` if the resolver fails.
 */
export async function lookUp(
  name: string,
  type: RecordType,
  { nameServer, signal }: { nameServer?: NameServer | undefined; signal: AbortSignal },
): Promise<string[]> {
  try {
    const options = { signal, ...(nameServer && { nameServer }) };
    return await abortable(resolveRecords(name, type, options), signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** Normalizes an answer for comparison. */
function normalizeAnswer(type: RecordType, text: string): string {
  const trimmed = text.trim();
  if (type === "TXT") return trimmed;
  if (type === "A" || type === "AAAA") return parseAddress(trimmed) ?? trimmed.toLowerCase();
  return trimmed.toLowerCase().replace(/\s+/g, " ").replace(/\.$/, "");
}

/** Whether one of the answers is the expected one. For MX the priority is optional. */
export function hasAnswer(type: RecordType, answers: readonly string[], expected: string): boolean {
  const wanted = normalizeAnswer(type, expected);
  return answers.some((answer) => {
    const actual = normalizeAnswer(type, answer);
    return actual === wanted || (type === "MX" && actual.replace(/^\d+ /, "") === wanted);
  });
}

async function resolveRecords(
  name: string,
  type: RecordType,
  options: Deno.ResolveDnsOptions & { signal: AbortSignal },
): Promise<string[]> {
  switch (type) {
    case "MX":
      return (await Deno.resolveDns(name, "MX", options))
        .map(({ preference, exchange }) => `${preference} ${withoutDot(exchange)}`);
    case "SRV":
      return (await Deno.resolveDns(name, "SRV", options)).map(
        ({ priority, weight, port, target }) =>
          `${priority} ${weight} ${port} ${withoutDot(target)}`,
      );
    case "TXT":
      return (await Deno.resolveDns(name, "TXT", options)).map((pieces) => pieces.join(""));
    case "CAA":
      return (await Deno.resolveDns(name, "CAA", options))
        .map(({ critical, tag, value }) => `${critical ? 128 : 0} ${tag} ${value}`);
    case "SOA":
      return (await Deno.resolveDns(name, "SOA", options))
        .map(({ mname, rname, serial }) => `${withoutDot(mname)} ${withoutDot(rname)} ${serial}`);
    default:
      return (await Deno.resolveDns(name, type, options)).map(withoutDot);
  }
}

const withoutDot = (name: string) => name.replace(/\.$/, "");
