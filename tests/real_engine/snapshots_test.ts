/** Snapshots of stacks and volumes, and their restore. @module */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { createRunStarter } from "../../services/automation/schedules/runs.ts";
import { long } from "../helpers/long.ts";
import { engineTest, type RealEngine } from "../helpers/real_engine.ts";
import { snapshotApp } from "../helpers/snapshots.ts";
import { sleeper } from "../helpers/test_stack.ts";

const SNAPSHOTS = "/api/backup/snapshots";

const withData = { ...sleeper, volumes: ["data:/data"] };

engineTest("a stack is stored while it is stopped, and restic reads it", async (real) => {
  await using test = await snapshotApp(real);
  const { app, stack: { name, store, deploy }, exec, restic, run } = test;
  await store({
    services: { db: withData, web: { ...sleeper, depends_on: ["db"] } },
    volumes: { data: {} },
  }, { env: "PASSWORD=precious\n" });
  equal((await deploy()).status, "succeeded");
  await exec("db", "echo old > /data/file; ln -s file /data/link; chmod 600 /data/file");

  const { status, error, result } = await run(SNAPSHOTS, { stack: name, note: "first" });
  equal(status, "succeeded", error ?? "");
  deepEqual([result.mode, result.sqlite], ["stop", []]);
  equal(await exec("db", "cat /data/file"), "old", "the container was started again");

  const { body: { snapshots } } = await app.call("GET", `${SNAPSHOTS}?stack=${name}`);
  equal(snapshots.length, 1);
  const [{ id, volumes, reason, note, isOwn, hasStack }] = snapshots;
  equal(id, result.snapshot);
  deepEqual({ volumes, reason, note, isOwn, hasStack }, {
    volumes: [`${name}_data`],
    reason: "manual",
    note: "first",
    isOwn: true,
    hasStack: true,
  });

  const estimate = await app.call("GET", `/api/backup/estimate?stack=${name}`);
  equal(estimate.status, 200, JSON.stringify(estimate.body));
  equal(estimate.body.size > 0 && estimate.body.room > 0 && estimate.body.seconds >= 0, true);

  const path = `/volumes/${name}_data`;
  equal(estimate.body.sqlite?.length, 0);
  const { body: { files } } = await app.call("GET", `${SNAPSHOTS}/${id}/files?path=${path}`);
  deepEqual(files.map(({ path, mode }: { path: string; mode: string }) => [path, mode]), [
    [`${path}/file`, "0600"],
    [`${path}/link`, "0777"],
  ]);
  const download = await app.fetch("GET", `${SNAPSHOTS}/${id}/file?path=${path}/file`);
  equal(await download.text(), "old\n");

  await restic("check", "--read-data");
  equal(await restic("dump", id, `${path}/file`), "old\n");
  equal(await restic("dump", id, `/stacks/${name}/.env`), "PASSWORD=precious\n");
  const described = JSON.parse(await restic("dump", id, `/stacks/${name}/stack.json`));
  equal(described.containers.length, 2);
  deepEqual(described.volumes[0].name, `${name}_data`);

  await exec("db", "printf 'SQLite format 3\\0...' > /data/app.db");
  deepEqual((await run(SNAPSHOTS, { stack: name })).result.sqlite, [path]);
  deepEqual((await app.call("GET", `/api/backup/estimate?stack=${name}`)).body.sqlite, [path]);
});

