import { deepEqual, equal, rejects } from "node:assert/strict";
import {
  containerCreate,
  containerInspect,
  containerList,
  containerLogs,
  containerRemove,
  containerRename,
  containerRestart,
  containerStart,
  containerStats,
  containerStop,
  containerTop,
} from "../../engine/containers.ts";
import { EngineError } from "../../engine/errors.ts";
import { imageHistory } from "../../engine/images.ts";
import { fakeEngine, outputFrame, rawEngine } from "../helpers/fake_engine.ts";
import { frameLines } from "../helpers/frames.ts";
import { until } from "../helpers/until.ts";

const web = { Id: "c1", Names: ["/web"], Image: "nginx", State: "running" };
const noContent = () => new Response(null, { status: 204 });
const notModified = () => new Response(null, { status: 304 });
const notFound = (id: string) => new EngineError(404, `No such container: ${id}`);

Deno.test("containerList() reads the engine's JSON, with the options as query", async () => {
  await using fake = fakeEngine({ "GET /containers/json": () => Response.json([web]) });

  deepEqual(await containerList(fake.engine), [web]);
  await containerList(fake.engine, { all: true, size: true, filters: { label: ["a=b", "c"] } });
  await containerList(fake.engine, { filters: {} });

  deepEqual(fake.requests, [
    "GET /containers/json",
    "GET /containers/json?all=true&size=true&filters=%7B%22label%22%3A%5B%22a%3Db%22%2C%22c%22%5D%7D",
    "GET /containers/json",
  ]);
});

Deno.test("containerInspect() keeps unknown fields", async () => {
  const described = { Id: "c1", Name: "/web", State: { Status: "running" }, FutureField: [1] };
  await using fake = fakeEngine({ "GET /containers/c1/json": () => Response.json(described) });
  deepEqual(await containerInspect(fake.engine, "c1"), described);
  await containerInspect(fake.engine, "c1", { size: true });
  equal(fake.requests[1], "GET /containers/c1/json?size=true");
});

for (
  const id of [
    "",
    ".",
    "..",
    "a/b",
    "../images/json",
    "a\\b",
    "a\nb",
    "a\0",
    "\ud800",
    "x".repeat(2000),
  ]
) {
  Deno.test(`a container named ${JSON.stringify(id.slice(0, 20))} is never requested`, async () => {
    await using fake = fakeEngine({});
    for (
      const work of [
        () => containerInspect(fake.engine, id),
        () => containerStop(fake.engine, id),
        () => containerRemove(fake.engine, id),
        () => containerLogs(fake.engine, id, { tty: false }),
      ]
    ) await rejects(async () => await work(), { name: "EngineError", status: 404 });
    deepEqual(fake.requests, []);
  });
}

Deno.test("an id with URL syntax remains one path segment", async () => {
  await using fake = fakeEngine({
    "GET /containers/*/json": ({ parts }) => Response.json({ Id: parts[0] }),
  });
  equal((await containerInspect(fake.engine, "a?b#c%2F é")).Id, "a?b#c%2F é");
});

for (
  const { verb, work, target } of [
    { verb: "start", work: containerStart, target: "POST /containers/c1/start" },
    { verb: "stop", work: containerStop, target: "POST /containers/c1/stop" },
  ] as const
) {
  Deno.test(`${verb} reports whether the engine changed anything`, async () => {
    await using fake = fakeEngine({ [target]: noContent });
    deepEqual(await work(fake.engine, "c1"), { changed: true });
    fake.answers[target] = notModified;
    deepEqual(await work(fake.engine, "c1"), { changed: false });
    fake.answers = {};
    await rejects(work(fake.engine, "c1"), { name: "EngineError", status: 404 });
  });
}

