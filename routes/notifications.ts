/** /api/notifications: channels that tell people what happened. @module */

import * as z from "zod";
import type { Deps } from "../services/deps.ts";
import {
  changeNotificationChannel,
  createNotificationChannel,
  DIGEST_MINUTES_MAX,
  findNotificationChannel,
  getNotificationChannel,
  listChannelKinds,
  listNotificationChannels,
  listNotificationDeliveries,
  removeNotificationChannel,
} from "../services/messages/channels/channels.ts";
import { FIELD_TYPES } from "../services/messages/channels/kinds/kind.ts";
import { CHANNEL_KIND_IDS } from "../services/messages/channels/kinds/mod.ts";
import { SEVERITIES } from "../services/events/message.ts";
import { NOTIFICATION_CHANNEL, queueTest } from "../services/messages/queue.ts";
import { replayMessage } from "../services/events/outbox.ts";
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

/** Limit of the fields of a kind, and of the headers of a webhook. */
const CONFIG_ENTRIES_MAX = 50;

const ConfigValue = z.union([
  z.string(),
  z.number(),
  z.array(z.string()),
  limitedRecord(z.string(), z.string(), CONFIG_ENTRIES_MAX),
]);

const Config = limitedRecord(z.string().max(100), ConfigValue.nullable(), CONFIG_ENTRIES_MAX).meta({
  description:
    "The fields of the kind (`GET /api/notifications/kinds`). Secrets are stored encrypted " +
    "and shown as `********`; sent unchanged in an update, they keep their values",
});

const ChannelUrl = z.string().min(1).max(OUTBOUND_URL_MAX).meta({
  description: "Stands for kind and config, as Shoutrrr and Apprise write it",
  example: "ntfy://ntfy.example.com/alerts",
});

const TimeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, {
  error: "must be a time of day such as 22:00",
});

const QuietHours = z.strictObject({
  from: TimeOfDay,
  to: TimeOfDay,
  timeZone: z.string().min(1).max(100).optional().meta({
    description: "IANA name. Default: the time zone of the host",
    example: "Europe/Berlin",
  }),
  exceptSeverity: z.enum(SEVERITIES).nullable().default("critical").meta({
    description: "Messages from this severity on are sent nevertheless; null: none",
  }),
}).meta({
  id: "NewQuietHours",
  description: "Messages in this time of each day are held back; one summary follows",
  example: { from: "22:00", to: "07:00", timeZone: "Europe/Berlin", exceptSeverity: "critical" },
});

const fields = {
  name: Name,
  events: EventKinds,
  minSeverity: z.enum(SEVERITIES).meta({
    description: "Events below it are not sent, except those that end a problem",
  }),
  containers: z.array(z.string().min(1).max(255)).min(1).max(100).nullable().meta({
    description: "Names, in which `*` stands for any text; `null` stands for all events, also " +
      "those about no container",
    example: ["web*"],
  }),
  stacks: z.array(z.string().min(1).max(255)).min(1).max(100).nullable().meta({
    description: "Names of stacks, as in `containers`; with both, a container must match both",
    example: ["shop"],
  }),
  quietHours: QuietHours.nullable(),
  digestMinutes: z.int().min(0).max(DIGEST_MINUTES_MAX).meta({
    description: "0: messages are sent at once; otherwise one digest follows this long after its " +
      "first message, in which the end of a problem is joined with its beginning",
  }),
  enabled: z.boolean(),
};

const EXAMPLE = {
  name: "On-call",
  kind: "ntfy",
  config: { url: "https://ntfy.example.com", topic: "alerts", token: "tk_4f1c" },
  events: ["alert.fired", "alert.resolved", "container.down", "container.up"],
  minSeverity: "warning",
};

const NewChannel = z.object({
  name: fields.name,
  kind: z.enum(CHANNEL_KIND_IDS).optional(),
  config: Config.optional(),
  url: ChannelUrl.optional(),
  events: EventKinds.default(["*"]),
  minSeverity: fields.minSeverity.default("info"),
  containers: fields.containers.default(null),
  stacks: fields.stacks.default(null),
  quietHours: fields.quietHours.default(null),
  digestMinutes: fields.digestMinutes.default(0),
  enabled: fields.enabled.default(true),
}).refine(({ kind, config, url }) => url === undefined ? kind && config : !kind && !config, {
  error: "must have either kind and config or url",
}).meta({ id: "NewNotificationChannel", example: EXAMPLE });