engineTest("a volume is replaced, and what was there is kept", async (real) => {
  await using test = await snapshotApp(real);
  const { stack: { name, store, deploy }, exec, restic, run } = test;
  await store({ services: { db: withData }, volumes: { data: {} } });
  equal((await deploy()).status, "succeeded");
  await exec("db", "echo old > /data/file; echo same > /data/other");
  const { result: { snapshot } } = await run(SNAPSHOTS, { volumes: [`${name}_data`] });

  await exec("db", "echo new > /data/file; echo more > /data/more");
  const restore = (body: object) =>
    run(`${SNAPSHOTS}/${snapshot}/restore`, { stableSeconds: 1, ...body });
  const whole = await restore({ what: "volume", to: "replace" });
  equal(whole.status, "succeeded", whole.error ?? "");
  equal(await exec("db", "cd /data; cat file; ls"), "old\nfile\nother");
  const { kept } = whole.result;
  equal(await restic("dump", kept, `/volumes/${name}_data/more`), "more\n");

  await exec("db", "echo new > /data/file; echo new > /data/other");
  const paths = [`/volumes/${name}_data/file`];
  const one = await restore({ what: "file", to: "replace", paths });
  equal(one.status, "succeeded", one.error ?? "");
  equal(await exec("db", "cat /data/file /data/other"), "old\nnew");

  const taken = `${name}_data-restored`;
  await real.docker("volume", "create", taken);
  const copy = await restore({ what: "volume", to: "new" });
  equal(copy.status, "succeeded", copy.error ?? "");
  deepEqual(copy.result.restored, [`${taken}-2`]);
  const mount = `${taken}-2:/copy`;
  equal(await real.docker("run", "--rm", "-v", mount, sleeper.image, "cat", "/copy/file"), "old");
  const refused = await test.app.call("POST", `${SNAPSHOTS}/${snapshot}/restore`, {
    ...{ what: "volume", to: "new", as: taken },
  });
  deepEqual([refused.status, refused.body.error], [
    409,
    `Volume ${taken} already exists; choose another name (as)`,
  ]);
  await real.docker("volume", "rm", taken, `${taken}-2`);
});

long(engineTest)("containers that fail on restored files get the old ones back", async (real) => {
  await using test = await snapshotApp(real);
  const { stack: { name, store, deploy }, exec, run } = test;
  const command = ["sh", "-c", "test ! -e /data/bad && exec sleep 1000"];
  await store({ services: { db: { ...withData, command } }, volumes: { data: {} } });
  equal((await deploy()).status, "succeeded");
  await exec("db", "echo bad > /data/bad");
  const { result: { snapshot } } = await run(SNAPSHOTS, { stack: name, mode: "live" });
  await exec("db", "rm /data/bad; echo good > /data/good");

  const restored = await run(`${SNAPSHOTS}/${snapshot}/restore`, { what: "volume", to: "replace" });
  equal(restored.status, "rolled_back");
  match(restored.error ?? "", new RegExp(`^${name}-db-1 `));
  equal(await exec("db", "ls /data"), "good");
});

engineTest(
  "hooks prepare containers and dump databases; the others are paused or stopped",
  async (real) => {
    await using test = await snapshotApp(real);
    const { app, stack: { name, store, deploy }, exec, restic, run } = test;
    const image = "longshore-test/postgres:1";
    await real.docker("tag", sleeper.image, image);
    const labels = {
      "longshore.backup.pre": "echo prepared > /data/file",
      "longshore.backup.post": "echo done > /data/after",
    };
    await store({
      services: { db: { ...withData, labels }, pg: { ...withData, image } },
      volumes: { data: {} },
    });
    equal((await deploy()).status, "succeeded");
    const program = "#!/bin/sh\necho dump of $3\n";
    await exec(
      "pg",
      `printf '${program.replaceAll("\n", "\\n")}' > /bin/pg_dumpall; chmod +x /bin/pg_dumpall`,
    );

    const { status, error, result } = await run(SNAPSHOTS, { stack: name });
    equal(status, "succeeded", error ?? "");
    equal(result.mode, "hooks");
    equal(result.downtimeMs, 0);
    equal(await restic("dump", result.snapshot, `/volumes/${name}_data/file`), "prepared\n");
    match(await restic("dump", result.snapshot, `/dumps/${name}-pg-1/postgresql.sql`), /^dump of/);
    equal(await exec("db", "cat /data/after"), "done");

    await exec(
      "pg",
      "printf '#!/bin/sh\\necho no space >&2; exit 3\\n' > /bin/pg_dumpall",
    );
    const failed = await run(SNAPSHOTS, { stack: name });
    equal(failed.status, "failed");
    match(failed.error ?? "", /The backup command in .*-pg-1 failed: no space/);
    const { body: { total } } = await app.call("GET", `${SNAPSHOTS}?stack=${name}`);
    equal(total, 1, "nothing was stored");

    const paused = await run(SNAPSHOTS, { stack: name, mode: "pause" });
    equal(paused.status, "succeeded", paused.error ?? "");
    equal(await exec("db", "echo runs"), "runs");
    await real.docker("rmi", image).catch(() => {});
  },
);

