/** Restores of whole stacks. @module */

import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { deleteStackVersions } from "../../db/stack_versions.ts";
import { connectEngine } from "../../engine/client.ts";
import { containerWatcher } from "../../services/containers/watcher.ts";
import { openTarget } from "../../services/backup/targets/targets.ts";
import { testFleet } from "../helpers/fleet.ts";
import { liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { engineTest } from "../helpers/real_engine.ts";
import { type SnapshotApp, snapshotApp } from "../helpers/snapshots.ts";
import type { StackRestoreJob } from "../../services/snapshots/stack/job.ts";
import {
  prepareStackRestore,
  type StackRestoreRequest,
} from "../../services/snapshots/stack/start.ts";
import { restoreStack } from "../../services/snapshots/stack/run.ts";
import { ended, networked, sleeper } from "../helpers/test_stack.ts";

const SNAPSHOTS = "/api/backup/snapshots";

const withData = { ...sleeper, volumes: ["data:/data"] };

/** Removes a stack with its volumes and sources. */
async function removeStack({ app, stack: { name, down } }: SnapshotApp): Promise<void> {
  equal((await down({ volumes: true })).status, "succeeded");
  equal((await app.call("DELETE", `/api/stacks/${name}`)).status, 200);
}

class Killed extends Error {}

/**
 * Runs a job whose process dies after each step, before its result is stored, and goes on with what was.
 *
 * @returns The steps in their order, and how the job ended.
 */
async function restoreDying(
  { app: { deps } }: SnapshotApp,
  { target, input }: Pick<StackRestoreJob, "input" | "target">,
): Promise<{ deaths: string[]; status: string }> {
  const steps = new Map<string, { value: unknown } | undefined>();
  const deaths: string[] = [];
  const id = crypto.randomUUID();
  for (;;) {
    const stop = new AbortController();
    const job: StackRestoreJob = {
      id,
      target,
      input,
      attachment: undefined,
      signal: new AbortController().signal,
      async step(step, work) {
        stop.signal.throwIfAborted();
        const known = steps.get(step);
        if (known) return known.value as Awaited<ReturnType<typeof work>>;
        steps.set(step, undefined);
        const value = await work();
        if (!deaths.includes(step)) {
          deaths.push(step);
          stop.abort(new Killed());
          throw stop.signal.reason;
        }
        steps.set(step, { value: JSON.parse(JSON.stringify(value ?? null)) });
        return value;
      },
      resultOf: (step) => steps.get(step)?.value,
      hasBegun: (step) => steps.has(step),
      progress() {},
      log() {},
    };
    const jobs = Object.create(deps.jobs, { stopping: { value: stop.signal } });
    try {
      await restoreStack({ ...deps, jobs }, job);
      return { deaths, status: "succeeded" };
    } catch (error) {
      if (error instanceof Killed) continue;
      return { deaths, status: (error as { status?: string }).status ?? String(error) };
    }
  }
}

/** The command that restores a snapshot as a whole stack. */
const restoreWith = ({ run }: Pick<SnapshotApp, "run">, snapshot: string) => (body: object = {}) =>
  run(`${SNAPSHOTS}/${snapshot}/restore`, { what: "stack", stableSeconds: 1, ...body });

engineTest("a stack moves to another host by a target", async (real) => {
  await using test = await snapshotApp(real);
  const { app, stack: { name, store, deploy, containers }, exec, run } = test;
  await store({
    services: {
      db: { ...networked, volumes: ["data:/data", "/cache"], environment: ["WORD=${WORD}"] },
      web: { ...networked, networks: ["front"], depends_on: ["db"] },
    },
    networks: { front: {}, default: {} },
    volumes: { data: {} },
  }, { env: "WORD=precious\n" });
  equal((await deploy()).status, "succeeded");
  await exec("db", "echo old > /data/file; chmod 600 /data/file; echo warm > /cache/file");
  const { result: { snapshot } } = await run(SNAPSHOTS, { stack: name, keepStopped: true });
  equal(await real.docker("ps", "--quiet", `--filter=name=${name}`), "");
  const taken = await app.call("POST", `${SNAPSHOTS}/${snapshot}/restore`, { what: "stack" });
  equal(taken.status, 409);
  match(taken.body.error, new RegExp(`Stack ${name} already exists`));
  await removeStack(test);

  const dataDir = await Deno.makeTempDir({ prefix: "longshore-test-data-" });
  try {
    const { target: { location }, password } = await openTarget(app.deps);
    const config = { dataDir, backupDirs: [location] };
    await using other = await liveApp(real.socketPath, { config });
    other.deps.now = () => new Date();
    const joined = { name: "shared", location, password, default: true };
    equal((await other.call("POST", "/api/backup/targets", joined)).status, 201);
    const path = `${SNAPSHOTS}/${snapshot}`;
    const plan = await other.call("GET", `${path}/restore-plan`);
    equal(plan.status, 200, JSON.stringify(plan.body));
    deepEqual(plan.body.services, [
      { name: "db", action: "create" },
      { name: "web", action: "create" },
    ]);
    equal(plan.body.volumes.length, 2);
    deepEqual(plan.body.stops, []);

    const { body: job } = await other.call("POST", `${path}/restore`, {
      what: "stack",
      stableSeconds: 1,
    });
    const restored = await ended(other, job.id);
    equal(restored.status, "succeeded", restored.error ?? "");
    equal(await exec("db", "cat /data/file /cache/file; stat -c %a /data/file"), "old\nwarm\n600");
    equal(await exec("db", "echo $WORD"), "precious");
    const { NetworkSettings } = (await containers())["web-1"]!;
    deepEqual(Object.keys(NetworkSettings.Networks!), [`${name}_front`]);
    const { body: source } = await other.call("GET", `/api/stacks/${name}/source`);
    equal(source.env, "WORD=precious\n");
    const { body: { stacks: [{ lastBackup }] } } = await other.call("GET", "/api/backup/stacks");
    const { body: { time, size, lastBackupOf } } = await other.call("GET", path);
    deepEqual([lastBackup, lastBackupOf], [{ at: time, snapshot, target: "shared", size }, [name]]);
    const { body: deploy } = await other.call("POST", `/api/stacks/${name}/plan`, {});
    ok(deploy.changes.every(({ action }: { action: string }) => action === "none"));
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

long(engineTest)("a stack moves to another host by the link", async (real) => {
  await using test = await snapshotApp(real);
  const { app, stack: { name, store, deploy }, exec, run } = test;
  await store({ services: { db: withData }, volumes: { data: {} } }, { env: "WORD=precious\n" });
  equal((await deploy()).status, "succeeded");
  await exec("db", "echo old > /data/file");
  const { result: { snapshot } } = await run(SNAPSHOTS, { stack: name, keepStopped: true });

  const engine = connectEngine(real.socketPath);
  await using fleet = await testFleet({ member: { engine, now: app.deps.now().toISOString() } });
  app.deps.passing.hub = fleet.hub.deps.passing.hub;
  fleet.member.deps.now = () => new Date();
  // Notes are checked by a clock that stands still.
  const offset = () => fleet.member.clock.now().getTime() - app.deps.now().getTime();
  const clock = Object.defineProperty({ offset: 0, roundTrip: 1 }, "offset", { get: offset });
  fleet.link = { ...fleet.link!, clock };
  const end = new AbortController();
  const watching = containerWatcher.run(fleet.member.deps, end.signal, () => {});
  const path = `${SNAPSHOTS}/${snapshot}/send`;
  const refused = await run(path, { host: "edge-7" });
  equal(refused.status, "failed");
  match(refused.error!, /^Host edge-7 answered: Stack .* already exists/);
  await removeStack(test);

  const sent = await run(path, { host: "edge-7" });
  equal(sent.status, "succeeded", sent.error ?? "");
  deepEqual(sent.result.restored, [`${name}_data`]);
  equal(await exec("db", "cat /data/file"), "old");
  const { body: source } = await fleet.member.call("GET", `/api/stacks/${name}/source`);
  equal(source.env, "WORD=precious\n");
  end.abort();
  await watching;
  engine.close();
});

engineTest("a stack is replaced, and comes back if the restored one fails", async (real) => {
  await using test = await snapshotApp(real);
  const { app, stack: { name, store, deploy }, exec, restic, run } = test;
  const command = ["sh", "-c", "test ! -e /data/bad && exec sleep 1000"];
  await store({ services: { db: { ...withData, command } }, volumes: { data: {} } });
  equal((await deploy()).status, "succeeded");
  await exec("db", "echo old > /data/file");
  const good = (await run(SNAPSHOTS, { stack: name })).result.snapshot as string;
  await exec("db", "touch /data/bad");
  const bad = (await run(SNAPSHOTS, { stack: name, mode: "live" })).result.snapshot as string;
  await exec("db", "rm /data/bad; echo new > /data/file");
  await store({
    services: { db: { ...withData, command }, extra: { ...sleeper, volumes: ["more:/more"] } },
    volumes: { data: {}, more: {} },
  });
  equal((await deploy()).status, "succeeded");
  await exec("extra", "echo more > /more/file");
  const compose = async () => (await app.call("GET", `/api/stacks/${name}/source`)).body.compose;
  const current = await compose();

  const failed = await restoreWith(test, bad)({ to: "replace" });
  equal(failed.status, "rolled_back", failed.error ?? "");
  match(failed.error ?? "", new RegExp(`^${name}-db-1 `));
  equal(await exec("db", "ls /data; cat /data/file"), "file\nnew");
  equal(await exec("extra", "cat /more/file"), "more");
  equal(await compose(), current);

  const replaced = await restoreWith(test, good)({ to: "replace" });
  equal(replaced.status, "succeeded", replaced.error ?? "");
  equal(await exec("db", "ls /data; cat /data/file"), "file\nold");
  const { kept } = replaced.result;
  equal(await restic("dump", kept, `/volumes/${name}_more/file`), "more\n");
  equal(await real.docker("ps", "-aq", `--filter=name=${name}-extra`), "");
});

long(engineTest)("a new stack that fails leaves nothing", async (real) => {
  await using test = await snapshotApp(real);
  const { app, stack: { name, store, deploy }, exec, run } = test;
  const command = ["sh", "-c", "test ! -e /data/bad && exec sleep 1000"];
  const db = { ...sleeper, volumes: ["data:/data", "/cache"], command };
  await store({ services: { db }, volumes: { data: {} } });
  equal((await deploy()).status, "succeeded");
  await exec("db", "touch /data/bad");
  const { result: { snapshot } } = await run(SNAPSHOTS, { stack: name, mode: "live" });
  const before = await real.docker("volume", "ls", "--quiet");
  const copy = `${name}-copy`;
  const failed = await restoreWith(test, snapshot)({ as: copy });
  equal(failed.status, "rolled_back", failed.error ?? "");
  equal(await real.docker("volume", "ls", "--quiet"), before);
  equal(await real.docker("ps", "-aq", `--filter=name=${copy}`), "");
  equal(await real.docker("network", "ls", "-q", `--filter=name=${copy}`), "");
  equal((await app.call("GET", `/api/stacks/${copy}/source`)).status, 404);
  equal(await exec("db", "ls /data"), "bad");
});

long(engineTest)("an image that is gone comes from the snapshot", async (real) => {
  await using test = await snapshotApp(real);
  const { stack: { name, store, deploy, containers }, exec, restic, run } = test;
  const image = `longshore-test/${name}:1`;
  const base = await real.docker("create", sleeper.image);
  await real.docker("commit", "--change=LABEL own=yes", base, image);
  await real.docker("rm", base);
  await store({ services: { app: { ...networked, image } } });
  equal((await deploy()).status, "succeeded");
  const id = (await containers())["app-1"]!.Image;
  const { result, status, error } = await run(SNAPSHOTS, { stack: name, withImages: true });
  equal(status, "succeeded", error ?? "");
  match(await restic("ls", result.snapshot), new RegExp(`^/images/${id.slice(7)}.tar$`, "m"));
  await removeStack(test);
  await real.docker("rmi", image);

  const drilled = await run("/api/backup/drills", { stack: name, stableSeconds: 1 });
  equal(drilled.status, "succeeded", drilled.error ?? "");
  await rejects(real.docker("image", "inspect", id), /No such image/);

  const restored = await restoreWith(test, result.snapshot)();
  equal(restored.status, "succeeded", restored.error ?? "");
  deepEqual(restored.result.warnings, []);
  equal(await exec("app", "echo runs"), "runs");
  equal((await containers())["app-1"]!.Config.Image, image);
  equal((await containers())["app-1"]!.Image, id);
});

long(engineTest)("a stack on disk comes back with its directories", async (real) => {
  const root = await Deno.makeTempDir({ prefix: "longshore-test-stacks-" });
  await using test = await snapshotApp(real, { stackRoots: [root], helperImage: sleeper.image });
  const { app, stack: { name, deploy }, exec, run } = test;
  const directory = `${root}/${name}`;
  const folder = "da%41ta";
  const compose = `services: {app: {image: "${sleeper.image}", command: sleep 1000, ` +
    `stop_signal: SIGKILL, volumes: ["./${folder}:/data", "./app.conf:/app.conf:ro"]}}`;
  await Deno.mkdir(`${directory}/${folder}`, { recursive: true });
  await Deno.writeTextFile(`${directory}/app.conf`, "a=1");
  const created = await app.call("POST", "/api/stacks", {
    name,
    compose,
    directory,
    deploy: false,
  });
  equal(created.status, 201, JSON.stringify(created.body));
  equal((await deploy()).status, "succeeded");
  await exec("app", "mkdir /data/sub; echo old > /data/sub/file; ln -s ../../.. /data/out");
  const { result: { snapshot } } = await run(SNAPSHOTS, { stack: name });

  const copied = await restoreWith(test, snapshot)({ as: `${name}-copy` });
  equal(copied.status, "succeeded", copied.error ?? "");
  equal(await Deno.readTextFile(`${root}/${name}-copy/${folder}/sub/file`), "old\n");
  equal(await Deno.readTextFile(`${root}/${name}-copy/app.conf`), "a=1");
  equal(await Deno.readTextFile(`${root}/${name}-copy/compose.yaml`), compose);
  await real.docker("rm", "-f", `${name}-copy-app-1`);
  await real.docker("network", "rm", `${name}-copy_default`);

  await exec("app", "echo new > /data/sub/file; rm /data/out; ln -s /etc /data/out");
  const replace = restoreWith(test, snapshot);
  const replaced = await replace({ to: "replace" });
  equal(replaced.status, "succeeded", replaced.error ?? "");
  equal(await exec("app", "cat /data/sub/file; readlink /data/out"), "old\n../../..");

  // The directory of STACK_ROOTS has other stacks, so that no image of a container may empty it.
  app.deps.config.helperImage = null;
  const path = `/directories${directory}/da%2541ta`;
  const at = `${SNAPSHOTS}/${snapshot}`;
  for (
    const [end, body] of [
      ["restore", { what: "stack", to: "replace" }],
      ["restore", { what: "stack", as: `${name}-other` }],
      ["restore-plan?to=replace", undefined],
      ["restore", { what: "file", to: "replace", paths: [`${path}/sub/file`] }],
    ] as const
  ) {
    const refused = await app.call(body ? "POST" : "GET", `${at}/${end}`, body);
    equal(refused.status, 409, JSON.stringify(refused.body));
    match(refused.body.error, /set HELPER_IMAGE/);
  }
  app.deps.config.helperImage = sleeper.image;
  await exec("app", "rm -r /data/sub; echo more > /data/more");
  const file = await replace({ what: "file", to: "replace", paths: [`${path}/sub/file`] });
  equal(file.status, "succeeded", file.error ?? "");
  equal(await exec("app", "cat /data/sub/file /data/more"), "old\nmore");

  deleteStackVersions(app.deps.db, name);
  const unknown = await app.call("POST", `${SNAPSHOTS}/${snapshot}/restore`, {
    what: "stack",
    to: "replace",
  });
  equal(unknown.status, 409);
  match(unknown.body.error, /are not known here; adopt the stack/);
  equal((await app.call("POST", `/api/stacks/${name}/adopt`, {})).body.adopted, true);

  await removeStack(test);
  await Deno.rename(`${directory}/${folder}`, `${directory}/kept`);
  await Deno.symlink(`${root}/${name}-copy`, `${directory}/${folder}`);
  const linked = await app.call("POST", `${SNAPSHOTS}/${snapshot}/restore`, { what: "stack" });
  equal(linked.status, 409);
  match(linked.body.error, /da%41ta is a symbolic link; use the real path/);
  await Deno.remove(root, { recursive: true });
});

long(engineTest)("a restore that ends after any step goes on", async (real) => {
  await using test = await snapshotApp(real);
  const { app, stack: { name, store, deploy }, exec, run } = test;
  const command = ["sh", "-c", "test ! -e /data/bad && exec sleep 1000"];
  const db = { ...sleeper, volumes: ["data:/data", "/cache"], command };
  await store({ services: { db }, volumes: { data: {} } });
  equal((await deploy()).status, "succeeded");
  await exec("db", "touch /data/bad /cache/bad");
  const bad = (await run(SNAPSHOTS, { stack: name, mode: "live" })).result.snapshot as string;
  await exec("db", "rm /data/bad /cache/bad; echo new > /data/file");
  const prepare = async (id: string, request: Omit<StackRestoreRequest, "stableSeconds">) =>
    await prepareStackRestore(app.deps, { userId: "key" }, id, { ...request, stableSeconds: 1 });

  const failing = await restoreDying(test, await prepare(bad, { to: "replace" }));
  equal(failing.status, "rolled_back");
  for (const step of ["keep", "images", "write", "sources", "deploy roll back", "put back"]) {
    ok(failing.deaths.includes(step), step);
  }
  equal(await exec("db", "ls /data /cache; cat /data/file"), "/cache:\n\n/data:\nfile\nnew");

  const good = (await run(SNAPSHOTS, { stack: name, mode: "live" })).result.snapshot as string;
  await removeStack(test);
  const worked = await restoreDying(test, await prepare(good, { to: "new" }));
  equal(worked.status, "succeeded");
  ok(worked.deaths.includes("deploy create db"));
  equal(await exec("db", "ls /cache; cat /data/file"), "new");
});
