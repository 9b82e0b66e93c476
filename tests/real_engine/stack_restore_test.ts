/** Restores of whole stacks. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import { engineTest } from "../helpers/real_engine.ts";
import { snapshotApp } from "../helpers/snapshots.ts";
import { sleeper } from "../helpers/test_stack.ts";

const SNAPSHOTS = "/api/backup/snapshots";

engineTest("a stack comes back on an empty host", async (real) => {
  await using test = await snapshotApp(real);
  const { app, stack: { name, store, deploy, down, containers }, exec, run } = test;
  await store({
    services: {
      db: { ...sleeper, volumes: ["data:/data", "/cache"], environment: ["WORD=${WORD}"] },
      web: { ...sleeper, networks: ["front"], depends_on: ["db"] },
    },
    networks: { front: {}, default: {} },
    volumes: { data: {} },
  }, { env: "WORD=precious\n" });
  equal((await deploy()).status, "succeeded");
  await exec("db", "echo old > /data/file; chmod 600 /data/file; echo warm > /cache/file");
  const { result: { snapshot } } = await run(SNAPSHOTS, { stack: name });
  const restore = (body: object = {}) =>
    run(`${SNAPSHOTS}/${snapshot}/restore`, { what: "stack", stableSeconds: 1, ...body });

  const taken = await app.call("POST", `${SNAPSHOTS}/${snapshot}/restore`, { what: "stack" });
  equal(taken.status, 409);
  match(taken.body.error, new RegExp(`Stack ${name} already exists`));

  equal((await down({ volumes: true })).status, "succeeded");
  equal((await app.call("DELETE", `/api/stacks/${name}`)).status, 200);
  const plan = await app.call("GET", `${SNAPSHOTS}/${snapshot}/restore-plan`);
  equal(plan.status, 200, JSON.stringify(plan.body));
  deepEqual(plan.body.services, [
    { name: "db", action: "create" },
    { name: "web", action: "create" },
  ]);
  equal(plan.body.volumes.length, 2);
  deepEqual(plan.body.stops, []);

  const restored = await restore();
  equal(restored.status, "succeeded", restored.error ?? "");
  equal(await exec("db", "cat /data/file /cache/file; stat -c %a /data/file"), "old\nwarm\n600");
  equal(await exec("db", "echo $WORD"), "precious");
  deepEqual(Object.keys((await containers())["web-1"]!.NetworkSettings.Networks!), [
    `${name}_front`,
  ]);
  const { body: source } = await app.call("GET", `/api/stacks/${name}/source`);
  equal(source.env, "WORD=precious\n");
});
