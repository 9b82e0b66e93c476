import { equal, match } from "node:assert/strict";
import { copyDatabase } from "../../../db/backup.ts";
import { openMetricsDatabase, openStateDatabase } from "../../../db/database.ts";
import { migrate } from "../../../db/migrate.ts";
import { metricsMigrations } from "../../../db/migrations/metrics/mod.ts";
import { stateMigrations } from "../../../db/migrations/state/mod.ts";
import { selectHead } from "../../../db/enterprise/compliance_logs.ts";
import { contentOf, runCommand, runHere, temporaryDirectory } from "../../helpers/command.ts";
import { toEntry } from "../../../services/enterprise/compliance/hash_chain.ts";
import { fillLog, makeStateFile, openUnguarded, rowAt } from "../../helpers/compliance.ts";
import { startLongshore } from "../../helpers/longshore.ts";

const verify = (args: string[], env = {}) => runHere(["compliance", "verify", ...args], { env });

Deno.test("compliance verify says whether a copy of the file was changed", async () => {
  using directory = temporaryDirectory();
  const path = `${directory.path}/copy.sqlite`;
  const db = makeStateFile(path);
  fillLog(db, 100);
  const { hash } = selectHead(db)!;
  db.close();
  const before = contentOf(directory.path);
  const good = await verify([path]);
  equal(
    good.stdout,
    "Verified          yes\nEntries checked   100\nEntries ever      100\n" +
      `Newest entry      2026-01-01T00:01:39.000Z\nHead hash         ${hash}\n`,
  );
  equal(good.code, 0);
  equal(good.stderr, "");
  // Nothing was written, and nothing is left beside the file.
  equal(JSON.stringify(contentOf(directory.path)), JSON.stringify(before));

  const unguarded = openUnguarded(path);
  const { id } = rowAt(unguarded, 42);
  unguarded.exec("UPDATE compliance_logs SET detail = 'harmless' WHERE sequence = 42");
  unguarded.close();
  const broken = await verify([path]);
  equal(broken.code, 1);
  match(broken.stdout, /^Verified {10}NO\nEntries checked {3}41\n/);
  match(
    broken.stdout,
    new RegExp(`\nBroken at {9}${id}\nReason {12}Entry ${id} was changed: .*\n$`),
  );

  const evil = openStateDatabase(path);
  evil.exec("UPDATE compliance_logs SET id = 'a' || char(27) || '[2J' WHERE sequence = 42");
  evil.close();
  match((await verify([path])).stdout, /\nBroken at {9}a\?\[2J\n/);
});

Deno.test("compliance verify reads an export and compares its head with a stored hash", async () => {
  using directory = temporaryDirectory();
  const path = `${directory.path}/export.jsonl`;
  const db = makeStateFile(`${directory.path}/state.sqlite`);
  fillLog(db, 20);
  const { hash } = selectHead(db)!;
  const lines = Array.from({ length: 20 }, (_, n) => JSON.stringify(toEntry(rowAt(db, n + 1))));
  db.close();
  Deno.writeTextFileSync(path, lines.join("\n"));

  const good = await verify([path, "--head", hash]);
  equal(
    good.stdout,
    "Verified          yes\nEntries checked   20\n" +
      `Newest entry      2026-01-01T00:00:19.000Z\nHead hash         ${hash}\n`,
  );
  equal(good.stderr, "The file contains the whole log up to that entry.\n");
  equal(good.code, 0);

  Deno.writeTextFileSync(path, lines.slice(0, 15).join("\n"));
  const cut = await verify([path]);
  equal(cut.code, 0);
  match(cut.stderr, /^To detect a missing end, give the hash of the last entry with --head\.\n$/);
  const compared = await verify([path, "--head", hash]);
  equal(compared.code, 1);
  match(compared.stdout, /\nReason {12}The log does not end with the given head: expected sha256:/);

  Deno.writeTextFileSync(path, lines.filter((_, n) => n !== 7).join("\n"));
  const broken = await verify([path]);
  equal(broken.code, 1);
  match(broken.stdout, /^Verified {10}NO\nEntries checked {3}7\n/);

  equal((await verify([`${directory.path}/state.sqlite`, "--head", hash])).code, 0);
  equal((await verify([`${directory.path}/state.sqlite`, "--head", "sha256:0"])).code, 1);
});

Deno.test("compliance verify reads the write-ahead log of a copy and writes no files", async () => {
  using directory = temporaryDirectory();
  using temporary = temporaryDirectory();
  const path = `${directory.path}/copy #1?%.sqlite`;
  const db = makeStateFile(`${temporary.path}/state.sqlite`);
  fillLog(db, 100);
  for (const suffix of ["", "-wal"]) {
    Deno.copyFileSync(`${temporary.path}/state.sqlite${suffix}`, path + suffix);
    Deno.chmodSync(path + suffix, 0o400);
  }
  db.close();
  const before = JSON.stringify(contentOf(directory.path));
  using temporaries = temporaryDirectory();
  const { code, stdout } = await runCommand(["compliance", "verify", path], {
    env: { TMPDIR: temporaries.path },
  });
  match(stdout, /^Verified {10}yes\nEntries checked {3}100\n/);
  equal(code, 0);
  equal(JSON.stringify(contentOf(directory.path)), before);
  equal(JSON.stringify(contentOf(temporaries.path)), "{}");

  // A missing or unwritable directory for the copy is reported.
  const refused = await runCommand(["compliance", "verify", path], {
    env: { TMPDIR: `${temporaries.path}/none` },
  });
  equal(refused.code, 1);
  match(refused.stderr, /^longshore: [^\n]* it cannot be copied to TMPDIR [^\n]*\n$/);
});

Deno.test("compliance verify works beside a running service, and after one that was killed", async () => {
  await using longshore = await startLongshore();
  const { dataDir } = longshore;
  equal((await longshore.call("POST", "/api/edition/trial")).status, 200);
  for (let n = 0; n < 5; n++) await longshore.call("POST", "/api/maintenance", { enabled: false });
  const env = { DATA_DIR: dataDir };
  const running = await verify([], env);
  equal(running.code, 0, running.stderr);
  // The five entries, and those of the trial.
  match(running.stdout, /^Verified {10}yes\nEntries checked {3}[56]\n/);
  equal((await verify([`${dataDir}/state.sqlite`])).stdout, running.stdout);

  // A copy of the running service's files.
  using directory = temporaryDirectory();
  await copyDatabase(`${dataDir}/state.sqlite`, `${directory.path}/copy.sqlite`);
  equal((await verify([`${directory.path}/copy.sqlite`])).stdout, running.stdout);

  await longshore.kill9();
  equal((await verify([], env)).stdout, running.stdout);
  const headHash = /Head hash +(\S+)/.exec(running.stdout)![1];
  match(headHash!, /^sha256:[0-9a-f]{64}$/);
});

Deno.test("compliance verify exits with 2 for wrong usage and with 1 for files that it cannot verify", async () => {
  using directory = temporaryDirectory();
  const { path } = directory;
  Deno.writeTextFileSync(`${path}/junk`, "junk".repeat(1_000));
  Deno.writeTextFileSync(`${path}/empty`, "");
  const old = openStateDatabase(`${path}/old`);
  old.exec("CREATE TABLE migrations (name TEXT PRIMARY KEY, applied_at TEXT NOT NULL) STRICT");
  old.run("INSERT INTO migrations VALUES (:name, '')", { name: stateMigrations[0]!.name });
  old.close();
  const metrics = openMetricsDatabase(`${path}/metrics.sqlite`);
  migrate(metrics, metricsMigrations);
  metrics.close();
  for (
    const [name, sql] of [
      ["foreign", "CREATE TABLE notes (text TEXT)"],
      ["framework", "CREATE TABLE migrations (id INTEGER, migration TEXT)"],
      ["view", "CREATE VIEW migrations AS SELECT 1 AS name"],
    ] as const
  ) {
    const foreign = openMetricsDatabase(`${path}/${name}`);
    foreign.exec(sql);
    foreign.close();
  }
  const isNone = (name: string) => ({
    args: ["verify", `${path}/${name}`],
    code: 1,
    says: new RegExp(
      `^longshore: \\S+/${name} is not Longshore's state database \\(state.sqlite\\)\n$`,
    ),
  });
  for (
    const { args, code, says } of [
      { args: ["verify", `${path}/none`], code: 1, says: /none cannot be read: it is missing/ },
      {
        args: ["verify", `${path}/empty`],
        code: 1,
        says: /cannot be read: it is missing or empty/,
      },
      { args: ["verify", `${path}/junk`], code: 1, says: /junk cannot be read: file is not a/ },
      { args: ["verify", `${path}/old`], code: 1, says: /older version, which had no compliance/ },
      ...["metrics.sqlite", "foreign", "framework", "view"].map(isNone),
      { args: ["verify"], code: 1, says: /has no state\.sqlite/ },
      { args: ["verify", "a", "b"], code: 2, says: /takes no more arguments/ },
      { args: ["verify", "--fast"], code: 2, says: /Unknown option/ },
      { args: [], code: 2, says: /needs verify/ },
      { args: ["erase"], code: 2, says: /needs verify, not erase/ },
    ]
  ) {
    const outcome = await runHere(["compliance", ...args], { env: { DATA_DIR: path } });
    equal(outcome.code, code, args.join(" "));
    equal(outcome.stdout, "");
    match(outcome.stderr, /^longshore: [^\n]+\n$/);
    match(outcome.stderr, says);
  }
  const help = await runHere(["compliance", "--help"]);
  match(help.stdout, /Usage: longshore compliance verify \[FILE\]/);
});
