import { deepEqual, equal, match, ok } from "node:assert/strict";
import { composeLabels, containerOf, idOf } from "../../helpers/fake_containers.ts";
import { type FakeLog, fakeLog } from "../../helpers/fake_log.ts";
import { logApp } from "../../helpers/log_app.ts";
import { type LogClient, openLogStream } from "../../helpers/log_client.ts";
import { until } from "../../helpers/until.ts";

const web = containerOf({ name: "web" });
const db = containerOf({ name: "db" });

const writeMany = (log: FakeLog, count: number, text = "line") => {
  for (let index = 0; index < count; index++) log.write(`${text} ${index}`);
};

const follows = (log: FakeLog) => until("the log is followed", () => log.followers > 0);

async function messages(client: LogClient, count: number): Promise<string[]> {
  return (await client.lines(count)).map(({ message }) => message);
}

Deno.test("GET /api/containers/:id/logs/stream sends lines with stream, time and level", async () => {
  await using app = logApp(web);
  app.logs.web!.write("ERROR broken", { stream: "stderr" });
  const client = await openLogStream(app, "/api/containers/web/logs/stream");
  deepEqual(await client.lines(1), [{
    container: "web",
    containerId: idOf("web"),
    stream: "stderr",
    timestamp: "2026-01-01T00:00:00.000000000Z",
    message: "ERROR broken",
    level: "error",
  }]);
  await follows(app.logs.web!);
  app.logs.web!.write("x".repeat(20_000));
  const [long] = await client.lines(1);
  deepEqual([long?.message.length, long?.truncated], [16_384, true]);
  await client.cancel();
});

Deno.test("up to 100 lines share one frame", async () => {
  await using app = logApp(web);
  writeMany(app.logs.web!, 250);
  const client = await openLogStream(app, "/api/containers/web/logs/stream?tail=250");
  const sizes = [];
  for (let lines = 0; lines < 250; lines += sizes.at(-1)!) {
    sizes.push((await client.next())!.lines.length);
  }
  deepEqual(sizes, [100, 100, 50]);
  await client.cancel();
});

for (
  const { query, expected } of [
    { query: "tail=2", expected: ["three", "WARN four"] },
    { query: "search=TH", expected: ["three"] },
    { query: "regex=^t", expected: ["two", "three"] },
    { query: "level=warn,error", expected: ["WARN four"] },
    { query: "stdout=false", expected: ["two"] },
    { query: "stderr=0&tail=3", expected: ["three", "WARN four"] },
    { query: "since=2026-01-01T00:00:00.000002Z", expected: ["three", "WARN four"] },
  ]
) {
  Deno.test(`a log stream with ?${query} sends the selected lines`, async () => {
    await using app = logApp(web);
    const log = app.logs.web!;
    log.write("one");
    log.write("two", { stream: "stderr" });
    log.write("three");
    log.write("WARN four");
    const client = await openLogStream(app, `/api/containers/web/logs/stream?${query}`);
    deepEqual(await messages(client, expected.length), expected);
    await client.cancel();
  });
}

Deno.test("many clients of a container share one connection to the engine", async () => {
  await using app = logApp(web);
  writeMany(app.logs.web!, 3);
  const clients = await Promise.all(
    Array.from({ length: 20 }, () => openLogStream(app, "/api/containers/web/logs/stream")),
  );
  for (const client of clients) equal((await client.lines(3)).length, 3);
  await follows(app.logs.web!);
  equal(app.logs.web!.followers, 1);
  app.logs.web!.write("new");
  for (const client of clients) deepEqual(await messages(client, 1), ["new"]);
  for (const client of clients) await client.cancel();
  await until("the connection is closed", () => app.logs.web!.followers === 0);
});

