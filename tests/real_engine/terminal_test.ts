import { deepEqual, equal, match, ok } from "node:assert/strict";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { liveApp } from "../helpers/live_app.ts";
import { engineTest, podmanTest, type RealEngine } from "../helpers/real_engine.ts";
import { handshake, openTerminal, serveTerminals } from "../helpers/terminal_client.ts";
import { until } from "../helpers/until.ts";

const ON = { config: { terminal: "admin" } } as const;

// One Podman for all, because its start takes longer than they do.
for (const [kind, test] of [["Docker", engineTest], ["Podman", long(podmanTest)]] as const) {
  test(`terminals on ${kind} run shells and join the main process`, async (engine) => {
    await runShell(engine);
    await hangUp(engine);
    await attach(engine);
  });
}

/** A terminal runs a shell that sees its size and gives its exit code. */
async function runShell(engine: RealEngine): Promise<void> {
  await using container = await engine.runContainer();
  await using app = await liveApp(engine.socketPath, ON);
  await using server = serveTerminals(app);
  const path = `/api/containers/${container.name}/terminal`;

  // There is no bash in the image, so that the next one is started.
  const terminal = await server.open(path, { cols: 91, rows: 17 });
  terminal.type("stty size; tty; echo $TERM\n");
  await terminal.shows("17 91");
  await terminal.shows("/dev/pts/");
  await terminal.shows("xterm-256color");
  terminal.socket.send(JSON.stringify({ resize: [132, 43] }));
  await until("the size has changed", () => {
    terminal.type("stty size\n");
    return terminal.output.includes("43 132");
  });
  terminal.type("exit 7\n");
  deepEqual(await terminal.end(), { message: { exit: 7 }, code: 1000 });
  ok(!/OCI|not found/.test(terminal.output));

  const other = await server.open(path, { command: "nonsense --x", user: "0:0" });
  other.type("id -u\nexit\n");
  deepEqual(await other.end(), { message: { exit: 0 }, code: 1000 });
  const direct = await server.open(path, { command: "echo 'a  b'" });
  deepEqual(await direct.end(), { message: { exit: 0 }, code: 1000 });
  equal(direct.output, "a  b\r\n");
}

/** A client that disconnects leaves no shell behind. */
async function hangUp(engine: RealEngine): Promise<void> {
  await using container = await engine.runContainer();
  await using app = await liveApp(engine.socketPath, ON);
  await using server = serveTerminals(app);
  const processes = () => engine.docker("top", container.id);

  const terminal = await server.open(`/api/containers/${container.id}/terminal`);
  terminal.type("echo $((6 * 7)); sleep 54321\n");
  await terminal.shows("42");
  await until("it runs", async () => (await processes()).includes("sleep 54321"));
  terminal.socket.close();
  await until("it was hung up", async () => !(await processes()).includes("54321"));
  // The header, sh and its sleep.
  await until("its shell too", async () => (await processes()).trim().split("\n").length === 3);
}

/** Attach reaches the main process, which survives the client. */
async function attach(engine: RealEngine): Promise<void> {
  await using container = await engine.runContainer({
    command: ["sh"],
    options: ["--tty", "--interactive"],
  });
  await using app = await liveApp(engine.socketPath, ON);
  await using server = serveTerminals(app);
  const path = `/api/containers/${container.name}/attach`;

  const first = await server.open(path, { cols: 91, rows: 17 });
  first.type("echo first $((6 * 7)); stty size\n");
  await first.shows("first 42");
  await first.shows("17 91");
  first.socket.close();
  await until("it has ended", () => app.deps.terminals.count === 0);

  const second = await server.open(path);
  second.type("echo second $((6 * 7)); exit 5\n");
  await second.shows("second 42");
  deepEqual(await second.end(), { message: { exit: 5 }, code: 1000 });
}

engineTest("the program serves terminals, and ends them when it stops", async (engine) => {
  await using container = await engine.runContainer();
  await using longshore = await startLongshore({
    engineSocket: engine.socketPath,
    env: { TERMINAL: "admin" },
  });
  const path = `/api/containers/${container.name}/terminal`;
  const { body } = await longshore.call("POST", `${path}/ticket`, { cols: 80, rows: 24 });
  const terminal = await openTerminal(
    `${longshore.baseUrl.replace("http", "ws")}${path}?ticket=${body.ticket}`,
  );
  terminal.type("echo $((6 * 7)); sleep 54321\n");
  await terminal.shows("42");
  equal(await longshore.stop(), 0);
  deepEqual(await terminal.end(), { message: { error: "The service is stopping" }, code: 1001 });
  await until(
    "the shell has ended",
    async () => !(await engine.docker("top", container.id)).includes("54321"),
  );
});

