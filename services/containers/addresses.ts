/**
 * Addresses at which people open a container: from its own labels, from those of reverse proxies and
 * start pages that the operator has already, and from its published ports.
 *
 * @module
 */

import type { Config } from "../config/config.ts";
import type { Container, ContainerPort } from "./inventory.ts";

export const ADDRESS_SOURCES = [
  "longshore.url",
  "traefik",
  "VIRTUAL_HOST",
  "caddy",
  "homepage.href",
  "dockhand.url",
  "port",
] as const;

export interface ContainerAddress {
  url: string;
  source: (typeof ADDRESS_SOURCES)[number];
}

type Labels = Container["labels"];

/** Most addresses of a container. */
const ADDRESSES_MAX = 10;

/** Most texts of a container that are read as addresses. */
const CANDIDATES_MAX = 200;

/** Longest text of a label or variable that is read, in characters. */
const TEXT_MAX = 2_048;

/** Ports of TLS by custom. */
const TLS_PORTS: readonly number[] = [443, 8443];

/** A description of a container does not change, and each list asks for it. */
const known = new WeakMap<Container, ContainerAddress[]>();

/** The addresses of a container, the operator's own first. */
export function addressesOf(
  container: Container,
  { publicHost }: Pick<Config, "publicHost">,
): ContainerAddress[] {
  let addresses = known.get(container);
  if (!addresses) {
    addresses = readAddresses(container, publicHost).take(ADDRESSES_MAX).toArray();
    known.set(container, addresses);
  }
  return addresses;
}

function* readAddresses(
  { details, labels, ports }: Container,
  publicHost: string | null,
): Generator<ContainerAddress> {
  const seen = new Set<string>();
  let candidates = 0;
  const texts: [ContainerAddress["source"], Iterable<string>][] = [
    ["longshore.url", labelOf(labels, "longshore.url")],
    ["traefik", traefikAddresses(labels)],
    ["VIRTUAL_HOST", virtualHosts(details.env)],
    ["caddy", caddyAddresses(labels)],
    ["homepage.href", labelOf(labels, "homepage.href")],
    ["dockhand.url", labelOf(labels, "dockhand.url")],
    ["port", portAddresses(ports, publicHost)],
  ];
  for (const [source, found] of texts) {
    for (const text of found) {
      if (++candidates > CANDIDATES_MAX) return;
      const url = openableUrl(text);
      if (url === undefined || seen.has(url)) continue;
      seen.add(url);
      yield { url, source };
    }
  }
}

/** The address as browsers write it; `undefined` for what a page must not lead to. */
function openableUrl(text: string): string | undefined {
  const url = text.length > TEXT_MAX ? null : URL.parse(text);
  if (!url) return undefined;
  const { protocol, hostname, username, password, href } = url;
  const isWeb = protocol === "http:" || protocol === "https:";
  return isWeb && hostname !== "" && username === "" && password === "" ? href : undefined;
}

const labelOf = (labels: Labels, name: string): string[] =>
  labels[name] === undefined ? [] : [labels[name].trim()];

/**
 * Hosts in the rules of Traefik's routers, with the scheme of the router's entry point
 * (https://doc.traefik.io/traefik/routing/routers/).
 */
function* traefikAddresses(labels: Labels): Generator<string> {
  if (labels["traefik.enable"] === "false") return;
  for (const [name, rule] of Object.entries(labels)) {
    const [, router] = /^traefik\.http\.routers\.([^.]{1,255})\.rule$/.exec(name) ?? [];
    if (router === undefined || rule.length > TEXT_MAX) continue;
    const setting = (key: string) => labels[`traefik.http.routers.${router}.${key}`] ?? "";
    const isSecure = setting("tls") === "true" || setting("tls.certresolver") !== "" ||
      /websecure|https/i.test(setting("entrypoints"));
    const [, path = ""] = /\bPathPrefix\([`"']([^`"']*)[`"']\)/.exec(rule) ?? [];
    for (const [, hosts = ""] of rule.matchAll(/\bHost\(([^()]*)\)/g)) {
      for (const [, host] of hosts.matchAll(/[`"']([^`"']*)[`"']/g)) {
        yield `${isSecure ? "https" : "http"}://${host}${path}`;
      }
    }
  }
}

/** Hosts of nginx-proxy, which has a certificate for those of `LETSENCRYPT_HOST`. */
function* virtualHosts(env: Container["details"]["env"]): Generator<string> {
  const valueOf = (wanted: string) => env.find(({ name }) => name === wanted)?.value ?? "";
  const secure = namesIn(valueOf("LETSENCRYPT_HOST"));
  for (const host of namesIn(valueOf("VIRTUAL_HOST"))) {
    yield `${secure.includes(host) ? "https" : "http"}://${host}`;
  }
}

/** Sites of caddy-docker-proxy (`caddy`, `caddy_0`, …), which Caddy serves over TLS by default. */
function* caddyAddresses(labels: Labels): Generator<string> {
  for (const [name, sites] of Object.entries(labels)) {
    if (!/^caddy(_\d{1,4})?$/.test(name)) continue;
    for (const site of namesIn(sites)) yield site.includes("://") ? site : `https://${site}`;
  }
}

/** Names of hosts, without patterns. */
const namesIn = (list: string): string[] =>
  list.slice(0, TEXT_MAX).split(/[\s,]/).filter((name) => /^[\w[]/.test(name));

/**
 * Published TCP ports. Without `PUBLIC_HOST` only those that are bound to one address: the others are
 * at the host that a client uses for this service, which the dashboard knows.
 */
function* portAddresses(
  ports: readonly ContainerPort[],
  publicHost: string | null,
): Generator<string> {
  for (const { ip, publicPort, type } of ports) {
    if (publicPort === null || type !== "tcp" || isLoopback(ip)) continue;
    const host = isAnyAddress(ip) ? publicHost : ip;
    if (host === null) continue;
    const name = host.includes(":") ? `[${host}]` : host;
    yield `${TLS_PORTS.includes(publicPort) ? "https" : "http"}://${name}:${publicPort}`;
  }
}

const isAnyAddress = (ip: string | null) => ip === null || ip === "0.0.0.0" || ip === "::";

const isLoopback = (ip: string | null) => ip !== null && (ip.startsWith("127.") || ip === "::1");