Deno.test("a client that does not read gets the number of its lost lines; others lose none", async () => {
  await using app = logApp(web);
  const log = app.logs.web!;
  const [slow, fast] = [
    await openLogStream(app, "/api/containers/web/logs/stream?tail=0"),
    await openLogStream(app, "/api/containers/web/logs/stream?tail=0"),
  ];
  await follows(log);
  const text = "x".repeat(1_000);
  const count = 3_000;
  for (let round = 0; round < count / 100; round++) {
    writeMany(log, 100, text);
    equal((await fast.lines(100)).length, 100);
  }
  log.write("last");
  equal((await messages(fast, 1))[0], "last");
  let received = 0;
  let dropped = 0;
  while (received + dropped < count + 1) {
    const frame = (await slow.next())!;
    if (frame.type === "gap") dropped += frame.data.dropped;
    received += frame.lines.length;
  }
  equal(received + dropped, count + 1);
  ok(dropped > 1_500 && received > 300, `received ${received}`);
  log.write("after");
  deepEqual(await messages(slow, 1), ["after"]);
  await slow.cancel();
  await fast.cancel();
});

Deno.test("a stream continues after the last id without loss or repetition", async () => {
  await using app = logApp(web);
  const log = app.logs.web!;
  const path = "/api/containers/web/logs/stream?tail=5";
  // All with the same time, as on hosts with a coarse clock.
  const time = "2026-01-01T00:00:00.000000000Z";
  for (let index = 0; index < 5; index++) log.write(`line ${index}`, { time });
  const first = await openLogStream(app, path);
  equal((await first.lines(5)).length, 5);
  await first.cancel();
  for (let index = 5; index < 10; index++) log.write(`line ${index}`, { time });
  writeMany(log, 2_000, "later");

  await using again = logApp();
  again.logs.web = log;
  again.contain(web);
  const second = await openLogStream(again, path, { lastId: first.lastId });
  deepEqual(await messages(second, 6), [
    ...[5, 6, 7, 8, 9].map((index) => `line ${index}`),
    "later 0",
  ]);
  equal((await second.lines(1_999)).at(-1)?.message, "later 1999");
  await second.cancel();
});

Deno.test("a line with an earlier time than the one before it is sent, however far behind the client is", async () => {
  await using app = logApp(web);
  const log = app.logs.web!;
  const path = "/api/containers/web/logs/stream?since=2025-01-01";
  log.write("first");
  // Docker takes the time of a line before it waits for its turn behind the other stream.
  log.write("error", { stream: "stderr", time: "2026-01-01T00:00:00.000002500Z" });
  const first = await openLogStream(app, path);
  deepEqual(await messages(first, 2), ["first", "error"]);
  await first.cancel();
  log.write("late");
  writeMany(log, 30_000);
  const second = await openLogStream(app, path, { lastId: first.lastId });
  deepEqual(await messages(second, 3), ["late", "line 0", "line 1"]);
  await second.cancel();
});

Deno.test("a client is told when the engine no longer has its lines", async () => {
  await using app = logApp(web);
  const log = app.logs.web!;
  const path = "/api/containers/web/logs/stream";
  log.write("first");
  const first = await openLogStream(app, path);
  await first.lines(1);
  await first.cancel();
  writeMany(log, 50);
  log.rotate(10);
  const second = await openLogStream(app, path, { lastId: first.lastId });
  const gap = await second.next();
  deepEqual([gap?.type, gap?.data], ["gap", {
    container: "web",
    containerId: idOf("web"),
    dropped: null,
  }]);
  equal((await messages(second, 10))[0], "line 40");
  await second.cancel();
});

Deno.test("lines written after the clock was set back are sent once", async () => {
  await using app = logApp(web);
  const log = app.logs.web!;
  const path = "/api/containers/web/logs/stream";
  for (let index = 0; index < 5; index++) log.write(`early ${index}`);
  for (let index = 0; index < 5; index++) {
    log.write(`back ${index}`, { time: `2025-12-31T23:00:00.00000${index}000Z` });
  }
  const first = await openLogStream(app, path);
  equal((await messages(first, 10)).at(-1), "back 4");
  await first.cancel();
  log.write("back 5", { time: "2025-12-31T23:00:00.000005000Z" });
  const second = await openLogStream(app, path, { lastId: first.lastId });
  deepEqual(await messages(second, 1), ["back 5"]);
  await follows(log);
  log.write("now");
  deepEqual(await messages(second, 1), ["now"]);
  await second.cancel();
});

