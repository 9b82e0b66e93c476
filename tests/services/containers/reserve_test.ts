import { deepEqual, equal } from "node:assert/strict";
import { createRunStarter, listScheduleRuns } from "../../../services/automation/schedules/runs.ts";
import { createRemediator } from "../../../services/pro/remediation/runs.ts";
import {
  composeLabels,
  idOf,
  simulateContainers,
  type SimulatedContainer,
} from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { testApp } from "../../helpers/test_app.ts";
import { listAll } from "../../../services/containers/reads.ts";

const BUSY = "web is being rebuilt";

/** An application on an engine with the container "web", which is being rebuilt. */
async function whileRebuilt(
  run: (app: ReturnType<typeof testApp>, requests: string[]) => Promise<void>,
) {
  const containers: SimulatedContainer[] = [
    { name: "web", labels: composeLabels("shop", "web") },
    { name: "db", labels: composeLabels("shop", "db") },
  ];
  await using fake = fakeEngine({
    "GET /info": () => Response.json({}),
    ...simulateContainers(containers),
  });
  using app = testApp({ engine: fake.engine, edition: "pro" });
  await listAll(app.deps);
  app.deps.inventory.setLive(true);
  using _ = app.deps.reservations.reserve({ id: idOf("web"), name: "web" }, "rebuilt");
  await run(app, fake.requests);
  const changes = fake.requests.filter((request) =>
    request.startsWith("POST") && request.includes(idOf("web"))
  );
  deepEqual(changes, []);
}

for (const action of ["start", "stop", "restart", "rebuild"]) {
  for (const ref of ["web", idOf("web"), idOf("web").slice(0, 12)]) {
    Deno.test(`POST /api/containers/${ref.slice(0, 12)}/${action} is 409 during a rebuild`, () =>
      whileRebuilt(async (app) => {
        const { status, body } = await app.call("POST", `/api/containers/${ref}/${action}`);
        deepEqual([status, body.error], [409, BUSY]);
      }));
  }
}

Deno.test("a bulk action leaves out a container that is being rebuilt", () =>
  whileRebuilt(async (app) => {
    const { body } = await app.call("POST", "/api/containers/bulk", {
      ids: ["web", "db"],
      action: "restart",
    });
    deepEqual(body.results, [
      { id: "web", ok: false, state: null, error: BUSY },
      { id: "db", ok: true, state: "running", error: null },
    ]);
  }));

Deno.test("a stack action leaves out a container that is being rebuilt", () =>
  whileRebuilt(async (app) => {
    const { body } = await app.call("POST", "/api/stacks/shop/stop");
    const results = body.results.map(({ name, ok, error }: Record<string, unknown>) => ({
      name,
      ok,
      error,
    }));
    deepEqual(results, [
      { name: "db", ok: true, error: null },
      { name: "web", ok: false, error: BUSY },
    ]);
  }));

Deno.test("a schedule for a container that is being rebuilt fails with the reason", () =>
  whileRebuilt(async (app) => {
    await app.call("POST", "/api/schedules", {
      name: "nightly",
      containerId: idOf("web"),
      containerName: "web",
      action: "restart",
      cronExpression: "* * * * *",
      timezone: "UTC",
    });
    const starter = createRunStarter(app.deps);
    const since = app.clock.now();
    app.clock.advance({ minutes: 1 });

    starter.startDue(since, app.clock.now());
    await starter.idle();

    const [run] = listScheduleRuns(app.deps, { limit: 1, offset: 0 }).history;
    deepEqual([run?.status, run?.error], ["failure", BUSY]);
  }));

Deno.test("a remediation rule is not evaluated for a container that is being rebuilt", () =>
  whileRebuilt(async (app) => {
    const { status } = await app.call("POST", "/api/ext/service-pro/remediation/rules", {
      name: "down",
      condition_metric: "container_down",
      condition_operator: "<",
      condition_threshold: 1,
      action_type: "restart",
      action_target: "web",
    });
    equal(status, 201);
    const remediator = createRemediator(app.deps);

    remediator.evaluate();
    await remediator.waitUntilIdle();

    const history = await app.call("GET", "/api/ext/service-pro/remediation/history");
    deepEqual([history.status, history.body.history], [200, []]);
  }));

Deno.test("containers of one bulk action that share a namespace are all acted on", async () => {
  const containers: SimulatedContainer[] = [{ name: "web" }, { name: "side" }];
  await using fake = fakeEngine(simulateContainers(containers));
  using app = testApp({ engine: fake.engine });
  await listAll(app.deps);
  const { inventory } = app.deps;
  const share = () => {
    const side = { ...inventory.get(idOf("side"))!, shares: [idOf("web")] };
    inventory.put(side, inventory.readNumber());
  };
  share();
  inventory.setLive(true);

  const { body } = await app.call("POST", "/api/containers/bulk", {
    ids: ["web", "side"],
    action: "restart",
  });
  equal(body.succeeded, 2);

  share();
  using _ = app.deps.reservations.reserve({ id: idOf("side"), name: "side" }, "restarted");
  const { status, body: refused } = await app.call("POST", "/api/containers/web/stop");
  deepEqual([status, refused.error], [409, "side is being restarted"]);
});
