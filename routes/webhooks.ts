/** /api/webhooks: HTTP endpoints that receive events. @module */

import * as z from "zod";
import { WEBHOOK_CHANNEL, WEBHOOK_HEADERS_MAX } from "../services/messages/webhooks/target.ts";
import { listDeliveries, testWebhook } from "../services/messages/webhooks/messages.ts";
import {
  changeWebhook,
  createWebhook,
  getWebhook,
  listWebhooks,
  removeWebhook,
  setWebhookEnabled,
} from "../services/messages/webhooks/webhooks.ts";
import { type Caller, mayDo } from "../services/access/caller.ts";
import type { Deps } from "../services/deps.ts";
import { replayMessage } from "../services/events/outbox.ts";
import { REDACTED } from "../services/text/redact.ts";
import { limitedRecord } from "../services/input/limited_record.ts";
import { OUTBOUND_URL_MAX } from "../services/outbound/url.ts";
import { endpoint } from "./contract/endpoint.ts";
import {
  Delivery,
  Done,
  doneWith,
  EnabledBody,
  EventKinds,
  Name,
  paged,
  pagingQuery,
  Timestamp,
} from "./contract/shapes.ts";

const Headers = limitedRecord(z.string(), z.string(), WEBHOOK_HEADERS_MAX)
  .meta({
    description: "Sent with each delivery. Values are stored encrypted and shown as `********`; " +
      "sent unchanged in an update, they keep their values",
  });

const fields = {
  name: Name,
  url: z.string().min(1).max(OUTBOUND_URL_MAX).meta({
    description: "http or https; private and other special addresses are refused unless " +
      "`OUTBOUND_ALLOW` lists them",
  }),
  events: EventKinds,
};

const EXAMPLE = {
  name: "On-call",
  url: "https://hooks.example.com/longshore",
  events: ["alert.fired", "container.down"],
  headers: { authorization: "Bearer 4f1c" },
};

const NewWebhook = z.object({ ...fields, headers: Headers.default({}) })
  .meta({ id: "NewWebhook", example: EXAMPLE });

const WebhookChange = z.object({ ...fields, headers: Headers, enabled: z.boolean() }).partial()
  .meta({
    id: "WebhookChanges",
    example: { ...EXAMPLE, headers: { authorization: "********" }, enabled: true },
  });

const Webhook = z.object({
  id: z.string(),
  name: z.string(),
  url: z.string(),
  events: z.array(z.string()),
  headers: z.record(z.string(), z.string()),
  enabled: z.boolean(),
  createdAt: Timestamp,
  lastDelivery: z.object({
    at: Timestamp,
    status: z.int().nullable().meta({ description: "HTTP status; null without a response" }),
    error: z.string().nullable(),
  }).nullable().meta({ description: "The last attempt; null before the first" }),
}).meta({ id: "Webhook" });

const CreatedWebhook = Webhook.extend({
  secret: z.string().meta({
    description: "Signs the deliveries; shown only in this response",
    example: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD1cWyoxV4gdE=",
  }),
}).meta({ id: "CreatedWebhook" });

const WebhookDelivery = Delivery.extend({
  id: z.string().meta({ description: "As in the header `webhook-id`, the same at each attempt" }),
}).meta({ id: "WebhookDelivery" });

const Queued = doneWith({
  delivery_id: z.string().meta({ example: "3d594650-3436-4f0b-9d2f-8f2a5c1b7e60" }),
}).meta({ id: "WebhookTest" });

const UNKNOWN = { 404: "The webhook does not exist" };

const READ = { role: "admin", permission: "webhooks:read" } as const;
const WRITE = { role: "admin", permission: "webhooks:write" } as const;

