/** Stacks that a move has left stopped, on an engine that starts again. */

import { deepEqual, equal } from "node:assert/strict";
import { returnPolicies } from "../../services/containers/left_stopped.ts";
import { ownEngineTest } from "../helpers/real_engine.ts";
import { snapshotApp } from "../helpers/snapshots.ts";
import { sleeper } from "../helpers/test_stack.ts";
import { until } from "../helpers/until.ts";

const SNAPSHOTS = "/api/backup/snapshots";

ownEngineTest(
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
