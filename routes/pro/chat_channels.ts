/** /chatops: chat channels that receive events. @module */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { OUTBOUND_URL_MAX } from "../../services/outbound/url.ts";
import {
  changeChatChannel,
  createChatChannel,
  getChatChannel,
  listChatChannels,
  listChatMessages,
  removeChatChannel,
  testChatChannel,
} from "../../services/pro/chat/channels.ts";
import { CHAT_PLATFORM_IDS, CHAT_PLATFORM_NAMES } from "../../services/pro/chat/platforms.ts";
import { dispatchToChats } from "../../services/pro/chat/dispatch.ts";
import { OUTBOX_STATUSES } from "../../services/events/outbox_log.ts";
import { endpoint } from "../contract/endpoint.ts";
import {
  Done,
  doneWith,
  EventKinds,
  Name,
  paged,
  pagingQuery,
  Timestamp,
} from "../contract/shapes.ts";

const Platform = z.enum(CHAT_PLATFORM_NAMES).meta({
  id: "ChatPlatform",
  description: "`messenger` is Telegram; `team-chat` is Slack or a compatible service",
});

const text = (max: number, description: string) =>
  z.string().min(1).max(max).nullable().optional().meta({ description });

const Config = z.strictObject({
  bot_token: text(256, "messenger: the token of the bot"),
  chat_id: z.union([z.int().transform(String), z.string().min(1).max(128)])
    .nullable().optional().meta({
      description: "messenger: the id of the chat, or the @name of a public channel",
    }),
  webhook_url: text(OUTBOUND_URL_MAX, "team-chat: the address of the incoming webhook"),
  api_url: text(OUTBOUND_URL_MAX, "The address of a gateway that replaces the platform's API"),
}).meta({
  id: "ChatChannelConfig",
  description:
    "Stored encrypted and shown as `********`. Omitted fields and fields sent unchanged " +
    "keep their values; null removes a value. Loopback, link-local and metadata addresses are " +
    "refused unless `OUTBOUND_ALLOW` lists them",
});

const EXAMPLE = {
  platform: "messenger" as const,
  name: "On-call",
  config: { bot_token: "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw", chat_id: "-1001234567890" },
  events: ["alert.fired" as const, "incident.created" as const],
  enabled: true,
};

const fields = {
  platform: Platform,
  name: Name,
  config: Config,
  events: EventKinds,
};

const NewChannel = z.object({ ...fields, enabled: z.boolean().default(true) })
  .meta({ id: "NewChatChannel", example: EXAMPLE });

const ChannelChange = z.object({ ...fields, enabled: z.boolean() }).partial()
  .meta({
    id: "ChatChannelChanges",
    example: { events: ["*"], config: { bot_token: "********", chat_id: "@alerts" } },
  });

const Channel = z.object({
  id: z.string(),
  platform: z.enum(CHAT_PLATFORM_IDS),
  name: z.string(),
  config: z.record(z.string(), z.string()).meta({ example: { webhook_url: "********" } }),
  events: z.array(z.string()),
  enabled: z.boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
}).meta({ id: "ChatChannel" });

const MessageId = z.string().meta({ example: "3d594650-3436-4f0b-9d2f-8f2a5c1b7e60" });

const Message = z.object({
  id: MessageId,
  channel_id: z.string(),
  event_type: z.string().meta({ example: "alert.fired" }),
  text: z.string(),
  status: z.enum(OUTBOX_STATUSES),
  error: z.string().nullable().meta({ description: "Error of the last attempt" }),
  attempts: z.int(),
  created_at: Timestamp,
  sent_at: Timestamp.nullable(),
}).meta({ id: "ChatMessage" });

const Dispatch = z.object({
  event_type: z.string().regex(/^[\w.-]{1,100}$/, {
    error: "must have 1 to 100 letters, digits, dots, dashes and underscores",
  }),
  payload: z.record(z.string(), z.unknown()).default({}).meta({
    description:
      "Data of the event. Known kinds are formatted as sentences, other kinds as a list " +
      "of fields with `title` or `name` as the headline",
  }),
}).meta({
  id: "ChatDispatch",
  example: { event_type: "alert.fired", payload: { rule: "Disk", message: "91 % of / is used" } },
});

