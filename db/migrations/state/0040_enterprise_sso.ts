import type { Migration } from "../../migrate.ts";

// Who vouched for a user is kept by the identity provider's own name (its entity id): a provider
// that is deleted and set up again finds its users, another one does not get them.
// Assertion ids are kept by the same name, and beyond the provider: one that was used must not be
// good again because the provider was set up anew.
export const migration: Migration = {
  name: "0040_enterprise_sso",
  sql: `
    CREATE TABLE identity_providers (
      id                TEXT PRIMARY KEY,
      name              TEXT NOT NULL,
      entity_id         TEXT NOT NULL UNIQUE,
      sso_url           TEXT NOT NULL,
      slo_url           TEXT,
      certificate       TEXT NOT NULL, -- PEM
      binding           TEXT NOT NULL CHECK (binding IN ('HTTP-POST', 'HTTP-Redirect')),
      name_id_format    TEXT,
      attribute_mapping TEXT NOT NULL, -- JSON object
      auto_provision    INTEGER NOT NULL CHECK (auto_provision IN (0, 1)),
      default_role      TEXT NOT NULL CHECK (default_role IN ('viewer', 'operator', 'admin')),
      allow_unsolicited INTEGER NOT NULL CHECK (allow_unsolicited IN (0, 1)),
      link_existing     INTEGER NOT NULL CHECK (link_existing IN (0, 1)),
      enabled           INTEGER NOT NULL CHECK (enabled IN (0, 1)),
      base_url          TEXT NOT NULL, -- this service's address when an admin last saved the row
      created_at        TEXT NOT NULL, -- ISO 8601, UTC
      updated_at        TEXT NOT NULL
    ) STRICT;

    CREATE TABLE sso_identities (
      user_id     TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      entity_id   TEXT NOT NULL,
      name_id     TEXT, -- NULL where the provider's names are not lasting ones
      provisioned INTEGER NOT NULL CHECK (provisioned IN (0, 1)), -- 0: linked to a user who was there
      linked_at   TEXT NOT NULL,
      PRIMARY KEY (user_id, entity_id)
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX sso_identities_by_name_id ON sso_identities (entity_id, name_id)
      WHERE name_id IS NOT NULL;

    CREATE TABLE sso_sessions (
      id          TEXT PRIMARY KEY,
      provider_id TEXT NOT NULL REFERENCES identity_providers (id) ON DELETE CASCADE,
      user_id     TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      family_id   TEXT NOT NULL UNIQUE, -- the login's tokens
      email       TEXT NOT NULL, -- as the identity provider wrote it
      ip          TEXT NOT NULL,
      created_at  TEXT NOT NULL,
      expires_at  TEXT NOT NULL
    ) STRICT;
    CREATE INDEX sso_sessions_by_start ON sso_sessions (created_at DESC, id);
    CREATE INDEX sso_sessions_by_expiry ON sso_sessions (expires_at);
    CREATE INDEX sso_sessions_by_provider ON sso_sessions (provider_id);
    CREATE INDEX sso_sessions_by_user ON sso_sessions (user_id);

    -- Logins that were begun here and wait for the identity provider's answer.
    CREATE TABLE saml_requests (
      id          TEXT PRIMARY KEY,
      provider_id TEXT NOT NULL REFERENCES identity_providers (id) ON DELETE CASCADE,
      expires_at  TEXT NOT NULL,
      used_at     TEXT
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX saml_requests_by_expiry ON saml_requests (expires_at);
    CREATE INDEX saml_requests_by_provider ON saml_requests (provider_id);

    -- Assertions that were accepted; each is good once.
    CREATE TABLE saml_assertions (
      entity_id    TEXT NOT NULL,
      assertion_id TEXT NOT NULL,
      expires_at   TEXT NOT NULL, -- until then it could be shown again
      PRIMARY KEY (entity_id, assertion_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX saml_assertions_by_expiry ON saml_assertions (expires_at);
  `,
};
