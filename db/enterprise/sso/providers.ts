/** The `identity_providers` table: identity providers that vouch for users. @module */

import { boolean, json, type Row, table, text } from "../../columns.ts";
import type { Database } from "../../database.ts";

const providers = table("identity_providers", {
  id: text(),
  name: text(),
  /** The provider's entity id, as in the issuer of its messages. Unique. */
  entity_id: text(),
  /** The URL that receives login requests. */
  sso_url: text(),
  slo_url: text<string | null>(),
  /** The certificates of its signing keys, PEM. Public. */
  certificate: text(),
  /** Binding of login requests. */
  binding: text<"HTTP-POST" | "HTTP-Redirect">(),
  /** The requested name id format; `null` leaves it to the provider. */
  name_id_format: text<string | null>(),
  /** The provider's attribute names, by their meaning here. */
  attribute_mapping: json<{ email?: string | undefined; name?: string | undefined }>(),
  /** Whether users are created from assertions. */
  auto_provision: boolean(),
  /** The role of users created from assertions. */
  default_role: text<"viewer" | "operator" | "admin">(),
  /** Whether a response without a request is accepted. */
  allow_unsolicited: boolean(),
  /** Whether existing users are linked to it. */
  link_existing: boolean(),
  enabled: boolean(),
  /** Base URL of this service, as used when an admin last saved the provider. */
  base_url: text(),
  created_at: text(),
  updated_at: text(),
}, { order: "name COLLATE NOCASE, id" });

/** One identity provider as stored. Times are ISO 8601, UTC. */
export type IdentityProvider = Row<typeof providers>;

export const {
  find: selectProvider,
  count: countProviders,
  /** @throws The SQLite error for an `entity_id` that is already in use. */
  insert: insertProvider,
  /** @throws The SQLite error for an `entity_id` that is already in use. */
  save: updateProvider,
  /** Deletes a provider with its sessions and requests. */
  delete: deleteProvider,
  /** All providers by name. */
  all: selectProviders,
} = providers;

/** One provider, or `undefined` when the entity id is unknown. */
export function selectProviderByEntityId(
  db: Database,
  entityId: string,
): IdentityProvider | undefined {
  return providers.selectOne(db, "WHERE entity_id = :entityId", { entityId });
}

/** The name id formats that the enabled providers are configured with, each once. */
export function selectNameIdFormats(db: Database): string[] {
  return db.all<{ format: string }>(
    `SELECT DISTINCT name_id_format AS format FROM identity_providers
      WHERE enabled = 1 AND name_id_format IS NOT NULL`,
  ).map(({ format }) => format);
}
