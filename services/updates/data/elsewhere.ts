/**
 * Addresses in the environment of containers that lead to data outside of an update: a database of
 * another container or host keeps what a new version has written, whatever becomes of the volumes.
 *
 * @module
 */

import type { Container } from "../../containers/inventory.ts";

/** A variable that leads elsewhere. It never has more of the value than the host. */
interface Elsewhere {
  container: string;
  variable: string;
  /** Name or address. */
  host: string;
  /** The container of this engine that has it. */
  leadsTo: string | null;
}

/** Parts of values that are read, and findings that are shown. */
const VALUE_MAX = 4_096;
const VARIABLES_MAX = 1_000;
const FOUND_MAX = 50;

/** Schemes of addresses that are often links and services without data of the container. */
const WEAK_SCHEMES = new Set(["http", "https", "ws", "wss"]);

const OTHER_SCHEMES = new Set(["smtp", "smtps", "file", "unix", "ssh", "git", "mailto"]);

/** Words in names of variables about data. */
const DATA_WORDS =
  /DB|DATABASE|SQL|PG|POSTGRES|MARIA|REDIS|VALKEY|MONGO|ELASTIC|OPENSEARCH|S3|MINIO|INFLUX|CLICKHOUSE|CASSANDRA|MEMCACHE|RABBIT|AMQP|KAFKA|NATS|ETCD|SOLR|MEILI|QDRANT|NEO4J|COUCH|LDAP|STORAGE|QUEUE|BROKER|CACHE/i;

const HOST_NAMES = /(?:HOST|HOSTNAME|HOSTS|SERVER|SERVERS|ADDR|ADDRESS|ENDPOINT)$/i;

/** A name or an address. */
const HOST = /^(?:[a-z0-9][\w.-]{0,252}|[0-9a-f:.]{2,45})$/;

/**
 * @param updated The containers that the update stops.
 * @param all All containers of the engine.
 */
export function findElsewhere(
  updated: readonly Container[],
  all: readonly Container[],
): Elsewhere[] {
  const inside = new Set(updated.flatMap(namesOf));
  const own = new Set(updated.map(({ id }) => id));
  const found = new Map<string, Elsewhere>();
  for (const container of updated) {
    const others = neighboursOf(container, all.filter(({ id }) => !own.has(id)));
    for (const { name: variable, value } of container.details.env.slice(0, VARIABLES_MAX)) {
      for (const { host, isSure } of hostsIn(variable, value.slice(0, VALUE_MAX))) {
        if (inside.has(host) || isLocal(host)) continue;
        const leadsTo = others.get(host) ?? null;
        if (!isSure && leadsTo === null && !DATA_WORDS.test(variable)) continue;
        const each = { container: container.name, variable, host, leadsTo };
        found.set(`${container.id} ${variable} ${host}`, each);
        if (found.size === FOUND_MAX) return [...found.values()];
      }
    }
  }
  return [...found.values()];
}

/** E.g. `Data at db (DATABASE_URL of web) is not brought back`. */
export const describeElsewhere = ({ container, variable, host, leadsTo }: Elsewhere): string =>
  `Data at ${host}${leadsTo === null || leadsTo === host ? "" : ` (${leadsTo})`}, to which ` +
  `${variable} of ${container} leads, is not brought back`;

/** Names and addresses by which others reach a container. */
const namesOf = ({ name, composeService, details }: Container): string[] =>
  [
    name,
    ...(composeService === null ? [] : [composeService]),
    ...details.networkSettings.flatMap(({ aliases, ipv4, ipv6 }) => [...aliases, ipv4, ipv6]),
  ].filter((each) => each !== "").map((each) => each.toLowerCase());

/** Containers on a network of this one, by their names there. */
function neighboursOf(
  { details: { networkSettings }, composeProject }: Container,
  others: readonly Container[],
): Map<string, string> {
  const networks = new Set(networkSettings.map(({ name }) => name));
  const names = new Map<string, string>();
  for (const other of others) {
    const isNear = other.details.networkSettings.some(({ name }) => networks.has(name)) ||
      (composeProject !== null && other.composeProject === composeProject);
    if (isNear) { for (const name of namesOf(other)) names.set(name, other.name); }
  }
  return names;
}

/** Hosts in a value. Not sure is one that may be a link, or the container's own name. */
function hostsIn(variable: string, value: string): { host: string; isSure: boolean }[] {
  const at = value.indexOf("://");
  if (at >= 0) {
    // E.g. `jdbc:mysql`.
    const scheme = value.slice(0, at).split(":").at(-1)!.trim().toLowerCase();
    if (!/^[a-z][a-z0-9+.-]*$/.test(scheme) || OTHER_SCHEMES.has(scheme)) return [];
    const authority = value.slice(at + 3).split(/[/?#;\s]/, 1)[0]!;
    const isSure = !WEAK_SCHEMES.has(scheme);
    return listOf(authority.slice(authority.lastIndexOf("@") + 1), isSure);
  }
  const dsn = value.indexOf("@tcp(");
  if (dsn >= 0) return listOf(value.slice(dsn + 5).split(")", 1)[0]!, true);
  const words = value.split(/[\s;]/).flatMap((word) =>
    /^(?:host|server)=(.*)$/i.exec(word)?.[1] ?? []
  );
  if (words.length > 0) return words.flatMap((word) => listOf(word, true));
  return HOST_NAMES.test(variable) ? listOf(value, false) : [];
}

/** @param text E.g. `db1:5432,db2`. */
const listOf = (text: string, isSure: boolean) =>
  text.split(",").flatMap((each) => {
    const host = (/^\[([^\]]*)\]/.exec(each)?.[1] ?? each.split(":", 1)[0]!).trim().toLowerCase();
    return HOST.test(host) ? [{ host, isSure }] : [];
  });

const LOCAL = /^(?:localhost|127\..*|::1|0\.0\.0\.0|::)$/;

const isLocal = (host: string): boolean => LOCAL.test(host);