Deno.test("past lines are read on when the engine was interrupted", async () => {
  await using app = logApp(web);
  const log = app.logs.web!;
  writeMany(log, 40);
  const { answer } = log;
  let isInterrupted = false;
  log.answer = async (request) => {
    const response = await answer(request);
    if (isInterrupted || request.query.get("tail") !== "30") return response;
    isInterrupted = true;
    let count = 0;
    const interrupt = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        if (count++ < 10) controller.enqueue(chunk);
        else controller.error(new Error("Interrupted"));
      },
    });
    return new Response(response.body!.pipeThrough(interrupt));
  };
  const client = await openLogStream(app, "/api/containers/web/logs/stream?tail=30");
  const expected = Array.from({ length: 30 }, (_, index) => `line ${index + 10}`);
  deepEqual(await messages(client, 30), expected);
  equal(isInterrupted, true);
  await client.cancel();
});

Deno.test("lines that the engine sends again after a rotation are sent once", async () => {
  await using app = logApp(web);
  const log = app.logs.web!;
  writeMany(log, 5);
  const client = await openLogStream(app, "/api/containers/web/logs/stream");
  await client.lines(5);
  for (const count of [1, 3]) {
    await follows(log);
    log.write(`before ${count}`);
    log.repeat(count);
    deepEqual(await messages(client, 1), [`before ${count}`]);
    await until("another connection follows", () => log.followers === 1);
    log.write(`after ${count}`);
    deepEqual(await messages(client, 1), [`after ${count}`]);
  }
  // A line may be there twice.
  const time = "2026-01-01T00:01:00.000000001Z";
  for (let count = 0; count < 2; count++) log.write("twice", { time });
  log.write("last", { time: "2026-01-01T00:01:00.000000002Z" });
  deepEqual(await messages(client, 3), ["twice", "twice", "last"]);
  await client.cancel();
});

Deno.test("a log is followed again if the engine sends nothing more although it has lines", async () => {
  await using app = logApp(web);
  const log = app.logs.web!;
  log.write("first");
  const client = await openLogStream(app, "/api/containers/web/logs/stream");
  await client.lines(1);
  await follows(log);
  log.hang();
  writeMany(log, 3);
  const received = client.lines(3);
  await until("another connection follows", () => {
    app.deps.logStreams.tick();
    return log.followers > 0;
  });
  deepEqual((await received).map(({ message }) => message), ["line 0", "line 1", "line 2"]);

  // A container that writes nothing is not followed again.
  const before = app.requests.length;
  await until("the log was checked", () => {
    app.deps.logStreams.tick();
    return app.requests.length > before + 1;
  });
  deepEqual(app.requests.slice(before).filter((request) => request.includes("follow")), []);
  await client.cancel();
});

Deno.test("GET /api/stacks/:name/logs/stream follows all containers, and new ones join", async () => {
  const labels = (service: string) => ({ labels: composeLabels("shop", service) });
  const shopWeb = containerOf({ name: "shop-web", ...labels("web") });
  const shopDb = containerOf({ name: "shop-db", ...labels("db") });
  await using app = logApp(shopWeb, db);
  app.logs["shop-web"]!.write("a");
  app.logs.db!.write("foreign");
  const client = await openLogStream(app, "/api/stacks/shop/logs/stream");
  deepEqual((await client.lines(1)).map(({ container }) => container), ["shop-web"]);
  app.contain(shopWeb, shopDb, db);
  app.logs["shop-db"]!.write("b");
  app.deps.logStreams.tick();
  deepEqual((await client.lines(1)).map(({ container }) => container), ["shop-db"]);
  equal(app.deps.logStreams.followed, 2);
  await client.cancel();
});

