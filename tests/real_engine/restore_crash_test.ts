/** Restores that end with the service at each step, and go on after its next start. @module */

import { equal } from "node:assert/strict";
import type { RestoreInput } from "../../services/snapshots/restore/job.ts";
import { restoreParts } from "../../services/snapshots/restore/run.ts";
import { runTwice } from "../helpers/killed_job.ts";
import { long } from "../helpers/long.ts";
import { engineTest } from "../helpers/real_engine.ts";
import { type SnapshotApp, snapshotApp } from "../helpers/snapshots.ts";
import { sleeper } from "../helpers/test_stack.ts";

const SNAPSHOTS = "/api/backup/snapshots";

/** Steps of a restore that succeeds, and of one whose containers fail. */
const SUCCESS = ["keep", "write", "release"];
const FAILURE = ["failure", "put back"];

long(engineTest)("a restore that ends after any step goes on", async (real) => {
  await using test = await snapshotApp(real);
  const { stack: { name, store, deploy }, exec, run } = test;
  // Ends with 0 when it is stopped, as databases do.
  const command = [
    "sh",
    "-c",
    "test ! -e /data/bad && { trap 'exit 0' TERM; while :; do sleep 0.1; done; }",
  ];
  const db = { image: sleeper.image, command, volumes: ["data:/data"] };
  await store({ services: { db, web: sleeper }, volumes: { data: {} } });
  equal((await deploy()).status, "succeeded");
  const snapshotOf = async () =>
    (await run(SNAPSHOTS, { stack: name, mode: "stop" })).result.snapshot as string;
  await exec("db", "echo old > /data/file");
  const good = await snapshotOf();
  await exec("db", "touch /data/bad");
  const bad = (await run(SNAPSHOTS, { stack: name, mode: "live" })).result.snapshot as string;
  await exec("db", "rm /data/bad");

  const start = () => real.docker("start", `${name}-db-1`);
  for (const step of SUCCESS) {
    await exec("db", "echo new > /data/file");
    equal(await restoreTwice(test, good, step, start), "succeeded", step);
    equal(await exec("db", "cat /data/file"), "old", step);
  }
  for (const step of FAILURE) {
    await exec("db", "echo new > /data/file");
    equal(await restoreTwice(test, bad, step, start), "rolled_back", step);
    equal(await exec("db", "ls /data; cat /data/file"), "file\nnew", step);
  }
});

/**
 * Restores until a step has succeeded, lets the engine start the container as its own restart would, and
 * goes on with the stored steps.
 */
async function restoreTwice(
  { app, stack: { name } }: SnapshotApp,
  snapshot: string,
  lastStep: string,
  start: () => Promise<unknown>,
): Promise<string> {
  const { deps } = app;
  const volume = `${name}_data`;
  const user = deps.inventory.list().find((each) => each.name === `${name}-db-1`)!;
  const { body: { targets: [target] } } = await app.call("GET", "/api/backup/targets");
  const input: RestoreInput = {
    targetId: target.id,
    place: target.name,
    snapshot,
    files: null,
    parts: [{
      from: `volumes/${volume}`,
      to: { path: `/volumes/${volume}`, mount: { type: "volume", source: volume } },
    }],
    to: "replace",
    stableSeconds: 1,
    images: [{ volume, image: user.imageId }],
    affected: [{ id: user.id, name: user.name }],
  };
  const at = { step: lastStep, moment: "stored" } as const;
  return await runTwice(deps, { target: name, input }, at, { run: restoreParts, meanwhile: start });
}
