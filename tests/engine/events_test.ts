import { deepEqual, equal, rejects } from "node:assert/strict";
import { type EngineEvent, systemEvents } from "../../engine/events.ts";
import { EngineUnreachableError } from "../../engine/errors.ts";
import { fakeEngine, rawEngine } from "../helpers/fake_engine.ts";
import { until } from "../helpers/until.ts";

const event = (Action: string, Type = "container") => ({
  Type,
  Action,
  Actor: { ID: "c1", Attributes: { name: "web" } },
  scope: "local",
  time: 1,
  timeNano: 1e9,
});

const chunk = (value: unknown) => {
  const text = `${JSON.stringify(value)}\n`;
  return `${text.length.toString(16)}\r\n${text}\r\n`;
};

const HEAD = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

Deno.test("systemEvents() yields each event as it happens", async () => {
  const second = Promise.withResolvers<void>();
  await using raw = rawEngine(async (connection) => {
    await connection.request();
    await connection.write(HEAD + chunk(event("create")));
    await second.promise;
    await connection.write(chunk(event("start")) + chunk(event("die")) + "0\r\n\r\n");
    await connection.ended();
  });
  const seen: string[] = [];
  const events = await systemEvents(raw.engine, { since: 5, filters: { type: ["container"] } });
  for await (const { Action } of events) {
    seen.push(Action);
    second.resolve();
  }
  deepEqual(seen, ["create", "start", "die"]);
  deepEqual(raw.requests, ["GET /events?since=5&filters=%7B%22type%22%3A%5B%22container%22%5D%7D"]);
});

Deno.test("systemEvents() fails when the engine disconnects or the signal aborts", async () => {
  await using raw = rawEngine(async (connection) => {
    await connection.request();
    await connection.write(HEAD + chunk(event("create")));
    if (raw.requests.length > 1) await connection.ended();
  });
  const read = async (events: AsyncIterable<EngineEvent>) => {
    for await (const { Action } of events) equal(Action, "create");
  };
  await rejects(read(await systemEvents(raw.engine)), EngineUnreachableError);

  const abort = new AbortController();
  const reading = read(await systemEvents(raw.engine, { signal: abort.signal }));
  reading.catch(() => {});
  abort.abort();
  await rejects(reading, { name: "AbortError" });
  raw.engine.close();
  await until("every connection is closed", () => raw.open === 0);
});

Deno.test("Podman's events use Docker's action names", async () => {
  const said = [event("died"), event("exec_died"), event("remove"), event("remove", "image")];
  await using fake = fakeEngine({
    "GET /events": () => new Response(said.map((one) => JSON.stringify(one)).join("\n")),
  }, { pingHeaders: { "libpod-api-version": "4.3.1" } });
  const seen = await Array.fromAsync(await systemEvents(fake.engine), ({ Action }) => Action);
  deepEqual(seen, ["die", "exec_die", "destroy", "remove"]);
});
