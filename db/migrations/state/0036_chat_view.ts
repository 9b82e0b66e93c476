import type { Migration } from "../../migrate.ts";

// Chat channels are notification channels. SQL cannot seal their configs again: `chat ` before one
// says for which table it was sealed.
export const migration: Migration = {
  name: "0036_chat_view",
  sql: `
    INSERT INTO notification_channels
      (id, name, kind, sealed, events, min_severity, enabled, created_at, updated_at)
    SELECT id, name, CASE platform WHEN 'messenger' THEN 'telegram' ELSE 'slack' END,
      'chat ' || sealed, events, 'info', enabled, created_at, updated_at
    FROM chat_channels;
    DELETE FROM outbox_messages WHERE channel = 'chat';
    DELETE FROM notification_groups WHERE channel = 'chat';
    DROP TABLE chat_channels;
  `,
};
