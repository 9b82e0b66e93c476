import { deepEqual, equal, ok, rejects, throws } from "node:assert/strict";
import { AppError } from "../../../services/errors.ts";
import { createStreamHub, type StreamRequest } from "../../../services/stream/hub.ts";
import type { StreamView } from "../../../services/stream/held_frames.ts";
import { sseClient, type SseFrame } from "../../helpers/sse_client.ts";

const START = Date.parse("2026-01-01T00:00:00Z");

function hubAt({ clientsMax = 10 } = {}) {
  let at = START;
  const hub = createStreamHub({ now: () => new Date(at), clientsMax });
  return { hub, pass: (ms: number) => at += ms };
}

const wanting = (
  types: string[],
  request: Partial<StreamRequest> = {},
): StreamRequest => ({
  holder: { userId: crypto.randomUUID() },
  types: new Set(types),
  isValid: () => true,
  ...request,
});

Deno.test("a new client reads the reconnection time and the states, then what comes", async () => {
  const { hub } = hubAt();
  hub.setState("metrics", "1", { cpu: 1 });
  hub.setState("containers", "1", { containers: [] });

  const client = sseClient(hub.open(wanting(["metrics", "containers", "event"])));
  const first = [await client.next(), await client.next()];
  hub.publish("event", { event: "container.up" });
  const event = await client.next();
  hub.setState("metrics", "2", { cpu: 2 });
  await hub.broadcast();
  hub.close();
  const frames = [...first, event, ...await client.rest()] as SseFrame[];

  equal(client.retry, 5_000);
  deepEqual(frames.map(({ type, data }) => [type, data]), [
    ["metrics", { cpu: 1 }],
    ["containers", { containers: [] }],
    ["event", { event: "container.up" }],
    ["metrics", { cpu: 2 }],
    ["containers", { containers: [] }],
  ]);
  for (const [index, { id }] of frames.entries()) {
    ok(id > (frames[index - 1]?.id ?? 0), "ids rise");
  }
});

Deno.test("a compressed stream has the same frames, each at once, and the checksum of all", async () => {
  const { hub } = hubAt();
  const states = { metrics: { cpu: 1 }, containers: { containers: [] } };
  for (const [type, data] of Object.entries(states)) hub.setState(type, "1", data);
  const open = () => hub.open(wanting(["metrics", "containers", "event"], { isCompressed: true }));
  const unpacked = () => sseClient(open().pipeThrough(new DecompressionStream("gzip")));
  const client = unpacked();
  const other = unpacked().rest();
  const first = [await client.next(), await client.next()];
  deepEqual(first.map((frame) => [frame!.type, frame!.data]), Object.entries(states));

  const data = { text: "é".repeat(10_000) };
  hub.publish("event", data);
  deepEqual((await client.next())!.data, data);
  hub.close();
  deepEqual(await client.rest(), []);
  deepEqual((await other).map(({ type }) => type), ["metrics", "containers", "event"]);
});

Deno.test("a client is sent only the types that it asked for", async () => {
  const { hub } = hubAt();
  hub.setState("metrics", "1", 1);
  hub.setState("alerts", "1", 1);

  const client = sseClient(hub.open(wanting(["alerts"])));
  await client.next();
  hub.publish("event", 1);
  await hub.broadcast();
  hub.close();

  deepEqual((await client.rest()).map(({ type }) => type), ["alerts"]);
});

Deno.test("a state that is taken back is not shown any more", async () => {
  const { hub } = hubAt();
  hub.setState("metrics", "1", 1);
  hub.setState("containers", "1", 1);
  await hub.broadcast();
  hub.setState("containers", undefined, undefined);
  await hub.broadcast();

  const client = sseClient(hub.open(wanting(["metrics", "containers"])));
  equal((await client.next())?.type, "metrics");
  await hub.broadcast();
  hub.close();

  deepEqual((await client.rest()).map(({ type }) => type), ["metrics"]);
});

