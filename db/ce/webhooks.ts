/**
 * The `webhooks` table: URLs that receive events.
 *
 * @module
 */

import { table } from "../columns.ts";
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
  /** HTTP status of the last response; `null` without one. */
  lastDeliveryStatus: number | null;
  lastDeliveryError: string | null;
}

const webhooks = table<StoredWebhook>("webhooks", {
  id: "value",
  name: "value",
  events: "json",
  sealed: "value",
  enabled: "boolean",
  createdAt: "value",
  lastDeliveryAt: "value",
  lastDeliveryStatus: "value",
  lastDeliveryError: "value",
});

export const { find: selectWebhook, count: countWebhooks, delete: deleteWebhook } = webhooks;

/** All webhooks, newest first. */
export function selectWebhooks(db: Database): StoredWebhook[] {
  return webhooks.select(db, "ORDER BY created_at DESC, id");
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
