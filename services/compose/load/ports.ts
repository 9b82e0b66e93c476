/** Published ports: `[IP:][HOST:]CONTAINER[/PROTOCOL]`, with ranges, or a map. @module */

import ipaddr from "ipaddr.js";
import { byKind, counted, object } from "./collections.ts";
import { completing, type Reader, withoutEffect } from "./reader.ts";
import { name, oneOf, parsed, textOrNumber } from "./scalars.ts";
import { quote } from "./scope.ts";

/** One published port of the container, or with a range in `published`, one of several. */
export interface Port {
  mode: "ingress" | "host";
  host_ip?: string;
  /** In the container. */
  target: number;
  /** On the host: a port or a range `8000-8010`. The engine chooses one if it is missing. */
  published?: string;
  protocol: string;
  name?: string;
  app_protocol?: string;
}

/** From first to last. */
interface Range {
  first: number;
  last: number;
}

const PROTOCOLS = ["tcp", "udp", "sctp"] as const;

/** @throws {Error} */
function parseRange(text: string): Range {
  const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  const range = { first: Number(first), last: Number(last) };
  if (first !== undefined && range.first <= range.last && range.last <= 65_535) return range;
  throw new Error(`must have a port or a range of ports from 1 to 65535, not ${quote(text)}`);
}

const sizeOf = ({ first, last }: Range) => last - first + 1;

/**
 * Parses the short syntax.
 *
 * @returns A port for each one in the container.
 * @throws {Error}
 */
export function parsePorts(text: string): Port[] {
  const slash = text.lastIndexOf("/");
  const protocol = (slash < 0 ? "" : text.slice(slash + 1).toLowerCase()) || "tcp";
  if (!PROTOCOLS.some((known) => known === protocol)) {
    throw new Error(`must have one of the protocols ${PROTOCOLS.join(", ")}`);
  }
  const [rest, container] = splitLast(slash < 0 ? text : text.slice(0, slash));
  const [address, host] = rest === undefined ? [undefined, ""] : splitLast(rest);
  // An address that a variable leaves empty stands for all.
  const ip = address?.replace(/^\[(.*)\]$/, "$1") || undefined;
  if (ip !== undefined && !ipaddr.isValid(ip)) {
    throw new Error(`must have an IP address before the port, not ${quote(ip)}`);
  }
  const targets = parseRange(container);
  if (targets.first === 0) throw new Error("must have a port of the container from 1 to 65535");
  const published = host === "" ? undefined : parseRange(host);
  if (published && sizeOf(targets) !== 1 && sizeOf(published) !== sizeOf(targets)) {
    throw new Error("must have ranges of the same size for the host and the container");
  }
  return Array.from({ length: sizeOf(targets) }, (_, index) => ({
    mode: "ingress",
    ...(ip === undefined ? {} : { host_ip: ip }),
    target: targets.first + index,
    ...(published
      ? { published: sizeOf(targets) === 1 ? host : String(published.first + index) }
      : {}),
    protocol,
  }));
}

/** Splits at the last colon: an IPv6 address has more of them. */
function splitLast(text: string): [before: string | undefined, after: string] {
  const at = text.lastIndexOf(":");
  return at < 0 ? [undefined, text] : [text.slice(0, at), text.slice(at + 1)];
}

const target: Reader<number> = parsed((value) => {
  const { first, last } = parseRange(value);
  if (first === last && first > 0) return first;
  throw new Error("must be one port");
}, textOrNumber);

const longPort = object({
  name: withoutEffect(name, "the engine has no names of ports"),
  mode: oneOf("ingress", "host"),
  host_ip: parsed((ip) => {
    if (ipaddr.isValid(ip)) return ip;
    throw new Error("must be an IP address");
  }),
  target,
  published: parsed((value) => value === "" ? value : (parseRange(value), value), textOrNumber),
  protocol: oneOf(...PROTOCOLS),
  app_protocol: withoutEffect(name, "the engine does not use it"),
}, { required: ["target"] });

/** One entry of `ports`. */
export const ports: Reader<Port[]> = byKind<Port[], never, Port[]>({
  scalar: counted(parsed(parsePorts, textOrNumber), ({ length }) => length),
  map: completing(longPort.completion, (node, path, scope) => {
    const { published, target, ...rest } = longPort(node, path, scope) ?? {};
    if (target === undefined) return undefined;
    const isGiven = published !== undefined && published !== "";
    return [{
      mode: "ingress",
      protocol: "tcp",
      ...rest,
      target,
      ...(isGiven ? { published } : {}),
    }];
  }),
});

/** An entry of `expose`: a port or a range, with an optional protocol. */
export const exposed: Reader<string> = counted(
  parsed((value) => {
    const [range = "", protocol = "tcp", ...more] = value.split("/");
    parseRange(range);
    if (more.length === 0 && PROTOCOLS.some((known) => known === protocol)) return value;
    throw new Error(`must have one of the protocols ${PROTOCOLS.join(", ")}`);
  }, textOrNumber),
  (value) => sizeOf(parseRange(value.split("/", 1)[0]!)),
);
