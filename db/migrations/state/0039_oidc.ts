import type { Migration } from "../../migrate.ts";

// Identities and sessions refer to the issuer and to the provider's id, not to its row: a provider
// of the environment has none, and one that is deleted and added again finds its users.
export const migration: Migration = {
  name: "0039_oidc",
  sql: `
    CREATE TABLE oidc_providers (
      id                     TEXT PRIMARY KEY,
      name                   TEXT NOT NULL,
      issuer                 TEXT NOT NULL,
      client_id              TEXT NOT NULL,
      client_secret          TEXT, -- sealed; NULL for a public client
      scopes                 TEXT NOT NULL,
      roles_claim            TEXT,
      role_map               TEXT NOT NULL, -- JSON: [{value, role}]
      default_role           TEXT CHECK (default_role IN ('viewer', 'operator', 'admin')),
      allowed_domains        TEXT NOT NULL, -- JSON list
      mfa_acr                TEXT NOT NULL, -- JSON list
      session_hours          INTEGER NOT NULL,
      auto_provision         INTEGER NOT NULL CHECK (auto_provision IN (0, 1)),
      link_by_verified_email INTEGER NOT NULL CHECK (link_by_verified_email IN (0, 1)),
      enabled                INTEGER NOT NULL CHECK (enabled IN (0, 1)),
      created_at             TEXT NOT NULL, -- ISO 8601, UTC
      updated_at             TEXT NOT NULL
    ) STRICT;

    CREATE TABLE oidc_identities (
      issuer    TEXT NOT NULL,
      subject   TEXT NOT NULL,
      user_id   TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      linked_at TEXT NOT NULL,
      PRIMARY KEY (issuer, subject),
      UNIQUE (user_id, issuer)
    ) STRICT, WITHOUT ROWID;

    -- Sign-ins that a browser has begun. Each is answered once.
    CREATE TABLE oidc_requests (
      id            TEXT PRIMARY KEY, -- SHA-256 of the state
      provider_id   TEXT NOT NULL,
      nonce         TEXT NOT NULL,
      code_verifier TEXT NOT NULL,
      redirect_uri  TEXT NOT NULL,
      browser_hash  TEXT NOT NULL, -- SHA-256 of the browser's cookie; of a test the admin's id
      page_hash     TEXT NOT NULL, -- of the page that began it; empty for a test
      return_to     TEXT NOT NULL,
      expires_at    TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX oidc_requests_by_expiry ON oidc_requests (expires_at);

    -- What a provider needs to be asked again, and to sign out. Ends with the session.
    CREATE TABLE oidc_sessions (
      session_id  TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
      provider_id TEXT NOT NULL,
      issuer      TEXT NOT NULL,
      subject     TEXT NOT NULL,
      sid         TEXT, -- the provider's name for its session
      sealed      TEXT NOT NULL, -- the provider's tokens
      checked_at  TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX oidc_sessions_by_provider ON oidc_sessions (provider_id);
    CREATE INDEX oidc_sessions_by_subject ON oidc_sessions (issuer, subject);

    -- Links for one sign-in, created on the host.
    CREATE TABLE login_links (
      id         TEXT PRIMARY KEY, -- SHA-256 of the secret
      user_id    TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      expires_at TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
  `,
};