Deno.test("a container that is removed ends; with the same name it joins again", async () => {
  await using app = logApp(web, db);
  writeMany(app.logs.web!, 2);
  app.logs.db!.write("other");
  const client = await openLogStream(app, "/api/logs/stream?container=web&container=db");
  equal((await client.lines(3)).length, 3);
  await follows(app.logs.web!);
  app.contain(db);
  app.logs.web!.stop();
  const end = await client.next();
  deepEqual([end?.type, end?.data.container, end?.data.reason], ["end", "web", "removed"]);
  app.logs.web = fakeLog("2026-01-01T01:00:00Z");
  app.logs.web.write("new");
  app.contain({ ...web, id: idOf("web2"), createdAt: "2026-01-01T01:00:00.000Z" }, db);
  app.deps.logStreams.tick();
  deepEqual(await messages(client, 1), ["new"]);
  await client.cancel();
});

const FIRST_END = "2026-01-01T00:00:30.000Z";
const SECOND_START = "2026-01-01T00:01:00.000Z";
const restarted = { ...web, startedAt: SECOND_START, finishedAt: FIRST_END };

/** Types of frames, and the messages of lines. */
async function contents(client: LogClient, count: number): Promise<string[]> {
  const found: string[] = [];
  while (found.length < count) {
    const { type, lines } = (await client.next())!;
    found.push(...type === "log" ? lines.map(({ message }) => message) : [`<${type}>`]);
  }
  return found;
}

for (const order of ["the event", "the lines"]) {
  Deno.test(`a restart over which the log stays open is before the next run's lines; first comes ${order}`, async () => {
    await using app = logApp(web);
    const log = app.logs.web!;
    log.write("one");
    const client = await openLogStream(app, "/api/containers/web/logs/stream");
    await client.lines(1);
    await follows(log);
    app.contain({ ...web, state: "exited", finishedAt: FIRST_END });
    app.deps.logStreams.wake(web.id);
    await until("the connection is closed", () => log.followers === 0);
    const writeNext = () => {
      log.write("last words", { time: "2026-01-01T00:00:29.999999999Z" });
      log.write("boot", { time: "2026-01-01T00:00:59.900000000Z" });
    };
    if (order === "the lines") writeNext();
    app.contain(restarted);
    app.deps.logStreams.wake(web.id);
    if (order === "the event") writeNext();
    deepEqual(await contents(client, 3), ["last words", "<restarted>", "boot"]);
    await client.cancel();
  });
}

Deno.test("a restart while past lines are read is between the lines of both runs", async () => {
  await using app = logApp(web);
  const log = app.logs.web!;
  log.write("one");
  log.write("two");
  const { answer } = log;
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  log.answer = async (request) => {
    if (request.query.get("tail") !== "77") return await answer(request);
    asked.resolve();
    await released.promise;
    return await answer(request);
  };
  const opening = openLogStream(app, "/api/containers/web/logs/stream?tail=77");
  await asked.promise;
  await follows(log);
  app.contain(restarted);
  app.deps.logStreams.wake(web.id);
  log.write("boot", { time: "2026-01-01T00:00:59.900000000Z" });
  await until(
    "the restart was noticed",
    () => app.requests.filter((request) => request.includes("follow=true")).length > 1,
  );
  released.resolve();
  const client = await opening;
  deepEqual(await contents(client, 4), ["one", "two", "<restarted>", "boot"]);
  await client.cancel();
});

for (const count of [0, 1, 2, 1_000]) {
  Deno.test(`a log of ${count} lines is followed after one read for each purpose`, async () => {
    await using app = logApp(web);
    const log = app.logs.web!;
    writeMany(log, count);
    const client = await openLogStream(app, "/api/containers/web/logs/stream?tail=1");
    if (count > 0) await client.lines(1);
    await follows(log);
    const reads = app.requests.filter((request) => request.includes("/logs"));
    // The last line, the lines after it, the past lines of the client, and the connection.
    equal(reads.length, count === 0 ? 3 : 4, reads.join("\n"));
    log.write("next");
    equal((await messages(client, 1))[0], "next");
    await client.cancel();
  });
}

