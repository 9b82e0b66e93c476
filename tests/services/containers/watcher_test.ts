import { deepEqual, equal, ok } from "node:assert/strict";
import type { AppEvent } from "../../../services/events/events.ts";
import { containerWatcher } from "../../../services/containers/watcher.ts";
import { silentLog } from "../../../services/log.ts";
import {
  idOf,
  simulateContainers,
  type SimulatedContainer,
} from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { type TestApp, testApp } from "../../helpers/test_app.ts";
import { until } from "../../helpers/until.ts";

/** Follows the engine until the listing is there, and loses it again. */
async function followOnce({ deps }: TestApp): Promise<void> {
  const end = new AbortController();
  await containerWatcher.run(deps, end.signal, () => end.abort());
}

Deno.test("a container that went down while the engine was unreachable is reported, even after a read", async () => {
  const containers: SimulatedContainer[] = [{ name: "web" }, { name: "idle", state: "exited" }];
  await using fake = fakeEngine({
    ...simulateContainers(containers),
    "GET /events": () => new Response(new ReadableStream()),
  });
  using app = testApp({ engine: fake.engine });
  const told: AppEvent[] = [];
  app.deps.events.publish = (event) => void told.push(event);

  await followOnce(app);
  Object.assign(containers[0]!, { state: "exited", exitCode: 137 });
  const { body } = await app.call("GET", "/api/containers?name=web");
  await followOnce(app);
  await followOnce(app);

  deepEqual(body.containers.map(({ state }: { state: string }) => state), ["exited"]);
  deepEqual(
    told.map(({ event, data }) => [event, (data as { container: string }).container]),
    [["container.down", "web"]],
  );
});

Deno.test("an event above 1 MiB costs one listing; the stream and its other events go on", async () => {
  const containers: SimulatedContainer[] = [{ name: "web" }, { name: "large" }];
  const feed = new TransformStream<Uint8Array, Uint8Array>();
  const writer = feed.writable.getWriter();
  const send = (action: string, name: string, attributes: Record<string, string> = {}) => {
    const actor = { ID: idOf(name), Attributes: { name, ...attributes } };
    const event = { Type: "container", Action: action, Actor: actor };
    return writer.write(new TextEncoder().encode(JSON.stringify(event) + "\n"));
  };
  await using fake = fakeEngine({
    ...simulateContainers(containers),
    "GET /events": () => new Response(feed.readable),
  });
  using app = testApp({ engine: fake.engine });
  const { inventory } = app.deps;
  const end = new AbortController();
  const watching = containerWatcher.run(app.deps, end.signal, () => {});
  await until("the engine is followed", () => inventory.live);

  Object.assign(containers[1]!, { state: "exited" });
  await send("die", "large", { label: "x".repeat(2 * 1024 * 1024) });
  await until(
    "everything was listed again",
    () => inventory.get(idOf("large"))?.state === "exited",
  );
  Object.assign(containers[0]!, { state: "exited" });
  await send("die", "web", { exitCode: "0" });
  await until("the next event was read", () => inventory.get(idOf("web"))?.state === "exited");

  const streams = fake.requests.filter((request) => request.startsWith("GET /events"));
  equal(streams.length, 1);
  equal(app.deps.eventStream.status().breaks, 0);
  end.abort();
  await writer.close().catch(() => {});
  await watching;
});

Deno.test("a flood of events lets requests and timers run", async () => {
  const count = 100;
  const feed = new TransformStream<Uint8Array, Uint8Array>();
  const writer = feed.writable.getWriter();
  await using fake = fakeEngine({
    ...simulateContainers([{ name: "web" }]),
    "GET /events": () => new Response(feed.readable),
  });
  using app = testApp({ engine: fake.engine });
  const { events, inventory } = app.deps;
  const end = new AbortController();
  const watching = containerWatcher.run(app.deps, end.signal, () => {});
  await until("the engine is followed", () => inventory.live);

  let told = 0;
  let toldFirst = 0;
  events.publish = () => {
    if (told++ === 0) setTimeout(() => toldFirst = told);
    // As long as storing a message may take.
    const end = performance.now() + 1;
    while (performance.now() < end);
  };
  const starts = Array.from({ length: count }, (_, n) => {
    const Actor = { ID: idOf("web"), Attributes: { name: "web" } };
    return JSON.stringify({ Type: "container", Action: "start", Actor, timeNano: n + 1 });
  });
  await writer.write(new TextEncoder().encode(starts.join("\n")));
  await until("all events were read", () => told === count);

  ok(toldFirst > 0 && toldFirst < count / 2, `a timer waited for ${toldFirst} events`);
  end.abort();
  await writer.close().catch(() => {});
  await watching;
});