/** The real sqlite3 with its libraries, in an image. */
async function sqliteImage(real: RealEngine, image: string): Promise<void> {
  const base = await real.docker("create", sleeper.image, "true");
  const script = "files=$(ldd /usr/bin/sqlite3 | grep -o '/lib[^ ]*'); " +
    'tar -chPf - /usr/bin/sqlite3 $files 2> /dev/null | docker cp - "$1:/"';
  const { success } = await new Deno.Command("sh", {
    args: ["-euc", script, "sh", base],
    env: { DOCKER_HOST: `unix://${real.socketPath}` },
  }).output();
  equal(success, true);
  await real.docker("commit", base, image);
  await real.docker("rm", base);
}

long(engineTest)(
  "databases of SQLite are dumped by their program, or paused without it",
  async (real) => {
    await using test = await snapshotApp(real);
    const { stack: { name, store, deploy }, exec, restic, run } = test;
    const image = "longshore-test/sqlite:1";
    await sqliteImage(real, image);
    const labels = { "longshore.backup.sqlite": "/data/shop.db, /data/it's.db" };
    await store({
      services: {
        app: { ...withData, image, labels },
        bare: { ...withData, labels: { "longshore.backup.sqlite": "/data/shop.db" } },
      },
      volumes: { data: {} },
    });
    equal((await deploy()).status, "succeeded");
    const sql = "PRAGMA journal_mode=WAL; CREATE TABLE orders (item TEXT); " +
      "INSERT INTO orders SELECT hex(randomblob(900)) FROM (VALUES (1), (2), (3), (4), (5), (6))";
    for (const file of ["shop.db", "it\\'s.db"]) {
      await exec(
        "app",
        `sqlite3 /data/${file} "${sql}"`,
      );
    }
    const { status, error, result } = await run(SNAPSHOTS, { stack: name });
    equal(status, "succeeded", error ?? "");
    equal(result.mode, "hooks");
    ok(result.downtimeMs > 0, "one was paused");
    const files = (await restic("ls", result.snapshot, "/dumps", "--recursive")).split("\n");
    deepEqual(files.filter((path) => path.endsWith(".sql")).sort(), [
      `/dumps/${name}-app-1/data-it's.db.sql`,
      `/dumps/${name}-app-1/data-shop.db.sql`,
    ]);
    const dump = await restic("dump", result.snapshot, `/dumps/${name}-app-1/data-shop.db.sql`);
    equal(dump.match(/INSERT INTO orders/g)?.length, 6);
    equal(await exec("bare", "echo runs"), "runs");

    await exec("app", "dd if=/dev/urandom of=/data/shop.db bs=1 seek=4096 count=2048 conv=notrunc");
    const failed = await run(SNAPSHOTS, { stack: name });
    equal(failed.status, "failed");
    match(failed.error ?? "", /The backup command in .*-app-1 failed: /);
    await real.docker("rmi", image).catch(() => {});
  },
);

