/** The `chat_channels` table: chats that receive events. @module */

import { boolean, json, type Row, table, text } from "../columns.ts";
import type { Database } from "../database.ts";

export const CHAT_PLATFORM_IDS = ["messenger", "team-chat"] as const;
export type ChatPlatformId = (typeof CHAT_PLATFORM_IDS)[number];

const channels = table("chat_channels", {
  id: text(),
  platform: text<ChatPlatformId>(),
  name: text(),
  /** Event kinds; `*` stands for all. */
  events: json<string[]>(),
  /** The config, encrypted. */
  sealed: text(),
  enabled: boolean(),
  created_at: text(),
  updated_at: text(),
}, { order: "created_at DESC, id" });

/** One channel as stored. Times are ISO 8601, UTC. */
export type StoredChatChannel = Row<typeof channels>;

export const {
  find: selectChatChannel,
  count: countChatChannels,
  insert: insertChatChannel,
  delete: deleteChatChannel,
  /** All channels, newest first. */
  all: selectChatChannels,
} = channels;

/** The enabled channels that subscribed to a kind, oldest first. */
export function selectSubscribedChatChannels(db: Database, kind: string): StoredChatChannel[] {
  return channels.select(
    db,
    `WHERE enabled = 1
       AND EXISTS (SELECT 1 FROM json_each(chat_channels.events) WHERE value IN (:kind, '*'))
     ORDER BY created_at, id`,
    { kind },
  );
}

/** @returns Whether the id was known. */
export function updateChatChannel(
  db: Database,
  channel: Omit<StoredChatChannel, "created_at">,
): boolean {
  return channels.update(db, channel.id, channel);
}

/** @returns Whether the id was known. */
export function updateChatChannelDisabled(db: Database, id: string, updated_at: string): boolean {
  return channels.update(db, id, { enabled: false, updated_at });
}
