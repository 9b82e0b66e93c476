/** The `webhooks` table: URLs that receive events. @module */

import { boolean, json, number, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const webhooks = table("webhooks", {
  id: text(),
  name: text(),
  /** Event kinds; `*` stands for all. */
  events: json<string[]>(),
  /** URL, headers and signing secret, encrypted. */
  sealed: text(),
  enabled: boolean(),
  createdAt: text(),
  lastDeliveryAt: text<string | null>(),
  /** HTTP status of the last response; `null` without one. */
  lastDeliveryStatus: number<number | null>(),
  lastDeliveryError: text<string | null>(),
}, { order: "created_at DESC, id" });

/** One webhook as stored. Times are ISO 8601, UTC. */
export type StoredWebhook = Row<typeof webhooks>;

export const {
  find: selectWebhook,
  count: countWebhooks,
  delete: deleteWebhook,
  /** All webhooks, newest first. */
  all: selectWebhooks,
} = webhooks;

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

export function insertWebhook(
  db: Database,
  webhook: Omit<
    StoredWebhook,
    "lastDeliveryAt" | "lastDeliveryStatus" | "lastDeliveryError"
  >,
): void {
  webhooks.insertFields(db, webhook);
}

/** @returns Whether the id was known. */
export function updateWebhook(
  db: Database,
  { id, name, events, sealed, enabled }: Pick<
    StoredWebhook,
    "id" | "name" | "events" | "sealed" | "enabled"
  >,
): boolean {
  return webhooks.update(db, id, { name, events, sealed, enabled });
}

/** @returns Whether the id was known. */
export function updateWebhookEnabled(db: Database, id: string, enabled: boolean): boolean {
  return webhooks.update(db, id, { enabled });
}

export function updateWebhookLastDelivery(
  db: Database,
  id: string,
  { at, status, error }: { at: string; status: number | null; error: string | null },
): void {
  webhooks.update(db, id, {
    lastDeliveryAt: at,
    lastDeliveryStatus: status,
    lastDeliveryError: error,
  });
}
