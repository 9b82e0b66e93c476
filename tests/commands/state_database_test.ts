import { deepEqual, equal, throws } from "node:assert/strict";
import { lockDirectory } from "../../commands/data_directory.ts";
import { openStateBeside } from "../../commands/state_database.ts";
import { openStateDatabase } from "../../db/database.ts";
import { migrate, pendingMigrations } from "../../db/migrate.ts";
import { stateMigrations } from "../../db/migrations/state/mod.ts";
import { temporaryDirectory } from "../helpers/command.ts";

/** A directory whose database is one version behind. */
function outdated(): { path: string } & Disposable {
  const directory = temporaryDirectory();
  const db = openStateDatabase(`${directory.path}/state.sqlite`);
  migrate(db, stateMigrations.slice(0, -1));
  db.close();
  return directory;
}

Deno.test("a database of an older version is migrated while the service is stopped", () => {
  using directory = outdated();
  const db = openStateBeside(directory.path);
  deepEqual(pendingMigrations(db, stateMigrations), []);
  db.close();
  lockDirectory(directory.path).close();
});

Deno.test("a database opens while the service writes, and the command waits longer than it does", () => {
  using directory = temporaryDirectory();
  const service = openStateDatabase(`${directory.path}/state.sqlite`);
  migrate(service, stateMigrations);
  const db = service.transaction(() => openStateBeside(directory.path));
  deepEqual(db.get("PRAGMA busy_timeout"), { timeout: 60_000 });
  deepEqual(db.get("PRAGMA auto_vacuum"), { auto_vacuum: 2 });
  db.close();
  service.close();
});

Deno.test("a database of an older version is not migrated while that version runs", () => {
  using directory = outdated();
  {
    using _running = lockDirectory(directory.path);
    throws(() => openStateBeside(directory.path), /it is of an older version; stop it first/);
  }
  const db = openStateDatabase(`${directory.path}/state.sqlite`);
  equal(pendingMigrations(db, stateMigrations).length, 1);
  db.close();
});

Deno.test("a database of a newer version is not changed", () => {
  using directory = outdated();
  const db = openStateBeside(directory.path);
  db.run("INSERT INTO migrations (name) VALUES ('9999_future')");
  db.close();
  throws(() => openStateBeside(directory.path), /written by a newer version/);
});

Deno.test("a database is not opened during a restore", () => {
  using directory = outdated();
  Deno.writeTextFileSync(`${directory.path}/restore.json`, "{}");
  throws(() => openStateBeside(directory.path), /is in the middle of a restore/);
});