const ChannelChange = z.object({ ...fields, config: Config, url: ChannelUrl }).partial()
  .refine(({ config, url }) => config === undefined || url === undefined, {
    error: "must not have both config and url",
  }).meta({
    id: "NotificationChannelChanges",
    example: { minSeverity: "critical", config: { topic: "critical" } },
  });

const Channel = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.enum(CHANNEL_KIND_IDS),
  config: z.record(z.string(), ConfigValue),
  hasSecret: z.boolean(),
  events: z.array(z.string()),
  minSeverity: z.enum(SEVERITIES),
  containers: z.array(z.string()).nullable(),
  stacks: z.array(z.string()).nullable(),
  quietHours: z.object({
    from: TimeOfDay,
    to: TimeOfDay,
    timeZone: z.string(),
    exceptSeverity: z.enum(SEVERITIES).nullable(),
  }).meta({ id: "QuietHours" }).nullable(),
  digestMinutes: fields.digestMinutes,
  enabled: z.boolean(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  lastDeliveryAt: Timestamp.nullable().meta({ description: "Of the last attempt" }),
  lastError: z.string().nullable().meta({ description: "Of the last attempt; null if sent" }),
}).meta({ id: "NotificationChannel" });

const KindField = z.object({
  name: z.string().meta({ description: "In `config`", example: "topic" }),
  label: z.string().meta({ example: "Topic" }),
  type: z.enum(FIELD_TYPES).meta({
    description: "`address` and `mailServer` are URLs that the service connects to; a `list` has " +
      "texts, and `headers` is an object of names and texts",
  }),
  isSecret: z.boolean().meta({ description: "Stored encrypted and shown as `********`" }),
  isRequired: z.boolean(),
  hint: z.string().nullable(),
  placeholder: z.string().nullable().meta({ example: null }),
  options: z.array(z.string()).nullable().meta({
    description: "The possible values of a text",
    example: null,
  }),
}).meta({ id: "ChannelKindField" });

const Kind = z.object({
  id: z.enum(CHANNEL_KIND_IDS).meta({ example: "ntfy" }),
  title: z.string().meta({ example: "ntfy" }),
  description: z.string().meta({ example: "A topic of ntfy.sh or of a server of your own" }),
  schemes: z.array(z.string()).meta({
    description: "Of the URLs that stand for kind and config",
    example: ["ntfy", "ntfys"],
  }),
  urlForm: z.string().meta({ description: "Such a URL", example: "ntfy://host/topic" }),
  fields: z.array(KindField),
}).meta({ id: "ChannelKind" });

const NotificationDelivery = Delivery.extend({
  title: z.string().meta({ example: "host-1: Container down: web" }),
}).meta({ id: "NotificationDelivery" });

const Queued = doneWith({
  deliveryId: z.string().meta({ example: "3d594650-3436-4f0b-9d2f-8f2a5c1b7e60" }),
}).meta({ id: "QueuedNotification" });

const UNKNOWN = { 404: "The channel does not exist" };

const READ = { role: "admin", permission: "notifications:read" } as const;
const WRITE = { role: "admin", permission: "notifications:write" } as const;

