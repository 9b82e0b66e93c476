/**
 * The `chat_channels` table: chats that are told when something happens.
 *
 * @module
 */

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
  createdAt: string;
  updatedAt: string;
  /** Before that the platform wants no messages; `null` when it never said so. */
  quietUntil: string | null;
}

const COLUMNS = `
  id, platform, name, events, sealed, enabled, created_at AS createdAt, updated_at AS updatedAt,
  quiet_until AS quietUntil`;

type Row = Omit<StoredChatChannel, "events" | "enabled"> & { events: string; enabled: number };

const fromRow = (row: Row): StoredChatChannel => ({
  ...row,
  events: JSON.parse(row.events),
  enabled: row.enabled === 1,
});

const toParams = <Rest extends object>(
  { events, enabled, ...rest }: Pick<StoredChatChannel, "events" | "enabled"> & Rest,
) => ({ ...rest, events: JSON.stringify(events), enabled: Number(enabled) });

/** All channels, newest first. */
export function selectChatChannels(db: Database): StoredChatChannel[] {
  return db.all<Row>(`SELECT ${COLUMNS} FROM chat_channels ORDER BY created_at DESC, id`)
    .map(fromRow);
}

/** One channel, or `undefined` when the id is unknown. */
export function selectChatChannel(db: Database, id: string): StoredChatChannel | undefined {
  const row = db.get<Row>(`SELECT ${COLUMNS} FROM chat_channels WHERE id = :id`, { id });
  return row && fromRow(row);
}

/** The enabled channels that subscribed to a kind, oldest first. */
export function selectSubscribedChatChannels(db: Database, kind: string): StoredChatChannel[] {
  return db.all<Row>(
    `SELECT ${COLUMNS} FROM chat_channels
     WHERE enabled = 1
       AND EXISTS (SELECT 1 FROM json_each(chat_channels.events) WHERE value IN (:kind, '*'))
     ORDER BY created_at, id`,
    { kind },
  ).map(fromRow);
}

export function insertChatChannel(
  db: Database,
  channel: Omit<StoredChatChannel, "quietUntil">,
): void {
  db.run(
    `INSERT INTO chat_channels
       (id, platform, name, events, sealed, enabled, created_at, updated_at)
     VALUES (:id, :platform, :name, :events, :sealed, :enabled, :createdAt, :updatedAt)`,
    toParams(channel),
  );
}

/** @returns Whether the id was known. */
export function updateChatChannel(
  db: Database,
  channel: Omit<StoredChatChannel, "createdAt" | "quietUntil">,
): boolean {
  return db.run(
    `UPDATE chat_channels SET platform = :platform, name = :name, events = :events,
       sealed = :sealed, enabled = :enabled, updated_at = :updatedAt
     WHERE id = :id`,
    toParams(channel),
  ) > 0;
}

/** @returns Whether the id was known. */
export function updateChatChannelDisabled(db: Database, id: string, updatedAt: string): boolean {
  return db.run(
    "UPDATE chat_channels SET enabled = 0, updated_at = :updatedAt WHERE id = :id",
    { id, updatedAt },
  ) > 0;
}

export function updateChatChannelQuietUntil(db: Database, id: string, quietUntil: string): void {
  db.run("UPDATE chat_channels SET quiet_until = :quietUntil WHERE id = :id", { id, quietUntil });
}

/** @returns Whether the id was known. */
export function deleteChatChannel(db: Database, id: string): boolean {
  return db.run("DELETE FROM chat_channels WHERE id = :id", { id }) > 0;
}
