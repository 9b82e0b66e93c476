/** Restores that are tried out on a copy, of which nothing stays. @module */

import { deepEqual, equal, match, rejects } from "node:assert/strict";
import type { Deps } from "../../services/deps.ts";
import type { DrillInput, DrillJob } from "../../services/snapshots/drills/job.ts";
import { drill, endDrill } from "../../services/snapshots/drills/run.ts";
import { freePort } from "../helpers/free_port.ts";
import { long } from "../helpers/long.ts";
import { engineTest, type RealEngine } from "../helpers/real_engine.ts";
import { type SnapshotApp, snapshotApp } from "../helpers/snapshots.ts";
import { networked } from "../helpers/test_stack.ts";
import { until } from "../helpers/until.ts";

const SNAPSHOTS = "/api/backup/snapshots";
const DRILLS = "/api/backup/drills";

/** Steps of a drill before everything is removed. */
const STEPS = ["plan", "images", "restore", "create", "verify", "record"];

/** Ends with 5 if a published port of the host can be reached. */
const LEAKS = (port: number) =>
  `for net in $(ip -4 -o addr show | sed -n 's/.* inet \\([0-9]*\\.[0-9]*\\.[0-9]*\\)\\..*/\\1/p') 172.17.0; do
     [ $net = 127.0.0 ] || ! nc -w 1 $net.1 ${port} < /dev/null || exit 5
   done`;

/** Containers, networks and volumes that a trial has left. */
async function leftOver({ docker }: RealEngine): Promise<string> {
  const filter = ["--filter", "label=longshore.trial"];
  const lists = [
    await docker("ps", "--all", "--quiet", ...filter),
    await docker("network", "ls", "--quiet", ...filter),
    await docker("volume", "ls", "--quiet", ...filter),
  ];
  return lists.join("");
}

engineTest(
  "a drill starts a copy without a way out, and says whether it works",
  async (real) => {
    const root = await Deno.makeTempDir({ prefix: "longshore-test-root-" });
    await using test = await snapshotApp(real, { stackRoots: [root], bindAllow: [root, "/tmp"] });
    const { app, stack: { name, store, deploy, containers }, exec, run } = test;
    await Deno.writeTextFile(`${root}/setting`, "right\n");
    const port = await freePort();
    const command = [
      "sh",
      "-c",
      `trap 'exit 0' TERM
     [ ! -e /data/trial ] || {
       ${LEAKS(port)}
       [ ! -e /sock ] || exit 3
       grep -q right /etc/app/setting || exit 6
       grep -q secret /etc/app/key || exit 7
       nc -w 5 db 70 < /dev/null || exit 8
     }
     [ ! -e /data/bad ] || exit 9
     touch /ready
     httpd -f -p 80 & wait`.replaceAll("$", "$$$$"),
    ];
    const web = {
      ...networked,
      command,
      depends_on: ["db"],
      restart: "always",
      // Checks of the copy may take longer than it has to stay up.
      healthcheck: { test: ["CMD", "test", "-e", "/ready"], interval: "1s", retries: 100 },
      ports: [`${port}:80`],
      volumes: ["data:/data", `${root}/setting:/etc/app/setting:ro`, "/tmp:/sock"],
      configs: [{ source: "key", target: "/etc/app/key" }],
    };
    await store({
      services: { db: { ...networked, command: "httpd -f -p 70" }, web },
      volumes: { data: {} },
      configs: { key: { content: "secret" } },
    });
    equal((await deploy()).status, "succeeded");
    await rejects(exec("web", LEAKS(port)), "the original can reach it");
    await exec("web", "touch /data/trial");
    await run(SNAPSHOTS, { stack: name, mode: "live" });
    await exec("web", "touch /data/bad");
    const before = await containers();

    const seen: string[] = [];
    const end = new AbortController();
    const watching = (async () => {
      for await (const { event } of app.deps.events.subscribe(end.signal)) seen.push(event);
    })();
    const good = await run(DRILLS, { stack: name, stableSeconds: 1 });
    equal(good.status, "succeeded", good.error ?? "");
    deepEqual(good.result.leftOut, ["/tmp"]);
    equal(await leftOver(real), "");

    await run(SNAPSHOTS, { stack: name, mode: "live" });
    const bad = await run(DRILLS, { stack: name, stableSeconds: 1 });
    equal(bad.status, "failed");
    match(bad.error ?? "", new RegExp(`^${name}-web-1 exited with code 9$`));
    equal(await leftOver(real), "");
    end.abort();
    await watching;
    deepEqual(seen.filter((event) => !event.startsWith("backup.")), ["drill.failed"]);

    const { body: { drills } } = await app.call("GET", `${DRILLS}?stack=${name}`);
    deepEqual(drills.map(({ ok }: { ok: boolean }) => ok), [false, true]);
    const { body: latest } = await app.call("GET", `${DRILLS}?latest=true`);
    deepEqual(latest, { drills: [drills[0]] });
    equal(drills[1].reason.includes(`${name}-web-1 is healthy`), true, drills[1].reason);
    const states = (all: typeof before) =>
      Object.values(all).map(({ Id, State, RestartCount }) => [Id, State.StartedAt, RestartCount]);
    deepEqual(states(await containers()), states(before), "the stack was left alone");
    await Deno.remove(root, { recursive: true });
  },
);

