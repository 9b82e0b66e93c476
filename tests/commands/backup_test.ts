import { deepEqual, equal, match, ok } from "node:assert/strict";
import { openStateDatabase, type StateDatabase } from "../../db/database.ts";
import { deleteFleetHost, insertFleetHost, selectFleetHosts } from "../../db/fleet_hosts.ts";
import {
  deleteFleetInvite,
  insertFleetInvite,
  selectFleetInvites,
  useFleetInvite,
} from "../../db/fleet_invites.ts";
import { insertFleetKeyIfMissing } from "../../db/fleet_keys.ts";
import { insertJob, type Job, selectJob, selectUnfinishedJobs, updateJob } from "../../db/jobs.ts";
import { writeBackupFile } from "../../services/backup/archive.ts";
import { startTrial } from "../../services/access/license/licenses.ts";
import { createLicense } from "../../services/access/license/license.ts";
import { silentLog } from "../../services/log.ts";
import { hostOf, inviteOf } from "../helpers/fleet_rows.ts";
import { contentOf, runCommand, runHere, temporaryDirectory } from "../helpers/command.ts";
import { LEFT_API_KEY, LEFT_REASON, type LeftData, leftData } from "../helpers/left_data.ts";
import { licenseKeyFor, writeLicenseKeys } from "../helpers/licenses.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { until } from "../helpers/until.ts";

const API_KEY = LEFT_API_KEY;
const env = { API_KEY };

const setReason = (longshore: Longshore, reason: string) =>
  longshore.call("POST", "/api/maintenance", { enabled: true, reason });

async function reasonIn(longshore: Longshore): Promise<string> {
  return (await longshore.call("GET", "/api/maintenance")).body.reason;
}

const run = (dataDir: string, ...args: string[]) => runHere(args, { env: { DATA_DIR: dataDir } });

async function backup(dataDir: string, file: string): Promise<void> {
  const { code, stderr } = await run(dataDir, "backup", file);
  equal(code, 0, stderr);
}

/** The same as {@linkcode backup}, by the API. */
async function download({ baseUrl, token, dataDir }: Longshore, file: string): Promise<void> {
  const response = await fetch(`${baseUrl}/api/backup`, {
    method: "POST",
    headers: { authorization: `Bearer ${await token()}` },
  });
  equal(response.status, 200);
  const archive = await response.bytes();
  equal(String(archive.length), response.headers.get("content-length"));
  Deno.writeFileSync(file, archive, { mode: 0o600 });
  deepEqual([...Deno.readDirSync(dataDir)].filter(({ isDirectory }) => isDirectory), []);
}

Deno.test("a backup taken under write load restores to a consistent state", async () => {
  using directory = temporaryDirectory();
  const dataDir = `${directory.path}/data`;
  const backups: { file: string; acknowledged: number }[] = [];
  let refreshToken: string;
  let written = 0;
  {
    await using longshore = await startLongshore({ dataDir, env });
    refreshToken = (await longshore.call("POST", "/auth/token", { apiKey: API_KEY })).body
      .refreshToken;
    let more = true;
    const writing = (async () => {
      while (more) equal((await setReason(longshore, `${written + 1}`)).status, 200), written++;
    })();
    const loggingIn = (async () => {
      while (more) await longshore.call("POST", "/auth/token", { apiKey: API_KEY });
    })();
    for (let n = 0; n < 3; n++) {
      const target = written + 50;
      await until("it is written to", () => written > target);
      const file = `${directory.path}/${n}.tar`;
      const acknowledged = written;
      if (n === 2) {
        await download(longshore, file);
      } else {
        await backup(dataDir, file);
        ok(written > acknowledged, "writes went on meanwhile");
      }
      backups.push({ file, acknowledged });
    }
    more = false;
    await Promise.all([writing, loggingIn]);
    await longshore.kill9();
  }

  for (const { file, acknowledged } of backups) {
    const { code, stderr } = await run(dataDir, "restore", file);
    equal(code, 0, stderr);
    const db = openStateDatabase(`${dataDir}/state.sqlite`);
    deepEqual(db.all("PRAGMA integrity_check"), [{ integrity_check: "ok" }]);
    const [audited] = db.all<{ n: number }>(
      "SELECT count(*) AS n FROM audit_entries WHERE action = 'POST /api/maintenance'",
    );
    db.close();

    await using longshore = await startLongshore({ dataDir, env });
    const reason = Number(await reasonIn(longshore));
    // The value is stored first, its audit entry after it: one moment shows no more than that.
    ok([reason, reason - 1].includes(audited!.n), `${reason} with ${audited!.n} entries`);
    ok(reason >= acknowledged && reason <= written);
    if (file === backups.at(-1)!.file) {
      // The keys came back with the rest: what was signed with them is still good.
      equal((await longshore.call("POST", "/auth/refresh", { refreshToken })).status, 200);
    }
    equal(await longshore.stop(), 0);
  }
});

