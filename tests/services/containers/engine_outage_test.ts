import { deepEqual } from "node:assert/strict";
import { upsertServiceStop } from "../../../db/service_stops.ts";
import { createOutageReporter } from "../../../services/containers/engine_outage.ts";
import { containerOf } from "../../helpers/fake_containers.ts";
import { openTestDatabase, testApp } from "../../helpers/test_app.ts";

/** A service with the containers "web" and "db", and the events that it emits. */
function service(db = openTestDatabase(), now = "2026-01-01T12:00:00Z") {
  const app = testApp({ now, db });
  const told: unknown[][] = [];
  app.deps.events.publish = ({ event, data }) => void told.push([event, data]);
  const { inventory } = app.deps;
  const list = (...names: string[]) =>
    inventory.replaceAll(
      names.map((name) => containerOf({ name })),
      inventory.readNumber(),
    );
  list("web", "db");
  inventory.setLive(true);
  return { ...app, told, list, outages: createOutageReporter(app.deps), db };
}

Deno.test("an outage of the engine is one event, and its end another one", () => {
  using app = service();
  const { outages, told, list, clock, deps } = app;
  outages.recordSuccess();
  deps.inventory.setLive(false);
  outages.recordFailure("connection refused");
  deepEqual(told, []);
  for (let i = 0; i < 5; i++) outages.recordFailure("connection refused");
  clock.advance({ seconds: 90 });
  list("web");
  outages.recordSuccess();
  outages.recordSuccess();
  deepEqual(told, [
    ["engine.down", { error: "connection refused", containers: 2 }],
    ["engine.up", { downtimeSeconds: 90, containers: 1, stopped: ["db"] }],
  ]);
});

Deno.test("a single failure to connect is not an outage", () => {
  using app = service();
  const { outages, told } = app;
  for (let i = 0; i < 3; i++) {
    outages.recordSuccess();
    outages.recordFailure("connection refused");
  }
  outages.recordSuccess();
  deepEqual(told, []);
});

Deno.test("an engine that starts after the service has a minute", () => {
  using app = service();
  const { outages, told, clock } = app;
  for (let i = 0; i < 5; i++) outages.recordFailure("no such file");
  deepEqual(told, []);
  clock.advance({ minutes: 1 });
  outages.recordFailure("no such file");
  deepEqual(told.length, 1);
});

Deno.test("a restart of the service during an outage neither repeats its start nor loses its end", () => {
  const before = service();
  before.outages.recordSuccess();
  for (let i = 0; i < 2; i++) before.outages.recordFailure("connection refused");
  before[Symbol.dispose]();

  using app = service(before.db, "2026-01-01T12:05:00Z");
  const { outages, told, clock } = app;
  clock.advance({ minutes: 5 });
  for (let i = 0; i < 5; i++) outages.recordFailure("connection refused");
  deepEqual(told, []);
  outages.recordSuccess();
  deepEqual(told, [["engine.up", { downtimeSeconds: 600, containers: 2, stopped: [] }]]);
});

Deno.test("containers that the engine stopped before it was gone are counted", () => {
  using app = service();
  const { outages, told, deps: { db, inventory } } = app;
  outages.recordSuccess();
  const ended = (name: string, finishedAt: string) =>
    inventory.put(containerOf({ name, state: "exited", finishedAt }), inventory.readNumber());
  ended("web", "2026-01-01T11:59:00.000Z");
  ended("old", "2026-01-01T11:00:00.000Z");
  ended("stopped", "2026-01-01T11:59:59.000Z");
  upsertServiceStop(db, containerOf({ name: "stopped" }).id, "2026-01-01T11:59:59.000Z");
  for (let i = 0; i < 2; i++) outages.recordFailure("connection refused");
  deepEqual(told, [["engine.down", { error: "connection refused", containers: 2 }]]);
});
