import { deepEqual, equal } from "node:assert/strict";
import { selectServiceStop } from "../../../db/service_stops.ts";
import type { AppEvent } from "../../../services/events/events.ts";
import type { EventMap } from "../../../services/events/kinds/mod.ts";
import { WAIT_MS } from "../../../services/containers/life.ts";
import { containerWatcher } from "../../../services/containers/watcher.ts";
import {
  idOf,
  simulateContainers,
  type SimulatedContainer,
} from "../../helpers/fake_containers.ts";
import { type FakeEngine, fakeEngine } from "../../helpers/fake_engine.ts";
import { type TestApp, testApp } from "../../helpers/test_app.ts";
import { until } from "../../helpers/until.ts";

type Feed = ReadableStreamDefaultController<Uint8Array>;

/** An engine whose events the test sends, followed by the watcher. */
interface Followed extends AsyncDisposable {
  app: TestApp;
  fake: FakeEngine;
  containers: SimulatedContainer[];
  send(action: string, name: string, attributes?: Record<string, string>, timeNano?: number): void;
  sendText(text: string): void;
  endStream(): void;
  /** Reported ends so far, e.g. `web killed 137`. */
  downs(): string[];
}

async function follow(containers: SimulatedContainer[]): Promise<Followed> {
  let feed: Feed | undefined;
  const fake = fakeEngine({
    ...simulateContainers(containers),
    "GET /events": () => new Response(new ReadableStream({ start: (own) => void (feed = own) })),
  });
  const app = testApp({ engine: fake.engine });
  const told: AppEvent[] = [];
  app.deps.events.publish = (event) => void told.push(event);
  const end = new AbortController();
  const watching = containerWatcher.run(app.deps, end.signal, () => {});
  await until("the engine is followed", () => app.deps.inventory.live);
  const sendText = (text: string) => feed!.enqueue(new TextEncoder().encode(text));
  return {
    app,
    fake,
    containers,
    sendText,
    send(Action, name, attributes = {}, timeNano = 0) {
      const Actor = { ID: idOf(name), Attributes: { name, ...attributes } };
      sendText(JSON.stringify({ Type: "container", Action, Actor, time: 0, timeNano }) + "\n");
    },
    endStream: () => feed!.close(),
    downs: () =>
      told.flatMap(({ event, data }) => {
        if (event !== "container.down") return [];
        const { container, reason, exitCode } = data as EventMap["container.down"];
        return [`${container} ${reason} ${exitCode}`];
      }),
    async [Symbol.asyncDispose]() {
      end.abort();
      await watching;
      app[Symbol.dispose]();
      await fake[Symbol.asyncDispose]();
    },
  };
}

const LARGE = "x".repeat(2 * 1024 * 1024);

Deno.test("ends whose events are read while everything is listed again are reported once each", async () => {
  const names = Array.from({ length: 20 }, (_, n) => `killed-${n}`);
  await using engine = await follow(
    [...names, "own", "silent"].map((name): SimulatedContainer => ({ name })),
  );
  const { app: { deps }, fake, containers } = engine;
  const list = fake.answers["GET /containers/json"]!;
  const listed = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  fake.answers["GET /containers/json"] = async (request) => {
    if (request.query.has("filters")) return list(request);
    listed.resolve();
    await released.promise;
    return list(request);
  };

  // Nothing says what this event is about, so that everything has to be listed.
  engine.sendText(`{"Note":"${LARGE}"}\n`);
  await listed.promise;
  for (const container of containers) Object.assign(container, { state: "exited", exitCode: 137 });
  for (const name of names) {
    engine.send("kill", name, { signal: "9" });
    engine.send("die", name, { exitCode: "137" });
  }
  deps.inventory.expectDown(idOf("own"));
  engine.send("kill", "own", { signal: "15" });
  engine.send("kill", "own", { signal: "9" });
  engine.send("die", "own", { exitCode: "137" });
  await until("the own stop was read", () => selectServiceStop(deps.db, idOf("own")));
  released.resolve();
  await until("the listing is compared", () => engine.downs().includes("silent killed 137"));

  deepEqual(engine.downs().sort(), [...names, "silent"].map((name) => `${name} killed 137`).sort());
  equal(selectServiceStop(deps.db, idOf("own")) !== undefined, true);
});

