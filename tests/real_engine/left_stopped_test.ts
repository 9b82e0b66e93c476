/** Stacks that a move has left stopped, on an engine that starts again. */

import { deepEqual, equal } from "node:assert/strict";
import { returnPolicies } from "../../services/containers/left_stopped.ts";
import { long } from "../helpers/long.ts";
import { BUSYBOX, ownEngineTest, privateEngineTest } from "../helpers/real_engine.ts";
import { snapshotApp } from "../helpers/snapshots.ts";
import { ended, sleeper } from "../helpers/test_stack.ts";
import { until } from "../helpers/until.ts";

const SNAPSHOTS = "/api/backup/snapshots";

long(ownEngineTest)(
  "a stack that has moved stays stopped when its engine starts again",
  async (engine) => {
    await using test = await snapshotApp(engine);
    const { app, stack: { name, store, deploy, containers }, restic, run } = test;
    await store({
      services: {
        db: { ...sleeper, volumes: ["data:/data"], restart: "always" },
        web: { ...sleeper, restart: "on-failure:3" },
      },
      volumes: { data: {} },
    });
    equal((await deploy()).status, "succeeded");
    const states = async () =>
      Object.fromEntries(
        Object.entries(await containers()).map((
          [key, { State, HostConfig: { RestartPolicy } }],
        ) => [
          key,
          `${State.Status} ${RestartPolicy?.Name} ${RestartPolicy?.MaximumRetryCount}`,
        ]),
      );
    const own = { "db-1": "running always 0", "web-1": "running on-failure 3" };
    const left = { "db-1": "exited no 0", "web-1": "exited no 0" };
    deepEqual(await states(), own);
    const { result: { snapshot } } = await run(SNAPSHOTS, { stack: name, keepStopped: true });
    deepEqual(await states(), left);
    const described = JSON.parse(await restic("dump", snapshot, `/stacks/${name}/stack.json`));
    deepEqual(
      described.containers.map((
        { inspect }: { inspect: { HostConfig: { RestartPolicy: object } } },
      ) => inspect.HostConfig.RestartPolicy).sort((a: { Name: string }, b: { Name: string }) =>
        a.Name.localeCompare(b.Name)
      ),
      [{ Name: "always", MaximumRetryCount: 0 }, { Name: "on-failure", MaximumRetryCount: 3 }],
    );

    await engine.kill();
    await engine.restart();
    deepEqual(await states(), left);
    await until("the engine is followed again", () => app.deps.inventory.live);
    const plan = await app.call("POST", `/api/stacks/${name}/plan`, {});
    equal(plan.status, 200, JSON.stringify(plan.body));
    deepEqual(
      plan.body.changes.filter(({ kind }: { kind: string }) => kind === "service")
        .map(({ action }: { action: string }) => action),
      ["start", "start"],
    );
    equal((await deploy()).status, "succeeded");
    deepEqual(await states(), own);

    // A start of one container, an action on the stack, and a start by another program.
    const leave = () => run(SNAPSHOTS, { stack: name, keepStopped: true });
    await leave();
    await leave();
    deepEqual(await states(), left, "a second move keeps the policies");
    equal((await app.call("POST", `/api/containers/${name}-db-1/start`)).status, 200);
    deepEqual(await states(), { ...left, "db-1": own["db-1"] });
    equal((await app.call("POST", `/api/stacks/${name}/restart`)).status, 200);
    deepEqual(await states(), own);
    await leave();
    await engine.docker("start", `${name}-web-1`);
    await until(
      "its start is noticed",
      () =>
        app.deps.inventory.list().some(({ name: each, state }) =>
          each === `${name}-web-1` && state === "running"
        ),
    );
    await returnPolicies(app.deps);
    deepEqual(await states(), { ...left, "web-1": own["web-1"] });
  },
);

long(privateEngineTest)(
  "containers that a move has left stopped stay so through whatever does not start them",
  async (engine) => {
    await using test = await snapshotApp(engine);
    const { app, stack: { name, store, deploy, containers }, exec, run } = test;
    const image = `${name}:1`;
    await engine.docker("tag", BUSYBOX, image);
    const services = {
      db: {
        ...sleeper,
        image,
        command: ["sh", "-c", "test ! -e /data/bad && exec sleep 1000"],
        volumes: ["data:/data"],
        restart: "always",
      },
      // The shell of the image ignores the signal, so that a stop takes the grace period.
      slow: { image, command: "sleep 1000", restart: "on-failure:3", stop_grace_period: "1s" },
    };
    const volumes = { data: {} };
    await store({ services, volumes });
    equal((await deploy()).status, "succeeded");
    await exec("db", "touch /data/bad");
    const bad = (await run(SNAPSHOTS, { stack: name, mode: "live" })).result.snapshot as string;
    await exec("db", "rm /data/bad");
    const states = async () =>
      Object.fromEntries(
        Object.entries(await containers()).map(([key, { State, HostConfig }]) => [
          key,
          `${State.Running ? "up" : "down"} ${HostConfig.RestartPolicy?.Name}`,
        ]),
      );
    const left = { "db-1": "down no", "slow-1": "down no" };
    const own = { "db-1": "up always", "slow-1": "up on-failure" };

    const move = await app.call("POST", SNAPSHOTS, { stack: name, keepStopped: true });
    await until("its policies are taken", async () => (await states())["slow-1"]!.endsWith(" no"));
    await returnPolicies(app.deps);
    equal((await ended(app, move.body.id)).status, "succeeded");
    deepEqual(await states(), left, "a round while it is stopped");

    const slow = { ...services.slow, labels: { changed: "yes" } };
    const broken = { image: BUSYBOX, command: "false" };
    await store({ services: { ...services, slow, broken }, volumes });
    equal((await deploy()).status, "rolled_back");
    deepEqual(await states(), left, "a deploy that is rolled back");
    const missing = { image: `${name}:missing` };
    await store({ services: { ...services, missing }, volumes });
    equal((await deploy({ pull: "never" })).status, "failed");
    deepEqual(await states(), left, "a deploy that is refused");
    const restored = await run(`${SNAPSHOTS}/${bad}/restore`, {
      what: "stack",
      to: "replace",
      stableSeconds: 1,
    });
    equal(restored.status, "rolled_back", restored.error ?? "");
    deepEqual(await states(), left, "a restore that is rolled back");

    const db = `/api/containers/${name}-db-1`;
    const base = await engine.docker("create", BUSYBOX, "true");
    const id = await engine.docker("commit", base, image);
    await engine.docker("rm", base);
    try {
      const updated = await run(`${db}/update`, { pull: "never" });
      equal(updated.status, "succeeded", updated.error ?? "");
      equal(updated.result.updated, true);
      await returnPolicies(app.deps);
      deepEqual(await states(), left, "an update");
      equal((await run(`${db}/rollback`, {})).status, "succeeded");
      deepEqual(await states(), left, "the rollback of an update");
      await engine.docker("update", "--restart=unless-stopped", `${name}-slow-1`);
      for (const each of ["db", "slow"]) {
        equal((await app.call("POST", `/api/containers/${name}-${each}-1/start`)).status, 200);
      }
      deepEqual(await states(), { ...own, "slow-1": "up unless-stopped" });
    } finally {
      await engine.docker("rmi", "-f", id).catch(() => {});
      await engine.docker("rmi", image).catch(() => {});
    }
  },
);
