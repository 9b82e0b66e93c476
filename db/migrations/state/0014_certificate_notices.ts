import type { Migration } from "../../migrate.ts";

// The last notice sent about each certificate, so that no notice is sent twice. A renewed
// certificate has a different fingerprint; several can be in use for one name.
export const migration: Migration = {
  name: "0014_certificate_notices",
  sql: `
    CREATE TABLE certificate_notices (
      domain         TEXT NOT NULL,
      port           INTEGER NOT NULL CHECK (port BETWEEN 1 AND 65535),
      fingerprint    TEXT NOT NULL,
      threshold_days INTEGER NOT NULL, -- the lowest that a notice was sent for
      expires_at     TEXT NOT NULL, -- ISO 8601, UTC
      PRIMARY KEY (domain, port, fingerprint)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX certificate_notices_by_expiry ON certificate_notices (expires_at);
  `,
};
