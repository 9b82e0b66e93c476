/** Deploys that bring data back. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import type { SnapshotView } from "../../services/snapshots/list.ts";
import { damagePacks } from "../helpers/damaged_packs.ts";
import { FULL_DRILL_SEED } from "../helpers/drill.ts";
import { type LiveApp, liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { VERSIONS } from "../helpers/migrating_app.ts";
import { BUSYBOX, engineTest, type RealEngine } from "../helpers/real_engine.ts";
import { ended, testStack } from "../helpers/test_stack.ts";
import { until } from "../helpers/until.ts";

const service = (version: keyof typeof VERSIONS, volume: string, more = {}) => ({
  image: BUSYBOX,
  command: ["sh", "-c", VERSIONS[version].replaceAll("$", "$$")],
  restart: "always",
  stop_grace_period: "1s",
  volumes: [`${volume}:/data`],
  ...more,
});

const sources = (db: keyof typeof VERSIONS, web: keyof typeof VERSIONS) => ({
  services: {
    db: service(db, "db"),
    web: service(web, "web", { depends_on: ["db"] }),
    side: service(web, "web", { depends_on: ["web"] }),
  },
  volumes: { db: {}, web: {} },
});

async function undoApp(real: RealEngine) {
  const dataDir = await Deno.makeTempDir({ prefix: "longshore-test-data-" });
  const app = await liveApp(real.socketPath, { config: { dataDir, helperImage: null } });
  const stack = testStack(app, real);
  const files = (volume: string) =>
    real.docker(
      ...["run", "--rm", `--volume=${stack.name}_${volume}:/data:ro`, BUSYBOX, "sh", "-c"],
      "cd /data; for f in $(ls); do stat -c '%n %A' $f; cat $f; done",
    );
  return {
    app,
    dataDir,
    stack,
    async rollBack() {
      const path = `/api/stacks/${stack.name}/rollback`;
      const { status, body } = await app.call("POST", path, { data: true, stableSeconds: 1 });
      equal(status, 202, JSON.stringify(body));
      return await ended(app, body.id);
    },
    both: async () => [await files("db"), await files("web")],
    async write() {
      for (const name of ["db", "web"]) {
        const write = "echo 1 > /data/version; echo old > /data/file";
        await real.docker("exec", `${stack.name}-${name}-1`, "sh", "-c", write);
      }
    },
    async [Symbol.asyncDispose]() {
      await stack[Symbol.asyncDispose]();
      await app[Symbol.asyncDispose]();
      await Deno.remove(dataDir, { recursive: true });
    },
  };
}

const plan = async (app: LiveApp, name: string, body: object) =>
  (await app.call("POST", `/api/stacks/${name}/deploy?plan=1`, body)).body;

const statesOf = (containers: Awaited<ReturnType<ReturnType<typeof testStack>["containers"]>>) =>
  Object.entries(containers).map(([name, { Id, State }]) => [name, Id, State.Running]).sort();

long(engineTest)("a failed deploy brings the data of all its containers back", async (real) => {
  await using test = await undoApp(real);
  const { app, stack } = test;
  await stack.store(sources("old", "old"));
  equal((await stack.deploy()).status, "succeeded");
  await test.write();
  const before = await test.both();
  const containers = statesOf(await stack.containers());

  // The first one succeeds, and has changed its data when the last one fails.
  await stack.store(sources("good", "bad"));
  const { data, obstacles } = await plan(app, stack.name, { data: "undo" });
  deepEqual(obstacles, []);
  deepEqual([data.choice, data.target, data.keptDays], ["undo", null, 7]);
  deepEqual(
    data.volumes.map(({ name }: { name: string }) => name),
    [`${stack.name}_db`, `${stack.name}_web`],
  );
  const failed = await stack.deploy({ data: "undo" });
  equal(failed.status, "rolled_back", failed.error!);
  match(failed.error!, /the data from before is back \(snapshot \w{8} at This host\), and what/);
  deepEqual(await test.both(), before);
  deepEqual(statesOf(await stack.containers()), containers);
  const { body: { snapshots } } = await app.call("GET", "/api/backup/snapshots");
  deepEqual(
    snapshots.map(({ id, reason }: SnapshotView) => [id, reason]),
    [[failed.result.data.written, "undo"], [failed.result.data.before, "update"]],
  );

  await stack.store(sources("good", "good"));
  const deployed = await stack.deploy({ data: "undo" });
  equal(deployed.status, "succeeded", deployed.error!);
  equal(deployed.result.data.restored, null);
  match((await test.both()).join(), /file2.*file2/s);
  const back = await test.rollBack();
  equal(back.status, "succeeded", back.error!);
  equal(back.result.data.restored, deployed.result.data.before);
  deepEqual(await test.both(), before);
});

long(engineTest)("a deploy whose data could not come back is refused", async (real) => {
  await using test = await undoApp(real);
  const { app, stack } = test;
  const { services, volumes } = sources("old", "old");
  const labels = { "longshore.update.data": "undo" };
  const labelled = (level: string) => ({
    services: {
      ...services,
      web: { ...services.web, labels: { ...labels, level } },
    },
    volumes,
  });
  await stack.store(labelled("1"));
  equal((await stack.deploy()).status, "succeeded");
  const before = statesOf(await stack.containers());
  await stack.store(labelled("2"));
  const deploy = (body: object) => app.call("POST", `/api/stacks/${stack.name}/deploy`, body);

  // It writes to the volume, and is not replaced.
  const { status, body } = await deploy({});
  equal(status, 409, JSON.stringify(body));
  match(body.error, /side-1 uses volume \w+_web, too/);
  const planned = await plan(app, stack.name, {});
  deepEqual(
    planned.obstacles.map(({ message }: { message: string }) => message),
    [body.error],
  );
  deepEqual(planned.data.volumes.map(({ name }: { name: string }) => name), [`${stack.name}_web`]);
  const stop = await deploy({ data: "undo", onFailure: "stop" });
  deepEqual([stop.status, stop.body.error], [
    400,
    "body.onFailure: must be rollback with data: undo",
  ]);
  deepEqual(statesOf(await stack.containers()), before);
  equal((await stack.deploy({ data: "keep" })).status, "succeeded");
});

// In the full drill only, because it is long.
if (FULL_DRILL_SEED !== undefined) {
  long(engineTest)(
    "a failed deploy brings the data back that an added service has changed",
    async (real) => {
      await using test = await undoApp(real);
      const { stack } = test;
      const { services: { db, web }, volumes } = sources("old", "old");
      const networks = { default: { labels: { level: "1" } } };
      await stack.store({ services: { db, web }, volumes, networks });
      equal((await stack.deploy()).status, "succeeded");
      await test.write();
      const before = await test.both();
      const containers = statesOf(await stack.containers());

      // The network is created again, so that the containers on it are replaced.
      const added = service("bad", "db", { depends_on: ["web"] });
      networks.default.labels.level = "2";
      await stack.store({ services: { db, web, added }, volumes, networks });
      const failed = await stack.deploy({ data: "undo" });
      equal(failed.status, "rolled_back", failed.error!);
      match(failed.error!, /added-1 exited with code 3/);
      deepEqual(await test.both(), before);
      deepEqual(statesOf(await stack.containers()), containers);
    },
  );
}

long(engineTest)(
  "data that is damaged during a deploy leaves the new containers on theirs",
  async (real) => {
    await using test = await undoApp(real);
    const { app, stack } = test;
    await stack.store(sources("old", "old"));
    equal((await stack.deploy()).status, "succeeded");
    await test.write();
    await stack.store(sources("good", "slow"));
    const deploying = stack.deploy({ data: "undo", stableSeconds: 3_600 });
    await until("it is observed", async () => {
      const { body: { jobs: [job] } } = await app.call(
        "GET",
        "/api/jobs?kind=stack.deploy&limit=1",
      );
      const hasBegun = job.steps.some(({ name }: { name: string }) => name === "verify");
      return job.endedAt === null && hasBegun;
    });
    await damagePacks(`${test.dataDir}/snapshots`);
    await real.docker("exec", `${stack.name}-web-1`, "touch", "/data/fail");
    const { status, error, result } = await deploying;
    equal(status, "needs_attention", error!);
    match(
      error!,
      /the data could not be brought back: .* is damaged: .*; the data from before is in/,
    );
    match((await test.both()).join(), /file2.*file2/s);
    const { "db-1": db } = await stack.containers();
    deepEqual([db!.State.Running, db!.Config.Cmd?.[2]], [true, VERSIONS.good]);
    equal(result.data.restored, null);

    await stack.store(sources("good", "good"));
    equal((await stack.deploy()).status, "succeeded");
    deepEqual(Object.keys(await stack.containers()).sort(), ["db-1", "side-1", "web-1"]);
  },
);
