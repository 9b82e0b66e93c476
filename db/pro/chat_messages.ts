/**
 * Messages to chat channels, which are part of the table `outbox_messages`.
 *
 * @module
 */

import type { Database } from "../database.ts";

/** The name under which they are in the outbox; their target is the channel's id. */
export const CHAT = "chat";

/** Puts off whatever waits for a channel, and would be due before. */
export function updateChatMessagesPutOff(db: Database, channelId: string, until: string): void {
  db.run(
    `UPDATE outbox_messages SET next_attempt_at = :until
     WHERE status = 'queued' AND channel = :channel AND target_id = :channelId
       AND next_attempt_at < :until`,
    { channel: CHAT, channelId, until },
  );
}