Deno.test("a restart is reported and the stream continues", async () => {
  await using app = logApp(web);
  const log = app.logs.web!;
  writeMany(log, 2);
  const client = await openLogStream(app, "/api/containers/web/logs/stream");
  await client.lines(2);
  await follows(log);
  app.contain({ ...web, state: "exited" });
  log.stop();
  await until("the connection is closed", () => log.followers === 0);
  app.contain({ ...web, startedAt: "2026-01-01T00:01:00.000Z" });
  await until("the log is followed again", () => {
    app.deps.logStreams.tick();
    return log.followers > 0;
  });
  log.write("after");
  equal((await client.next())?.type, "restarted");
  deepEqual(await messages(client, 1), ["after"]);
  await client.cancel();
});

for (const { log, written } of [{ log: "empty", written: 0 }, { log: "written", written: 2 }]) {
  Deno.test(`a line that a journal has only after the end of the container is sent, ${log} before`, async () => {
    await using app = logApp(web);
    const log = app.logs.web!;
    writeMany(log, written);
    const client = await openLogStream(app, "/api/containers/web/logs/stream");
    await client.lines(written);
    await follows(log);
    const before = app.requests.length;
    app.contain({ ...web, state: "exited" });
    log.stop();
    const isRead = () => app.requests.slice(before).some((request) => request.includes("/logs?"));
    await until("the end of the log is read", isRead);
    log.write("late");
    const late = messages(client, 1);
    const ticking = setInterval(() => app.deps.logStreams.tick(), 50);
    deepEqual(await late, ["late"]);
    clearInterval(ticking);
    await client.cancel();
  });
}

Deno.test("a stream ends when its engine stays unreachable", async () => {
  await using app = logApp(web);
  writeMany(app.logs.web!, 2);
  const client = await openLogStream(app, "/api/containers/web/logs/stream");
  await client.lines(2);
  await follows(app.logs.web!);
  app.deps.engine.close();
  const ending = client.rest();
  await until("the stream ends", () => {
    app.clock.advance({ seconds: 10 });
    app.deps.logStreams.tick();
    return app.deps.logStreams.readers === 0;
  });
  deepEqual((await ending).map(({ type, data }) => [type, data.reason]), [["end", "engine_lost"]]);
});

Deno.test("a stream sends comments with the position, and ends with the session", async () => {
  await using app = logApp(web);
  app.logs.web!.write("nothing");
  const { body } = await app.call("POST", "/auth/token", { apiKey: app.deps.config.apiKey }, {
    role: "public",
  });
  const response = await app.fetch(
    "GET",
    "/api/containers/web/logs/stream?search=other",
    undefined,
    { token: body.accessToken },
  );
  equal(response.headers.get("content-type"), "text/event-stream");
  equal(response.headers.get("x-accel-buffering"), "no");
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  equal((await reader.read()).value, "retry: 2000\n\n");
  await follows(app.logs.web!);
  app.clock.advance({ seconds: 15 });
  const next = reader.read();
  await until("the past lines are read", () => {
    app.deps.logStreams.tick();
    return app.requests.length > 3;
  });
  match((await next).value!, /^(id: [\w-]+\n)?:\n\n$/);
  app.clock.advance({ minutes: 16 });
  app.deps.logStreams.tick();
  for (let done = false; !done;) ({ done } = await reader.read());
  equal(app.deps.logStreams.readers, 0);
});

