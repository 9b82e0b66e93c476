/**
 * The `chat_channels` table: chats that receive events.
 *
 * @module
 */

import { table } from "../columns.ts";
import type { Database } from "../database.ts";

export const CHAT_PLATFORM_IDS = ["messenger", "team-chat"] as const;
export type ChatPlatformId = (typeof CHAT_PLATFORM_IDS)[number];

/** One channel as stored. Times are ISO 8601, UTC. */
export interface StoredChatChannel {
  id: string;
  platform: ChatPlatformId;
  name: string;
  /** Event kinds; `*` stands for all. */
  events: string[];
  /** The config, encrypted. */
  sealed: string;
  enabled: boolean;
  created_at: string;
  updated_at: string;
}

const channels = table<StoredChatChannel>("chat_channels", {
  id: "value",
  platform: "value",
  name: "value",
  events: "json",
  sealed: "value",
  enabled: "boolean",
  created_at: "value",
  updated_at: "value",
});

export const {
  find: selectChatChannel,
  insert: insertChatChannel,
  delete: deleteChatChannel,
} = channels;

/** All channels, newest first. */
export function selectChatChannels(db: Database): StoredChatChannel[] {
  return channels.select(db, "ORDER BY created_at DESC, id");
}

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
