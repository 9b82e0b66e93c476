import type { Migration } from "../../migrate.ts";

// Only the service can encrypt: a row of an earlier version keeps its token in `token_key` without
// `sealed`, until the next start replaces both (services/messages/push/tokens.ts).
export const migration: Migration = {
  name: "0056_ce_push_token_secrets",
  sql: `
    ALTER TABLE push_tokens RENAME COLUMN token TO token_key; -- keyed hash of the token
    ALTER TABLE push_tokens ADD COLUMN sealed TEXT; -- encrypted: the token
  `,
};
