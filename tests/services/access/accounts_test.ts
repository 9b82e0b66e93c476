import { equal, partialDeepStrictEqual, throws } from "node:assert/strict";
import { insertUser, updateUserPassword, updateUserRole } from "../../../db/users.ts";
import { upsertRevokedFamily } from "../../../db/revoked_families.ts";
import { openStateDatabase } from "../../../db/database.ts";
import { migrate } from "../../../db/migrate.ts";
import { stateMigrations } from "../../../db/migrations/state/mod.ts";
import { createAccounts } from "../../../services/access/accounts.ts";
import { silentLog } from "../../../services/log.ts";
import { temporaryDirectory } from "../../helpers/command.ts";
import { openTestDatabase, testClock, testConfig } from "../../helpers/test_app.ts";

const ada = {
  id: "u1",
  email: "ada@example.com",
  emailKey: "ada@example.com",
  passwordHash: null,
  role: "admin",
  createdAt: "2026-01-01T00:00:00.000Z",
  lastLoginAt: null,
} as const;

Deno.test("in key mode the key is an admin, and users with a password have no role", () => {
  using db = closing(openTestDatabase());
  insertUser(db, { ...ada, passwordHash: "hash" });
  const accounts = createAccounts(db, testConfig({ authMode: "key" }), testClock().now);
  equal(accounts.roleOf({ userId: "key", familyId: "f" }), "admin");
  equal(accounts.roleOf({ userId: "u1", familyId: "f" }), undefined);
  accounts.put("u1", "admin");
  equal(accounts.roleOf({ userId: "u1", familyId: "f" }), undefined);
});

Deno.test("in key mode users without a password are who they are, others vouch for them", () => {
  using db = closing(openTestDatabase());
  insertUser(db, { ...ada, role: "operator" });
  const accounts = createAccounts(db, testConfig({ authMode: "key" }), testClock().now);
  equal(accounts.roleOf({ userId: "u1", familyId: "f" }), "operator");
  insertUser(db, { ...ada, id: "u2", emailKey: "b@example.com" });
  accounts.put("u2", "viewer");
  equal(accounts.roleOf({ userId: "u2", familyId: "f" }), "viewer");
  accounts.remove("u2");
  equal(accounts.roleOf({ userId: "u2", familyId: "f" }), undefined);
});

Deno.test("a password that another process sets in key mode disables the user", () => {
  using stored = storedAccounts("key");
  const { accounts, clock, other } = stored;
  equal(accounts.roleOf({ userId: "u1", familyId: "f" }), "admin");

  updateUserPassword(other, "u1", "hash");

  clock.advance({ seconds: 1 });
  equal(accounts.roleOf({ userId: "u1", familyId: "f" }), undefined);
});

Deno.test("in users mode the key has no role", () => {
  using db = closing(openTestDatabase());
  insertUser(db, ada);
  const accounts = createAccounts(db, testConfig({ authMode: "users" }), testClock().now);
  equal(accounts.roleOf({ userId: "key", familyId: "f" }), undefined);
  equal(accounts.roleOf({ userId: "u1", familyId: "f" }), "admin");
});

Deno.test("ended logins are read at the start while access tokens of theirs may live", () => {
  using db = closing(openTestDatabase());
  upsertRevokedFamily(db, { familyId: "f1", expiresAt: "2026-01-01T00:15:00.000Z" });
  upsertRevokedFamily(db, { familyId: "f0", expiresAt: "2025-12-31T23:59:00.000Z" });
  const accounts = createAccounts(db, testConfig({ authMode: "key" }), testClock().now);
  equal(accounts.roleOf({ userId: "key", familyId: "f1" }), undefined);
  equal(accounts.roleOf({ userId: "key", familyId: "f2" }), "admin");
  equal(accounts.revokedCount, 1);
});

Deno.test("ended logins are forgotten when their last access token has ended", () => {
  using db = closing(openTestDatabase());
  const clock = testClock();
  const accounts = createAccounts(db, testConfig({ authMode: "key" }), clock.now);
  for (let n = 0; n < 100; n++) accounts.revoke(`f${n}`, new Date(clock.now().getTime() + 900_000));
  equal(accounts.revokedCount, 100);
  clock.advance({ minutes: 15 });
  accounts.revoke("last", new Date(clock.now().getTime() + 900_000));
  equal(accounts.revokedCount, 1);
});

Deno.test("what another process stores is seen within a second", () => {
  using stored = storedAccounts("users");
  const { accounts, clock, other } = stored;
  const session = { userId: "u1", familyId: "f1" };

  updateUserRole(other, "u1", "viewer");
  upsertRevokedFamily(other, { familyId: "f2", expiresAt: "2026-01-01T00:15:00.000Z" });

  clock.advance({ seconds: 1 });
  equal(accounts.roleOf(session), "viewer");
  equal(accounts.roleOf({ ...session, familyId: "f2" }), undefined);
});

Deno.test("accounts that cannot be read again keep their roles until they can", () => {
  using stored = storedAccounts("users");
  const { accounts, clock, other } = stored;
  const session = { userId: "u1", familyId: "f1" };

  other.run("ALTER TABLE users RENAME TO hidden");
  clock.advance({ seconds: 1 });
  throws(() => accounts.roleOf(session), /no such table: users/);
  equal(accounts.roleOf(session), "admin");

  other.run("ALTER TABLE hidden RENAME TO users");
  updateUserRole(other, "u1", "viewer");
  clock.advance({ seconds: 1 });
  equal(accounts.roleOf(session), "viewer");
});

Deno.test("a listener that throws is logged, and the others are called", async () => {
  using db = closing(openTestDatabase());
  const logged: unknown[] = [];
  const log = { ...silentLog, error: (...entry: unknown[]) => void logged.push(entry) };
  const accounts = createAccounts(db, testConfig({ authMode: "users" }), testClock().now, log);
  accounts.subscribe(() => {
    throw new TypeError("no stream");
  });
  const called = Promise.withResolvers<void>();
  accounts.subscribe(called.resolve);
  accounts.remove("u1");
  await called.promise;
  partialDeepStrictEqual(logged, [["change of access not applied", { error: "no stream" }]]);
});

/** Accounts in a file, which another process has open, too. */
function storedAccounts(authMode: "key" | "users") {
  const directory = temporaryDirectory();
  const open = () => openStateDatabase(`${directory.path}/state.sqlite`);
  const db = open();
  migrate(db, stateMigrations);
  insertUser(db, ada);
  const clock = testClock();
  const other = open();
  return {
    accounts: createAccounts(db, testConfig({ authMode }), clock.now),
    clock,
    other,
    [Symbol.dispose]() {
      other.close();
      db.close();
      directory[Symbol.dispose]();
    },
  };
}

function closing<Db extends { close(): void }>(db: Db): Db & Disposable {
  return Object.assign(db, { [Symbol.dispose]: () => db.close() });
}