Deno.test("a client that comes back is given the events that it missed first", async () => {
  const { hub } = hubAt();
  hub.setState("metrics", "1", 0);
  const before = sseClient(hub.open(wanting(["metrics", "event"])));
  await before.next();
  hub.publish("event", 1);
  const { id: lastEventId } = (await before.next())!;
  await before.cancel();
  for (const data of [2, 3, 4]) hub.publish("event", data);

  const after = sseClient(hub.open(wanting(["metrics", "event"], { lastEventId })));
  const frames = [];
  for (let count = 0; count < 4; count++) frames.push(await after.next());
  hub.publish("event", 5);
  frames.push(await after.next());
  hub.close();

  deepEqual(frames.map((frame) => [frame?.type, frame?.data]), [
    ["event", 2],
    ["event", 3],
    ["event", 4],
    ["metrics", 0],
    ["event", 5],
  ]);
});

Deno.test("the last 1 000 events are held, and a client is given all of them", async () => {
  const { hub } = hubAt();
  for (let data = 1; data <= 1_200; data++) hub.publish("event", data);

  const client = sseClient(hub.open(wanting(["event"], { lastEventId: START * 1_000 + 1 })));
  const frames = [];
  for (let count = 0; count < 1_000; count++) frames.push((await client.next())?.data);
  hub.close();

  deepEqual(frames, Array.from({ length: 1_000 }, (_, index) => 201 + index));
  deepEqual(await client.rest(), []);
  // The round that was under way has ended, too.
  await hub.broadcast();
});

Deno.test("an id from before a restart brings everything that is held", async () => {
  const { hub } = hubAt();
  hub.publish("event", "since the restart");

  const lastEventId = (START - 60_000) * 1_000 + 500;
  const client = sseClient(hub.open(wanting(["event"], { lastEventId })));
  equal((await client.next())?.data, "since the restart");
  hub.close();
  deepEqual(await client.rest(), []);
});

Deno.test("an id that was never given out counts as none", async () => {
  const { hub } = hubAt();
  hub.publish("event", "old");

  const client = sseClient(hub.open(wanting(["event"], { lastEventId: START * 1_000 + 99 })));
  hub.publish("event", "new");
  equal((await client.next())?.data, "new");
  hub.close();
  deepEqual(await client.rest(), []);
});

Deno.test("a client that does not read is sent nothing more, and is then let go", async () => {
  const { hub, pass } = hubAt();
  const stalled = hub.open(wanting(["metrics", "event"]));
  for (let round = 0; round < 3; round++) {
    hub.publish("event", round);
    hub.setState("metrics", undefined, round);
    await hub.broadcast();
    pass(15_000);
  }
  equal(hub.count, 1);

  pass(1);
  await hub.broadcast();
  equal(hub.count, 0);
  // Everything was handed over before it stalled: nothing piled up.
  deepEqual(await sseClient(stalled).rest(), []);
});

Deno.test("a client that reads again is given the events that it missed and the last states", async () => {
  const { hub, pass } = hubAt();
  const slow = sseClient(hub.open(wanting(["metrics", "event"])));
  for (let round = 0; round < 3; round++) {
    hub.publish("event", round);
    hub.setState("metrics", undefined, round);
    await hub.broadcast();
    pass(10_000);
  }

  const frames: unknown[] = [];
  for (let frame = await slow.next(); frame; frame = await slow.next()) {
    frames.push(`${frame.type} ${frame.data}`);
    if (frame.data === 2 && frame.type === "metrics") break;
  }
  hub.close();
  deepEqual(frames.filter((frame) => String(frame).startsWith("event")), [
    "event 0",
    "event 1",
    "event 2",
  ]);
  equal(frames.at(-1), "metrics 2");
});

Deno.test("all clients share the bytes of a frame", async () => {
  const { hub } = hubAt();
  const readers = Array.from({ length: 3 }, () => hub.open(wanting(["metrics"])).getReader());
  // The reconnection time; reading on says that there is room for more.
  for (const reader of readers) await reader.read();
  const reads = readers.map((reader) => reader.read());
  hub.setState("metrics", "1", { cpu: 1 });
  await hub.broadcast();

  const [first, ...others] = await Promise.all(reads);
  ok(first?.value && first.value.length > 0);
  for (const { value } of others) equal(value?.buffer, first.value.buffer);
  hub.close();
});

