import { deepEqual, equal, throws } from "node:assert/strict";
import { DatabaseFileError, openStateDatabase } from "../../db/database.ts";
import { migrate } from "../../db/migrate.ts";
import { metricsMigrations } from "../../db/migrations/metrics/mod.ts";
import { stateMigrations } from "../../db/migrations/state/mod.ts";

/** A database file in its own directory. */
function temporaryFile(): { path: string } & Disposable {
  const directory = Deno.makeTempDirSync({ prefix: "longshore-db-" });
  return {
    path: `${directory}/state.sqlite`,
    [Symbol.dispose]: () => Deno.removeSync(directory, { recursive: true }),
  };
}

const notes = { name: "0001_notes", sql: "CREATE TABLE notes (text TEXT NOT NULL) STRICT" };

Deno.test("openStateDatabase() uses a write-ahead log and syncs each commit", () => {
  using file = temporaryFile();
  const db = openStateDatabase(file.path);
  deepEqual(db.get("PRAGMA journal_mode"), { journal_mode: "wal" });
  deepEqual(db.get("PRAGMA synchronous"), { synchronous: 2 }); // FULL
  deepEqual(db.get("PRAGMA foreign_keys"), { foreign_keys: 1 });
  db.close();
  deepEqual([...Deno.readDirSync(file.path.replace(/\/[^/]+$/, ""))].map(({ name }) => name), [
    "state.sqlite",
  ]);
});

for (
  const { what, content } of [
    { what: "an empty file", content: "" },
    { what: "a text", content: "This text is not a database. ".repeat(100) },
  ]
) {
  Deno.test(`openStateDatabase() refuses ${what}`, () => {
    using file = temporaryFile();
    Deno.writeTextFileSync(file.path, content);
    throws(() => openStateDatabase(file.path), DatabaseFileError);
  });
}

Deno.test("openStateDatabase() detects damage after an unclean shutdown", () => {
  using file = temporaryFile();
  const db = openStateDatabase(file.path);
  migrate(db, [notes]);
  for (let n = 0; n < 2_000; n++) db.run("INSERT INTO notes VALUES (:text)", { text: `note ${n}` });
  db.close();
  const bytes = Deno.readFileSync(file.path);
  bytes.fill(0xff, 5 * 4_096, 7 * 4_096);
  Deno.writeFileSync(file.path, bytes);
  Deno.writeFileSync(`${file.path}-wal`, new Uint8Array(32));

  throws(() => openStateDatabase(file.path), /is damaged|is malformed/);
});

Deno.test("transaction() rolls back when its work throws", () => {
  const db = openStateDatabase(":memory:");
  migrate(db, [notes]);
  throws(() =>
    db.transaction(() => {
      db.run("INSERT INTO notes VALUES ('lost')");
      throw new Error("halfway");
    }), /halfway/);
  deepEqual(db.all("SELECT * FROM notes"), []);
  db.close();
});

Deno.test("migrate() applies each migration once, and keeps syncing commits", () => {
  const db = openStateDatabase(":memory:");
  deepEqual(migrate(db, [notes]), ["0001_notes"]);
  deepEqual(db.get("PRAGMA synchronous"), { synchronous: 2 });
  deepEqual(migrate(db, [notes]), []);
  db.close();
});

Deno.test("migrate() rolls back a failed migration and keeps the previous ones", () => {
  const db = openStateDatabase(":memory:");
  const broken = {
    name: "0002_broken",
    sql: "CREATE TABLE half (id TEXT); CREATE TABLE notes (x)",
  };
  throws(() => migrate(db, [notes, broken]));
  equal(db.get("SELECT name FROM sqlite_schema WHERE name = 'half'"), undefined);
  deepEqual(db.all("SELECT name FROM migrations"), [{ name: "0001_notes" }]);
  db.close();
});

Deno.test("migrate() refuses a database of a newer version", () => {
  const db = openStateDatabase(":memory:");
  migrate(db, [notes, { name: "0099_future", sql: "CREATE TABLE future (id TEXT)" }]);
  throws(() => migrate(db, [notes]), /newer version \(it has 0099_future\)/);
  db.close();
});

Deno.test("migrate() refuses a database from before the first release", () => {
  const db = openStateDatabase(":memory:");
  migrate(db, [{ name: "0001_ce_users", sql: "CREATE TABLE users (id TEXT)" }]);
  throws(() => migrate(db, [notes]), /before the first release .* move it away/);
  db.close();
});

for (
  const [folder, migrations] of [["state", stateMigrations], [
    "metrics",
    metricsMigrations,
  ]] as const
) {
  Deno.test(`the migrations in ${folder}/ have the names of their files, in order`, () => {
    const directory = new URL(`../../db/migrations/${folder}/`, import.meta.url);
    const files = [...Deno.readDirSync(directory)].map(({ name }) => name.replace(".ts", ""));
    deepEqual(
      migrations.map(({ name }) => name),
      files.filter((name) => name !== "mod").sort(),
    );
  });
}
