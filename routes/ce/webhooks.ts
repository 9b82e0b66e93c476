/**
 * /api/webhooks: who is called when something happens.
 *
 * @module
 */

import * as z from "zod";
import { WEBHOOK_HEADERS_MAX } from "../../services/ce/webhook_headers.ts";
import {
  listDeliveries,
  OUTBOX_STATUSES,
  testWebhook,
} from "../../services/ce/webhook_messages.ts";
import {
  changeWebhook,
  createWebhook,
  getWebhook,
  listWebhooks,
  removeWebhook,
  setWebhookEnabled,
  WEBHOOK_EVENTS,
} from "../../services/ce/webhooks.ts";
import type { Deps } from "../../services/deps.ts";
import { EVENT_KINDS } from "../../services/events.ts";
import { OUTBOUND_URL_MAX } from "../../services/outbound_url.ts";
import { endpoint } from "../endpoint.ts";
import { Done, done, EnabledBody, IdParams, paged, pagingQuery, Timestamp } from "../shapes.ts";

const KNOWN = `known are ${EVENT_KINDS.join(", ")}, and * for all of them`;

const Events = z.array(
  z.enum(WEBHOOK_EVENTS, {
    error: ({ input }) =>
      `${JSON.stringify(input)?.slice(0, 100) ?? "nothing"} is no event kind; ${KNOWN}`,
  }),
  { error: `must be an array of event kinds; ${KNOWN}` },
)
  .min(1, { error: `must name at least one event kind; ${KNOWN}` })
  .max(100)
  .meta({ description: "Kinds of events; `*` stands for all, also for those to come" });

const Headers = z.record(z.string(), z.string())
  .refine((headers) => Object.keys(headers).length <= WEBHOOK_HEADERS_MAX, {
    error: `must be at most ${WEBHOOK_HEADERS_MAX}`,
  })
  .meta({
    description: "Sent with each delivery. Values are stored encrypted and shown as `********`; " +
      "sent back like that in an update they keep their value",
  });

const fields = {
  name: z.string().min(1).max(100),
  url: z.string().min(1).max(OUTBOUND_URL_MAX).meta({
    description: "http or https; a private or otherwise special address is refused unless the " +
      "operator lists it in `OUTBOUND_ALLOW`",
  }),
  events: Events,
};

const EXAMPLE = {
  name: "On-call",
  url: "https://hooks.example.com/longshore",
  events: ["alert.fired", "container.down"],
  headers: { authorization: "Bearer 4f1c" },
};

const NewWebhook = z.object({ ...fields, headers: Headers.default({}) })
  .meta({ example: EXAMPLE });

const WebhookChange = z.object({ ...fields, headers: Headers, enabled: z.boolean() }).partial()
  .meta({ example: { ...EXAMPLE, headers: { authorization: "********" }, enabled: true } });

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
    status: z.int().nullable().meta({ description: "HTTP status; null without an answer" }),
    error: z.string().nullable(),
  }).nullable().meta({ description: "The last attempt; null before the first" }),
});

const CreatedWebhook = Webhook.extend({
  secret: z.string().meta({
    description: "Signs the deliveries; shown in this answer only",
    example: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD1cWyoxV4gdE=",
  }),
});

const Delivery = z.object({
  id: z.string().meta({ description: "As in the header `webhook-id`, the same at each attempt" }),
  event: z.string().meta({ example: "container.down" }),
  status: z.enum(OUTBOX_STATUSES),
  attempts: z.int(),
  responseStatus: z.int().nullable(),
  error: z.string().nullable(),
  createdAt: Timestamp,
  lastAttemptAt: Timestamp.nullable(),
  nextAttemptAt: Timestamp.nullable(),
  sentAt: Timestamp.nullable(),
});

const UNKNOWN = { 404: "There is no such webhook" };

export const webhookEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/api/webhooks",
    summary: "List webhooks",
    description: "Newest first.",
    role: "admin",
    permission: "webhooks:read",
    returns: z.object({ webhooks: z.array(Webhook) }),
  }, () => ({ webhooks: listWebhooks(deps) })),

  endpoint({
    method: "post",
    path: "/api/webhooks",
    summary: "Create a webhook",
    description: "Each event is sent as a POST of `{event, timestamp, data}`, signed after " +
      "Standard Webhooks (`webhook-id`, `webhook-timestamp`, `webhook-signature`). An answer of " +
      "2xx within 10 s is success; a redirect is a failure. Retried after about 5 s, 30 s, 2 min, " +
      "10 min and 1 h, then given up; 410 turns the webhook off. A receiver may see a message " +
      "twice and tells that by its id. During maintenance no events are queued.",
    role: "admin",
    permission: "webhooks:write",
    body: NewWebhook,
    returns: CreatedWebhook,
    status: 201,
    failures: { 402: "The edition allows no more webhooks" },
  }, ({ body }) => createWebhook(deps, body)),

  endpoint({
    method: "get",
    path: "/api/webhooks/:id",
    summary: "Show a webhook",
    role: "admin",
    permission: "webhooks:read",
    params: IdParams,
    returns: Webhook,
    failures: UNKNOWN,
  }, ({ params }) => getWebhook(deps, params.id)),

  endpoint({
    method: "put",
    path: "/api/webhooks/:id",
    summary: "Change a webhook",
    description: "What is left out stays as it is. Headers are replaced as a whole. Where the " +
      "address gets another scheme, host or port, headers have to be given again.",
    role: "admin",
    permission: "webhooks:write",
    params: IdParams,
    body: WebhookChange,
    returns: Webhook,
    failures: { 409: "Its stored secrets cannot be decrypted", ...UNKNOWN },
  }, ({ params, body }) => changeWebhook(deps, params.id, body)),

  endpoint({
    method: "delete",
    path: "/api/webhooks/:id",
    summary: "Delete a webhook",
    description: "With its delivery log, and with what waits for it.",
    role: "admin",
    permission: "webhooks:write",
    params: IdParams,
    returns: Done,
    failures: UNKNOWN,
  }, ({ params }) => {
    removeWebhook(deps, params.id);
    return done;
  }),

  endpoint({
    method: "put",
    path: "/api/webhooks/:id/toggle",
    summary: "Turn a webhook on or off",
    description: "What waits for one that is turned off is given up.",
    role: "admin",
    permission: "webhooks:write",
    params: IdParams,
    body: EnabledBody.meta({ example: { enabled: false } }),
    returns: Webhook,
    failures: UNKNOWN,
  }, ({ params, body }) => setWebhookEnabled(deps, params.id, body.enabled)),

  endpoint({
    method: "post",
    path: "/api/webhooks/:id/test",
    summary: "Send a test event",
    description: "Queues the event `test`, also while the webhook is off; what it comes to is in " +
      "the delivery log.",
    role: "admin",
    permission: "webhooks:write",
    params: IdParams,
    returns: Done.extend({
      delivery_id: z.string().meta({ example: "3d594650-3436-4f0b-9d2f-8f2a5c1b7e60" }),
    }),
    failures: UNKNOWN,
  }, ({ params }) => ({ ...done, delivery_id: testWebhook(deps, params.id) })),

  endpoint({
    method: "get",
    path: "/api/webhooks/:id/deliveries",
    summary: "List what was sent to a webhook",
    description: "Newest first; kept for 7 days, at most the last 1 000.",
    role: "admin",
    permission: "webhooks:read",
    params: IdParams,
    query: z.object(pagingQuery(50)),
    returns: paged({ deliveries: z.array(Delivery) }),
    failures: UNKNOWN,
  }, ({ params, query }) => listDeliveries(deps, params.id, query)),
];
