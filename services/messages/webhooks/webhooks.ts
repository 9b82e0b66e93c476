/** Webhooks: URLs that receive events. @module */

import { deleteOutboxMessages, updateQueuedFailed } from "../../../db/outbox_messages.ts";
import {
  countWebhooks,
  deleteWebhook,
  insertWebhook,
  selectWebhook,
  selectWebhooks,
  type StoredWebhook,
  updateWebhook,
  updateWebhookEnabled,
} from "../../../db/webhooks.ts";
import type { Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { requireFound } from "../../errors.ts";
import { assertBelowLimit } from "../../access/license/limits.ts";
import { assertOutboundUrl } from "../../outbound/url.ts";
import { isElsewhere, REDACTED } from "../../text/redact.ts";
import { checkedHeaders, redactedHeaders } from "../../outbound/secret_headers.ts";
import { openIfPossible, openOrConflict } from "../../secrets/secrets.ts";
import { newSigningSecret } from "./post.ts";
import {
  openWebhook,
  sealWebhook,
  WEBHOOK_CHANNEL,
  WEBHOOK_RESERVED_HEADERS,
  type WebhookTarget,
} from "./target.ts";

interface NewWebhook {
  name: string;
  url: string;
  events: string[];
  headers: Record<string, string>;
}

type WebhookChange = Change<NewWebhook & { enabled: boolean }>;

/** A webhook as the API returns it: header values are redacted and the secret is omitted. */
interface Webhook extends NewWebhook {
  id: string;
  enabled: boolean;
  createdAt: string;
  lastDelivery: { at: string; status: number | null; error: string | null } | null;
}

/** Newest first. */
export function listWebhooks(deps: Pick<Deps, "db" | "secrets">): Webhook[] {
  return selectWebhooks(deps.db).map((webhook) => toWebhook(deps, webhook));
}

/** @throws {AppError} `not_found`. */
export function getWebhook(deps: Pick<Deps, "db" | "secrets">, id: string): Webhook {
  return toWebhook(deps, findWebhook(deps.db, id));
}

/**
 * Stores a new, enabled webhook.
 *
 * @returns The webhook with its signing secret, which is not shown again.
 * @throws {AppError} `invalid` for a URL that is not allowed or a reserved header.
 * @throws {LimitError} When the edition's limit is reached.
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
      reserved: WEBHOOK_RESERVED_HEADERS,
    }),
    secret: newSigningSecret(),
  };
  await assertOutboundUrl(deps, url, "public", "body.url");
  // No await from here on, so that concurrent requests cannot exceed the limit.
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
 * Changes the given fields. Headers are replaced as a whole; a value of `"********"` keeps the
 * stored one, unless the URL changes to a different origin.
 *
 * @throws {AppError} `not_found`; `invalid` as for a new webhook; `conflict` if its stored secrets
 * cannot be decrypted.
 */
export async function changeWebhook(
  deps: Pick<Deps, "config" | "db" | "secrets" | "log">,
  id: string,
  change: WebhookChange,
): Promise<Webhook> {
  const { db, secrets, log } = deps;
  openTarget(deps, findWebhook(db, id));
  if (change.url !== undefined) {
    await assertOutboundUrl(deps, change.url, "public", "body.url");
  }
  // Read again: it may have been changed or deleted during the DNS lookup.
  const webhook = findWebhook(db, id);
  const target = openTarget(deps, webhook);
  const url = change.url ?? target.url;
  const next = {
    url,
    headers: checkedHeaders(change.headers, {
      stored: target.headers,
      elsewhere: isElsewhere(target.url, url),
      reserved: WEBHOOK_RESERVED_HEADERS,
    }),
    // Never sent, only used for signing, so it can stay when the URL changes.
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
    if (change.enabled === false) cancelQueued(db, id);
  });
  log.info("webhook changed", { webhookId: id });
  return getWebhook(deps, id);
}

/**
 * Enables or disables a webhook. Disabling cancels its queued messages.
 *
 * @throws {AppError} `not_found`.
 */
export function setWebhookEnabled(
  deps: Pick<Deps, "db" | "secrets" | "log">,
  id: string,
  enabled: boolean,
): Webhook {
  const { db, log } = deps;
  findWebhook(db, id);
  db.transaction(() => {
    updateWebhookEnabled(db, id, enabled);
    if (!enabled) cancelQueued(db, id);
  });
  log.info("webhook enabled or disabled", { webhookId: id, enabled });
  return getWebhook(deps, id);
}

/** Deletes a webhook with its delivery log. @throws {AppError} `not_found`. */
export function removeWebhook({ db, log }: Pick<Deps, "db" | "log">, id: string): void {
  findWebhook(db, id);
  db.transaction(() => {
    deleteWebhook(db, id);
    deleteOutboxMessages(db, { channel: WEBHOOK_CHANNEL, targetId: id });
  });
  log.info("webhook deleted", { webhookId: id });
}

function cancelQueued(db: Deps["db"], id: string): void {
  updateQueuedFailed(db, { channel: WEBHOOK_CHANNEL, targetId: id }, "The webhook was disabled");
}

/** @throws {AppError} `conflict` if the target cannot be decrypted. */
function openTarget({ secrets }: Pick<Deps, "secrets">, webhook: StoredWebhook): WebhookTarget {
  return openOrConflict(
    () => openWebhook(secrets, webhook),
    "delete the webhook and create it again",
  );
}

/** A webhook whose secrets cannot be decrypted is still listed, so that it can be deleted. */
function toWebhook({ secrets }: Pick<Deps, "secrets">, webhook: StoredWebhook): Webhook {
  const { id, name, events, enabled, createdAt, lastDeliveryAt } = webhook;
  const target = openIfPossible(() => openWebhook(secrets, webhook));
  return {
    id,
    name,
    url: target?.url ?? REDACTED,
    events,
    headers: redactedHeaders(target?.headers ?? {}),
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
export function findWebhook(db: Deps["db"], id: string): StoredWebhook {
  return requireFound(selectWebhook(db, id), "Webhook", id);
}
