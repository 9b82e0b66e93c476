/**
 * Messages to chat channels, which are stored in the `outbox_messages` table.
 *
 * @module
 */

import type { Database } from "../database.ts";

/** The `channel` of these messages in the outbox; their target is the id of a chat channel. */
export const CHAT = "chat";

/** Postpones the queued messages of a channel that are due before a time. */
export function updateChatMessagesPutOff(db: Database, channelId: string, until: string): void {
  db.run(
    `UPDATE outbox_messages SET next_attempt_at = :until
     WHERE status = 'queued' AND channel = :channel AND target_id = :channelId
       AND next_attempt_at < :until`,
    { channel: CHAT, channelId, until },
  );
}
