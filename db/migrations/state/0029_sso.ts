import type { Migration } from "../../migrate.ts";

// Links to users and used assertions refer to the entity id of the identity provider, not to its
// row. If a provider is deleted and added again, it finds its users, and used assertions remain
// refused.
export const migration: Migration = {
  name: "0029_sso",
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
      base_url          TEXT NOT NULL, -- base URL of this service when an admin last saved the row
      created_at        TEXT NOT NULL, -- ISO 8601, UTC
      updated_at        TEXT NOT NULL
    ) STRICT;

    CREATE TABLE sso_identities (
      user_id     TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      entity_id   TEXT NOT NULL,
      name_id     TEXT, -- NULL without a persistent name
      provisioned INTEGER NOT NULL CHECK (provisioned IN (0, 1)), -- 0: linked to an existing user
      linked_at   TEXT NOT NULL,
      PRIMARY KEY (user_id, entity_id)
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX sso_identities_by_name_id ON sso_identities (entity_id, name_id)
      WHERE name_id IS NOT NULL;

    CREATE TABLE sso_sessions (
      id          TEXT PRIMARY KEY,
      provider_id TEXT NOT NULL REFERENCES identity_providers (id) ON DELETE CASCADE,
      user_id     TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      family_id   TEXT NOT NULL UNIQUE, -- the token family of the login
      email       TEXT NOT NULL, -- as given by the identity provider
      ip          TEXT NOT NULL,
      created_at  TEXT NOT NULL,
      expires_at  TEXT NOT NULL
    ) STRICT;
    CREATE INDEX sso_sessions_by_start ON sso_sessions (created_at DESC, id);
    CREATE INDEX sso_sessions_by_expiry ON sso_sessions (expires_at);
    CREATE INDEX sso_sessions_by_provider ON sso_sessions (provider_id);
    CREATE INDEX sso_sessions_by_user ON sso_sessions (user_id);

    -- Login requests sent to identity providers.
    CREATE TABLE saml_requests (
      id           TEXT PRIMARY KEY,
      provider_id  TEXT NOT NULL REFERENCES identity_providers (id) ON DELETE CASCADE,
      expires_at   TEXT NOT NULL,
      used_at      TEXT,
      browser_hash TEXT, -- SHA-256 of the cookie of a login for the dashboard
      return_to    TEXT, -- a path of the dashboard
      page_hash    TEXT -- of the page that began the login
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX saml_requests_by_expiry ON saml_requests (expires_at);
    CREATE INDEX saml_requests_by_provider ON saml_requests (provider_id);

    -- Accepted assertions; each is valid once.
    CREATE TABLE saml_assertions (
      entity_id    TEXT NOT NULL,
      assertion_id TEXT NOT NULL,
      expires_at   TEXT NOT NULL, -- until then it could be replayed
      PRIMARY KEY (entity_id, assertion_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX saml_assertions_by_expiry ON saml_assertions (expires_at);
  `,
};