Deno.test("an event above 1 MiB that begins as Docker's do is an end like any other, without a listing", async () => {
  await using engine = await follow([{ name: "large" }, { name: "own" }, { name: "web" }]);
  const { app: { deps }, fake, containers } = engine;
  const lists = () =>
    fake.requests.filter((request) => request.startsWith("GET /containers/json")).length;
  const before = lists();
  const large = (action: string, name: string) =>
    engine.sendText(
      `{"status":"${action}","id":"${idOf(name)}","from":"registry/\\"app:1","Type":"container",` +
        `"Action":"${action}","Actor":{"ID":"${idOf(name)}","Attributes":{"a":"${LARGE}"}},` +
        `"scope":"local","time":1800000000,"timeNano":1800000000000000000}\n`,
    );

  Object.assign(containers[0]!, { state: "exited", exitCode: 143 });
  // In this order nothing depends on how long a large event takes.
  for (const action of ["kill", "stop", "die"]) large(action, "large");
  await until("the stop is reported", () => engine.downs().length > 0);
  Object.assign(containers[1]!, { state: "exited", exitCode: 143 });
  deps.inventory.expectDown(idOf("own"));
  for (const action of ["kill", "die", "stop"]) large(action, "own");
  Object.assign(containers[2]!, { state: "exited", exitCode: 3 });
  engine.send("die", "web", { exitCode: "3" });
  await until("the last end is reported", () => engine.downs().length > 1);

  deepEqual(engine.downs(), ["large stopped 143", "web exited 3"]);
  equal(selectServiceStop(deps.db, idOf("own")) !== undefined, true);
  equal(lists(), before);
});

Deno.test("a stop that waits behind an event that is being processed is a stop", async () => {
  await using engine = await follow([{ name: "web" }, {
    name: "labelled",
    labels: { exitCode: "5" },
  }]);
  const { fake, containers } = engine;
  const inspect = fake.answers["GET /containers/*/json"]!;
  const inspected = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  fake.answers["GET /containers/*/json"] = async (request) => {
    if (request.parts[0] === idOf("labelled")) {
      inspected.resolve();
      await released.promise;
    }
    return inspect(request);
  };

  Object.assign(containers[0]!, { state: "exited", exitCode: 143 });
  Object.assign(containers[1]!, { state: "exited", exitCode: 3 });
  engine.send("kill", "web", { signal: "15" });
  engine.send("die", "web", { exitCode: "143" });
  // Its real exit code has to be read from the engine.
  engine.send("die", "labelled", { exitCode: "5" });
  engine.send("stop", "web");
  await inspected.promise;
  const before = fake.pings;
  await until("the stop is overdue", () => fake.pings >= before + 2);
  released.resolve();
  await until("both ends are reported", () => engine.downs().length > 1);

  deepEqual(engine.downs(), ["labelled exited 3", "web stopped 143"]);
});

Deno.test("a stop that waits behind many events is a stop", async () => {
  const others = Array.from({ length: 30 }, (_, n) => `other-${n}`);
  await using engine = await follow(["web", ...others].map((name) => ({ name })));
  const { app: { deps }, containers } = engine;
  const { publish } = deps.events;
  let isFirst = true;
  deps.events.publish = (event) => {
    publish(event);
    // The end of `web` is overdue after the first event; the others take longer than a slice each.
    const end = performance.now() + (isFirst ? WAIT_MS : 5);
    if (event.event === "container.up") { while (performance.now() < end) isFirst = false; }
  };
  Object.assign(containers[0]!, { state: "exited", exitCode: 143 });
  const textOf = (Action: string, name: string, attributes = {}) =>
    JSON.stringify({
      Type: "container",
      Action,
      Actor: { ID: idOf(name), Attributes: { name, ...attributes } },
    });
  engine.sendText([
    textOf("kill", "web", { signal: "15" }),
    textOf("die", "web", { exitCode: "143" }),
    ...others.map((name) => textOf("start", name)),
    textOf("stop", "web"),
  ].join("\n"));
  await until("the end is reported", () => engine.downs().length > 0);

  deepEqual(engine.downs(), ["web stopped 143"]);
});