const UNKNOWN = { 404: "The channel does not exist" };

const READ = { role: "viewer", permission: "chatops:read" } as const;
const WRITE = { role: "admin", permission: "chatops:write" } as const;

export const chatChannelEndpoints = (deps: Deps) => [
  endpoint("GET /chatops/channels", {
    operationId: "listChatChannels",
    summary: "List chat channels",
    description: "The notification channels of the kinds `telegram` and `slack`, newest first.",
    ...READ,
    returns: z.object({ channels: z.array(Channel) }).meta({ id: "ChatChannelList" }),
  }, () => ({ channels: listChatChannels(deps) })),

  endpoint("POST /chatops/channels", {
    operationId: "createChatChannel",
    summary: "Create a chat channel",
    description: "It is a notification channel of the kind `telegram` or `slack`, and sends as " +
      "such a one.",
    ...WRITE,
    body: NewChannel,
    returns: Channel,
    status: 201,
    failures: { 409: "The limit of channels is reached" },
  }, ({ body }) => createChatChannel(deps, body)),

  endpoint("GET /chatops/channels/:id", {
    operationId: "getChatChannel",
    summary: "Get a chat channel",
    description: "Includes its newest messages.",
    ...READ,
    returns: Channel.extend({ messages: z.array(Message) }).meta({ id: "ChatChannelDetail" }),
    failures: UNKNOWN,
  }, ({ params, caller }) => getChatChannel(deps, params.id, caller)),

  endpoint("PUT /chatops/channels/:id", {
    operationId: "updateChatChannel",
    summary: "Update a chat channel",
    description:
      "Omitted fields keep their values. A new platform, or an address with a new scheme, " +
      "host or port, requires a complete `config`. Disabling a channel discards its pending " +
      "messages.",
    ...WRITE,
    body: ChannelChange,
    returns: Channel,
    failures: { 409: "Its stored config cannot be decrypted", ...UNKNOWN },
  }, ({ params, body }) => changeChatChannel(deps, params.id, body)),

  endpoint("DELETE /chatops/channels/:id", {
    operationId: "deleteChatChannel",
    summary: "Delete a chat channel",
    description: "Also deletes its messages, including pending ones.",
    ...WRITE,
    returns: Done,
    failures: UNKNOWN,
  }, ({ params }) => removeChatChannel(deps, params.id)),

  endpoint("POST /chatops/channels/:id/test", {
    operationId: "testChatChannel",
    summary: "Send a test message",
    description: "Works while the channel is disabled. The channel's messages show the result.",
    ...WRITE,
    returns: doneWith({ message_id: MessageId }).meta({ id: "ChatTest" }),
    failures: UNKNOWN,
  }, ({ params }) => ({ message_id: testChatChannel(deps, params.id) })),

  endpoint("GET /chatops/channels/:id/messages", {
    operationId: "listChatMessages",
    summary: "List messages of a chat channel",
    description: "Newest first. Kept for 7 days, at most the last 1,000. Texts that may be about " +
      "sign-ins are shown to admins only.",
    ...READ,
    query: z.object(pagingQuery(50)),
    returns: paged({ messages: z.array(Message) }).meta({ id: "ChatMessagePage" }),
    failures: UNKNOWN,
  }, ({ params, query, caller }) => listChatMessages(deps, params.id, query, caller)),

  endpoint("POST /chatops/dispatch", {
    operationId: "dispatchChatEvent",
    summary: "Send an event to chat channels",
    description:
      "Sent to each enabled channel whose events include `event_type` or `*`, even during " +
      "maintenance.",
    ...WRITE,
    body: Dispatch,
    returns: doneWith({
      dispatched: z.int().meta({ description: "Number of channels", example: 1 }),
      message_ids: z.array(MessageId),
    }).meta({ id: "ChatDispatchResult" }),
  }, ({ body }) => {
    const ids = dispatchToChats(deps, { eventType: body.event_type, payload: body.payload });
    return { dispatched: ids.length, message_ids: ids };
  }),
];