Deno.test("clients with the same view share its bytes, and a view is never served to another", async () => {
  const { hub } = hubAt({ clientsMax: 100 });
  const applied: string[] = [];
  const viewOf = (key: string): StreamView => ({
    key,
    apply(type, data) {
      applied.push(`${key} ${type}`);
      return key === "none" ? undefined : (data as string[]).filter((name) => name === key);
    },
  });
  // More views than are kept, so that also the others are proved.
  const keys = ["a", "b", ...Array.from({ length: 70 }, (_, index) => `c${index}`)];
  const containers = ["a", "b", "c0", "c69", "secret"];
  hub.setState("containers", "1", containers, { onlyChanges: true });
  const open = (key: string) =>
    sseClient(hub.open(wanting(["containers", "event"], { view: viewOf(key) })));
  const hidden = [open("none").rest(), open("none").rest()];
  const readers = ["a", "b", ...keys].map((key) => ({ key, client: open(key) }));
  const readAll = () => Promise.all(readers.map(({ client }) => client.next()));

  const frames = [await readAll()];
  hub.setState("containers", "2", ["new", ...containers], { onlyChanges: true });
  await hub.broadcast();
  frames.push(await readAll());
  hub.publish("event", containers);
  frames.push(await readAll());
  hub.close();

  for (const [index, { key }] of readers.entries()) {
    const own = containers.filter((name) => name === key);
    deepEqual(
      frames.map((each) => [each[index]?.type, each[index]?.data]),
      ["containers", "containers", "event"].map((type) => [type, own]),
      key,
    );
  }
  deepEqual(await Promise.all(hidden), [[], []]);
  const countOf = (line: string) => applied.filter((each) => each === line).length;
  deepEqual(["a containers", "b containers", "a event", "b event"].map(countOf), [2, 2, 1, 1]);
});

Deno.test("a client whose token ended is let go at the next round", async () => {
  const { hub } = hubAt();
  let valid = true;
  const client = sseClient(hub.open(wanting(["event"], { isValid: () => valid })));
  valid = false;
  hub.publish("event", "not for everybody");

  deepEqual(await client.rest(), []);
  equal(hub.count, 0);
});

Deno.test("a client that leaves frees its place", async () => {
  const { hub } = hubAt({ clientsMax: 1 });
  const client = sseClient(hub.open(wanting(["event"])));
  equal(hub.count, 1);
  await client.cancel();
  equal(hub.count, 0);
  hub.open(wanting(["event"]));
  hub.close();
});

Deno.test("large frames arrive whole, whatever they are cut into", async () => {
  const { hub } = hubAt({ clientsMax: 100 });
  const data = Array.from({ length: 5_000 }, (_, index) => `${index} \u00fc\u{1f6a2}`);
  hub.setState("containers", "1", data);
  const clients = Array.from(
    { length: 60 },
    () => sseClient(hub.open(wanting(["containers", "event"]))),
  );
  const first = await Promise.all(clients.map((client) => client.next()));
  hub.publish("event", data);
  hub.publish("event", 2);
  const next = await Promise.all(clients.map((client) => client.take(2)));
  hub.close();

  for (const frame of first) deepEqual(frame?.data, data);
  for (const frames of next) deepEqual(frames.map(({ data }) => data), [data, 2]);
  await hub.broadcast();
});

Deno.test("more clients than allowed are refused", () => {
  const { hub } = hubAt({ clientsMax: 2 });
  hub.open(wanting(["event"]));
  hub.open(wanting(["event"]));
  throws(
    () => hub.open(wanting(["event"])),
    (error: AppError) =>
      error.code === "unavailable" && /Limit of 2 stream clients reached/.test(error.message),
  );
  hub.close();
});

Deno.test("close ends all streams and refuses new ones", async () => {
  const { hub } = hubAt();
  const clients = [1, 2].map(() => sseClient(hub.open(wanting(["event"]))));
  hub.close();
  hub.close();
  for (const client of clients) deepEqual(await client.rest(), []);
  equal(hub.count, 0);
  throws(() => hub.open(wanting(["event"])), AppError);
});