export const webhookEndpoints = (deps: Deps) => [
  endpoint("GET /api/webhooks", {
    operationId: "listWebhooks",
    summary: "List webhooks",
    description: "Newest first.",
    ...READ,
    returns: z.object({ webhooks: z.array(Webhook) }).meta({ id: "WebhookList" }),
  }, ({ caller }) => ({ webhooks: listWebhooks(deps).map((each) => redactUrl(each, caller)) })),

  endpoint("POST /api/webhooks", {
    operationId: "createWebhook",
    summary: "Create a webhook",
    description:
      "Events are sent as a POST of `{event, timestamp, eventId, server, serverId, data}`; " +
      "`eventId` is the same for every receiver, `server` is SERVER_NAME and `serverId` never " +
      "changes. Requests are signed as defined by " +
      "Standard Webhooks (`webhook-id`, `webhook-timestamp`, `webhook-signature`). A 2xx " +
      "response within 10 s is success; a redirect is a failure. Failed deliveries are " +
      "retried after about 5 s, 30 s, 2 min, 10 min and 1 h; status 410 disables the " +
      "webhook. A receiver may get a message more than once and can detect this by its id. " +
      "No events are queued during maintenance.",
    ...WRITE,
    body: NewWebhook,
    returns: CreatedWebhook,
    status: 201,
    failures: { 402: "The edition allows no more webhooks" },
  }, ({ body }) => createWebhook(deps, body)),

  endpoint("GET /api/webhooks/:id", {
    operationId: "getWebhook",
    summary: "Get a webhook",
    ...READ,
    returns: Webhook,
    failures: UNKNOWN,
  }, ({ params, caller }) => redactUrl(getWebhook(deps, params.id), caller)),

  endpoint("PUT /api/webhooks/:id", {
    operationId: "updateWebhook",
    summary: "Update a webhook",
    description:
      "Omitted fields keep their values. `headers` are replaced as a whole. If the scheme, " +
      "host or port of the URL changes, the headers must be sent again.",
    ...WRITE,
    body: WebhookChange,
    returns: Webhook,
    failures: { 409: "Its stored secrets cannot be decrypted", ...UNKNOWN },
  }, ({ params, body }) => changeWebhook(deps, params.id, body)),

  endpoint("DELETE /api/webhooks/:id", {
    operationId: "deleteWebhook",
    summary: "Delete a webhook",
    description: "Also deletes its delivery log and pending deliveries.",
    ...WRITE,
    returns: Done,
    failures: UNKNOWN,
  }, ({ params }) => removeWebhook(deps, params.id)),

  endpoint("PUT /api/webhooks/:id/toggle", {
    operationId: "toggleWebhook",
    summary: "Enable or disable a webhook",
    description: "Disabling a webhook discards its pending deliveries.",
    ...WRITE,
    body: EnabledBody.meta({ example: { enabled: false } }),
    returns: Webhook,
    failures: UNKNOWN,
  }, ({ params, body }) => setWebhookEnabled(deps, params.id, body.enabled)),

  endpoint("POST /api/webhooks/:id/test", {
    operationId: "testWebhook",
    summary: "Send a test event",
    description:
      "Queues the event `test`, even if the webhook is disabled. The delivery log shows the " +
      "result.",
    ...WRITE,
    returns: Queued,
    failures: UNKNOWN,
  }, ({ params }) => ({ delivery_id: testWebhook(deps, params.id) })),

  endpoint("GET /api/webhooks/:id/deliveries", {
    operationId: "listWebhookDeliveries",
    summary: "List webhook deliveries",
    description: "Newest first. Kept for 7 days, at most the last 1,000.",
    ...READ,
    query: z.object(pagingQuery(50)),
    returns: paged({ deliveries: z.array(WebhookDelivery) }).meta({ id: "WebhookDeliveryPage" }),
    failures: UNKNOWN,
  }, ({ params, query }) => listDeliveries(deps, params.id, query)),

  endpoint("POST /api/webhooks/deliveries/:id/replay", {
    operationId: "replayWebhookDelivery",
    summary: "Send a delivery again",
    description: "With a new `webhook-id`, so that the receiver does not ignore it as a " +
      "duplicate; `eventId` stays the same.",
    ...WRITE,
    returns: Queued,
    failures: { 404: "The delivery does not exist", 409: "The message is still queued" },
  }, ({ params }) => ({
    delivery_id: replayMessage(deps, WEBHOOK_CHANNEL, params.id),
  })),
];

/** Hides the path, which often contains a token, from users who cannot change webhooks. */
function redactUrl<Shown extends { url: string }>(webhook: Shown, caller: Caller): Shown {
  if (mayDo(caller, "admin", "webhooks:write")) return webhook;
  const origin = URL.parse(webhook.url)?.origin;
  return { ...webhook, url: origin === undefined ? REDACTED : `${origin}/${REDACTED}` };
}