Deno.test("the log distinguishes an engine that was lost from one that was never there", async () => {
  await using fake = fakeEngine({
    ...simulateContainers([{ name: "web" }]),
    "GET /events": () => new Response(new ReadableStream()),
  });
  const written: string[] = [];
  const write = (message: string) => void written.push(message);
  using app = testApp({ engine: fake.engine, log: { ...silentLog, info: write, warn: write } });
  const end = new AbortController();
  await fake.down();
  const watching = containerWatcher.run(app.deps, end.signal, () => {});

  await until("the engine is missed", () => written.length === 1);
  fake.up();
  await until("the engine is followed", () => written.length === 2);
  await fake.down();
  await until("the engine is lost", () => written.includes("engine connection lost"));
  fake.up();
  await until("the engine is back", () => written.includes("engine connection restored"));
  end.abort();
  await watching;

  deepEqual(written.filter((message) => message.startsWith("engine ")), [
    "engine not reachable, retrying",
    "engine connection established",
    "engine connection lost",
    "engine connection restored",
  ]);
});

Deno.test("an event stream that keeps breaking degrades GET /api/health", async () => {
  await using fake = fakeEngine({
    ...simulateContainers([{ name: "web" }]),
    "GET /events": () => new Response("this is not JSON"),
    "GET /version": () => Response.json({ Version: "20.10.24", ApiVersion: "1.41" }),
  });
  using app = testApp({ engine: fake.engine });
  const end = new AbortController();
  const watching = containerWatcher.run(app.deps, end.signal, () => {});

  await until("it broke three times", () => app.deps.eventStream.status().breaks >= 3);
  const { body } = await app.call("GET", "/api/health");

  equal(body.status, "degraded");
  equal(body.eventStream.status, "failing");
  equal(body.eventStream.lastError, "The container engine sent a stream that is not JSON");
  end.abort();
  await watching;
});

Deno.test("container.unhealthy carries the output of the last health check", async () => {
  const containers: SimulatedContainer[] = [{
    name: "web",
    health: "unhealthy",
    healthOutputs: ["first", "\x1b[31mconnection refused\x1b[0m\n"],
  }];
  const feed = new TransformStream<Uint8Array, Uint8Array>();
  const writer = feed.writable.getWriter();
  await using fake = fakeEngine({
    ...simulateContainers(containers),
    "GET /events": () => new Response(feed.readable),
  });
  using app = testApp({ engine: fake.engine });
  const events: AppEvent[] = [];
  app.deps.events.publish = (event) => void events.push(event);
  const end = new AbortController();
  const watching = containerWatcher.run(app.deps, end.signal, () => {});
  await until("the engine is followed", () => app.deps.inventory.live);

  for (const id of [idOf("web"), idOf("gone")]) {
    const event = {
      Type: "container",
      Action: "health_status: unhealthy",
      Actor: { ID: id, Attributes: { name: "web" } },
    };
    await writer.write(new TextEncoder().encode(JSON.stringify(event) + "\n"));
  }
  await until("both events are published", () => events.length === 2);
  const healthy = {
    Type: "container",
    Action: "health_status: healthy",
    Actor: { ID: idOf("web"), Attributes: { name: "web" } },
  };
  // The first success after a start is not a recovery.
  for (const event of [{ ...healthy, Actor: { ID: "new", Attributes: null } }, healthy]) {
    await writer.write(new TextEncoder().encode(JSON.stringify(event) + "\n"));
  }
  await until("the recovery is published", () => events.length >= 3);
  deepEqual(
    events.splice(2).map(({ event, data }) => [event, data]),
    [["container.healthy", { container: "web", id: idOf("web"), image: "app:1" }]],
  );

  deepEqual(events.map(({ data }) => data), [
    { container: "web", id: idOf("web"), image: "app:1", healthOutput: "connection refused" },
    { container: "web", id: idOf("gone"), image: "app:1", healthOutput: null },
  ]);
  end.abort();
  await writer.close().catch(() => {});
  await watching;
});

for (
  const { what, labels, exitCode, reported } of [
    { what: "no such label", labels: {}, exitCode: "3", reported: ["exited", 3] },
    {
      what: "a label that claims a kill",
      labels: { exitCode: "137" },
      exitCode: "137",
      reported: ["exited", 0],
    },
  ]
) {
  Deno.test(`the exit code of a container with ${what} is the real one`, async () => {
    const containers: SimulatedContainer[] = [{ name: "web", labels }];
    const feed = new TransformStream<Uint8Array, Uint8Array>();
    const writer = feed.writable.getWriter();
    await using fake = fakeEngine({
      ...simulateContainers(containers),
      "GET /events": () => new Response(feed.readable),
    });
    using app = testApp({ engine: fake.engine });
    const downs: unknown[][] = [];
    app.deps.events.publish = ({ event, data }) => {
      const { reason, exitCode } = data as { reason: string; exitCode: number };
      if (event === "container.down") downs.push([reason, exitCode]);
    };
    const end = new AbortController();
    const watching = containerWatcher.run(app.deps, end.signal, () => {});
    await until("the engine is followed", () => app.deps.inventory.live);

    Object.assign(containers[0]!, { state: "exited", exitCode: 0 });
    const actor = { ID: idOf("web"), Attributes: { name: "web", exitCode, ...labels } };
    const event = { Type: "container", Action: "die", Actor: actor };
    await writer.write(new TextEncoder().encode(JSON.stringify(event)));
    await until("the end was reported", () => downs.length > 0);

    deepEqual(downs, [reported]);
    end.abort();
    await writer.close().catch(() => {});
    await watching;
  });
}