for (
  const { path, status, error, role } of [
    { path: "/api/containers/none/logs/stream", status: 404, error: /none/ },
    { path: "/api/stacks/none/logs/stream", status: 404, error: /none/ },
    { path: "/api/logs/stream", status: 400, error: /^query\.container: is required/ },
    { path: "/api/logs/stream?container=web&container=none", status: 404, error: /none/ },
    {
      path: `/api/logs/stream?${"container=web&".repeat(51)}`,
      status: 400,
      error: /^query\.container: .*50/,
    },
    { path: "/api/containers/web/logs/stream?tail=10001", status: 400, error: /^query\.tail/ },
    { path: "/api/containers/web/logs/stream?tail=1&tail=2", status: 400, error: /given 2 times/ },
    { path: "/api/containers/web/logs/stream?since=soon", status: 400, error: /^query\.since/ },
    { path: "/api/containers/web/logs/stream?level=loud", status: 400, error: /^query\.level/ },
    {
      path: "/api/containers/web/logs/stream?regex=(a%2B)%2B$",
      status: 400,
      error: /^query\.regex: Pattern can backtrack/,
    },
    {
      path: "/api/containers/web/logs/stream?stdout=0&stderr=0",
      status: 400,
      error: /at least one|At least one/,
    },
    { path: "/api/containers/own/logs/stream", status: 403, error: /own container/ },
    { path: "/api/logs/stream?container=own", status: 403, error: /own container/ },
    {
      path: "/api/containers/web/logs/stream",
      status: 401,
      error: /token/,
      role: "public" as const,
    },
    { path: "/api/containers/web/logs/download?until=x", status: 400, error: /^query\.until/ },
    { path: "/api/containers/none/logs/download", status: 404, error: /Container none/ },
  ]
) {
  Deno.test(`GET ${path.slice(0, 80)} as ${role ?? "viewer"} is refused with ${status}`, async () => {
    await using app = logApp(web, containerOf({ name: "own", self: true }));
    const answer = await app.call("GET", path, undefined, { role: role ?? "viewer" });
    equal(answer.status, status, JSON.stringify(answer.body));
    match(answer.body.error, error);
    equal(app.deps.logStreams.followed, 0);
  });
}

/** An API token of its own for each number. */
const tokenOf = (at: number) => ({
  scope: { permissions: ["containers:logs", `metrics:${"x".repeat(at)}`] },
});

Deno.test("an API token gets half of the followed containers, and everyone else one", async () => {
  const many = Array.from({ length: 101 }, (_, index) => containerOf({ name: `c${index}` }));
  await using app = logApp(...many);
  const pathOf = (from: number, count: number) =>
    "/api/logs/stream?" +
    many.slice(from, from + count).map(({ name }) => `container=${name}`).join("&");
  const clients = [await openLogStream(app, pathOf(0, 50), tokenOf(0))];
  const above = await app.call("GET", pathOf(50, 1), undefined, { role: "viewer", ...tokenOf(0) });
  deepEqual([above.status, above.body.error], [
    429,
    "Share of 50 of 100 followed containers reached for these logins or this API token; " +
    "close one first",
  ]);
  clients.push(await openLogStream(app, pathOf(50, 25)));
  for (let at = 75; at < 100; at++) {
    clients.push(await openLogStream(app, pathOf(at, 1), tokenOf(at)));
  }
  const beyond = await app.call("GET", "/api/containers/c100/logs/stream");
  deepEqual([beyond.status, beyond.body.error], [
    503,
    "Limit of 100 followed containers reached",
  ]);
  for (const client of clients) await client.cancel();
  await until("nothing is followed", () => app.deps.logStreams.followed === 0);
});

Deno.test("an API token gets half of the log streams, and everyone else one", async () => {
  await using app = logApp(web);
  const path = "/api/containers/web/logs/stream";
  const clients = [];
  for (let at = 0; at < 100; at++) clients.push(await openLogStream(app, path, tokenOf(0)));
  const above = await app.call("GET", path, undefined, { role: "viewer", ...tokenOf(0) });
  deepEqual([above.status, above.body.error], [
    429,
    "Share of 100 of 200 log streams reached for these logins or this API token; " +
    "close one first",
  ]);
  for (let at = 0; at < 50; at++) clients.push(await openLogStream(app, path));
  for (let at = 1; at <= 50; at++) clients.push(await openLogStream(app, path, tokenOf(at)));
  const another = await app.call("GET", path, undefined, { role: "viewer", ...tokenOf(51) });
  deepEqual([another.status, another.body.error], [503, "Limit of 200 log streams reached"]);
  for (const client of clients) await client.cancel();
  await until("nothing is followed", () => app.deps.logStreams.followed === 0);
});

Deno.test("the past lines of many containers are read from the engine once", async () => {
  const many = Array.from({ length: 40 }, (_, index) => containerOf({ name: `c${index}` }));
  await using app = logApp(...many);
  for (const { name } of many) writeMany(app.logs[name]!, 250, "x".repeat(1_000));
  const query = many.map(({ name }) => `container=${name}`).join("&");
  const client = await openLogStream(app, `/api/logs/stream?since=2025-01-01&${query}`);
  equal((await client.lines(10_000)).length, 10_000);
  // The follower of each container reads its end twice before it follows.
  const reads = app.requests.filter((each) => each.includes("/logs?") && !each.includes("follow"));
  equal(reads.length, 3 * 40);
  await client.cancel();
});

