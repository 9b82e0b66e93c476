import { deepEqual, equal, rejects } from "node:assert/strict";
import { selectServiceStop, upsertServiceStop } from "../../../db/service_stops.ts";
import { restartContainer, stopContainer } from "../../../services/containers/actions.ts";
import { rebuildContainer } from "../../../services/updates/rebuild/rebuild.ts";
import { containerWatcher } from "../../../services/containers/watcher.ts";
import {
  idOf,
  simulateContainers,
  type SimulatedContainer,
} from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { testApp } from "../../helpers/test_app.ts";
import { until } from "../../helpers/until.ts";

const WEB = idOf("web");

Deno.test("a stop by the service is recorded until the container runs again or exits by itself", async () => {
  let tell: ReadableStreamDefaultController<Uint8Array>;
  await using fake = fakeEngine({
    ...simulateContainers([{ name: "web" }]),
    "GET /events": () => new Response(new ReadableStream({ start: (c) => void (tell = c) })),
  });
  using app = testApp({ engine: fake.engine, now: "2026-01-01T12:00:00.000Z" });
  const { db, inventory } = app.deps;
  const downs: string[] = [];
  app.deps.events.publish = ({ event }) => void downs.push(event);
  const stop = () => selectServiceStop(db, WEB);
  const event = (Action: string) => {
    const Actor = { ID: WEB, Attributes: { name: "web", exitCode: "0" } };
    const line = JSON.stringify({ Type: "container", Action, Actor, time: 0, timeNano: 0 });
    tell.enqueue(new TextEncoder().encode(line + "\n"));
  };
  upsertServiceStop(db, "gone", "2026-01-01T11:00:00.000Z");

  const end = new AbortController();
  const watching = containerWatcher.run(app.deps, end.signal, () => {});
  await until("the engine is followed", () => inventory.live);
  equal(selectServiceStop(db, "gone"), undefined);

  inventory.expectDown(WEB);
  event("die");
  equal(await until("it is remembered", stop), "2026-01-01T12:00:00.000Z");
  event("start");
  await until("it is forgotten", () => stop() === undefined);
  inventory.expectDown(WEB);
  event("die");
  await until("it is remembered", stop);
  event("die");
  await until("it is forgotten", () => stop() === undefined);
  deepEqual(downs, ["container.up", "container.down"]);

  end.abort();
  await watching;
});

Deno.test("a restart of a container that does not run excuses no later end", async () => {
  await using fake = fakeEngine(simulateContainers([{ name: "web", state: "exited" }]));
  using app = testApp({ engine: fake.engine });
  await restartContainer(app.deps, "web");
  equal(app.deps.inventory.takeExpectedDown(WEB), false);
});

for (
  const { what, act, path } of [
    { what: "stop", act: stopContainer, path: "POST /containers/*/stop" },
    { what: "restart", act: restartContainer, path: "POST /containers/*/restart" },
  ]
) {
  Deno.test(`a ${what} that the engine refuses excuses no later end`, async () => {
    await using fake = fakeEngine(simulateContainers([{ name: "web" }]));
    fake.answers[path] = () => Response.json({ message: "permission denied" }, { status: 500 });
    using app = testApp({ engine: fake.engine });
    await rejects(act(app.deps, "web"), /permission denied/);
    equal(app.deps.inventory.takeExpectedDown(WEB), false);
  });

  Deno.test(`a ${what} of which no answer came may still happen`, async () => {
    await using fake = fakeEngine(simulateContainers([{ name: "web" }]));
    using app = testApp({ engine: fake.engine });
    const asked = Promise.withResolvers<void>();
    fake.answers[path] = ({ signal }) => {
      asked.resolve();
      return new Promise((answer) =>
        signal.addEventListener("abort", () => answer(new Response()))
      );
    };
    const refused = rejects(act(app.deps, "web"), { name: "EngineUnreachableError" });
    await asked.promise;
    await fake.down();
    await refused;
    equal(app.deps.inventory.takeExpectedDown(WEB), true);
  });
}

Deno.test("a restart that took the container down and could not start it excuses that end", async () => {
  const containers: SimulatedContainer[] = [{ name: "web" }];
  await using fake = fakeEngine(simulateContainers(containers));
  fake.answers["POST /containers/*/restart"] = () => {
    containers[0]!.state = "exited";
    return Response.json({ message: "port is already allocated" }, { status: 500 });
  };
  using app = testApp({ engine: fake.engine });
  await rejects(restartContainer(app.deps, "web"), /port is already allocated/);
  equal(app.deps.inventory.takeExpectedDown(WEB), true);
});

Deno.test("a stop of what does not run takes away no other action's expectation", async () => {
  await using fake = fakeEngine(simulateContainers([{ name: "web", state: "exited" }]));
  using app = testApp({ engine: fake.engine });
  app.deps.inventory.expectDown(WEB);
  await stopContainer(app.deps, "web");
  deepEqual(
    [app.deps.inventory.takeExpectedDown(WEB), app.deps.inventory.takeExpectedDown(WEB)],
    [true, false],
  );
});

Deno.test("a rebuild that fails before it stops the container excuses no later end", async () => {
  await using fake = fakeEngine({
    ...simulateContainers([{ name: "web" }]),
    "GET /info": () => Response.json({}),
    "GET /images/*/json": () => Response.json({ Id: "sha256:1", Config: {}, Size: 1 }),
    "POST /containers/create": () => Response.json({ message: "no space" }, { status: 500 }),
  });
  using app = testApp({ engine: fake.engine });
  const actor = { userId: "key" };
  await rejects(rebuildContainer(app.deps, "web", { pull: "never", actor }), /no space/);
  equal(app.deps.inventory.takeExpectedDown(WEB), false);
});
