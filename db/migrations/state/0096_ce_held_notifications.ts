import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0096_ce_held_notifications",
  sql: `
    ALTER TABLE notification_channels ADD COLUMN quiet_hours TEXT CHECK (json_valid(quiet_hours));
    -- 0: every message is sent at once
    ALTER TABLE notification_channels ADD COLUMN digest_minutes INTEGER NOT NULL DEFAULT 0;
    -- When the other channels were told that this one fails; NULL after it works again.
    ALTER TABLE notification_channels ADD COLUMN failing_reported_at TEXT;

    -- Messages that wait for the end of the quiet hours or for the next digest.
    CREATE TABLE held_notifications (
      id         INTEGER PRIMARY KEY,
      channel_id TEXT NOT NULL REFERENCES notification_channels (id) ON DELETE CASCADE,
      thread     TEXT NOT NULL,
      message    TEXT NOT NULL CHECK (json_valid(message)),
      held_at    TEXT NOT NULL -- ISO 8601, UTC
    ) STRICT;
    CREATE INDEX held_notifications_by_channel ON held_notifications (channel_id, id);
  `,
};
