import type { Migration } from "../../migrate.ts";

// Agents are revoked, never deleted. The fingerprint remains in use, so that a stolen certificate
// cannot be added again. The columns of the certificate are NULL while only its fingerprint is
// known. A certificate authority cannot be deleted while an agent refers to it (no ON DELETE).
export const migration: Migration = {
  name: "0033_mtls",
  sql: `
    CREATE TABLE ca_certificates (
      id          TEXT PRIMARY KEY,
      name        TEXT NOT NULL,
      certificate TEXT NOT NULL, -- PEM
      fingerprint TEXT NOT NULL UNIQUE
        CHECK (length(fingerprint) = 71 AND fingerprint GLOB 'sha256:*'),
      subject     TEXT NOT NULL,
      issuer      TEXT NOT NULL,
      serial      TEXT NOT NULL, -- hex
      not_before  TEXT NOT NULL, -- ISO 8601, UTC
      not_after   TEXT NOT NULL,
      created_at  TEXT NOT NULL
    ) STRICT;
    CREATE INDEX ca_certificates_by_age ON ca_certificates (created_at DESC, id);
    CREATE INDEX ca_certificates_by_subject ON ca_certificates (subject);

    CREATE TABLE agents (
      id           TEXT PRIMARY KEY,
      hostname     TEXT NOT NULL,
      description  TEXT NOT NULL,
      tags         TEXT NOT NULL CHECK (json_valid(tags)),
      ca_id        TEXT REFERENCES ca_certificates (id),
      enabled      INTEGER NOT NULL CHECK (enabled IN (0, 1)),
      -- Recorded by auto_enroll and not yet approved or rejected.
      pending      INTEGER NOT NULL CHECK (pending IN (0, 1)),
      certificate  TEXT,
      fingerprint  TEXT NOT NULL UNIQUE
        CHECK (length(fingerprint) = 71 AND fingerprint GLOB 'sha256:*'),
      subject      TEXT CHECK ((subject IS NULL) = (certificate IS NULL)),
      issuer       TEXT CHECK ((issuer IS NULL) = (certificate IS NULL)),
      serial       TEXT CHECK ((serial IS NULL) = (certificate IS NULL)),
      not_before   TEXT CHECK ((not_before IS NULL) = (certificate IS NULL)),
      not_after    TEXT CHECK ((not_after IS NULL) = (certificate IS NULL)),
      last_seen_at TEXT,
      last_seen_ip TEXT,
      created_at   TEXT NOT NULL,
      updated_at   TEXT NOT NULL,
      revoked_at   TEXT CHECK (revoked_at IS NULL OR enabled = 0),
      CHECK (pending = 0 OR (enabled = 0 AND revoked_at IS NULL))
    ) STRICT;
    CREATE INDEX agents_by_age ON agents (created_at DESC, id);
    CREATE INDEX agents_by_ca ON agents (ca_id) WHERE ca_id IS NOT NULL;
    CREATE INDEX agents_pending ON agents (pending) WHERE pending = 1;

    CREATE TABLE mtls_config (
      id                   INTEGER PRIMARY KEY CHECK (id = 1),
      enforcement_enabled  INTEGER NOT NULL CHECK (enforcement_enabled IN (0, 1)),
      reject_unknown_certs INTEGER NOT NULL CHECK (reject_unknown_certs IN (0, 1)),
      auto_enroll          INTEGER NOT NULL CHECK (auto_enroll IN (0, 1))
    ) STRICT;
    INSERT INTO mtls_config VALUES (1, 0, 1, 0);
  `,
};
