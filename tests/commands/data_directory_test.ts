import { deepEqual, equal, match, ok } from "node:assert/strict";
import { contentOf, runCommand, temporaryDirectory } from "../helpers/command.ts";
import { startLongshore } from "../helpers/longshore.ts";

const environment = (dataDir: string) => ({
  DATA_DIR: dataDir,
  HOST: "127.0.0.1",
  PORT: "0",
  DOCKER_HOST: `unix://${dataDir}/no-engine.sock`,
});

/** A data directory that a service has used and left in order. */
async function usedDirectory(): Promise<{ path: string } & Disposable> {
  const directory = temporaryDirectory();
  await using longshore = await startLongshore({ dataDir: directory.path });
  equal(await longshore.stop(), 0);
  return directory;
}

Deno.test("a second start on the same DATA_DIR is refused and does not disturb the first", async () => {
  await using longshore = await startLongshore();
  const { code, stdout, stderr } = await runCommand(["serve"], {
    env: environment(longshore.dataDir),
  });
  deepEqual([code, stdout], [1, ""]);
  equal(stderr, `longshore: DATA_DIR=${longshore.dataDir} is in use by another Longshore\n`);
  equal((await longshore.call("GET", "/api/maintenance")).status, 200);
});

Deno.test("only the service's user can read DATA_DIR", async () => {
  using directory = temporaryDirectory();
  const dataDir = `${directory.path}/new`;
  await using longshore = await startLongshore({ dataDir });
  equal(Deno.statSync(dataDir).mode! & 0o777, 0o700);
  for (const { name } of Deno.readDirSync(dataDir)) {
    equal(Deno.statSync(`${dataDir}/${name}`).mode! & 0o077, 0, name);
  }
  equal(await longshore.stop(), 0);
});

Deno.test("the program has only its databases and its lock open in DATA_DIR", async () => {
  // It writes its keys at the start, and syncs the directory after each.
  await using longshore = await startLongshore({ env: { API_KEY: "", AUTH_MODE: "key" } });
  const { dataDir, pid } = longshore;
  const open = [...Deno.readDirSync(`/proc/${pid}/fd`)]
    .map(({ name }) => linkTarget(`/proc/${pid}/fd/${name}`))
    .filter((path) => path.startsWith(dataDir));
  deepEqual(open.map((path) => path.slice(dataDir.length)).sort(), [
    "/longshore.lock",
    ...["/metrics.sqlite", "/metrics.sqlite-shm", "/metrics.sqlite-wal"],
    ...["/state.sqlite", "/state.sqlite-shm", "/state.sqlite-wal"],
  ]);
});

/** Descriptors may be closed meanwhile. */
function linkTarget(path: string): string {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return "";
  }
}

for (
  const { what, spoil, says } of [
    { what: "empty", spoil: () => new Uint8Array(), says: /is empty, not a database/ },
    { what: "no database", spoil: (b: Uint8Array) => b.fill(65), says: /cannot be used/ },
    {
      what: "truncated",
      spoil: (b: Uint8Array) => b.subarray(0, b.length / 2),
      says: /cannot be used|is damaged/,
    },
  ]
) {
  Deno.test(`a state database that is ${what} is refused and left unchanged`, async () => {
    using directory = await usedDirectory();
    const path = `${directory.path}/state.sqlite`;
    Deno.writeFileSync(path, spoil(Deno.readFileSync(path)));
    const before = contentOf(directory.path)["state.sqlite"];

    const { code, stderr } = await runCommand(["serve"], { env: environment(directory.path) });

    equal(code, 1);
    match(stderr.trim().split("\n").at(-1)!, says);
    match(stderr, /Restore a backup over it, or move .*state\.sqlite away/);
    ok(contentOf(directory.path)["state.sqlite"] === before);
  });
}

Deno.test("a damaged metrics database is replaced by an empty one, and kept", async () => {
  using directory = await usedDirectory();
  Deno.writeTextFileSync(`${directory.path}/metrics.sqlite`, "no database ".repeat(1_000));
  await using longshore = await startLongshore({ dataDir: directory.path });
  equal((await longshore.call("GET", "/readyz", undefined, { token: null })).status, 200);
  const aside = [...Deno.readDirSync(directory.path)].map(({ name }) => name)
    .find((name) => name.startsWith("metrics.sqlite.damaged-"))!;
  match(Deno.readTextFileSync(`${directory.path}/${aside}`), /^no database /);
  match(longshore.stderr(), /damaged metrics database replaced by an empty one/);
  equal(await longshore.stop(), 0);
});

Deno.test("the next start completes an interrupted restore", async () => {
  using directory = await usedDirectory();
  const { path } = directory;
  Deno.mkdirSync(`${path}/restore-1`);
  Deno.mkdirSync(`${path}/replaced-1`);
  const plan = {
    staged: "restore-1",
    replaced: "replaced-1",
    names: ["state.sqlite"],
    retired: ["metrics.sqlite"],
  };
  // The power went after the present database was moved away.
  Deno.copyFileSync(`${path}/state.sqlite`, `${path}/restore-1/state.sqlite`);
  Deno.renameSync(`${path}/state.sqlite`, `${path}/replaced-1/state.sqlite`);
  Deno.writeTextFileSync(`${path}/restore.json`, JSON.stringify(plan));

  await using longshore = await startLongshore({ dataDir: path });

  match(longshore.stderr(), /interrupted restore finished/);
  equal((await longshore.call("GET", "/api/maintenance")).status, 200);
  deepEqual([...Deno.readDirSync(`${path}/replaced-1`)].map(({ name }) => name).sort(), [
    "metrics.sqlite",
    "state.sqlite",
  ]);
  equal(await longshore.stop(), 0);
});
