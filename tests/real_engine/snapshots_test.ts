/** Snapshots of stacks and volumes, and their restore, with real restic beside. @module */

import { equal } from "node:assert/strict";
import { type LiveApp, liveApp } from "../helpers/live_app.ts";
import { engineTest, type RealEngine } from "../helpers/real_engine.ts";
import { sleeper, testStack } from "../helpers/test_stack.ts";
import { until } from "../helpers/until.ts";

// deno-lint-ignore no-explicit-any
type Body = any;

async function run(app: LiveApp, path: string, body: object): Promise<Body> {
  const started = await app.call("POST", path, body);
  equal(started.status, 202, JSON.stringify(started.body));
  const { id } = started.body as Body;
  return await until("the job ends", async () => {
    const { body: job } = await app.call("GET", `/api/jobs/${id}`) as { body: Body };
    return job.endedAt === null ? undefined : job;
  });
}

engineTest("a stack is stopped, stored, started, and restored", async (real: RealEngine) => {
  await using app = await liveApp(real.socketPath);
  await using stack = testStack(app, real);
  await stack.store({
    services: { db: { ...sleeper, volumes: ["data:/data"] }, web: { ...sleeper, depends_on: ["db"] } },
    volumes: { data: {} },
  });
  equal((await stack.deploy()).status, "succeeded");
  const exec = (...command: string[]) =>
    real.docker("exec", `${stack.name}-db-1`, "sh", "-c", ...command);
  await exec("echo old > /data/file; ln -s file /data/link; chmod 600 /data/file");

  const backup = await run(app, "/api/backup/snapshots", { stack: stack.name, note: "first" });
  equal(backup.status, "succeeded", backup.error);
  console.log(JSON.stringify(backup.result), JSON.stringify(backup.steps));
  equal(await exec("cat /data/file"), "old");

  const { body: list } = await app.call("GET", `/api/backup/snapshots?stack=${stack.name}`) as Body;
  console.log(JSON.stringify(list));
  const [snapshot] = list.snapshots;
  const { body: files } = await app.call("GET", `/api/backup/snapshots/${snapshot.id}/files?path=/volumes/${stack.name}_data`) as Body;
  console.log(JSON.stringify(files));

  await exec("echo new > /data/file; echo more > /data/more");
  const restored = await run(app, `/api/backup/snapshots/${snapshot.id}/restore`, {
    what: "volume",
    to: "replace",
  });
  console.log(JSON.stringify(restored));
  equal(restored.status, "succeeded", restored.error);
  equal(await exec("cat /data/link; ls /data"), "old\nfile\nlink");
  await stack.down();
});