export const notificationEndpoints = (deps: Deps) => [
  endpoint("GET /api/notifications/kinds", {
    operationId: "listChannelKinds",
    summary: "List kinds of notification channels",
    description: "With the fields of their `config`, in the order in which forms offer them.",
    ...READ,
    etag: true,
    returns: z.object({ kinds: z.array(Kind) }).meta({ id: "ChannelKindList" }),
  }, () => ({ kinds: listChannelKinds() })),

  endpoint("GET /api/notifications/channels", {
    operationId: "listNotificationChannels",
    summary: "List notification channels",
    description: "Newest first.",
    ...READ,
    returns: z.object({ channels: z.array(Channel) }).meta({ id: "NotificationChannelList" }),
  }, () => ({ channels: listNotificationChannels(deps) })),

  endpoint("POST /api/notifications/channels", {
    operationId: "createNotificationChannel",
    summary: "Create a notification channel",
    description:
      "Messages are sent in order. A failed one is tried again after 5 s, 30 s, 2 min, " +
      "10 min and then every hour, for 24 hours, and later ones wait for it; other channels do " +
      "not. A channel gets at most 20 messages in a minute, and one summary of the others. " +
      "Private addresses are allowed; loopback, link-local and metadata addresses only if " +
      "`OUTBOUND_ALLOW` lists them. Nothing is queued during maintenance.",
    ...WRITE,
    body: NewChannel,
    returns: Channel,
    status: 201,
    failures: { 409: "No mail server is set, or the limit of channels is reached" },
  }, ({ body: { kind, config, url, ...fields } }) =>
    createNotificationChannel(deps, {
      ...fields,
      target: url === undefined ? { kind: kind!, config: config! } : { url },
    })),

  endpoint("GET /api/notifications/channels/:id", {
    operationId: "getNotificationChannel",
    summary: "Get a notification channel",
    ...READ,
    returns: Channel,
    failures: UNKNOWN,
  }, ({ params }) => getNotificationChannel(deps, params.id)),

  endpoint("PUT /api/notifications/channels/:id", {
    operationId: "updateNotificationChannel",
    summary: "Update a notification channel",
    description: "Omitted fields keep their values, also within `config`, where `null` removes " +
      "one. If an address changes to another host or port, its secrets must be sent again.",
    ...WRITE,
    body: ChannelChange,
    returns: Channel,
    failures: {
      409: "No mail server is set, or its stored config cannot be decrypted",
      ...UNKNOWN,
    },
  }, ({ params, body }) => changeNotificationChannel(deps, params.id, body)),

  endpoint("DELETE /api/notifications/channels/:id", {
    operationId: "deleteNotificationChannel",
    summary: "Delete a notification channel",
    description: "Also deletes its deliveries and pending messages.",
    ...WRITE,
    returns: Done,
    failures: UNKNOWN,
  }, ({ params }) => removeNotificationChannel(deps, params.id)),

  endpoint("PUT /api/notifications/channels/:id/toggle", {
    operationId: "toggleNotificationChannel",
    summary: "Enable or disable a notification channel",
    description: "Disabling a channel discards its pending messages.",
    ...WRITE,
    body: EnabledBody.meta({ example: { enabled: false } }),
    returns: Channel,
    failures: UNKNOWN,
  }, ({ params, body }) => changeNotificationChannel(deps, params.id, body)),

  endpoint("POST /api/notifications/channels/:id/test", {
    operationId: "testNotificationChannel",
    summary: "Test a notification channel",
    description:
      "Queues a message, even if the channel is disabled. Its deliveries show the result.",
    ...WRITE,
    returns: Queued,
    failures: UNKNOWN,
  }, ({ params }) => ({
    deliveryId: queueTest(deps, findNotificationChannel(deps.db, params.id)),
  })),

  endpoint("GET /api/notifications/channels/:id/deliveries", {
    operationId: "listNotificationDeliveries",
    summary: "List notification deliveries",
    description: "Newest first. Kept for 7 days, at most the last 1,000.",
    ...READ,
    query: z.object(pagingQuery(50)),
    returns: paged({ deliveries: z.array(NotificationDelivery) }).meta({
      id: "NotificationDeliveryPage",
    }),
    failures: UNKNOWN,
  }, ({ params, query }) => listNotificationDeliveries(deps, params.id, query)),

  endpoint("POST /api/notifications/deliveries/:id/replay", {
    operationId: "replayNotification",
    summary: "Send a message again",
    ...WRITE,
    returns: Queued,
    failures: { 404: "The delivery does not exist", 409: "The message is still queued" },
  }, ({ params }) => ({ deliveryId: replayMessage(deps, NOTIFICATION_CHANNEL, params.id) })),
];
