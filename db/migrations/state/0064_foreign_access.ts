import type { Migration } from "../../migrate.ts";

// A provider that may not link does not prove whose an address is: others than its owner may have a
// way into the accounts that it has created.
export const migration: Migration = {
  name: "0064_foreign_access",
  sql: `
    -- Set while another person than the owner of the address may have a way into the account.
    ALTER TABLE users RENAME COLUMN had_foreign_password TO has_foreign_access;
    -- The confirmed address before the user entered the present one; NULL for none.
    ALTER TABLE users ADD COLUMN former_email TEXT;
    -- Issuer that gives the user no role any more, or id of the provider whose domains the address has
    -- left; NULL if it is not known, so that only an admin lets the user act again.
    ALTER TABLE users ADD COLUMN refused_by TEXT;
    UPDATE users SET refused_by = (
        SELECT max(issuer) FROM oidc_identities WHERE user_id = users.id HAVING count(*) = 1)
      WHERE is_refused = 1;
    UPDATE users SET has_foreign_access = 1
      WHERE is_email_unconfirmed = 1
        OR id IN (
          SELECT i.user_id FROM sso_identities i
            LEFT JOIN identity_providers p ON p.entity_id = i.entity_id
           WHERE i.provisioned = 1 AND coalesce(p.link_existing, 0) = 0)
        -- Those of a provider of the environment, which is not in the table, are among them.
        OR id IN (
          SELECT i.user_id FROM oidc_identities i
            LEFT JOIN oidc_providers p ON p.issuer = i.issuer
           WHERE coalesce(p.link_by_verified_email, 0) = 0
             -- An admin may have given a password to an account that was created by the sign-in.
             AND (users.password_hash IS NULL
               OR abs(unixepoch(i.linked_at) - unixepoch(users.created_at)) <= 1));
  `,
};
