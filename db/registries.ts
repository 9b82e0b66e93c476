/** The `registries` table: image registries with their credentials. @module */

import { boolean, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const registries = table("registries", {
  id: text(),
  /** Host and optional port in their one spelling, e.g. `docker.io`. */
  host: text(),
  /** The repositories that it applies to, e.g. `team`; empty for all. */
  pathPrefix: text(),
  username: text<string | null>(),
  /** The encrypted password; never without a user name. */
  sealedPassword: text<string | null>(),
  /** Whether the registry speaks plain HTTP. */
  insecure: boolean(),
  /** PEM; one or more certificates. */
  caCertificate: text<string | null>(),
  createdAt: text(),
  updatedAt: text(),
}, { order: "host, path_prefix" });

/** One registry as stored. Times are ISO 8601, UTC. */
export type StoredRegistry = Row<typeof registries>;

export const {
  find: selectRegistry,
  count: countRegistries,
  /** Throws a unique violation if the host already has that path. */
  insert: insertRegistry,
  /** Throws a unique violation if the host already has that path. */
  save: updateRegistry,
  delete: deleteRegistry,
  /** All registries by host and path. */
  all: selectRegistries,
} = registries;

/** The registries of one host. */
export function selectRegistriesOfHost(db: Database, host: string): StoredRegistry[] {
  return registries.select(db, "WHERE host = :host", { host });
}