long(engineTest)(
  "a volume that another stack uses is not stored unless that one may be stopped",
  async (real: RealEngine) => {
    await using test = await snapshotApp(real);
    const { app, stack: { name, store, deploy }, run } = test;
    await store({ services: { db: withData }, volumes: { data: {} } });
    equal((await deploy()).status, "succeeded");
    await using other = await real.runContainer({ options: ["--volume", `${name}_data:/theirs`] });
    const refused = await app.call("POST", SNAPSHOTS, { stack: name });
    equal(refused.status, 409);
    match(refused.body.error, new RegExp(`${other.name} uses /volumes/${name}_data`));
    const shared = await run(SNAPSHOTS, { stack: name, includeSharedUsers: true });
    equal(shared.status, "succeeded", shared.error ?? "");
  },
);

long(engineTest)(
  "files of a volume below VOLUMES_PATH are compared with the snapshot before",
  async (real) => {
    const root = await real.docker("info", "--format", "{{.DockerRootDir}}");
    await using test = await snapshotApp(real, { volumesPath: `${root}/volumes` });
    const { stack: { name, store, deploy }, exec, restic, run } = test;
    await store({ services: { db: withData }, volumes: { data: {} } });
    equal((await deploy()).status, "succeeded");
    await exec("db", "echo old > /data/old; echo same > /data/same");
    const first = await run(SNAPSHOTS, { stack: name });
    equal(first.status, "succeeded", first.error ?? "");
    await exec("db", "echo new > /data/old");
    const second = await run(SNAPSHOTS, { volumes: [`${name}_data`] });
    equal(second.status, "succeeded", second.error ?? "");
    const { snapshot } = second.result;
    const { parent } = JSON.parse(await restic("cat", "snapshot", snapshot));
    equal(parent, first.result.snapshot);
    equal(await restic("dump", snapshot, `/volumes/${name}_data/old`), "new\n");
    equal(await restic("dump", snapshot, `/volumes/${name}_data/same`), "same\n");
  },
);

long(engineTest)("a schedule backs up, and forgets its own old snapshots only", async (real) => {
  await using test = await snapshotApp(real);
  const { app, stack: { name, store, deploy }, exec, run } = test;
  await store({ services: { db: withData }, volumes: { data: {} } });
  equal((await deploy()).status, "succeeded");
  const manual = await run(SNAPSHOTS, { stack: name, mode: "live" });
  equal(manual.status, "succeeded", manual.error ?? "");
  const { status, body } = await app.call("POST", "/api/schedules", {
    name: "nightly",
    kind: "backup",
    stack: name,
    mode: "pause",
    keep: { last: 1 },
    cronExpression: "0 3 * * *",
    timezone: "UTC",
  });
  equal(status, 201, body.error);
  const runs = createRunStarter(app.deps);
  const night = async (day: number) => {
    const due = Date.UTC(2027, 0, day, 3);
    runs.startDue(new Date(due - 30_000), new Date(due));
    await runs.idle();
    const { history } = (await app.call("GET", "/api/schedules/history?limit=1")).body;
    return history[0];
  };
  for (const day of [1, 2]) {
    await exec("db", `echo ${day} > /data/file`);
    const { status, error, jobId } = await night(day);
    equal(status, "success", error ?? "");
    const { body: job } = await app.call("GET", `/api/jobs/${jobId}`);
    deepEqual([job.kind, job.result], ["backup.forget", { kept: 1, removed: day - 1 }]);
  }
  const { body: { snapshots } } = await app.call("GET", `${SNAPSHOTS}?stack=${name}`);
  deepEqual(snapshots.map(({ reason }: { reason: string }) => reason), ["schedule", "manual"]);
  const { body: { stacks } } = await app.call("GET", "/api/backup/stacks");
  const known = stacks.find(({ stack }: { stack: string }) => stack === name);
  equal(known.lastBackup.snapshot, snapshots[0].id);

  await store({
    services: { db: { ...withData, labels: { "longshore.backup": "off" } } },
    volumes: { data: {} },
  });
  equal((await deploy()).status, "succeeded");
  const { status: skipped, error } = await night(3);
  deepEqual([skipped, error], [
    "skipped",
    `Not backed up: ${name}-db-1 has the label longshore.backup=off`,
  ]);
});
