import { deepEqual, equal, rejects } from "node:assert/strict";
import { EngineError } from "../../engine/errors.ts";
import { execCreate, execInspect, execStart } from "../../engine/exec.ts";
import { fakeEngine, jsonAnswer, outputFrame, rawEngine } from "../helpers/fake_engine.ts";
import { frameLines } from "../helpers/frames.ts";
import { until } from "../helpers/until.ts";

const UPGRADED = "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\n" +
  "Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n";

Deno.test("execCreate() sends the program unchanged, and returns the id", async () => {
  let body;
  await using fake = fakeEngine({
    "POST /containers/c1/exec": (request) => {
      body = request.body;
      return Response.json({ Id: "e1" }, { status: 201 });
    },
  });
  deepEqual(await execCreate(fake.engine, "c1", { cmd: ["ls", "-l", "a b"], user: "1000" }), {
    id: "e1",
  });
  deepEqual(body, {
    AttachStdin: false,
    AttachStdout: true,
    AttachStderr: true,
    Tty: false,
    Cmd: ["ls", "-l", "a b"],
    User: "1000",
  });
});

Deno.test("execStart() yields both streams in the order written", async () => {
  let body = "";
  await using raw = rawEngine(async (connection) => {
    body = (await connection.request())?.split("\r\n\r\n")[1] ?? "";
    await connection.write(UPGRADED);
    await connection.write(outputFrame("stdout", "a"));
    await connection.write(outputFrame("stderr", "b"));
    await connection.write(outputFrame("stdout", "c"));
  });
  const program = await execStart(raw.engine, "e1");
  deepEqual(await frameLines(program.frames), ["stdout a", "stderr b", "stdout c"]);
  deepEqual(JSON.parse(body), { Detach: false, Tty: false });
  await until("every connection is closed", () => raw.open === 0);
});

Deno.test("execStart() passes on the input and its end", async () => {
  await using raw = rawEngine(async (connection) => {
    await connection.request();
    await connection.write(UPGRADED);
    let input = "";
    for (let part = await connection.read(); part; part = await connection.read()) input += part;
    await connection.write(outputFrame("stdout", input.toUpperCase()));
  });
  const program = await execStart(raw.engine, "e1");
  await program.write(new TextEncoder().encode("hello"));
  await program.closeWrite();
  deepEqual(await frameLines(program.frames), ["stdout HELLO"]);
});

Deno.test("execStart() with a terminal yields the raw output", async () => {
  await using raw = rawEngine(async (connection) => {
    await connection.request();
    await connection.write(UPGRADED + "hello\r\n");
  });
  deepEqual(await frameLines((await execStart(raw.engine, "e1", { tty: true })).frames), [
    "stdout hello\r\n",
  ]);
});

Deno.test("execStart() can be cancelled by its signal or by leaving the output", async () => {
  await using raw = rawEngine(async (connection) => {
    await connection.request();
    await connection.write(UPGRADED);
    await connection.write(outputFrame("stdout", "a"));
    await connection.ended();
  }, { longMax: 1 });
  for await (const _ of (await execStart(raw.engine, "e1")).frames) break;

  const abort = new AbortController();
  const reading = frameLines((await execStart(raw.engine, "e1", { signal: abort.signal })).frames);
  reading.catch(() => {});
  abort.abort(new Error("too slow"));
  await rejects(reading, new Error("too slow"));
  await until("every connection is closed", () => raw.open === 0);
});

Deno.test("execStart() fails if the container is not running", async () => {
  await using raw = rawEngine(async (connection) => {
    await connection.request();
    await connection.write(jsonAnswer({ message: "Container c1 is not running" }, "409 Conflict"));
  });
  await rejects(
    execStart(raw.engine, "e1"),
    new EngineError(409, "Container c1 is not running"),
  );
});

Deno.test("execInspect() returns the exit code", async () => {
  await using fake = fakeEngine({
    "GET /exec/e1/json": () => Response.json({ ID: "e1", Running: false, ExitCode: 3 }),
  });
  equal((await execInspect(fake.engine, "e1")).ExitCode, 3);
});

Deno.test("execStart() reads the output of an engine that frames it like other responses", async () => {
  await using fake = fakeEngine({
    "POST /exec/e1/start": () =>
      new Response(ReadableStream.from([outputFrame("stdout", "a"), outputFrame("stderr", "b")])),
  });
  const program = await execStart(fake.engine, "e1");
  deepEqual(await frameLines(program.frames), ["stdout a", "stderr b"]);
});
