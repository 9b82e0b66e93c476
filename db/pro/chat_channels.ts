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

/** All channels, newest first. */
export function selectChatChannels(db: Database): StoredChatChannel[] {
  return channels.select(db, "ORDER BY created_at DESC, id");
}

/** One channel, or `undefined` when the id is unknown. */
export function selectChatChannel(db: Database, id: string): StoredChatChannel | undefined {
  return channels.find(db, id);
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

export function insertChatChannel(db: Database, channel: StoredChatChannel): void {
  channels.insert(db, channel);
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

/** @returns Whether the id was known. */
export function deleteChatChannel(db: Database, id: string): boolean {
  return channels.delete(db, id);
}