Deno.test("actions send the requests that the engine expects", async () => {
  await using fake = fakeEngine({
    "POST /containers/*/*": noContent,
    "DELETE /containers/*": noContent,
  });
  await containerStop(fake.engine, "c1", { timeoutS: 0 });
  await containerRestart(fake.engine, "c1", { timeoutS: 5 });
  await containerRename(fake.engine, "c1", { name: "new name" });
  await containerRemove(fake.engine, "c1", { force: true, volumes: true });
  deepEqual(fake.requests, [
    "POST /containers/c1/stop?t=0",
    "POST /containers/c1/restart?t=5",
    "POST /containers/c1/rename?name=new%20name",
    "DELETE /containers/c1?force=true&v=true",
  ]);
});

Deno.test("a slow stop does not delay other requests", async () => {
  const stopped = Promise.withResolvers<Response>();
  await using fake = fakeEngine({
    "POST /containers/c1/stop": () => stopped.promise,
    "GET /containers/json": () => Response.json([web]),
  }, { connectionsMax: 1 });
  const stops = [1, 2, 3].map(() => containerStop(fake.engine, "c1", { timeoutS: 300 }));
  await until("three requests arrived", () => fake.requests.length === 3);
  deepEqual(await containerList(fake.engine), [web]);
  stopped.resolve(noContent());
  await Promise.all(stops);
});

Deno.test("containerCreate() sends name and body, and returns the id", async () => {
  let body;
  await using fake = fakeEngine({
    "POST /containers/create": (request) => {
      body = request.body;
      return Response.json({ Id: "c2", Warnings: null }, { status: 201 });
    },
  });
  const wanted = { Image: "nginx", HostConfig: { Memory: 1e9 }, Future: { a: 1 } };
  deepEqual(await containerCreate(fake.engine, { name: "web", body: wanted }), {
    id: "c2",
    warnings: [],
  });
  deepEqual(body, wanted);
  deepEqual(fake.requests, ["POST /containers/create?name=web"]);
});

Deno.test("containerTop() returns one cell per title, also for Podman's unsplit lines", async () => {
  await using fake = fakeEngine({
    "GET /containers/c1/top": () =>
      Response.json({ Titles: ["PID", "CMD"], Processes: [["1", "sleep 5"]] }),
    "GET /containers/p1/top": () =>
      Response.json({
        Titles: ["PID   USER     COMMAND"],
        Processes: [["1 root     sh -c  a b"], ["6 root     sleep 1"]],
      }),
    "GET /containers/p2/top": () => Response.json({ Titles: ["PID"], Processes: null }),
  });
  deepEqual(await containerTop(fake.engine, "c1"), {
    Titles: ["PID", "CMD"],
    Processes: [["1", "sleep 5"]],
  });
  deepEqual(await containerTop(fake.engine, "p1"), {
    Titles: ["PID", "USER", "COMMAND"],
    Processes: [["1", "root", "sh -c a b"], ["6", "root", "sleep 1"]],
  });
  deepEqual(await containerTop(fake.engine, "p2"), { Titles: ["PID"], Processes: [] });
});

Deno.test("containerTop() and imageHistory() cut long texts of large responses", async () => {
  const long = "x".repeat(700 * 1024);
  const cut = `${"x".repeat(64 * 1024)}…`;
  await using fake = fakeEngine({
    "GET /containers/c1/top": () =>
      Response.json({ Titles: ["PID", "CMD"], Processes: [["1", long], ["2", long], ["3", "sh"]] }),
    "GET /images/app/history": () =>
      Response.json([{ Id: "a", CreatedBy: long }, { Id: "b", CreatedBy: long }]),
  });

  deepEqual((await containerTop(fake.engine, "c1")).Processes, [["1", cut], ["2", cut], [
    "3",
    "sh",
  ]]);
  const history = await imageHistory(fake.engine, "app");
  deepEqual(history.map(({ CreatedBy }) => CreatedBy), [cut, cut]);
});

Deno.test("top and stats of a stopped container are a conflict on Podman as well", async () => {
  await using fake = fakeEngine({
    "GET /containers/c1/top": () => new Response(""),
    "GET /containers/c1/stats": () => new Response(""),
  });
  const conflict = new EngineError(409, "Container c1 is not running");
  await rejects(containerTop(fake.engine, "c1"), conflict);
  await rejects(containerStats(fake.engine, "c1"), conflict);
});

