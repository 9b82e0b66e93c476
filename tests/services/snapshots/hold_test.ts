import { deepEqual, rejects } from "node:assert/strict";
import { EngineUnreachableError } from "../../../engine/errors.ts";
import { currentContainers } from "../../../services/containers/reads.ts";
import { hold, keepDown, planFirmHold, release } from "../../../services/snapshots/hold.ts";
import { idOf, simulateContainers } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { testApp } from "../../helpers/test_app.ts";

Deno.test("an engine that is restarted starts no container that a restore holds", async () => {
  const policies: unknown[] = [];
  const db = { name: "db", restart: "always" };
  await using fake = fakeEngine({
    ...simulateContainers([db]),
    "POST /containers/*/update": ({ body }) => {
      const { Name } = (body as { RestartPolicy: { Name: string } }).RestartPolicy;
      policies.push(Name);
      db.restart = Name;
      return Response.json({ Warnings: null });
    },
  });
  using app = testApp({ engine: fake.engine });
  const held = planFirmHold(await currentContainers(app.deps));
  const operation = Symbol("restore");
  await hold(app.deps, held, operation);
  await keepDown(app.deps, held);
  deepEqual(policies, ["no"]);
  await release(app.deps, held, operation);
  deepEqual(policies, ["no", "always"]);
  const actions = fake.requests.flatMap((each) => /^POST .*\/(\w+)/.exec(each)?.[1] ?? []);
  deepEqual(actions, ["stop", "update", "update", "start"]);
  deepEqual(held.containers.map(({ id }) => id), [idOf("db")]);
});

Deno.test("an engine that was away while containers were released is why they did not start", async () => {
  let isAway = false;
  const containers = ["db", "web", "worker"].map((name) => ({ name, restart: "always" }));
  await using fake = fakeEngine({
    ...simulateContainers(containers),
    "POST /containers/*/update": ({ parts: [id] }) => {
      containers.find(({ name }) => idOf(name) === id)!.restart = "no";
      if (!isAway) return Response.json({ Warnings: null });
      return new Response(
        new ReadableStream({ start: (controller) => controller.error(new Error()) }),
      );
    },
  });
  using app = testApp({ engine: fake.engine });
  const held = planFirmHold(await currentContainers(app.deps));
  await keepDown(app.deps, held);
  isAway = true;
  for (const loss of ["first", "second"]) {
    await rejects(release(app.deps, held, Symbol("restore")), EngineUnreachableError, loss);
  }
});
