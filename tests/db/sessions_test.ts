import { deepEqual, equal } from "node:assert/strict";
import { selectRefreshToken } from "../../db/refresh_tokens.ts";
import { selectSessions } from "../../db/sessions.ts";
import { openStateDatabase } from "../../db/database.ts";
import { migrate } from "../../db/migrate.ts";
import { stateMigrations } from "../../db/migrations/state/mod.ts";

Deno.test("logins from before the table are sessions without an address", () => {
  const db = openStateDatabase(":memory:");
  try {
    const at = stateMigrations.findIndex(({ name }) => name === "0066_ce_sessions");
    migrate(db, stateMigrations.slice(0, at));
    db.exec(`
      INSERT INTO refresh_tokens (token_hash, family_id, user_id, created_at, expires_at, revoked_at)
      VALUES ('a', 'f1', 'u1', '2026-01-01', '2026-02-01', NULL),
             ('b', 'f1', 'u1', '2026-01-05', '2026-02-05', NULL),
             ('c', 'f2', 'u1', '2026-01-02', '2026-02-02', '2026-01-03')
    `);
    migrate(db, stateMigrations.slice(0, at + 1));
    const page = { limit: 10, offset: 0 };
    deepEqual(selectSessions(db, { userId: "u1", now: "2026-01-06" }, page), [{
      id: "f1",
      userId: "u1",
      address: null,
      userAgent: null,
      createdAt: "2026-01-01",
      lastUsedAt: "2026-01-05",
      expiresAt: "2026-02-05",
    }]);
  } finally {
    db.close();
  }
});

Deno.test("logins from before page secrets end, because their tokens may be copies of a cookie", () => {
  const db = openStateDatabase(":memory:");
  try {
    const at = stateMigrations.findIndex(({ name }) => name === "0102_ce_page_secrets");
    migrate(db, stateMigrations.slice(0, at));
    db.exec(`
      INSERT INTO refresh_tokens (token_hash, family_id, user_id, created_at, expires_at)
      VALUES ('a', 'f1', 'u1', '2026-01-01', '2026-02-01');
      INSERT INTO sessions (id, user_id, created_at, last_used_at, expires_at)
      VALUES ('f1', 'u1', '2026-01-01', '2026-01-01', '2026-02-01')
    `);
    migrate(db, stateMigrations);
    const page = { limit: 10, offset: 0 };
    deepEqual(selectSessions(db, { userId: "u1", now: "2026-01-06" }, page), []);
    equal(selectRefreshToken(db, "a"), undefined);
  } finally {
    db.close();
  }
});
