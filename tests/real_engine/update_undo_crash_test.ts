/** Updates that bring data back and are killed at a step; they go on after the next start. @module */

import { deepEqual, equal } from "node:assert/strict";
import { type PreviousImage, selectPreviousImages } from "../../db/updates/previous.ts";
import type { UpdateInput } from "../../services/updates/run/job.ts";
import { update } from "../../services/updates/run/machine.ts";
import { FULL_DRILL_SEED } from "../helpers/drill.ts";
import { type KillAt, runTwice } from "../helpers/killed_job.ts";
import { long } from "../helpers/long.ts";
import { type MigratingApp, migratingApp } from "../helpers/migrating_app.ts";
import { engineTest } from "../helpers/real_engine.ts";

const FAILED: KillAt[] = [
  { step: "keep", moment: "midway" },
  { step: "swap", moment: "unstored" },
  { step: "put_back", moment: "midway" },
  { step: "roll_back", moment: "unstored" },
];

if (FULL_DRILL_SEED !== undefined) {
  for (const step of ["copy", "create", "keep", "verify", "evidence", "keep_written", "put_back"]) {
    FAILED.push({ step, moment: "unstored" });
  }
}

long(engineTest)("an update that is killed at a step brings the data back", async (real) => {
  await using test = await migratingApp(real);
  const before = await test.files();
  const id = await idOf(test);
  const input = await inputOf(test);
  await test.publish("bad");
  for (const at of FAILED) {
    const what = `${at.step} ${at.moment}`;
    equal(await killed(test, input, at), "rolled_back", what);
    equal(await test.files(), before, what);
    equal(await idOf(test), id, what);
  }

  await test.publish("good");
  equal((await test.run("update", { data: "undo", force: true })).status, "succeeded");
  const after = await test.files();
  const [{ data }] = selectPreviousImages(test.app.deps.db, test.name) as [PreviousImage];
  const old = await test.real.docker("inspect", "--format={{.Image}}", test.name);
  // Back to the old data, by an image that fails: what was written in between returns.
  await test.publish("bad");
  const restored = { ...input, restored: data!, containerId: await idOf(test) };
  equal(await killed(test, restored, { step: "write", moment: "midway" }), "rolled_back");
  equal(await test.files(), after);
  equal(await test.real.docker("inspect", "--format={{.Image}}", test.name), old);
});

const idOf = ({ real, name }: MigratingApp) =>
  real.docker("inspect", "--format={{.Id}} {{.State.Running}}", name)
    .then((line) => line.replace(/ true$/, ""));

async function inputOf({ app, name }: MigratingApp): Promise<UpdateInput> {
  const target = await app.call("POST", "/api/backup/targets", { name: "here", location: "" });
  const { image, id } = (await app.call("GET", `/api/containers/${name}`)).body;
  return {
    containerId: id,
    name,
    reference: image,
    affected: [],
    previousImageId: null,
    pull: "never",
    stableSeconds: 1,
    verifyTimeoutSeconds: null,
    logPattern: null,
    monitors: [],
    force: true,
    expectedDigest: null,
    isRebuild: false,
    targetId: target.body.id,
    place: "here",
  };
}

/** Nothing writes to the volume twice, also not what an engine starts when it is started again. */
function killed({ app, real, name, volume }: MigratingApp, input: UpdateInput, at: KillAt) {
  return runTwice(app.deps, { target: name, input }, at, {
    run: update,
    async meanwhile() {
      const format = "--format={{.Names}}";
      const running = await real.docker("ps", `--filter=volume=${volume}`, format);
      const names = running.split("\n").filter(Boolean);
      deepEqual(names.slice(1), []);
      if (at.step === "keep" || at.step === "put_back") deepEqual(names, []);
    },
  });
}
