import type { Migration } from "../../migrate.ts";

// Logins that end in a session of the dashboard instead of tokens.
export const migration: Migration = {
  name: "0101_enterprise_sso_browsers",
  sql: `
    ALTER TABLE saml_requests ADD COLUMN browser_hash TEXT; -- SHA-256 of its login cookie
    ALTER TABLE saml_requests ADD COLUMN return_to TEXT;    -- a path of the dashboard
  `,
};
