import { deepEqual, equal } from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import type { Entries } from "../../../../services/backup/restic/entry.ts";
import { createSqliteWatch } from "../../../../services/backup/trees/sqlite.ts";
import { temporaryDirectory } from "../../../helpers/command.ts";
import { collect, fileEntry } from "../../../helpers/repository.ts";

/** Bytes of a database that SQLite has written. */
async function databaseBytes(): Promise<Uint8Array> {
  using directory = temporaryDirectory();
  const path = `${directory.path}/app.db`;
  using db = new DatabaseSync(path);
  db.exec("CREATE TABLE items (name TEXT)");
  return await Deno.readFile(path);
}

/** Files whose content comes in pieces of a few bytes. */
async function* inPieces(files: Record<string, Uint8Array>): Entries {
  for (const [path, bytes] of Object.entries(files)) {
    const { bytes: _, ...entry } = fileEntry(path, bytes);
    const content = (async function* () {
      for (let at = 0; at < bytes.length; at += 7) yield await bytes.subarray(at, at + 7);
    })();
    yield { ...entry, content };
  }
}

const PARTS = [{ path: "/volumes/shop" }, { path: "/volumes/shop_data" }, { path: "/volumes/web" }];

Deno.test("SQLite databases are found by their first bytes, and their content stays the same", async () => {
  const database = await databaseBytes();
  const late = new Uint8Array([0, ...database]);
  const watch = createSqliteWatch(PARTS);
  const read = await collect(watch.watch(inPieces({
    "dumps/app.db": database,
    "volumes/shop/late": late,
    "volumes/shop_data/deep/app.db": database,
    "volumes/web/short": database.subarray(0, 15),
  })));
  deepEqual(read.map(({ bytes }) => bytes), [database, late, database, database.subarray(0, 15)]);
  deepEqual(watch.parts(), ["/volumes/shop_data"]);
});

Deno.test("a file that is not read again counts as what the last snapshot has found", async () => {
  const database = await databaseBytes();
  const watch = createSqliteWatch(PARTS, ["/volumes/shop"]);
  const files = { "volumes/shop/app.db": database, "volumes/web/app.db": database };
  let count = 0;
  for await (const _ of watch.watch(inPieces(files))) count++;
  equal(count, 2);
  deepEqual(watch.parts(), ["/volumes/shop"]);
});
