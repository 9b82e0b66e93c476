import { equal, match, rejects } from "node:assert/strict";
import { openStateDatabase } from "../../../db/database.ts";
import { openBackupDownload } from "../../../services/backup/download.ts";
import { removeInterruptedDownloads } from "../../../services/backup/files.ts";
import { silentLog } from "../../../services/log.ts";
import { createLimiters } from "../../../services/access/limiters.ts";
import { temporaryDirectory } from "../../helpers/command.ts";
import { testConfig } from "../../helpers/test_app.ts";

const depsOf = (dataDir: string) => ({
  config: { ...testConfig(), dataDir },
  limiters: createLimiters(),
  log: silentLog,
  now: () => new Date("2026-01-01T12:00:00Z"),
});

Deno.test("one backup is downloaded at a time, until its stream has ended", async () => {
  using directory = temporaryDirectory();
  const db = openStateDatabase(`${directory.path}/state.sqlite`);
  try {
    db.run("CREATE TABLE t (x INTEGER) STRICT");
    const deps = depsOf(directory.path);
    const first = await openBackupDownload(deps);
    await rejects(openBackupDownload(deps), { code: "conflict" });
    await first.body.cancel();
    const second = await openBackupDownload(deps);
    equal((await new Response(second.body).bytes()).length, second.size);
    await (await openBackupDownload(deps)).body.cancel();
  } finally {
    db.close();
  }
});

Deno.test("a backup of a damaged database is refused, and leaves no copy", async () => {
  using directory = temporaryDirectory();
  const deps = depsOf(directory.path);
  await rejects(openBackupDownload(deps), { code: "unavailable" });
  Deno.writeTextFileSync(`${directory.path}/state.sqlite`, "not a database ".repeat(100));
  for (let attempt = 0; attempt < 2; attempt++) {
    await rejects(openBackupDownload(deps), (error: Error) => {
      match(error.message, /state\.sqlite cannot be copied/);
      return true;
    });
  }
  equal([...Deno.readDirSync(directory.path)].length, 1);
});

Deno.test("the start removes what an interrupted download left", () => {
  using directory = temporaryDirectory();
  Deno.mkdirSync(`${directory.path}/download-1`);
  Deno.writeTextFileSync(`${directory.path}/download-1/state.sqlite`, "");
  removeInterruptedDownloads(directory.path);
  equal([...Deno.readDirSync(directory.path)].length, 0);
});