Deno.test("a round among many clients lets other work have its turn", async () => {
  const { hub } = hubAt({ clientsMax: 5_000 });
  for (let count = 0; count < 5_000; count++) hub.open(wanting(["metrics"]));
  hub.setState("metrics", "1", "x".repeat(2_000));
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await hub.broadcast();
  clearInterval(timer);
  ok(turns >= 3, `${turns} turns`);
  hub.close();
});

Deno.test("a state of changes only is sent when its data changed, and to a client that is late", async () => {
  const { hub } = hubAt();
  const set = (version: string, data: unknown) =>
    hub.setState("containers", version, data, { onlyChanges: true });
  const types = ["containers"];
  set("1", ["web"]);
  const client = sseClient(hub.open(wanting(types)));
  const late = sseClient(hub.open(wanting(types)));
  const first = await client.next();
  await late.next();
  set("2", ["web", "db"]);
  await hub.broadcast();
  const second = await client.next();
  set("3", ["web", "db"]);
  await hub.broadcast();
  set("4", ["db"]);
  await hub.broadcast();
  const third = await client.next();
  set("5", ["db"]);
  await hub.broadcast();
  const newClient = sseClient(hub.open(wanting(types)));
  const shownAtOnce = await newClient.next();
  const lateFrames = await late.take(2);
  hub.close();

  deepEqual([first, second, third].map((frame) => frame?.data), [["web"], ["web", "db"], ["db"]]);
  deepEqual((await client.rest()).length, 0);
  deepEqual(shownAtOnce?.data, ["db"]);
  deepEqual(lateFrames.map(({ data }) => data), [["web", "db"], ["db"]]);
});

Deno.test("a new client does not get the same state again in the next round", async () => {
  const { hub } = hubAt();
  const set = (version: string, data: unknown) =>
    hub.setState("containers", version, data, { onlyChanges: true });
  const types = ["containers", "metrics"];
  set("1", ["web"]);
  const early = sseClient(hub.open(wanting(types)));
  await early.next();
  set("2", ["web", "db"]);
  const client = sseClient(hub.open(wanting(types)));
  await client.next();
  hub.setState("metrics", "1", 1);
  await hub.broadcast();
  const ofEarly = await early.take(2);
  const first = await client.next();
  set("3", ["db"]);
  await hub.broadcast();
  hub.close();

  deepEqual(ofEarly.map(({ data }) => data), [["web", "db"], 1]);
  deepEqual([first, ...await client.rest()].map((frame) => frame?.data), [1, ["db"], 1]);
});

Deno.test("a client that gets a frame of a round gets no comment", async () => {
  const { hub } = hubAt();
  hub.setState("metrics", "1", 1);
  const text = hub.open(wanting(["metrics"])).pipeThrough(new TextDecoderStream());
  const chunks: string[] = [];
  for await (const chunk of text) {
    chunks.push(chunk.replaceAll(/id: \d+\n/g, ""));
    if (chunks.length === 3 || chunks.length === 4) await hub.broadcast();
    if (chunks.length === 5) hub.close();
  }
  equal(chunks.join(""), `retry: 5000\n\n${"event: metrics\ndata: 1\n\n".repeat(3)}`);
});

Deno.test("a client that gets no frame of a round gets a comment, which keeps its connection", async () => {
  const { hub } = hubAt();
  hub.setState("metrics", "1", 1);
  const reader = hub.open(wanting(["event"])).pipeThrough(new TextDecoderStream()).getReader();
  equal((await reader.read()).value, "retry: 5000\n\n");
  const read = reader.read();
  await hub.broadcast();
  equal((await read).value?.replace(/\d+/, "ID"), "id: ID\n:\n\n");
  hub.close();
});

Deno.test("a client that cannot be checked does not end the rounds of the others", async () => {
  const { hub } = hubAt();
  let isFailing = true;
  const isValid = () => {
    if (isFailing) throw new Error("the database cannot be read");
    return true;
  };
  const client = sseClient(hub.open(wanting(["metrics"], { isValid })));
  hub.setState("metrics", "1", 1);
  await rejects(hub.broadcast(), /cannot be read/);

  isFailing = false;
  await hub.broadcast();
  equal((await client.next())?.data, 1);
  hub.close();
});
