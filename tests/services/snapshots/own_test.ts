import { deepEqual, equal, match } from "node:assert/strict";
import { openStateDatabase } from "../../../db/database.ts";
import { migrate } from "../../../db/migrate.ts";
import { stateMigrations } from "../../../db/migrations/state/mod.ts";
import { readBackupFile } from "../../../services/backup/archive.ts";
import { BACKED_UP } from "../../../services/backup/files.ts";
import { openTargetRepository } from "../../../services/backup/targets/open.ts";
import { OWN_FILE } from "../../../services/snapshots/own/content.ts";
import { createRunStarter } from "../../../services/automation/schedules/runs.ts";
import { runHere, temporaryDirectory } from "../../helpers/command.ts";
import { simulateContainers } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import {
  description,
  directoryEntry,
  entriesOf,
  fileEntry,
  PASSWORD,
  signal,
} from "../../helpers/repository.ts";
import { restic } from "../../helpers/restic.ts";
import { testApp } from "../../helpers/test_app.ts";
import { ended } from "../../helpers/test_stack.ts";

/** A service with data on a disk, and a target. */
async function serviceWithData() {
  await using stack = new AsyncDisposableStack();
  const fake = stack.use(fakeEngine(simulateContainers([])));
  const { path: dataDir } = stack.use(temporaryDirectory());
  migrate(
    stack.adopt(openStateDatabase(`${dataDir}/state.sqlite`), (db) => db.close()),
    stateMigrations,
  );
  Deno.writeTextFileSync(`${dataDir}/secret.key`, "a key");
  const app = stack.use(
    testApp({ engine: fake.engine, config: { dataDir }, now: "2026-01-01T12:00:00Z" }),
  );
  const { body: target } = await app.call("POST", "/api/backup/targets", {
    name: "NAS",
    password: PASSWORD,
  });
  const owned = stack.move();
  return {
    app,
    directory: target.location as string,
    snapshots: async () => (await app.call("GET", "/api/backup/snapshots")).body.snapshots,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** @returns Names and sizes of the files in an archive that `longshore restore` accepts. */
async function filesIn(archive: Uint8Array): Promise<[string, number][]> {
  using directory = temporaryDirectory();
  const path = `${directory.path}/longshore.backup`;
  Deno.writeFileSync(path, archive);
  using file = await Deno.open(path);
  const { entries } = await readBackupFile(file, path, directory.path, {
    names: BACKED_UP,
    signal,
  });
  return entries.map(({ name, size }) => [name, size]);
}

Deno.test("a backup of Longshore is stored at a target, and downloaded from it", async () => {
  await using service = await serviceWithData();
  const { app, directory } = service;
  const started = await app.call("POST", "/api/backup/own", {
    target: "NAS",
    note: "before the move",
  });
  equal(started.status, 202, started.body.error);
  const { status, result, error } = await ended(app, started.body.id);
  equal(status, "succeeded", error ?? "");
  const [view] = await service.snapshots();
  deepEqual(
    [view.id, view.size, view.note, view.reason, view.hasLongshore, view.volumes, view.isOwn],
    [result.snapshot, result.size, "before the move", "manual", true, [], true],
  );

  const own = `/api/backup/own/${view.id}/download`;
  const response = await app.fetch("POST", own);
  match(response.headers.get("content-disposition")!, /longshore-\d{4}-\d\d-\d\dT\d{6}Z\.backup/);
  const files = await filesIn(await response.bytes());
  deepEqual(files.map(([name]) => name), ["state.sqlite", "secret.key"]);

  await restic(directory, ["check", "--read-data"]);
  using restored = temporaryDirectory();
  await restic(directory, ["restore", "latest", "--target", restored.path]);
  const path = `${restored.path}/longshore/longshore.backup`;
  deepEqual(await filesIn(Deno.readFileSync(path)), files);
  equal(Deno.statSync(path).mode! & 0o777, 0o600);
});

Deno.test("a download that takes long does not delay a backup at a target", async () => {
  await using service = await serviceWithData();
  const { app } = service;
  const download = await app.fetch("POST", "/api/backup");
  equal(download.status, 200);
  const { body: { id } } = await app.call("POST", "/api/backup/own", { target: "NAS" });
  const { status, error } = await ended(app, id);
  equal(status, "succeeded", error ?? "");
  await download.body!.cancel();
});

Deno.test("a new host restores the backup of Longshore from the repository", async () => {
  await using service = await serviceWithData();
  const { app, directory } = service;
  using place = temporaryDirectory();
  const restore = async (password: string, ...args: string[]) => {
    const DATA_DIR = `${place.path}/data`;
    const { code, stdout, stderr } = await runHere(["restore", "--from", directory, ...args], {
      env: { DATA_DIR },
      stdin: `${password}\n`,
    });
    return { code, text: stdout + stderr };
  };
  match((await restore(PASSWORD)).text, /has no backup of Longshore; nothing was changed/);
  const { body: { id } } = await app.call("POST", "/api/backup/own", { target: "NAS" });
  const { result: { snapshot } } = await ended(app, id);
  match(
    (await restore("wrong")).text,
    /password does not open the repository.*nothing was changed/,
  );
  match((await restore(PASSWORD, "--host", "other")).text, /has no such backup/);
  const { code, text } = await restore(PASSWORD, "--snapshot", snapshot.slice(0, 8));
  equal(code, 0, text);
  match(text, new RegExp(`^Snapshot ${snapshot.slice(0, 8)} of ${app.deps.server.name}, 20`));
  equal(Deno.readTextFileSync(`${place.path}/data/secret.key`), "a key");

  using opened = await openTargetRepository(app.deps, undefined, signal);
  const entries = [directoryEntry("longshore"), fileEntry(OWN_FILE, new Uint8Array(1_000))];
  const options = { ...description, hostname: "other", paths: ["/longshore"] };
  await opened.repository.backup(entriesOf(entries), options, signal);
  match(
    (await restore(PASSWORD)).text,
    /several hosts: name one with --host or --snapshot: .*other \(last /,
  );
  match(
    (await restore(PASSWORD, "--host", "other")).text,
    /not a Longshore backup; nothing was changed/,
  );
  equal((await restore(PASSWORD, "--host", app.deps.server.name)).code, 0);
  equal((await runHere(["restore"])).code, 2);
});

Deno.test("no request for files, restore or other host gets a backup of Longshore", async () => {
  await using service = await serviceWithData();
  const { app } = service;
  await ended(app, (await app.call("POST", "/api/backup/own", { target: "NAS" })).body.id);
  const [{ id }] = await service.snapshots();
  const path = `/api/backup/snapshots/${id}`;
  const file = "path=/longshore/longshore.backup";
  for (const refused of [`${path}/files?path=/longshore`, `${path}/file?${file}`]) {
    equal((await app.call("GET", refused)).status, 403, refused);
  }
  const evasions = ["/", "//", "/./", "/volumes/../"].map((each) => `${each}longshore`)
    .flatMap((each) => [`${each}/longshore.backup`, `${each}//longshore.backup`]);
  for (const evasion of [...evasions, "/longshor%65/longshore.backup"]) {
    const query = new URLSearchParams({ path: evasion });
    match(`${(await app.call("GET", `${path}/file?${query}`)).status}`, /^40[34]$/, evasion);
  }
  equal((await app.call("GET", `${path}/archive`)).status, 403);
  for (const what of ["volume", "file", "stack"] as const) {
    const request = { what, to: "new", ...what === "file" && { paths: ["/longshore"] } };
    const { status } = await app.call("POST", `${path}/restore`, request);
    equal(Math.trunc(status / 100), 4, what);
  }
});

Deno.test("a restore takes single volumes and directories, not what is around all of them", async () => {
  await using service = await serviceWithData();
  const { app } = service;
  using opened = await openTargetRepository(app.deps, undefined, signal);
  const entries = ["volumes", "volumes/ls", "directories", "directories/srv"].map(directoryEntry);
  const { snapshot: { id } } = await opened.repository.backup(
    entriesOf(entries),
    { ...description, paths: ["/volumes/ls", "/directories/srv"] },
    signal,
  );
  for (const path of ["/volumes", "/volume%73", "/directories"]) {
    const request = { what: "volume", to: "new", paths: [path], as: "all" };
    const { status, body } = await app.call("POST", `/api/backup/snapshots/${id}/restore`, request);
    equal(status, 400, path);
    match(body.error, /must be volumes or directories/);
  }
});

Deno.test("a schedule backs Longshore up, and forgets its own old backups only", async () => {
  await using service = await serviceWithData();
  const { app } = service;
  await ended(app, (await app.call("POST", "/api/backup/own", { target: "NAS" })).body.id);
  const { status, body } = await app.call("POST", "/api/schedules", {
    name: "nightly",
    kind: "own-backup",
    target: "NAS",
    cronExpression: "0 3 * * *",
    timezone: "UTC",
    keep: { last: 1 },
  });
  equal(status, 201, body.error);
  deepEqual([body.action, body.subject], ["backup", "Longshore"]);
  for (const day of ["02", "03"]) {
    app.clock.set(`2026-01-${day}T03:00:00Z`);
    const runs = createRunStarter(app.deps);
    runs.startDue(new Date(`2026-01-${day}T02:59:00Z`), app.deps.now());
    await runs.idle();
  }
  const { body: { history } } = await app.call("GET", "/api/schedules/history");
  deepEqual(history.map(({ status }: { status: string }) => status), ["success", "success"]);
  deepEqual(
    (await service.snapshots()).map(({ reason, time }: { reason: string; time: string }) => [
      reason,
      time.slice(0, 10),
    ]),
    [["schedule", "2026-01-03"], ["manual", "2026-01-01"]],
  );
});

Deno.test("an API token cannot choose where backups of Longshore go", async () => {
  await using service = await serviceWithData();
  const { app, directory } = service;
  const token = { scope: {} };
  const schedule = {
    name: "nightly",
    kind: "own-backup",
    target: "NAS",
    cronExpression: "0 3 * * *",
  };
  equal((await app.call("POST", "/api/schedules", schedule, token)).status, 403);
  equal((await app.call("POST", "/api/schedules", schedule)).status, 201);
  const { body: { targets: [target] } } = await app.call("GET", "/api/backup/targets");
  const change = async (change: object, options?: object) => {
    const answer = await app.call("PUT", `/api/backup/targets/${target.id}`, change, options);
    return [answer.status, answer.body.error];
  };
  const elsewhere = { location: `${directory}/elsewhere` };
  const error = "Only admins who log in may change a target of Longshore's own backups";
  deepEqual(await change(elsewhere, token), [403, error]);
  deepEqual(await change({ name: "shelf" }, token), [200, undefined]);
  deepEqual(await change(elsewhere), [200, undefined]);
});

Deno.test("a snapshot of something else is not downloaded as a backup of Longshore", async () => {
  await using service = await serviceWithData();
  const { app, directory } = service;
  await restic(directory, ["backup", "--tag=longshore", `${directory}/config`]);
  const [{ id, hasLongshore }] = await service.snapshots();
  equal(hasLongshore, false);
  equal((await app.call("POST", `/api/backup/own/${id}/download`)).status, 404);
});

Deno.test("a backup of Longshore needs a target, and makes none on the disk of its data", async () => {
  using app = testApp();
  const { status, body } = await app.call("POST", "/api/backup/own", { target: "NAS" });
  deepEqual([status, body.error], [404, "Backup target NAS does not exist"]);
});
