import type { Migration } from "../../migrate.ts";

// Messages to a chat wait for those before them, and with them for a pause that the platform requests.
export const migration: Migration = {
  name: "0097_pro_chat_order",
  sql: "ALTER TABLE chat_channels DROP COLUMN quiet_until;",
};
