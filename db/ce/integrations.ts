/**
 * The `integrations` table: which systems are asked for data, and how.
 *
 * @module
 */

import type { Database } from "../database.ts";

/** One integration as stored. */
export interface Integration {
  id: string;
  name: string;
  /** Id of its adapter, never an alias. */
  adapter: string;
  /** As it is shown, with secrets redacted. */
  config: Record<string, unknown>;
  /** What is redacted in `config`, encrypted. */
  secrets: string;
  /** Seconds. */
  pollInterval: number;
  enabled: boolean;
  /** ISO 8601, UTC. */
  createdAt: string;
  updatedAt: string;
}

const COLUMNS = `
  id, name, adapter, config, secrets, poll_interval_s AS pollInterval, enabled,
  created_at AS createdAt, updated_at AS updatedAt`;

type Row = Omit<Integration, "config" | "enabled"> & { config: string; enabled: number };

const fromRow = (row: Row): Integration => ({
  ...row,
  config: JSON.parse(row.config),
  enabled: row.enabled === 1,
});

const toRow = (integration: Integration) => ({
  ...integration,
  config: JSON.stringify(integration.config),
  enabled: Number(integration.enabled),
});

/** All integrations, newest first. */
export function selectIntegrations(db: Database): Integration[] {
  return db.all<Row>(`SELECT ${COLUMNS} FROM integrations ORDER BY created_at DESC, id`)
    .map(fromRow);
}

/** One integration, or `undefined` when the id is unknown. */
export function selectIntegration(db: Database, id: string): Integration | undefined {
  const row = db.get<Row>(`SELECT ${COLUMNS} FROM integrations WHERE id = :id`, { id });
  return row && fromRow(row);
}

/** What decides on when the enabled ones are polled. */
export function selectPollIntervals(
  db: Database,
): Pick<Integration, "id" | "adapter" | "pollInterval">[] {
  return db.all(
    "SELECT id, adapter, poll_interval_s AS pollInterval FROM integrations WHERE enabled = 1",
  );
}

export function selectIntegrationIds(db: Database): string[] {
  return db.all<{ id: string }>("SELECT id FROM integrations").map(({ id }) => id);
}

export function countIntegrations(db: Database): number {
  return db.get<{ n: number }>("SELECT count(*) AS n FROM integrations")!.n;
}

export function insertIntegration(db: Database, integration: Integration): void {
  db.run(
    `INSERT INTO integrations
       (id, name, adapter, config, secrets, poll_interval_s, enabled, created_at, updated_at)
     VALUES
       (:id, :name, :adapter, :config, :secrets, :pollInterval, :enabled, :createdAt, :updatedAt)`,
    toRow(integration),
  );
}

/** @returns Whether the id was known. */
export function updateIntegration(db: Database, integration: Integration): boolean {
  const { createdAt: _, ...values } = toRow(integration);
  return db.run(
    `UPDATE integrations SET
       name = :name, adapter = :adapter, config = :config, secrets = :secrets,
       poll_interval_s = :pollInterval, enabled = :enabled, updated_at = :updatedAt
     WHERE id = :id`,
    values,
  ) > 0;
}

/** @returns Whether the id was known. */
export function deleteIntegration(db: Database, id: string): boolean {
  return db.run("DELETE FROM integrations WHERE id = :id", { id }) > 0;
}