Deno.test("150 clients that do not read do not affect another one", async () => {
  await using app = logApp(web, db);
  const [log, other] = [app.logs.web!, app.logs.db!];
  // More than the service holds for a client.
  writeMany(log, 400, "x".repeat(3_000));
  const stalled = await Promise.all(
    Array.from(
      { length: 149 },
      (_, at) =>
        openLogStream(
          app,
          "/api/containers/web/logs/stream?tail=400",
          at % 4 === 0 ? {} : tokenOf(at % 4),
        ),
    ),
  );
  writeMany(other, 1_000, "y".repeat(3_000));
  const client = await openLogStream(app, "/api/containers/db/logs/stream?tail=1000");
  equal((await client.lines(1_000)).length, 1_000);
  await follows(other);
  other.write("new");
  deepEqual(await messages(client, 1), ["new"]);
  await client.cancel();
  // A client that reads again after it lost its connection to the engine misses nothing.
  const [late] = stalled;
  equal((await late!.lines(400)).at(-1)?.message, `${"x".repeat(3_000)} 399`);
  for (const each of stalled) await each.cancel();
});

Deno.test("GET /api/containers/:id/logs/download sends the text as a file", async () => {
  await using app = logApp(web);
  app.logs.web!.write("one");
  app.logs.web!.write("two", { stream: "stderr" });
  const { status, body, headers } = await app.call("GET", "/api/containers/web/logs/download");
  deepEqual([status, body], [200, "one\ntwo\n"]);
  equal(headers.get("content-type"), "text/plain; charset=utf-8");
  equal(headers.get("content-disposition"), `attachment; filename="web.log"`);
  const times = await app.call("GET", "/api/containers/web/logs/download?timestamps=true");
  match(times.body, /^2026-01-01T00:00:00\.000000000Z one\n2026-01-01T00:00:00\.000001000Z two\n$/);
});

Deno.test("a client that does not read its log downloads gets half of them", async () => {
  await using app = logApp(web);
  writeMany(app.logs.web!, 10);
  const path = "/api/containers/web/logs/download";
  const open = (at: number) => app.fetch("GET", path, undefined, tokenOf(at));
  const held = [];
  for (let count = 0; count < 4; count++) held.push(await open(0));
  const above = await app.call("GET", path, undefined, tokenOf(0));
  deepEqual([above.status, above.body.error], [
    429,
    "Share of 4 of 8 log downloads reached for these logins or this API token; close one first",
  ]);
  for (let at = 1; at <= 4; at++) held.push(await open(at));
  deepEqual(held.map(({ status }) => status), held.map(() => 200));
  equal((await app.call("GET", path, undefined, tokenOf(5))).status, 503);
  for (const { body } of held) await body!.cancel();
  equal((await app.call("GET", path, undefined, tokenOf(0))).status, 200);
  equal(app.deps.limiters.logDownloads.taken, 0);
});

Deno.test("a log download is in the audit log with the container, also if it is refused", async () => {
  await using app = logApp(web);
  const path = "/api/containers/web/logs/download";
  equal((await app.call("GET", path, undefined, { role: "viewer" })).status, 200);
  equal((await app.call("GET", "/api/containers/none/logs/download")).status, 404);
  const scope = { permissions: ["containers:read"] };
  equal((await app.call("GET", path, undefined, { scope })).status, 403);

  const { entries } = (await app.call("GET", "/api/audit")).body;
  deepEqual(
    entries.map(({ action, target, outcome, role }: Record<string, string>) =>
      `${action} ${target} ${outcome} ${role}`
    ).sort(),
    [
      "GET /api/containers/:id/logs/download none failure admin",
      "GET /api/containers/:id/logs/download web denied admin",
      "GET /api/containers/:id/logs/download web success viewer",
    ],
  );
});