long(engineTest)(
  "a drill that ends with the service at any step leaves nothing behind",
  async (real) => {
    await using test = await snapshotApp(real);
    const { app, stack: { name, store, deploy }, run } = test;
    await store({
      services: { db: { ...networked, volumes: ["data:/data"] } },
      volumes: { data: {} },
    });
    equal((await deploy()).status, "succeeded");
    const { result: { snapshot } } = await run(SNAPSHOTS, { stack: name, mode: "live" });
    for (const step of STEPS) {
      const isDone = await drillTwice(test, snapshot, step);
      equal(isDone, step === "record", step);
      equal(await leftOver(real), "", step);
    }
    await until(
      "the inventory has the stack only",
      () => app.deps.inventory.list().every((each) => !each.name.startsWith("longshore-")),
    );
  },
);

class Killed extends Error {}

/** Drills until a step has succeeded, and ends as the next start does. @returns Whether it succeeded. */
async function drillTwice(
  { app, stack: { name } }: SnapshotApp,
  snapshot: string,
  lastStep: string,
): Promise<boolean> {
  const { deps } = app;
  const { body: { targets: [target] } } = await app.call("GET", "/api/backup/targets");
  const input: DrillInput = {
    targetId: target.id,
    place: target.name,
    snapshot,
    stableSeconds: 1,
  };
  const id = crypto.randomUUID();
  const steps = new Map<string, { value: unknown } | undefined>();
  const stop = new AbortController();
  const jobUntil = (last: string | undefined): DrillJob => ({
    id,
    target: name,
    input,
    attachment: undefined,
    signal: new AbortController().signal,
    async step(step, work) {
      if (last !== undefined && stop.signal.aborted) throw new Killed();
      steps.set(step, undefined);
      const value = await work();
      steps.set(step, { value: JSON.parse(JSON.stringify(value ?? null)) });
      if (step !== last) return value;
      stop.abort();
      throw new Killed();
    },
    resultOf: (step) => steps.get(step)?.value,
    hasBegun: (step) => steps.has(step),
    progress() {},
    log() {},
  });
  const jobs = Object.create(deps.jobs, { stopping: { value: stop.signal } });
  const dying: Deps = { ...deps, jobs };
  const killed = await drill(dying, jobUntil(lastStep)).catch((error) => error);
  equal(killed instanceof Killed, true, String(killed?.stack));
  return await endDrill(deps, jobUntil(undefined)).then(() => true, (error) => {
    match(error.message, /The drill was interrupted/);
    return false;
  });
}
