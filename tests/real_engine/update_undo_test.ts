/** Updates that bring data back. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import type { SnapshotView } from "../../services/snapshots/list.ts";
import { openTarget } from "../../services/backup/targets/targets.ts";
import { damagePacks } from "../helpers/damaged_packs.ts";
import { long } from "../helpers/long.ts";
import type { LiveApp } from "../helpers/live_app.ts";
import { type MigratingApp, migratingApp } from "../helpers/migrating_app.ts";
import { BUSYBOX, engineTest } from "../helpers/real_engine.ts";
import { ended } from "../helpers/test_stack.ts";
import { until } from "../helpers/until.ts";

const SNAPSHOTS = "/api/backup/snapshots";

engineTest("data of a failed update comes back, and what it wrote is kept", async (real) => {
  await using test = await migratingApp(real);
  const { app, name, volume } = test;
  const before = await test.files();
  const oldId = await real.docker("inspect", "--format={{.Id}}", name);
  await test.publish("bad");

  const plan = await app.call("POST", `/api/containers/${name}/update?plan=1`, { data: "undo" });
  deepEqual(plan.body.obstacles, []);
  const { data: { choice, target, volumes: [planned] } } = plan.body;
  deepEqual([choice, target, planned.name], ["undo", null, volume]);

  const { status, error, result, steps } = await test.run("update", { data: "undo" });
  equal(status, "rolled_back", error ?? "");
  equal(await test.files(), before);
  equal(await real.docker("inspect", "--format={{.Id}} {{.State.Running}}", name), `${oldId} true`);
  deepEqual(
    steps.map(({ name }) => name),
    "plan pull copy create keep swap verify evidence keep_written put_back empty_written roll_back"
      .split(" "),
  );
  const { data } = result;
  deepEqual([data.target, data.restored], ["This host", data.before]);
  match(error!, /the data from before is back \(snapshot \w{8} at This host\), and what the new/);
  match(error!, / at This host, without 1 file that cannot be stored$/);
  deepEqual(data.skipped, [{ path: `/volumes/${volume}/null`, reason: "is a device node" }]);
  const { body: { snapshots } } = await app.call("GET", SNAPSHOTS);
  deepEqual(
    snapshots.map(({ id, reason, hasStack }: SnapshotView) => [id, reason, hasStack]),
    [[data.written, "undo", false], [data.before, "update", false]],
  );
  const path = `/volumes/${volume}/file2`;
  const written = await app.fetch("GET", `${SNAPSHOTS}/${data.written}/file?path=${path}`);
  equal(await written.text(), "old\nnew\n");
});

long(engineTest)("data of an update stays, and a person brings it back", async (real) => {
  await using test = await migratingApp(real);
  const { app, name } = test;
  const before = await test.files();
  await app.call("PUT", "/api/updates/settings", { data: "undo" });
  await test.publish("good");
  const updated = await test.run("update");
  equal(updated.status, "succeeded", updated.error ?? "");
  equal(updated.result.data.restored, null);
  await real.docker("exec", name, "sh", "-c", "echo later > /data/later");
  const after = await test.files();
  match(after, /later/);

  const kept = updated.result.data.before;
  const { body: [target] } = { body: (await app.call("GET", "/api/backup/targets")).body.targets };
  const forget = { last: 1 };
  const path = `/api/backup/targets/${target.id}/forget`;
  equal((await ended(app, (await app.call("POST", path, forget)).body.id)).status, "succeeded");

  const { status, error, result } = await test.run("rollback", { data: true });
  equal(status, "succeeded", error ?? "");
  equal(await test.files(), before);
  equal(result.data.restored, kept);

  // And forward again, to what was written until then.
  const again = await test.run("rollback", { data: true });
  equal(again.status, "succeeded", again.error ?? "");
  equal(again.result.data.restored, result.data.before);
  equal(await test.files(), after);
});

long(engineTest)("an update whose data could not come back is refused", async (real) => {
  const env = ["--env=DATABASE_URL=postgres://shop:secret@db.example.org:5432/shop"];
  await using test = await migratingApp(real, { run: [...env, "--volume=/tmp:/host"] });
  const { app, name, volume } = test;
  await test.publish("bad");
  const before = await test.files();
  const id = await real.docker("inspect", "--format={{.Id}} {{.State.StartedAt}}", name);
  const refusal = async () => {
    const { status, body } = await test.start("update", { data: "undo" });
    equal(status, 409, JSON.stringify(body));
    const plan = await app.call("POST", `/api/containers/${name}/update?plan=1`, { data: "undo" });
    const messages = plan.body.obstacles.map(({ message }: { message: string }) => message);
    equal(body.error, messages.join("; "));
    equal(await real.docker("inspect", "--format={{.Id}} {{.State.StartedAt}}", name), id);
    return { message: body.error as string, warnings: plan.body.warnings as string[] };
  };

  const other = await test.add("other", `--volume=${volume}:/data`);
  const shared = await refusal();
  match(shared.message, new RegExp(`${name}-other uses volume ${volume}, too`));
  deepEqual(shared.warnings.filter((each) => /brought back/.test(each)), [
    `Directory /tmp of ${name} is not brought back`,
    `Data at db.example.org, to which DATABASE_URL of ${name} leads, is not brought back`,
  ]);
  await real.docker("rm", "-f", other);
  await until(
    "it is gone",
    async () =>
      (await app.call("GET", "/api/containers")).body.containers.every(
        ({ id }: { id: string }) => id !== other,
      ),
  );

  app.deps.config.helperImage = "none:1";
  match((await refusal()).message, /HELPER_IMAGE none:1 is not on this host/);
  app.deps.config.helperImage = BUSYBOX;
  const created = await app.call("POST", "/api/backup/targets", { name: "gone", location: "" });
  equal(created.status, 201, JSON.stringify(created.body));
  await Deno.rename(`${test.dataDir}/snapshots`, `${test.dataDir}/elsewhere`);
  match((await refusal()).message, /repository/);
  equal(await test.files(), before);
  // The old version cannot read what the new one has written.
  equal((await test.run("update", { data: "keep" })).status, "needs_attention");
});

/** Updates to a version that is observed until it fails on request. @returns The id of the job. */
async function observed({ app, publish, start }: MigratingApp): Promise<string> {
  await publish("slow");
  const { body: { id } } = await start("update", { data: "undo", stableSeconds: 3_600 });
  await until("it is observed", async () => await hasBegun(app, id, "verify"));
  return id;
}

