import type { Migration } from "../../migrate.ts";

// Logins of browsers need a secret of the page in addition to the cookie, which other ports of the
// host receive as well. Earlier refresh tokens could have been copied from a cookie, and it is not
// known which were issued as one: every login ends.
export const migration: Migration = {
  name: "0102_ce_page_secrets",
  sql: `
    DELETE FROM refresh_tokens;
    DELETE FROM sessions;
    DELETE FROM sso_sessions;
    DELETE FROM saml_requests;
    ALTER TABLE refresh_tokens ADD COLUMN page_hash TEXT; -- SHA-256; NULL: not issued as a cookie
    CREATE INDEX refresh_tokens_by_page ON refresh_tokens (page_hash) WHERE page_hash IS NOT NULL;
    ALTER TABLE saml_requests ADD COLUMN page_hash TEXT;  -- of the page that began the login
  `,
};