long(engineTest)(
  "the next start ends the shells that a killed service left running",
  async (engine) => {
    await using container = await engine.runContainer();
    const dataDir = await Deno.makeTempDir({ prefix: "longshore-test-data-" });
    const start = () =>
      startLongshore({ dataDir, engineSocket: engine.socketPath, env: { TERMINAL: "admin" } });
    const processes = () => engine.docker("top", container.id);
    try {
      await using killed = await start();
      const path = `/api/containers/${container.name}/terminal`;
      const { body } = await killed.call("POST", `${path}/ticket`, { cols: 80, rows: 24 });
      const terminal = await openTerminal(
        `${killed.baseUrl.replace("http", "ws")}${path}?ticket=${body.ticket}`,
      );
      terminal.type("echo $((6 * 7)); sleep 54321\n");
      await terminal.shows("42");
      await until("it runs", async () => (await processes()).includes("sleep 54321"));
      await killed.kill9();
      await terminal.end();
      ok((await processes()).includes("sleep 54321"));

      await using _next = await start();
      await until("the shell was ended", async () => !(await processes()).includes("54321"));
      // The header, sh and its sleep.
      await until("its shell too", async () => (await processes()).trim().split("\n").length === 3);
    } finally {
      await Deno.remove(dataDir, { recursive: true });
    }
  },
);

engineTest("attach to a container without a terminal joins its output", async (engine) => {
  await using container = await engine.runContainer({
    command: ["sh", "-c", "while read line; do echo out $line; echo err $line >&2; done; exit 3"],
    options: ["--interactive"],
  });
  await using app = await liveApp(engine.socketPath, ON);
  await using server = serveTerminals(app);
  const terminal = await server.open(`/api/containers/${container.name}/attach`);
  terminal.type("one\n");
  await terminal.shows("out one\n");
  await terminal.shows("err one\n");
  terminal.type("two\n");
  await terminal.shows("out two\n");
  await engine.docker("kill", container.id);
  deepEqual(await terminal.end(), { message: { exit: 137 }, code: 1000 });
});

engineTest("a terminal in an image without a shell says so", async (engine) => {
  await using container = await engine.runContainer({
    command: ["/bin/sh", "-c", "trap 'exit 0' TERM; /bin/sleep 2147483647 & wait"],
    options: ["--env", "PATH=/nowhere"],
  });
  await using app = await liveApp(engine.socketPath, ON);
  await using server = serveTerminals(app);
  const terminal = await server.open(`/api/containers/${container.name}/terminal`);
  deepEqual(await terminal.end(), {
    message: { error: "The container has none of these programs: bash, sh, ash" },
    code: 1008,
  });
  equal(terminal.output, "");

  const unknown = await server.open(`/api/containers/${container.name}/terminal`, {
    command: "/bin/busybox sh",
    user: "no-such-user",
  });
  // The engine writes the reason to the output.
  deepEqual(await unknown.end(), { message: { exit: 126 }, code: 1000 });
  match(unknown.output, /no-such-user/);
});

long(engineTest)("a flood of output waits for a client that does not read", async (engine) => {
  await using container = await engine.runContainer();
  await using app = await liveApp(engine.socketPath, ON);
  await using server = serveTerminals(app);
  const path = `/api/containers/${container.name}/terminal`;
  const ticket = await server.ticket(path, { command: "cat /dev/zero" });
  using client = await handshake(server.port, `${path}?ticket=${ticket}`);
  equal(client.status, 101);

  // The client reads nothing: after the buffers are full, the program must stand still.
  let waited = 0;
  await until("the buffers are full", async () => {
    const state = (await engine.docker("top", container.id, "-o", "pid,stat,args"))
      .split("\n").find((line) => line.endsWith("cat /dev/zero"));
    waited = /^\s*\d+\s+S/.test(state ?? "") ? waited + 1 : 0;
    return waited === 3;
  });
  ok(Deno.memoryUsage().external < 64 * 1024 * 1024);
  equal(app.deps.terminals.count, 1);
  app.clock.advance({ seconds: 1 });
  app.deps.terminals.check();
  equal(app.deps.terminals.count, 1);
  await until("it has ended", () => {
    app.clock.advance({ seconds: 61 });
    app.deps.terminals.check();
    return app.deps.terminals.count === 0;
  });
});