async function hasBegun(app: LiveApp, id: string, step: string): Promise<boolean> {
  const { body: { steps } } = await app.call("GET", `/api/jobs/${id}`);
  return steps.some(({ name }: { name: string }) => name === step);
}

long(engineTest)("an undo waits for a target that is away", async (real) => {
  await using test = await migratingApp(real);
  const { app, dataDir, name } = test;
  const before = await test.files();
  const id = await observed(test);
  await Deno.rename(`${dataDir}/snapshots`, `${dataDir}/elsewhere`);
  await real.docker("exec", name, "touch", "/data/fail");
  await until("it goes back", () => hasBegun(app, id, "keep_written"));
  await Deno.rename(`${dataDir}/elsewhere`, `${dataDir}/snapshots`);
  const { status, error } = await ended(app, id);
  equal(status, "rolled_back", error ?? "");
  equal(await test.files(), before);
});

long(engineTest)("data that was damaged at the target since empties nothing", async (real) => {
  await using test = await migratingApp(real);
  const { app, name } = test;
  const id = await observed(test);
  const { target } = await openTarget(app.deps);
  await damagePacks(target.location);
  await real.docker("exec", name, "touch", "/data/fail");
  const { status, error } = await ended(app, id);
  equal(status, "needs_attention", error ?? "");
  match(
    error!,
    /the data could not be brought back: .* is damaged: .*; the data from before is in/,
  );
  match(await test.files(), /old\nnew\n/);
});

engineTest("the data of a stack's containers comes back, each in its order", async (real) => {
  const labels = (service: string, stack: string) =>
    [`project=${stack}`, `service=${service}`, "container-number=1", "config-hash=1"]
      .map((label) => `--label=com.docker.compose.${label}`);
  const stack = `s${crypto.randomUUID().slice(0, 8)}`;
  await using test = await migratingApp(real, { run: labels("a", stack) });
  const { app, name, volume } = test;
  const mount = `--volume=${volume}-b:/data`;
  await real.docker("run", "-d", `--name=${name}-b`, ...labels("b", stack), mount, `${name}:1`);
  await real.docker("exec", `${name}-b`, "sh", "-c", "echo b > /data/file; touch /data/bad");
  await until("both are listed", () => app.deps.inventory.list().length >= 2);
  const before = [await test.files(), await test.files(`${volume}-b`)];
  await test.publish("mixed");
  const request = { data: "undo", stableSeconds: 1, pull: "never" };
  const { status, body } = await app.call("POST", `/api/stacks/${stack}/update`, request);
  equal(status, 202, JSON.stringify(body));
  const { status: end, error, result } = await ended(app, body.id);
  equal(end, "rolled_back", error ?? "");
  deepEqual(
    result.data.map(({ container }: { container: string }) => container),
    [name, `${name}-b`],
  );
  match(error!, new RegExp(`the data of ${name}-b from before is back`));
  deepEqual([await test.files(), await test.files(`${volume}-b`)], before);

  const plan = await app.call("POST", `/api/stacks/${stack}/update?plan=1`, request);
  const [obstacle] = plan.body.obstacles;
  match(obstacle.message, new RegExp(`^The update of ${name}-b is blocked: ${name}-b `));

  await test.publish("good");
  const updated = await app.call("POST", `/api/stacks/${stack}/update`, {
    ...request,
    force: true,
  });
  equal((await ended(app, updated.body.id)).status, "succeeded");
  const back = { data: true, stableSeconds: 1 };
  const started = await app.call("POST", `/api/stacks/${stack}/rollback`, back);
  equal(started.status, 202, JSON.stringify(started.body));
  const rolledBack = await ended(app, started.body.id);
  equal(rolledBack.status, "succeeded", rolledBack.error!);
  deepEqual([await test.files(), await test.files(`${volume}-b`)], before);
});
