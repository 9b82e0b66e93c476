import { deepEqual, equal } from "node:assert/strict";
import { selectServiceStop, upsertServiceStop } from "../../../db/ce/service_stops.ts";
import { restartContainer } from "../../../services/ce/containers.ts";
import { containerWatcher } from "../../../services/ce/workers/container_watcher.ts";
import { idOf, playContainers } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { testApp } from "../../helpers/test_app.ts";
import { until } from "../../helpers/until.ts";

const WEB = idOf("web");

Deno.test("what the service took down is remembered until it runs again or ends by itself", async () => {
  let tell: ReadableStreamDefaultController<Uint8Array>;
  await using fake = fakeEngine({
    ...playContainers([{ name: "web" }]),
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
  await using fake = fakeEngine(playContainers([{ name: "web", state: "exited" }]));
  using app = testApp({ engine: fake.engine });
  await restartContainer(app.deps, "web");
  equal(app.deps.inventory.takeExpectedDown(WEB), false);
});
