/**
 * Webhooks: who is called when something happens.
 *
 * @module
 */

import { deleteOutboxMessages, updateQueuedFailed } from "../../../db/ce/outbox_messages.ts";
import {
  countWebhooks,
  deleteWebhook,
  insertWebhook,
  selectWebhook,
  selectWebhooks,
  type StoredWebhook,
  updateWebhook,
  updateWebhookEnabled,
} from "../../../db/ce/webhooks.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound } from "../../errors.ts";
import { EVENT_KINDS } from "../../events/events.ts";
import { assertBelowLimit } from "../../license/limits.ts";
import { assertOutboundUrl } from "../../outbound/url.ts";
import { isElsewhere, REDACTED } from "../../redact.ts";
import { checkedHeaders, redactedHeaders } from "../../outbound/secret_headers.ts";
import { SealError } from "../../secrets.ts";
import { WEBHOOK_OWN_HEADERS } from "./headers.ts";
import { newSigningSecret } from "./post.ts";
import { openWebhook, sealWebhook, WEBHOOK_CHANNEL, type WebhookTarget } from "./target.ts";

/** What may be subscribed to; `*` stands for every kind, also for those to come. */
export const WEBHOOK_EVENTS = ["*", ...EVENT_KINDS] as const;

export interface NewWebhook {
  name: string;
  url: string;
  events: string[];
  headers: Record<string, string>;
}

/** What an update may say; what it leaves out stays. */
export type WebhookChange = { [Field in keyof NewWebhook]?: NewWebhook[Field] | undefined } & {
  enabled?: boolean | undefined;
};

/** One webhook as shown: values of headers are redacted, the secret is left out. */
export interface Webhook extends NewWebhook {
  id: string;
  enabled: boolean;
  createdAt: string;
  lastDelivery: { at: string; status: number | null; error: string | null } | null;
}

/** Newest first. */
export function listWebhooks(deps: Pick<Deps, "db" | "secrets">): Webhook[] {
  return selectWebhooks(deps.db).map((webhook) => shown(deps, webhook));
}

/** @throws {AppError} `not_found`. */
export function getWebhook(deps: Pick<Deps, "db" | "secrets">, id: string): Webhook {
  return shown(deps, existingWebhook(deps.db, id));
}

/**
 * Stores a new, enabled webhook.
 *
 * @returns It with its signing secret, which is never shown again.
 * @throws {AppError} `invalid` for an address that may not be called or a header that may not be
 * set.
 * @throws {LimitError} When the edition allows no more webhooks.
 */
export async function createWebhook(
  deps: Pick<Deps, "config" | "db" | "secrets" | "license" | "now" | "log">,
  { name, url, events, headers }: NewWebhook,
): Promise<Webhook & { secret: string }> {
  const { db, secrets, license, now, log } = deps;
  const target = {
    url,
    headers: checkedHeaders(headers, {
      stored: {},
      elsewhere: false,
      reserved: WEBHOOK_OWN_HEADERS,
    }),
    secret: newSigningSecret(),
  };
  await assertOutboundUrl(deps, url, "public", "body.url");
  // No await from here on: others may have come meanwhile.
  assertBelowLimit(license, "webhooks", countWebhooks(db));
  const id = crypto.randomUUID();
  insertWebhook(db, {
    id,
    name,
    events: [...new Set(events)],
    sealed: sealWebhook(secrets, id, target),
    enabled: true,
    createdAt: now().toISOString(),
  });
  log.info("webhook created", { webhookId: id, events });
  return { ...getWebhook(deps, id), secret: target.secret };
}

/**
 * Changes what is given and keeps the rest. Headers are replaced as a whole, those sent back as
 * `"********"` keep their value, unless they would be sent to another origin than before.
 *
 * @throws {AppError} `not_found`; `invalid` as for a new one; `conflict` when its stored secrets
 * cannot be read.
 */