Deno.test("a stop that waits behind an event that is being received is a stop", async () => {
  await using engine = await follow([{ name: "web" }]);
  const { fake, containers } = engine;
  Object.assign(containers[0]!, { state: "exited", exitCode: 143 });
  engine.send("kill", "web", { signal: "15" });
  engine.send("die", "web", { exitCode: "143" });
  engine.sendText(`{"Type":"network","Action":"create","Actor":{"ID":"n","Attributes":{"a":"`);
  await until(
    "the end was read",
    () => engine.app.deps.inventory.get(idOf("web"))?.exitCode === 143,
  );
  const before = fake.pings;
  await until("the stop is overdue", () => fake.pings >= before + 2);
  engine.sendText(`"}},"time":0,"timeNano":0}\n`);
  engine.send("stop", "web");
  await until("the end is reported", () => engine.downs().length > 0);

  deepEqual(engine.downs(), ["web stopped 143"]);
});

Deno.test("a signal without a stop is reported without a further event", async () => {
  await using engine = await follow([{ name: "web" }]);
  Object.assign(engine.containers[0]!, { state: "exited", exitCode: 143 });
  engine.send("kill", "web", { signal: "15" });
  engine.send("die", "web", { exitCode: "143" });
  await until("the end is reported", () => engine.downs().length > 0);
  deepEqual(engine.downs(), ["web killed 143"]);
});

Deno.test("a label that has the name of an attribute does not change the reason of an end", async () => {
  await using engine = await follow([{ name: "web", labels: { signal: "9" } }]);
  Object.assign(engine.containers[0]!, { state: "exited", exitCode: 137 });
  for (
    const [action, attributes] of [["kill", {}], ["die", { exitCode: "137" }], [
      "stop",
      {},
    ]] as const
  ) {
    engine.send(action, "web", { ...attributes, signal: "9" });
  }
  await until("the end is reported", () => engine.downs().length > 0);
  deepEqual(engine.downs(), ["web stopped 137"]);
});

Deno.test("after a break of the stream, the events of the meantime are read, and each end is reported once", async () => {
  await using engine = await follow([{ name: "before" }, { name: "meantime" }, { name: "own" }]);
  const { app: { deps }, fake, containers } = engine;
  const at = 1_800_000_000_123_456_512;
  Object.assign(containers[0]!, { state: "exited", exitCode: 3 });
  engine.send("die", "before", { exitCode: "3" }, at);
  await until("the first end is reported", () => engine.downs().length === 1);

  deps.inventory.expectDown(idOf("own")).settle();
  for (const container of containers.slice(1)) {
    Object.assign(container, { state: "exited", exitCode: 143 });
  }
  engine.endStream();
  await until("the stream is lost", () => !deps.inventory.live);
  await until("the engine is followed again", () => deps.inventory.live);
  // The engine begins with the event at the time from which on it was asked.
  engine.send("die", "before", { exitCode: "3" }, at);
  for (const name of ["meantime", "own"]) {
    engine.send("kill", name, { signal: "15" }, at + 1_000);
    engine.send("die", name, { exitCode: "143" }, at + 2_000);
    engine.send("stop", name, {}, at + 3_000);
  }
  await until(
    "both ends were read",
    () => engine.downs().length > 1 && selectServiceStop(deps.db, idOf("own")),
  );

  deepEqual(engine.downs(), ["before exited 3", "meantime stopped 143"]);
  const streams = fake.requests.filter((request) => request.startsWith("GET /events"));
  deepEqual(
    streams.map((request) => new URL(request.slice(4), "http://engine").searchParams.get("since")),
    [null, "1800000000.123456512"],
  );
});
