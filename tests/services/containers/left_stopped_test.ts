import { deepEqual, equal } from "node:assert/strict";
import { startContainer } from "../../../services/containers/actions.ts";
import {
  isLeftStopped,
  recordLeftStopped,
  returnPolicies,
  withOwnPolicy,
} from "../../../services/containers/left_stopped.ts";
import { inspectContainer } from "../../../services/containers/reads.ts";
import {
  idOf,
  simulateContainers,
  type SimulatedContainer,
} from "../../helpers/fake_containers.ts";
import { type FakeAnswer, fakeEngine } from "../../helpers/fake_engine.ts";
import { testApp } from "../../helpers/test_app.ts";

/** An engine whose containers a move has left stopped with the policy `always`. */
function leftApp(containers: SimulatedContainer[], answers: Record<string, FakeAnswer> = {}) {
  const fake = fakeEngine({
    ...simulateContainers(containers),
    "POST /containers/*/update": ({ parts: [id], body }) => {
      const { Name } = (body as { RestartPolicy: { Name: string } }).RestartPolicy;
      containers.find(({ name }) => idOf(name) === id)!.restart = Name;
      return Response.json({ Warnings: null });
    },
    ...answers,
  });
  const app = testApp({ engine: fake.engine });
  for (const { name } of containers) {
    recordLeftStopped(app.deps.db, idOf(name), { Name: "always", MaximumRetryCount: 0 });
  }
  return {
    deps: app.deps,
    isLeft: (name: string) => isLeftStopped(app.deps.db, idOf(name)),
    async [Symbol.asyncDispose]() {
      app[Symbol.dispose]();
      await fake[Symbol.asyncDispose]();
    },
  };
}

Deno.test("a restart policy that others have set meanwhile stays", async () => {
  const web: SimulatedContainer = { name: "web", state: "exited", restart: "unless-stopped" };
  const db: SimulatedContainer = { name: "db", state: "exited", restart: "unless-stopped" };
  await using test = leftApp([web, db]);
  const { deps, isLeft } = test;
  const shown = withOwnPolicy(deps.db, await inspectContainer(deps, "web"));
  equal(shown.HostConfig.RestartPolicy?.Name, "unless-stopped");
  await startContainer(deps, "web");
  await returnPolicies(deps);
  deepEqual([web.restart, db.restart], ["unless-stopped", "unless-stopped"]);
  deepEqual([isLeft("web"), isLeft("db")], [false, false]);
});

Deno.test("a round leaves containers alone that a job has reserved", async () => {
  const db: SimulatedContainer = { name: "db", restart: "no" };
  await using test = leftApp([db]);
  const { deps, isLeft } = test;
  {
    using _ = deps.reservations.reserve({ id: idOf("db"), name: "db" }, "backed up");
    await returnPolicies(deps);
    deepEqual([db.restart, isLeft("db")], ["no", true]);
  }
  await returnPolicies(deps);
  deepEqual([db.restart, isLeft("db")], ["always", false]);
});

Deno.test("a round goes on after a failure, and forgets only what the engine does not have", async () => {
  const broken: SimulatedContainer = { name: "broken", restart: "no" };
  const db: SimulatedContainer = { name: "db", restart: "no" };
  const unlisted: SimulatedContainer = { name: "unlisted", state: "exited", restart: "no" };
  const containers = [broken, db, unlisted];
  const { "GET /containers/json": list } = simulateContainers([broken, db]);
  await using test = leftApp(containers, {
    "GET /containers/json": list!,
    "POST /containers/*/update": ({ parts: [id] }) => {
      if (id === idOf("broken")) return Response.json({ message: "refused" }, { status: 500 });
      db.restart = "always";
      return Response.json({ Warnings: null });
    },
  });
  const { deps, isLeft } = test;
  const gone = idOf("gone");
  recordLeftStopped(deps.db, gone, { Name: "always" });
  await returnPolicies(deps);
  equal(db.restart, "always");
  deepEqual(["broken", "db", "unlisted", "gone"].map(isLeft), [true, false, true, false]);
});