Deno.test("an internal error of Podman that is a conflict is reported as one", async () => {
  const message = "cannot remove container c1 as it is running: container state improper";
  await using fake = fakeEngine({
    "DELETE /containers/c1": () => Response.json({ message }, { status: 500 }),
    "DELETE /containers/c2": () => Response.json({ message: "disk on fire" }, { status: 500 }),
  });
  await rejects(containerRemove(fake.engine, "c1"), new EngineError(409, message));
  await rejects(containerRemove(fake.engine, "c2"), new EngineError(500, "disk on fire"));
});

Deno.test("containerStats() requests one sample, by default without waiting for a second", async () => {
  const sample = { read: "2026-01-01T00:00:00Z", cpu_stats: {}, memory_stats: {} };
  await using fake = fakeEngine({ "GET /containers/c1/stats": () => Response.json(sample) });
  deepEqual(await containerStats(fake.engine, "c1"), sample);
  await containerStats(fake.engine, "c1", { oneShot: false });
  deepEqual(fake.requests, [
    "GET /containers/c1/stats?stream=false&one-shot=true",
    "GET /containers/c1/stats?stream=false",
  ]);
});

Deno.test("containerLogs() separates the streams of a container without a terminal", async () => {
  const output = [outputFrame("stdout", "one\n"), outputFrame("stderr", "two\n")];
  await using fake = fakeEngine({
    "GET /containers/c1/logs": () => new Response(ReadableStream.from(output)),
  });
  const frames = await containerLogs(fake.engine, "c1", {
    tail: 10,
    since: "1700000000.5",
    until: 1700000001,
    timestamps: true,
    stderr: false,
    tty: false,
  });
  deepEqual(await frameLines(frames), ["stdout one\n", "stderr two\n"]);
  deepEqual(fake.requests, [
    "GET /containers/c1/logs?stdout=true&stderr=false&tail=10&since=1700000000.5&until=1700000001" +
    "&timestamps=true",
  ]);
});

Deno.test("containerLogs() reads the raw output of a container with a terminal", async () => {
  await using fake = fakeEngine({
    "GET /containers/c1/json": () => Response.json({ Config: { Tty: true } }),
    "GET /containers/c1/logs": () => new Response("a terminal's output"),
  });
  const expected = ["stdout a terminal's output"];
  deepEqual(await frameLines(await containerLogs(fake.engine, "c1")), expected);
  equal(fake.requests.length, 2, "it had to ask");
  deepEqual(await frameLines(await containerLogs(fake.engine, "c1", { tty: true })), expected);
  equal(fake.requests.length, 3);
});

Deno.test("containerLogs() of an unknown container fails before anything is read", async () => {
  await using fake = fakeEngine({
    "GET /containers/gone/logs": () =>
      Response.json({ message: "No such container: gone" }, { status: 404 }),
  });
  await rejects(containerLogs(fake.engine, "gone", { tty: false }), notFound("gone"));
});

Deno.test("followed logs end with their reader or their signal, and leave no connection open", async () => {
  await using raw = rawEngine(async (connection) => {
    await connection.request();
    await connection.write("HTTP/1.1 200 OK\r\n\r\n");
    await connection.write(outputFrame("stdout", "one"));
    await connection.ended();
  }, { longMax: 1 });
  const follow = (signal?: AbortSignal) =>
    containerLogs(raw.engine, "c1", { tty: false, follow: true, signal });

  for await (const _ of await follow()) break;
  await (await follow())[Symbol.asyncIterator]().return!();
  const abort = new AbortController();
  const reading = frameLines(await follow(abort.signal));
  reading.catch(() => {});
  abort.abort();
  await rejects(reading, { name: "AbortError" });
  await until("every connection is closed", () => raw.open === 0);
});
