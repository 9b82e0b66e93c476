/**
 * The `registries` table: image registries with their credentials.
 *
 * @module
 */

import { table } from "../columns.ts";
import type { Database } from "../database.ts";

/** One registry as stored. Times are ISO 8601, UTC. */
export interface StoredRegistry {
  id: string;
  /** Host and optional port in their one spelling, e.g. `docker.io`. */
  host: string;
  /** The repositories that it applies to, e.g. `team`; empty for all. */
  pathPrefix: string;
  username: string | null;
  /** The encrypted password; never without a user name. */
  sealedPassword: string | null;
  /** Whether the registry speaks plain HTTP. */
  insecure: boolean;
  /** PEM; one or more certificates. */
  caCertificate: string | null;
  createdAt: string;
  updatedAt: string;
}

const registries = table<StoredRegistry>("registries", {
  id: "value",
  host: "value",
  pathPrefix: "value",
  username: "value",
  sealedPassword: "value",
  insecure: "boolean",
  caCertificate: "value",
  createdAt: "value",
  updatedAt: "value",
});

export const {
  find: selectRegistry,
  count: countRegistries,
  /** Throws a unique violation if the host already has that path. */
  insert: insertRegistry,
  /** Throws a unique violation if the host already has that path. */
  save: updateRegistry,
  delete: deleteRegistry,
} = registries;

/** All registries by host and path. */
export function selectRegistries(db: Database): StoredRegistry[] {
  return registries.select(db, "ORDER BY host, path_prefix");
}

/** The registries of one host. */
export function selectRegistriesOfHost(db: Database, host: string): StoredRegistry[] {
  return registries.select(db, "WHERE host = :host", { host });
}
