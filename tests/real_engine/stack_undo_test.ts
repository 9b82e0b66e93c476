/** Deploys that bring data back. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import type { SnapshotView } from "../../services/snapshots/list.ts";
import { type LiveApp, liveApp } from "../helpers/live_app.ts";
import { VERSIONS } from "../helpers/migrating_app.ts";
import { BUSYBOX, engineTest, type RealEngine } from "../helpers/real_engine.ts";
import { ended, testStack } from "../helpers/test_stack.ts";

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

engineTest("a failed deploy brings the data of all its containers back", async (real) => {
  await using test = await undoApp(real);
  const { app, stack } = test;
  await stack.store(sources("old", "old"));
  equal((await stack.deploy({ data: "undo" })).status, "succeeded");
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
  const after = await test.both();
  match(after.join(), /file2.*file2/s);
  const back = await test.rollBack();
  equal(back.status, "succeeded", back.error!);
  equal(back.result.data.restored, deployed.result.data.before);
  deepEqual(await test.both(), before);
  const forward = await test.rollBack();
  equal(forward.status, "succeeded", forward.error!);
  deepEqual(await test.both(), after);
});

engineTest("a deploy whose data could not come back is refused", async (real) => {
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
