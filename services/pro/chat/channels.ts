/**
 * Chat channels: the notification channels of the kinds that are chat platforms, with redacted
 * configs. What they do is in `services/messages/`.
 *
 * @module
 */

import {
  countOutboxMessages,
  type OutboxMessage,
  selectOutboxMessages,
} from "../../../db/outbox_messages.ts";
import {
  selectNotificationChannel,
  selectNotificationChannels,
} from "../../../db/notification_channels.ts";
import type { Page, Paged } from "../../../db/page.ts";
import { type Caller, includesRole } from "../../access/caller.ts";
import type { Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { requireFound } from "../../errors.ts";
import { eventKind } from "../../events/kinds/mod.ts";
import { bodyOf, fullTitle, type NotificationMessage } from "../../events/message.ts";
import { openConfig } from "../../messages/config.ts";
import { DIGEST } from "../../messages/digest.ts";
import {
  openStoredConfig,
  removeNotificationChannel,
  storeChannel,
  updateChannel,
} from "../../messages/channels/channels.ts";
import { queueTest, targetOf } from "../../messages/queue.ts";
import { SUMMARY } from "../../messages/rate_limit.ts";
import { openIfPossible } from "../../secrets/secrets.ts";
import { REDACTED } from "../../text/redact.ts";
import {
  asChat,
  type ChatChannelRow,
  type ChatConfigChange,
  chatFieldsOf,
  findPlatform,
  mergeChatConfig,
} from "./platforms.ts";

/** Messages returned with their channel. */
const RECENT_MAX = 20;

/** Limit of the text of a message, in UTF-16 code units. */
const TEXT_MAX = 4_096;

interface NewChatChannel {
  /** An id, or the product name. */
  platform: string;
  name: string;
  config: ChatConfigChange;
  events: string[];
  enabled: boolean;
}

/** A channel with each field of its config redacted. */
interface ChatChannel {
  id: string;
  platform: ChatChannelRow["platform"]["id"];
  name: string;
  config: Record<string, string>;
  events: string[];
  enabled: boolean;
  created_at: string;
  updated_at: string;
}

/** A message in the delivery log. */
interface ChatMessage {
  id: string;
  channel_id: string;
  event_type: string;
  text: string;
  status: "queued" | "sent" | "failed";
  /** Of the last attempt. */
  error: string | null;
  attempts: number;
  created_at: string;
  sent_at: string | null;
}

type WriteDeps = Pick<Deps, "config" | "db" | "secrets" | "now" | "log">;

/** Newest first. */
export const listChatChannels = (deps: Pick<Deps, "db" | "secrets">): ChatChannel[] =>
  selectNotificationChannels(deps.db).flatMap((channel) => asChat(channel) ?? [])
    .map((channel) => viewOf(deps, channel));

/** A channel with its newest messages. @throws {AppError} `not_found`. */
export function getChatChannel(
  deps: Pick<Deps, "db" | "secrets">,
  id: string,
  caller: Caller,
): ChatChannel & { messages: ChatMessage[] } {
  const { messages } = listChatMessages(deps, id, { limit: RECENT_MAX, offset: 0 }, caller);
  return { ...viewOf(deps, findChatChannel(deps.db, id)), messages };
}

/**
 * @throws {AppError} `invalid` for a config that the platform cannot use; `conflict` when there are
 * too many notification channels.
 */
export async function createChatChannel(
  deps: WriteDeps,
  { platform: given, config, ...settings }: NewChatChannel,
): Promise<ChatChannel> {
  const platform = findPlatform(given)!;
  const stored = storeChannel(deps, {
    ...settings,
    kind: platform.kind,
    config: await mergeChatConfig(deps, platform, config, undefined),
    minSeverity: "info",
    containers: null,
    stacks: null,
    quietHours: null,
    digestMinutes: 0,
  });
  return viewOf(deps, { ...stored, platform });
}

/**
 * Changes the given fields, also within the config. A change of the platform needs a complete
 * config. Disabling a channel fails its queued messages.
 *
 * @throws {AppError} `not_found`; `invalid` as for a new one; `conflict` if the stored config
 * cannot be decrypted.
 */
export async function changeChatChannel(
  deps: WriteDeps,
  id: string,
  { platform: given, config, ...settings }: Change<NewChatChannel>,
): Promise<ChatChannel> {
  const before = findChatChannel(deps.db, id);
  const platform = given === undefined ? before.platform : findPlatform(given)!;
  const hasNewPlatform = platform !== before.platform;
  const stored = () => hasNewPlatform ? undefined : openStoredConfig(deps, before);
  const after = updateChannel(deps, id, {
    ...settings,
    ...((config !== undefined || hasNewPlatform) && {
      kind: platform.kind,
      config: await mergeChatConfig(deps, platform, config ?? {}, stored()),
    }),
  });
  return viewOf(deps, asChat(after)!);
}

/** Deletes a channel and its messages, queued ones included. @throws {AppError} `not_found`. */
export function removeChatChannel(deps: Pick<Deps, "db" | "log">, id: string): void {
  findChatChannel(deps.db, id);
  removeNotificationChannel(deps, id);
}

/**
 * Queues a test message, even if the channel is disabled.
 *
 * @returns The id of the message.
 * @throws {AppError} `not_found`.
 */
export const testChatChannel = (
  deps: Pick<Deps, "config" | "db" | "now" | "outbox" | "server">,
  id: string,
): string => queueTest(deps, findChatChannel(deps.db, id));

/** Lists sent, failed and queued messages, newest first. @throws {AppError} `not_found`. */
export function listChatMessages(
  { db }: Pick<Deps, "db">,
  id: string,
  page: Page,
  caller: Caller,
): { messages: ChatMessage[] } & Paged {
  findChatChannel(db, id);
  const messages = selectOutboxMessages(db, targetOf(id), page)
    .map((message) => toChatMessage(message, includesRole(caller.role, "admin")));
  return { messages, total: countOutboxMessages(db, targetOf(id)), ...page };
}

function toChatMessage(message: OutboxMessage, isForAdmin: boolean): ChatMessage {
  const { eventKind: event } = message;
  return {
    id: message.id,
    channel_id: message.targetId,
    event_type: event,
    text: isForAdmin || !isForAdmins(event) ? textOf(message) : REDACTED,
    status: message.status,
    error: message.lastError,
    attempts: message.attempts,
    created_at: message.createdAt,
    sent_at: message.sentAt,
  };
}

/** Whether a message is, or may have, an event that others than admins do not see. */
const isForAdmins = (event: string): boolean =>
  eventKind(event).isForAdmins === true || event === SUMMARY || event === DIGEST;

function textOf({ payload }: OutboxMessage): string {
  const message: NotificationMessage = JSON.parse(payload);
  return `${fullTitle(message)}\n${bodyOf(message, TEXT_MAX)}`;
}

/** @throws {AppError} `not_found`, also for a notification channel of another kind. */
function findChatChannel(db: Deps["db"], id: string): ChatChannelRow {
  const channel = selectNotificationChannel(db, id);
  return requireFound(channel && asChat(channel), "Chat channel", id);
}

/** A channel whose config cannot be decrypted is still listed, so that it can be deleted. */
function viewOf({ secrets }: Pick<Deps, "secrets">, channel: ChatChannelRow): ChatChannel {
  const { id, name, platform, events, enabled, createdAt, updatedAt } = channel;
  const config = openIfPossible(() => openConfig(secrets, channel));
  const names = config ? Object.keys(chatFieldsOf(config)) : requiredFields(platform);
  return {
    id,
    platform: platform.id,
    name,
    config: Object.fromEntries(names.map((field) => [field, REDACTED])),
    events,
    enabled,
    created_at: createdAt,
    updated_at: updatedAt,
  };
}

const requiredFields = ({ fields }: ChatChannelRow["platform"]): string[] =>
  Object.keys(fields).filter((name) => !fields[name]!.isOptional);
