/** The migration of accounts from before it was noted who else has a way into them. @module */

import { deepEqual } from "node:assert/strict";
import { openStateDatabase } from "../../db/database.ts";
import { migrate } from "../../db/migrate.ts";
import { stateMigrations } from "../../db/migrations/state/mod.ts";

const CREATED = "2026-01-01T00:00:00.000Z";
const LATER = "2026-02-01T00:00:00.000Z";

Deno.test("0064_foreign_access finds what suspends a user, and accounts with foreign access", () => {
  const db = openStateDatabase(":memory:");
  migrate(db, stateMigrations.filter(({ name }) => name < "0064"));
  const provider = (id: string, mayLink: 0 | 1) =>
    db.run(
      `INSERT INTO oidc_providers (id, name, issuer, client_id, scopes, role_map, allowed_domains,
           mfa_acr, session_hours, auto_provision, link_by_verified_email, enabled, created_at, updated_at)
         VALUES (:id, :id, :id, 'c', 'openid', '[]', '[]', '[]', 8, 1, :mayLink, 1, :at, :at)`,
      { id, mayLink, at: CREATED },
    );
  const user = (
    id: string,
    { hash = null as string | null, isRefused = 0, isUnconfirmed = 0 },
    identities: Record<string, string>,
  ) => {
    db.run(
      `INSERT INTO users (id, email, email_key, password_hash, role, created_at, is_refused,
           is_email_unconfirmed)
         VALUES (:id, :id, :id, :hash, 'viewer', :at, :isRefused, :isUnconfirmed)`,
      { id, hash, isRefused, isUnconfirmed, at: CREATED },
    );
    for (const [issuer, at] of Object.entries(identities)) {
      db.run("INSERT INTO oidc_identities VALUES (:issuer, :id, :id, :at)", { issuer, id, at });
    }
  };
  provider("linking", 1);
  provider("other", 0);
  user("refused", { isRefused: 1 }, { linking: CREATED });
  user("refused by one of two", { isRefused: 1 }, { linking: CREATED, other: LATER });
  user("refused and unlinked", { isRefused: 1 }, {});
  user("created by other", {}, { other: CREATED });
  user("created by other, got a password", { hash: "x" }, { other: CREATED });
  user("linked by other", { hash: "x" }, { other: LATER });
  user("created by one of the environment", {}, { environment: CREATED });
  user("unconfirmed", { hash: "x", isUnconfirmed: 1 }, {});
  user("local", { hash: "x" }, {});

  migrate(db, stateMigrations);

  const rows = db.all<{ id: string; by: string | null; foreign: number }>(
    `SELECT id, refused_by AS by, has_foreign_access AS "foreign" FROM users ORDER BY rowid`,
  );
  db.close();
  deepEqual(rows.map(({ id, by, foreign }) => [id, by, foreign]), [
    ["refused", "linking", 0],
    ["refused by one of two", null, 1],
    ["refused and unlinked", null, 0],
    ["created by other", null, 1],
    ["created by other, got a password", null, 1],
    ["linked by other", null, 0],
    ["created by one of the environment", null, 1],
    ["unconfirmed", null, 1],
    ["local", null, 0],
  ]);
});