Deno.test("backup and restore leave no temporary files and keep the replaced files", async () => {
  using place = await leftData();
  const before = contentOf(place.dataDir);
  const file = `${place.path}/b.tar`;

  await backup(place.dataDir, file);
  deepEqual(contentOf(place.dataDir), before);
  equal(Deno.statSync(file).mode! & 0o777, 0o600);
  deepEqual([...Deno.readDirSync(place.path)].map(({ name }) => name).sort(), ["b.tar", "data"]);

  const left = `${place.dataDir}/state.sqlite-wal`;
  Deno.writeTextFileSync(left, "what a crash left", { mode: 0o600 });
  const { code, stdout } = await run(place.dataDir, "restore", file);
  equal(code, 0);
  match(stdout, /^Restored state\.sqlite, metrics\.sqlite, jwt\.secret, secret\.key as of /);
  const after = contentOf(place.dataDir);
  const kept = Object.keys(after).filter((name) => name.startsWith("replaced-"));
  deepEqual(kept.map((name) => name.split("/")[1]).sort(), [
    ...["jwt.secret", "metrics.sqlite", "secret.key", "state.sqlite", "state.sqlite-wal"],
  ]);
  match(kept[0]!, /^replaced-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\//);
  for (const name of kept.filter((name) => !name.endsWith("-wal"))) {
    ok(after[name] === before[name.split("/")[1]!], name);
  }
  deepEqual(
    Object.keys(after).filter((name) => !name.includes("/")).sort(),
    Object.keys(before).sort(),
  );
  for (const name of Object.keys(after)) {
    equal(Deno.statSync(`${place.dataDir}/${name}`).mode! & 0o077, 0, name);
  }
});

Deno.test("a backup restores to a new host", async () => {
  using place = await leftData();
  const dataDir = `${place.path}/elsewhere/data`;
  equal((await run(dataDir, "restore", place.backup)).code, 0);
  await using longshore = await startLongshore({ dataDir, env });
  equal(await reasonIn(longshore), LEFT_REASON);
  equal(await longshore.stop(), 0);
});

Deno.test("a restore replaces a damaged state database", async () => {
  using place = await leftData();
  Deno.writeTextFileSync(`${place.dataDir}/state.sqlite`, "");
  equal((await run(place.dataDir, "restore", place.backup)).code, 0);
  await using longshore = await startLongshore({ dataDir: place.dataDir, env });
  equal(await reasonIn(longshore), LEFT_REASON);
  equal(await longshore.stop(), 0);
});

Deno.test("a restore is refused while the service runs and does not disturb it", async () => {
  using place = await leftData();
  await using longshore = await startLongshore({ dataDir: place.dataDir, env });
  const { code, stderr } = await run(place.dataDir, "restore", place.backup);
  equal(code, 1);
  equal(
    stderr,
    `longshore: DATA_DIR=${place.dataDir} is in use by another Longshore; stop it before a restore\n`,
  );
  equal(await reasonIn(longshore), LEFT_REASON);
  equal(await longshore.stop(), 0);
});

/** The files of a backup, unpacked; packed again by `pack`, with sums that fit. */
async function unpacked(place: LeftData) {
  const directory = `${place.path}/unpacked`;
  Deno.mkdirSync(directory);
  const { success } = await new Deno.Command("tar", {
    args: ["-xf", place.backup, "-C", directory],
  }).output();
  ok(success);
  return {
    directory,
    async pack(names = ["state.sqlite", "metrics.sqlite", "jwt.secret", "secret.key"]) {
      const sources = names.map((name) => ({ name, file: Deno.openSync(`${directory}/${name}`) }));
      await writeBackupFile(`${place.path}/bad.tar`, sources, {
        createdAt: new Date(),
        signal: new AbortController().signal,
      });
      for (const { file } of sources) file.close();
    },
  };
}

for (
  const { what, says, make } of [
    {
      what: "a schema of a newer version",
      says: /was written by a newer version \(it has 9999_future\)/,
      make: async ({ directory, pack }: Awaited<ReturnType<typeof unpacked>>) => {
        const db = openStateDatabase(`${directory}/state.sqlite`);
        db.run("INSERT INTO migrations (name) VALUES ('9999_future')");
        db.close();
        await pack();
      },
    },
    {
      what: "a damaged page, and sums that fit",
      says: /state\.sqlite is damaged|malformed/,
      make: async ({ directory, pack }: Awaited<ReturnType<typeof unpacked>>) => {
        const bytes = Deno.readFileSync(`${directory}/state.sqlite`);
        bytes.fill(0xff, bytes.length - 3 * 4_096);
        Deno.writeFileSync(`${directory}/state.sqlite`, bytes);
        await pack();
      },
    },
    {
      what: "a database of another program",
      says: /not a database of this program/,
      make: async ({ directory, pack }: Awaited<ReturnType<typeof unpacked>>) => {
        Deno.removeSync(`${directory}/state.sqlite`);
        const db = openStateDatabase(`${directory}/state.sqlite`);
        db.exec("CREATE TABLE users (id TEXT)");
        db.close();
        await pack();
      },
    },
    {
      what: "metrics in the place of the state",
      says: /cannot be restored/,
      make: async ({ directory, pack }: Awaited<ReturnType<typeof unpacked>>) => {
        Deno.copyFileSync(`${directory}/metrics.sqlite`, `${directory}/state.sqlite`);
        const db = openStateDatabase(`${directory}/state.sqlite`);
        db.run("INSERT INTO migrations (name) VALUES ('9999_metrics')");
        db.close();
        await pack();
      },
    },
    {
      what: "no state database",
      says: /it has no state\.sqlite/,
      make: async ({ pack }: Awaited<ReturnType<typeof unpacked>>) => {
        await pack(["metrics.sqlite", "jwt.secret"]);
      },
    },
  ]
) {
  Deno.test(`a backup with ${what} is refused and the old data is unchanged`, async () => {
    using place = await leftData();
    await make(await unpacked(place));
    const before = contentOf(place.dataDir);

    const { code, stdout, stderr } = await run(place.dataDir, "restore", `${place.path}/bad.tar`);

    deepEqual([code, stdout], [1, ""]);
    match(stderr, /^longshore: [^\n]+; nothing was changed\n$/);
    match(stderr, says);
    deepEqual(contentOf(place.dataDir), before);
  });
}

Deno.test("restore refuses damaged, truncated, foreign and missing files and changes nothing", async () => {
  using place = await leftData();
  const file = `${place.path}/b.tar`;
  await backup(place.dataDir, file);
  const whole = Deno.readFileSync(file);
  const before = contentOf(place.dataDir);
  const changed = whole.slice();
  changed[Math.floor(whole.length / 2)]! ^= 0x01;
  for (
    const { bytes, says } of [
      { bytes: changed, says: /b\.tar is damaged: / },
      { bytes: whole.subarray(0, whole.length / 2), says: /b\.tar is truncated/ },
      { bytes: new Uint8Array(10_000).fill(66), says: /b\.tar is not a Longshore backup/ },
      { bytes: new Uint8Array(), says: /b\.tar is not a Longshore backup/ },
    ]
  ) {
    Deno.writeFileSync(file, bytes);
    const { code, stderr } = await run(place.dataDir, "restore", file);
    equal(code, 1);
    match(stderr, says);
    deepEqual(contentOf(place.dataDir), before);
  }
  for (const name of ["none.tar", "data"]) {
    const { code, stderr } = await run(place.dataDir, "restore", `${place.path}/${name}`);
    equal(code, 1);
    match(stderr, /^longshore: \S+ (cannot be read: |exists and is not a regular file)[^\n]*\n$/);
  }
});

Deno.test("a restore into a new directory does not report replaced files", async () => {
  using place = await leftData();

  const { code, stdout } = await run(`${place.path}/new`, "restore", place.backup);

  equal(code, 0);
  match(stdout, /^Restored [^\n]+\n$/);
  const { "longshore.lock": _, ...restored } = contentOf(`${place.path}/new`);
  deepEqual(Object.keys(restored).sort(), [
    ...["jwt.secret", "metrics.sqlite", "secret.key", "state.sqlite"],
  ]);
});

Deno.test("an existing file is replaced only with --force, and a file of the service never", async () => {
  using place = await leftData();
  const file = `${place.path}/b.tar`;
  Deno.writeTextFileSync(file, "precious");
  const refused = await run(place.dataDir, "backup", file);
  equal(refused.code, 1);
  match(refused.stderr, /already exists; --force replaces it/);
  equal(Deno.readTextFileSync(file), "precious");
  equal((await run(place.dataDir, "backup", "--force", file)).code, 0);
  ok(Deno.statSync(file).size > 10_000);

  const before = contentOf(place.dataDir);
  Deno.symlinkSync(place.dataDir, `${place.path}/link`);
  for (
    const target of [
      ...[`${place.dataDir}/state.sqlite`, `${place.path}/link/jwt.secret`, place.dataDir],
      ...["/dev/null", `${place.path}/none/b.tar`, ""],
    ]
  ) {
    const { code, stderr } = await run(place.dataDir, "backup", target, "--force");
    equal(code, 1, target);
    match(stderr, /^longshore: [^\n]+\n$/);
  }
  deepEqual(contentOf(place.dataDir), before);
});

Deno.test("a damaged state database cannot be backed up; damaged metrics are left out", async () => {
  using place = await leftData();
  const file = `${place.path}/b.tar`;
  Deno.writeTextFileSync(`${place.dataDir}/metrics.sqlite`, "no database ".repeat(1_000));
  const partly = await run(place.dataDir, "backup", file);
  equal(partly.code, 0, partly.stderr);
  match(partly.stderr, /metrics\.sqlite is left out/);
  equal((await run(place.dataDir, "restore", file)).code, 0);

  const path = `${place.dataDir}/state.sqlite`;
  for (const content of ["", "no database ".repeat(1_000)]) {
    Deno.writeTextFileSync(path, content);
    const refused = await run(place.dataDir, "backup", `${file}.2`);
    equal(refused.code, 1);
    match(refused.stderr, /^longshore: \S+state\.sqlite [^\n]+\n$/);
  }
  Deno.removeSync(path);
  match((await run(place.dataDir, "backup", `${file}.2`)).stderr, /has no state\.sqlite/);
  deepEqual([...Deno.readDirSync(place.path)].map(({ name }) => name).sort(), ["b.tar", "data"]);
});

Deno.test(
  "the license is in the backup; a restore without one keeps the current license",
  async () => {
    using place = await leftData();
    const licenseFile = `${place.dataDir}/license.key`;
    await backup(place.dataDir, `${place.path}/without.tar`);
    const key = await licenseKeyFor();
    Deno.writeTextFileSync(licenseFile, key);
    await backup(place.dataDir, `${place.path}/with.tar`);

    equal((await run(place.dataDir, "restore", `${place.path}/without.tar`)).code, 0);
    equal(Deno.readTextFileSync(licenseFile), key);
    Deno.removeSync(licenseFile);
    equal((await run(place.dataDir, "restore", `${place.path}/with.tar`)).code, 0);
    const LICENSE_KEYS_FILE = writeLicenseKeys(place.path);
    await using longshore = await startLongshore({
      dataDir: place.dataDir,
      env: { ...env, LICENSE_KEYS_FILE },
    });
    equal((await longshore.call("GET", "/api/edition")).body.edition, "pro");
    equal(await longshore.stop(), 0);
  },
);

Deno.test("restoring a backup from before the trial does not allow a second trial", async () => {
  using place = await leftData();
  const db = openStateDatabase(`${place.dataDir}/state.sqlite`);
  const now = () => new Date("2020-01-01T00:00:00Z");
  startTrial({ counts: {}, db, license: createLicense(now), log: silentLog, now });
  db.close();

  equal((await run(place.dataDir, "restore", place.backup)).code, 0);

  await using longshore = await startLongshore({ dataDir: place.dataDir, env });
  const { status, body } = await longshore.call("POST", "/api/edition/trial");
  equal(status, 409);
  match(body.error, /started at 2020-01-01/);
  equal(await longshore.stop(), 0);
});

const jobOf = (id: string): Job => ({
  ...{ id, kind: "fleet.run", targetType: "host", target: id, stack: null, status: "running" },
  ...{ progress: null, steps: [], input: {}, error: null, result: null, createdBy: "key" },
  ...{ tokenId: null, createdAt: "2026-01-01T00:00:00.000Z", startedAt: null, endedAt: null },
});

Deno.test("a restore brings back no used invite, removed host or unfinished job of before", async () => {
  using place = await leftData();
  const opened = <Result>(work: (db: StateDatabase) => Result): Result => {
    const db = openStateDatabase(`${place.dataDir}/state.sqlite`);
    try {
      return work(db);
    } finally {
      db.close();
    }
  };
  opened((db) => {
    insertFleetKeyIfMissing(db, {
      ...{ purpose: "link", publicKey: "key", privateKey: "", createdAt: "" },
    });
    for (const id of ["used", "deleted", "open"]) insertFleetInvite(db, inviteOf(id));
    for (const id of ["host-1", "host-2"]) insertFleetHost(db, hostOf(id));
    for (const id of ["ended", "running", "swept"]) insertJob(db, jobOf(id));
  });
  const file = `${place.path}/yesterday.backup`;
  await backup(place.dataDir, file);
  opened((db) => {
    useFleetInvite(db, "used", "2026-01-01T00:00:00.000Z");
    deleteFleetInvite(db, "deleted");
    deleteFleetHost(db, "host-1");
    updateJob(db, "ended", { status: "succeeded", endedAt: "2026-01-02T00:00:00.000Z" });
    updateJob(db, "running", { progress: { current: 1, total: 2, message: "half" } });
    db.run("DELETE FROM jobs WHERE id = 'swept'");
  });

  const { code, stderr } = await run(place.dataDir, "restore", file);
  equal(code, 0, stderr);
  match(stderr, /removed from the fleet since then wait to be accepted: host-1$/m);
  opened((db) => {
    deepEqual(selectFleetInvites(db).map(({ id, uses }) => [id, uses]), [["open", 0], ["used", 1]]);
    deepEqual(selectFleetHosts(db).map(({ id, isPending }) => [id, isPending]), [
      ["host-1", true],
      ["host-2", false],
    ]);
    const unfinished = selectUnfinishedJobs(db).map(({ id, progress }) => [id, progress?.message]);
    deepEqual(unfinished, [["running", "half"]]);
    match(selectJob(db, "swept")!.error!, /does not go on after the restore/);
  });
});

Deno.test("an interrupted backup leaves no files", async () => {
  using place = await leftData();
  Deno.mkdirSync(`${place.path}/out`);
  // A signal comes too late for so little data: the program was asked to end before it began.
  const { code, stderr } = await runHere(["backup", `${place.path}/out/b.tar`], {
    env: { DATA_DIR: place.dataDir },
    signal: AbortSignal.abort(),
  });
  deepEqual([code, stderr], [1, "longshore: Interrupted; no backup was written\n"]);
  deepEqual([...Deno.readDirSync(`${place.path}/out`)], []);
});

/** Only root can give files to another user. */
const ignore = Deno.uid() !== 0;

Deno.test("files that root restores belong to the service's user", { ignore }, async () => {
  using place = await leftData();
  const file = `${place.path}/b.tar`;
  await belongToService(place, [[["backup", file]], [["restore", file]], [["user", "list"]]]);
});

Deno.test("a license that root installs belongs to the service's user", { ignore }, async () => {
  using place = await leftData();
  const LICENSE_KEYS_FILE = writeLicenseKeys(place.path);
  await belongToService(place, [[["license", "install", "-"], await licenseKeyFor()]], {
    LICENSE_KEYS_FILE,
  });
});

/** Runs commands (with their input) as root on a data directory of another user. */
async function belongToService(
  { path, dataDir }: { path: string; dataDir: string },
  commands: [args: string[], stdin?: string][],
  env: Record<string, string> = {},
): Promise<void> {
  const [uid, gid] = [65_534, 65_533];
  // As /var/lib: the owner of DATA_DIR reaches it.
  Deno.chmodSync(path, 0o755);
  for (const name of ["", "/state.sqlite", "/metrics.sqlite", "/jwt.secret", "/secret.key"]) {
    Deno.chownSync(dataDir + name, uid, gid);
  }
  Deno.removeSync(`${dataDir}/longshore.lock`);
  for (const [args, stdin = ""] of commands) {
    const { code } = await runCommand(args, { env: { ...env, DATA_DIR: dataDir }, stdin });
    equal(code, 0, args.join(" "));
  }
  for (const name of Object.keys(contentOf(dataDir))) {
    const info = Deno.statSync(`${dataDir}/${name}`);
    deepEqual([name, info.uid, info.gid], [name, uid, gid]);
  }
}
