/** Chat channels: messenger and team chats that receive messages about events. @module */

import {
  countOutboxMessages,
  deleteOutboxMessages,
  type OutboxMessage,
  selectOutboxMessages,
  updateQueuedFailed,
} from "../../../db/outbox_messages.ts";
import type { Page, Paged } from "../../../db/page.ts";
import {
  type ChatPlatformId,
  countChatChannels,
  deleteChatChannel,
  insertChatChannel,
  selectChatChannel,
  selectChatChannels,
  type StoredChatChannel,
  updateChatChannel,
} from "../../../db/pro/chat_channels.ts";
import type { Change } from "../../change.ts";
import { dropGroups } from "../../messages/grouping.ts";
import type { Deps } from "../../deps.ts";
import { createEnvelope } from "../../events/events.ts";
import { requireFound, tooMany } from "../../errors.ts";
import { openIfPossible, openOrConflict } from "../../secrets/secrets.ts";
import {
  type ChatConfig,
  type ChatConfigChange,
  chatPlatform,
  mergeChatConfig,
  openChatConfig,
  redactFields,
  sealChatConfig,
} from "./config.ts";
import { CHAT, enqueueChatTest } from "./dispatch.ts";

export { CHAT_PLATFORM_IDS } from "../../../db/pro/chat_channels.ts";
export { CHAT_PLATFORM_NAMES } from "./config.ts";

/** Each event is a message to each of them. */
const CHANNELS_MAX = 100;

/** Messages returned with their channel. */
const RECENT_MAX = 20;

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
  platform: ChatPlatformId;
  name: string;
  config: ChatConfig;
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

/** Newest first. */
export function listChatChannels(deps: Pick<Deps, "db" | "secrets">): ChatChannel[] {
  return selectChatChannels(deps.db).map((channel) => toChatChannel(deps, channel));
}

/** A channel with its newest messages. @throws {AppError} `not_found`. */
export function getChatChannel(
  deps: Pick<Deps, "db" | "secrets">,
  id: string,
): ChatChannel & { messages: ChatMessage[] } {
  const { messages } = listChatMessages(deps, id, { limit: RECENT_MAX, offset: 0 });
  return { ...toChatChannel(deps, requireChannel(deps.db, id)), messages };
}

/**
 * @throws {AppError} `invalid` for a config that the platform cannot use; `conflict` when there are
 * too many channels.
 */
export async function createChatChannel(
  deps: Pick<Deps, "config" | "db" | "secrets" | "now" | "log">,
  { platform: given, name, config, events, enabled }: NewChatChannel,
): Promise<ChatChannel> {
  const { db, secrets, now, log } = deps;
  const platform = chatPlatform(given);
  const mergedConfig = await mergeChatConfig(deps, platform, config, undefined);
  // No await from here on, so that concurrent requests cannot exceed the limit.
  if (countChatChannels(db) >= CHANNELS_MAX) throw tooMany("chat channels", CHANNELS_MAX);
  const id = crypto.randomUUID();
  const createdAt = now().toISOString();
  insertChatChannel(db, {
    id,
    platform: platform.id,
    name,
    events: [...new Set(events)],
    sealed: sealChatConfig(secrets, id, mergedConfig),
    enabled,
    created_at: createdAt,
    updated_at: createdAt,
  });
  log.info("chat channel created", { channelId: id, platform: platform.id, events });
  return toChatChannel(deps, requireChannel(db, id));
}

/**
 * Changes the given fields, also within the config. A change of the platform needs a complete
 * config. Disabling a channel fails its queued messages.
 *
 * @throws {AppError} `not_found`; `invalid` as for a new one; `conflict` if the stored config
 * cannot be decrypted.
 */
