/**
 * The `webhooks` table: who is called when something happens.
 *
 * @module
 */

import type { Database } from "../database.ts";

/** One webhook as stored. Times are ISO 8601, UTC. */
export interface StoredWebhook {
  id: string;
  name: string;
  /** Event kinds; `*` stands for all. */
  events: string[];
  /** URL, headers and signing secret, encrypted. */
  sealed: string;
  enabled: boolean;
  createdAt: string;
  lastDeliveryAt: string | null;
  /** Status of the last answer; `null` where there was none. */
  lastDeliveryStatus: number | null;
  lastDeliveryError: string | null;
}

const COLUMNS = `
  id, name, events, sealed, enabled, created_at AS createdAt, last_delivery_at AS lastDeliveryAt,
  last_delivery_status AS lastDeliveryStatus, last_delivery_error AS lastDeliveryError`;

type Row = Omit<StoredWebhook, "events" | "enabled"> & { events: string; enabled: number };

const fromRow = (row: Row): StoredWebhook => ({
  ...row,
  events: JSON.parse(row.events),
  enabled: row.enabled === 1,
});

/** All webhooks, newest first. */
export function selectWebhooks(db: Database): StoredWebhook[] {
  return db.all<Row>(`SELECT ${COLUMNS} FROM webhooks ORDER BY created_at DESC, id`).map(fromRow);
}

/** One webhook, or `undefined` when the id is unknown. */
export function selectWebhook(db: Database, id: string): StoredWebhook | undefined {
  const row = db.get<Row>(`SELECT ${COLUMNS} FROM webhooks WHERE id = :id`, { id });
  return row && fromRow(row);
}

/** Ids of the enabled webhooks that subscribed to a kind. */
export function selectSubscribedWebhooks(db: Database, kind: string): string[] {
  return db.all<{ id: string }>(
    `SELECT id FROM webhooks
     WHERE enabled = 1
       AND EXISTS (SELECT 1 FROM json_each(webhooks.events) WHERE value IN (:kind, '*'))
     ORDER BY created_at, id`,
    { kind },
  ).map(({ id }) => id);
}

export function countWebhooks(db: Database): number {
  return db.get<{ n: number }>("SELECT count(*) AS n FROM webhooks")!.n;
}

export function insertWebhook(
  db: Database,
  { id, name, events, sealed, enabled, createdAt }: Omit<
    StoredWebhook,
    "lastDeliveryAt" | "lastDeliveryStatus" | "lastDeliveryError"
  >,
): void {
  db.run(
    `INSERT INTO webhooks (id, name, events, sealed, enabled, created_at)
     VALUES (:id, :name, :events, :sealed, :enabled, :createdAt)`,
    { id, name, sealed, createdAt, events: JSON.stringify(events), enabled: Number(enabled) },
  );
}

/** @returns Whether the id was known. */
export function updateWebhook(
  db: Database,
  { id, name, events, sealed, enabled }: Pick<
    StoredWebhook,
    "id" | "name" | "events" | "sealed" | "enabled"
  >,
): boolean {
  return db.run(
    `UPDATE webhooks SET name = :name, events = :events, sealed = :sealed, enabled = :enabled
     WHERE id = :id`,
    { id, name, sealed, events: JSON.stringify(events), enabled: Number(enabled) },
  ) > 0;
}

/** @returns Whether the id was known. */
export function updateWebhookEnabled(db: Database, id: string, enabled: boolean): boolean {
  return db.run(
    "UPDATE webhooks SET enabled = :enabled WHERE id = :id",
    { id, enabled: Number(enabled) },
  ) > 0;
}

export function updateWebhookLastDelivery(
  db: Database,
  id: string,
  { at, status, error }: { at: string; status: number | null; error: string | null },
): void {
  db.run(
    `UPDATE webhooks SET last_delivery_at = :at, last_delivery_status = :status,
       last_delivery_error = :error
     WHERE id = :id`,
    { id, at, status, error },
  );
}

/** @returns Whether the id was known. */
export function deleteWebhook(db: Database, id: string): boolean {
  return db.run("DELETE FROM webhooks WHERE id = :id", { id }) > 0;
}