export async function changeWebhook(
  deps: Pick<Deps, "config" | "db" | "secrets" | "log">,
  id: string,
  change: WebhookChange,
): Promise<Webhook> {
  const { db, secrets, log } = deps;
  openTarget(deps, existingWebhook(db, id));
  if (change.url !== undefined) {
    await assertOutboundUrl(deps, change.url, "public", "body.url");
  }
  // Anew, for it may have changed or gone meanwhile.
  const webhook = existingWebhook(db, id);
  const target = openTarget(deps, webhook);
  const url = change.url ?? target.url;
  const next = {
    url,
    headers: checkedHeaders(change.headers, {
      stored: target.headers,
      elsewhere: isElsewhere(target.url, url),
      reserved: WEBHOOK_OWN_HEADERS,
    }),
    // Only ever signed with, so that it may stay whoever is called.
    secret: target.secret,
  };
  db.transaction(() => {
    updateWebhook(db, {
      id,
      name: change.name ?? webhook.name,
      events: change.events ? [...new Set(change.events)] : webhook.events,
      sealed: sealWebhook(secrets, id, next),
      enabled: change.enabled ?? webhook.enabled,
    });
    if (change.enabled === false) giveUpQueued(db, id);
  });
  log.info("webhook changed", { webhookId: id });
  return getWebhook(deps, id);
}

/**
 * Turns a webhook on or off. What waits for one that is turned off is given up.
 *
 * @throws {AppError} `not_found`.
 */
export function setWebhookEnabled(
  deps: Pick<Deps, "db" | "secrets" | "log">,
  id: string,
  enabled: boolean,
): Webhook {
  const { db, log } = deps;
  existingWebhook(db, id);
  db.transaction(() => {
    updateWebhookEnabled(db, id, enabled);
    if (!enabled) giveUpQueued(db, id);
  });
  log.info("webhook toggled", { webhookId: id, enabled });
  return getWebhook(deps, id);
}

/** Deletes a webhook with its delivery log. @throws {AppError} `not_found`. */
export function removeWebhook({ db, log }: Pick<Deps, "db" | "log">, id: string): void {
  existingWebhook(db, id);
  db.transaction(() => {
    deleteWebhook(db, id);
    deleteOutboxMessages(db, { channel: WEBHOOK_CHANNEL, targetId: id });
  });
  log.info("webhook deleted", { webhookId: id });
}

function giveUpQueued(db: Deps["db"], id: string): void {
  updateQueuedFailed(db, { channel: WEBHOOK_CHANNEL, targetId: id }, "The webhook was disabled");
}

/** @throws {AppError} `conflict` when it was encrypted with another key. */
function openTarget({ secrets }: Pick<Deps, "secrets">, webhook: StoredWebhook): WebhookTarget {
  try {
    return openWebhook(secrets, webhook);
  } catch (cause) {
    if (!(cause instanceof SealError)) throw cause;
    throw new AppError("conflict", `${cause.message}: delete the webhook and create it anew`, {
      cause,
    });
  }
}

/** One whose secrets cannot be read is still listed, so that it can be deleted. */
function shown({ secrets }: Pick<Deps, "secrets">, webhook: StoredWebhook): Webhook {
  const { id, name, events, enabled, createdAt, lastDeliveryAt } = webhook;
  let url = REDACTED;
  let headers: Record<string, string> = {};
  try {
    const target = openWebhook(secrets, webhook);
    url = target.url;
    headers = redactedHeaders(target.headers);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
  }
  return {
    id,
    name,
    url,
    events,
    headers,
    enabled,
    createdAt,
    lastDelivery: lastDeliveryAt === null ? null : {
      at: lastDeliveryAt,
      status: webhook.lastDeliveryStatus,
      error: webhook.lastDeliveryError,
    },
  };
}

/** @throws {AppError} `not_found`. */
export function existingWebhook(db: Deps["db"], id: string): StoredWebhook {
  const webhook = selectWebhook(db, id);
  if (!webhook) throw notFound("Webhook", id);
  return webhook;
}