export async function changeChatChannel(
  deps: Pick<Deps, "config" | "db" | "secrets" | "now" | "log">,
  id: string,
  change: Change<NewChatChannel>,
): Promise<ChatChannel> {
  const { db, secrets, now, log } = deps;
  const before = requireChannel(db, id);
  const platform = chatPlatform(change.platform ?? before.platform);
  const hasNewPlatform = platform.id !== before.platform;
  const config = change.config !== undefined || hasNewPlatform
    ? await mergeChatConfig(
      deps,
      platform,
      change.config ?? {},
      hasNewPlatform ? undefined : openConfig(deps, before),
    )
    : undefined;
  // Read again: another request may have changed or deleted the channel.
  const channel = requireChannel(db, id);
  const next = {
    id,
    platform: platform.id,
    name: change.name ?? channel.name,
    events: change.events ? [...new Set(change.events)] : channel.events,
    sealed: config ? sealChatConfig(secrets, id, config) : channel.sealed,
    enabled: change.enabled ?? channel.enabled,
    updated_at: now().toISOString(),
  };
  db.transaction(() => {
    updateChatChannel(db, next);
    if (!next.enabled) {
      updateQueuedFailed(db, { channel: CHAT, targetId: id }, "The channel was disabled");
      dropGroups({ db }, CHAT, id);
    }
  });
  log.info("chat channel changed", { channelId: id });
  return toChatChannel(deps, requireChannel(db, id));
}

/** Deletes a channel and its messages, queued ones included. @throws {AppError} `not_found`. */
export function removeChatChannel({ db, log }: Pick<Deps, "db" | "log">, id: string): void {
  requireChannel(db, id);
  db.transaction(() => {
    deleteChatChannel(db, id);
    deleteOutboxMessages(db, { channel: CHAT, targetId: id });
    dropGroups({ db }, CHAT, id);
  });
  log.info("chat channel deleted", { channelId: id });
}

/**
 * Queues a test message for a channel, regardless of its subscriptions and even if it is disabled.
 *
 * @returns The id of the message.
 * @throws {AppError} `not_found`.
 */
export function testChatChannel(
  deps: Pick<Deps, "db" | "now" | "outbox" | "server">,
  id: string,
): string {
  const channel = requireChannel(deps.db, id);
  return enqueueChatTest(deps, channel, {
    event: "test",
    ...createEnvelope(deps),
    data: { message: `Test of the channel ${channel.name}` },
  });
}

/** Lists sent, failed and queued messages, newest first. @throws {AppError} `not_found`. */
export function listChatMessages(
  { db }: Pick<Deps, "db">,
  id: string,
  page: Page,
): { messages: ChatMessage[] } & Paged {
  requireChannel(db, id);
  const target = { channel: CHAT, targetId: id };
  const messages = selectOutboxMessages(db, target, page).map(toChatMessage);
  return { messages, total: countOutboxMessages(db, target), ...page };
}

const toChatMessage = (message: OutboxMessage): ChatMessage => ({
  id: message.id,
  channel_id: message.targetId,
  event_type: message.eventKind,
  text: message.payload,
  status: message.status,
  error: message.lastError,
  attempts: message.attempts,
  created_at: message.createdAt,
  sent_at: message.sentAt,
});

/** @throws {AppError} `conflict` if it was encrypted with another key. */
function openConfig({ secrets }: Pick<Deps, "secrets">, channel: StoredChatChannel): ChatConfig {
  return openOrConflict(
    () => openChatConfig(secrets, channel),
    "delete the channel and create it again",
  );
}

/** A channel whose config cannot be decrypted is still listed, so that it can be deleted. */
function toChatChannel(
  { secrets }: Pick<Deps, "secrets">,
  channel: StoredChatChannel,
): ChatChannel {
  const { id, platform, name, events, enabled, created_at, updated_at } = channel;
  const config = openIfPossible(() => openChatConfig(secrets, channel));
  return {
    id,
    platform,
    name,
    config: redactFields(config ? Object.keys(config) : chatPlatform(platform).required),
    events,
    enabled,
    created_at,
    updated_at,
  };
}

function requireChannel(db: Deps["db"], id: string): StoredChatChannel {
  return requireFound(selectChatChannel(db, id), "Chat channel", id);
}
