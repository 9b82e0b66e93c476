import { deepEqual, equal } from "node:assert/strict";
import { hooksOf } from "../../../services/snapshots/hooks.ts";

const hooksFor = (paths: string) =>
  hooksOf({ image: "app:1", labels: { "longshore.backup.sqlite": paths } });

async function run(program: string, args: string[], input = ""): Promise<string> {
  const process = new Deno.Command(program, { args, stdin: "piped", stdout: "piped" }).spawn();
  const writer = process.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { code, stdout } = await process.output();
  equal(code, 0);
  return new TextDecoder().decode(stdout);
}

Deno.test("a dump of SQLite has the versions that programs keep in the database", async () => {
  const directory = await Deno.makeTempDir({ prefix: "longshore-test-sqlite-" });
  try {
    const path = `${directory}/it's.db`;
    const values = "PRAGMA user_version; PRAGMA application_id; SELECT word FROM words";
    const schema = "CREATE TABLE words (word TEXT); INSERT INTO words VALUES ('kept')";
    await run("sqlite3", [path, `PRAGMA user_version=7; PRAGMA application_id=-99; ${schema}`]);
    const [dump] = hooksFor(path)!.dumps!;
    const text = await run("sh", ["-c", dump!.command]);
    equal(text.endsWith(dump!.end!), true, text);
    const copy = `${directory}/copy.db`;
    await run("sqlite3", ["-bail", copy], text);
    equal(await run("sqlite3", [copy, values]), "7\n-99\nkept\n");
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("each SQLite database is dumped once, into a file of its own", () => {
  const files = (paths: string) => hooksFor(paths)?.dumps?.map(({ file }) => file);
  deepEqual(files("/data/a.db, /data-a.db,/data/a.db"), ["data-a.db.sql", "data-a.db-2.sql"]);
  equal(hooksFor(" , ,"), undefined);
});
