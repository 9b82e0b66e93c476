/**
 * The `identity_providers` table: who may vouch for users, and how far.
 *
 * @module
 */

import type { Database } from "../../database.ts";

/** One identity provider as stored. Times are ISO 8601, UTC. */
export interface IdentityProvider {
  id: string;
  name: string;
  /** The provider's own name, as in the issuer of what it signs. Unique. */
  entity_id: string;
  /** Where a login is sent. */
  sso_url: string;
  slo_url: string | null;
  /** What it signs with, as PEM. Public. */
  certificate: string;
  /** How a login is sent there. */
  binding: "HTTP-POST" | "HTTP-Redirect";
  /** What kind of name is asked for; `null` leaves it to the provider. */
  name_id_format: string | null;
  /** Names of the provider's attributes by what they mean here. */
  attribute_mapping: { email?: string; name?: string };
  /** Whether users are created from assertions. */
  auto_provision: boolean;
  /** The role of users that are. */
  default_role: "viewer" | "operator" | "admin";
  /** Whether an answer is accepted that nobody here asked for. */
  allow_unsolicited: boolean;
  /** Whether it may vouch for users who were there before it. */
  link_existing: boolean;
  enabled: boolean;
  /** The address of this service by which an admin last saved the provider. */
  base_url: string;
  created_at: string;
  updated_at: string;
}

const COLUMNS = `
  id, name, entity_id, sso_url, slo_url, certificate, binding, name_id_format, attribute_mapping,
  auto_provision, default_role, allow_unsolicited, link_existing, enabled, base_url, created_at,
  updated_at`;

type Flags = "auto_provision" | "allow_unsolicited" | "link_existing" | "enabled";
type Row =
  & Omit<IdentityProvider, Flags | "attribute_mapping">
  & Record<Flags, number>
  & { attribute_mapping: string };

const fromRow = (row: Row): IdentityProvider => ({
  ...row,
  attribute_mapping: JSON.parse(row.attribute_mapping),
  auto_provision: row.auto_provision === 1,
  allow_unsolicited: row.allow_unsolicited === 1,
  link_existing: row.link_existing === 1,
  enabled: row.enabled === 1,
});

const toRow = (provider: IdentityProvider) => ({
  ...provider,
  attribute_mapping: JSON.stringify(provider.attribute_mapping),
  auto_provision: Number(provider.auto_provision),
  allow_unsolicited: Number(provider.allow_unsolicited),
  link_existing: Number(provider.link_existing),
  enabled: Number(provider.enabled),
});

/** All of them by name. */
export function selectProviders(db: Database): IdentityProvider[] {
  return db.all<Row>(`SELECT ${COLUMNS} FROM identity_providers ORDER BY name, id`).map(fromRow);
}

/** One provider, or `undefined` when the id is unknown. */
export function selectProvider(db: Database, id: string): IdentityProvider | undefined {
  const row = db.get<Row>(`SELECT ${COLUMNS} FROM identity_providers WHERE id = :id`, { id });
  return row && fromRow(row);
}

/** One provider, or `undefined` when none has the name. */
export function selectProviderByEntityId(
  db: Database,
  entityId: string,
): IdentityProvider | undefined {
  const row = db.get<Row>(
    `SELECT ${COLUMNS} FROM identity_providers WHERE entity_id = :entityId`,
    { entityId },
  );
  return row && fromRow(row);
}

/** The kinds of name that the enabled providers are asked for, each once. */
export function selectNameIdFormats(db: Database): string[] {
  return db.all<{ format: string }>(
    `SELECT DISTINCT name_id_format AS format FROM identity_providers
      WHERE enabled = 1 AND name_id_format IS NOT NULL`,
  ).map(({ format }) => format);
}

export function countProviders(db: Database): number {
  return db.get<{ n: number }>("SELECT count(*) AS n FROM identity_providers")!.n;
}

/** @throws The SQLite error for an `entity_id` already taken. */
export function insertProvider(db: Database, provider: IdentityProvider): void {
  db.run(
    `INSERT INTO identity_providers (${COLUMNS})
     VALUES (:id, :name, :entity_id, :sso_url, :slo_url, :certificate, :binding, :name_id_format,
       :attribute_mapping, :auto_provision, :default_role, :allow_unsolicited, :link_existing,
       :enabled, :base_url, :created_at, :updated_at)`,
    toRow(provider),
  );
}

/** @throws The SQLite error for an `entity_id` already taken. */
export function updateProvider(db: Database, provider: IdentityProvider): void {
  const { created_at: _, ...row } = toRow(provider);
  db.run(
    `UPDATE identity_providers
        SET name = :name, entity_id = :entity_id, sso_url = :sso_url, slo_url = :slo_url,
          certificate = :certificate, binding = :binding, name_id_format = :name_id_format,
          attribute_mapping = :attribute_mapping, auto_provision = :auto_provision,
          default_role = :default_role, allow_unsolicited = :allow_unsolicited,
          link_existing = :link_existing, enabled = :enabled, base_url = :base_url,
          updated_at = :updated_at
      WHERE id = :id`,
    row,
  );
}

/** Deletes a provider with its sessions and requests. */
export function deleteProvider(db: Database, id: string): void {
  db.run("DELETE FROM identity_providers WHERE id = :id", { id });
}
