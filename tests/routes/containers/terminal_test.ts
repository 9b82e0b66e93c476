import { deepEqual, equal, match, ok } from "node:assert/strict";
import { login, PASSWORD, usersApp } from "../../helpers/accounts.ts";
import type { Scope } from "../../../services/access/scope.ts";
import { containerOf, idOf, setContainers } from "../../helpers/fake_containers.ts";
import { type FakeEngine, fakeEngine } from "../../helpers/fake_engine.ts";
import { handshake, serveTerminals, type TerminalServer } from "../../helpers/terminal_client.ts";
import { type TestApp, testApp, type TestAppOptions } from "../../helpers/test_app.ts";
import { until } from "../../helpers/until.ts";

const ON = { terminal: "admin" } as const;
const PATH = "/api/containers/web/terminal";
const ATTACH = "/api/containers/web/attach";

/** An engine whose shell greets, and runs until its client disconnects or `exit` is called. */
interface Shell extends FakeEngine {
  exit(code: number): void;
  /** Requests for the creation of programs so far. */
  created: { Cmd: string[]; User?: string; Tty: boolean; Env: string[] }[];
}

function shellEngine(
  { output = () => "$ ", missing = [] }: {
    /** The first output; further pieces are `more`. */
    output?: () => string;
    /** Programs that do not exist. */
    missing?: string[];
  } = {},
): Shell {
  const created: Shell["created"] = [];
  let exitCode: number | null = null;
  let close = () => {};
  const fake = fakeEngine({
    "POST /containers/*/exec": ({ body }) => {
      created.push(body);
      return Response.json({ Id: `exec${created.length}` }, { status: 201 });
    },
    "POST /exec/*/start": () => {
      const { Cmd: [name, option] } = created.at(-1)!;
      // Hanging up.
      if (option === "-c") return new Response(new Blob([""]));
      if (missing.includes(name!)) {
        const message = `exec: "${name}": executable file not found in $PATH`;
        return Response.json({ message }, { status: 400 });
      }
      return new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode(output()));
            close = () => controller.close();
          },
        }),
      );
    },
    "GET /exec/*/json": () =>
      Response.json({
        Running: exitCode === null,
        Pid: exitCode === null ? 42 : 0,
        ExitCode: exitCode,
      }),
    "POST /exec/*/resize": () => new Response(null, { status: 200 }),
  });
  return Object.assign(fake, {
    created,
    exit(code: number) {
      exitCode = code;
      close();
    },
  });
}

function addContainers({ deps: { inventory } }: Pick<TestApp, "deps">): void {
  inventory.replaceAll([
    containerOf({ name: "web" }),
    containerOf({ name: "db" }),
    containerOf({ name: "old", state: "exited" }),
  ], inventory.readNumber());
  inventory.setLive(true);
}

interface Served extends AsyncDisposable {
  app: TestApp;
  server: TerminalServer;
  engine: Shell;
}

/** The application with a shell in every container, on a real port. */
function served(options: TestAppOptions = {}, shell?: Parameters<typeof shellEngine>[0]): Served {
  const engine = shellEngine(shell);
  const app = testApp({ ...options, engine: engine.engine, config: { ...ON, ...options.config } });
  return serve(app, engine);
}

function serve(app: TestApp, engine: Shell): Served {
  addContainers(app);
  const server = serveTerminals(app);
  return {
    app,
    server,
    engine,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await engine[Symbol.asyncDispose]();
      app[Symbol.dispose]();
    },
  };
}

/** The status and the error of a handshake. */
async function tried(
  { server: { port } }: Served,
  path: string,
  headers?: Record<string, string>,
): Promise<[number, string]> {
  using answer = await handshake(port, path, headers);
  return [answer.status, answer.text === "" ? "" : JSON.parse(answer.text).error];
}

Deno.test("a terminal carries output, input, size and the exit code", async () => {
  await using on = served();
  const { server, engine } = on;
  const terminal = await server.open(PATH, {
    command: "zsh -l",
    user: "app:app",
    cols: 90,
    rows: 30,
  });
  await terminal.shows("$ ");
  const [{ Cmd, User, Tty, Env }] = engine.created as [Shell["created"][0]];
  deepEqual({ Cmd, User, Tty }, { Cmd: ["zsh", "-l"], User: "app:app", Tty: true });
  equal(Env[0], "TERM=xterm-256color");
  await until(
    "the size was set",
    () => engine.requests.includes("POST /exec/exec1/resize?w=90&h=30"),
  );
  terminal.socket.send('{"resize":[100,40]}');
  await until(
    "the size has changed",
    () => engine.requests.includes("POST /exec/exec1/resize?w=100&h=40"),
  );
  engine.exit(3);
  deepEqual(await terminal.end(), { message: { exit: 3 }, code: 1000 });
  await until("it is gone", () => on.app.deps.terminals.count === 0);
});

Deno.test("the first program that exists is started", async () => {
  await using on = served({}, { missing: ["zsh", "bash", "sh"] });
  const terminal = await on.server.open(PATH, { command: "zsh" });
  await terminal.shows("$ ");
  deepEqual(on.engine.created.map(({ Cmd }) => Cmd), [["zsh"], ["bash"], ["sh"], ["ash"]]);
});

Deno.test("without a usable ticket a terminal is refused before it opens", async () => {
  await using on = served();
  const { app, server } = on;
  const invalid: [number, string] = [401, "The ticket is invalid or has expired"];

  deepEqual(await tried(on, PATH), [401, "A ticket is required"]);
  deepEqual(await tried(on, `${PATH}?ticket=`), invalid);
  deepEqual(await tried(on, `${PATH}?ticket=${"A".repeat(43)}`), invalid);
  const authorization = { authorization: "Made-Up admin" };
  deepEqual(await tried(on, PATH, authorization), [401, "A ticket is required"]);
  const { body: { ticket: streamTicket } } = await app.call("POST", "/api/stream/ticket");
  deepEqual(await tried(on, `${PATH}?ticket=${streamTicket}`), invalid);

  const used = await server.ticket(PATH);
  deepEqual(await tried(on, `${PATH}?ticket=${used}`), [101, ""]);
  deepEqual(await tried(on, `${PATH}?ticket=${used}`), invalid);

  const expired = await server.ticket(PATH);
  app.clock.advance({ seconds: 30 });
  deepEqual(await tried(on, `${PATH}?ticket=${expired}`), invalid);

  const ofWeb = await server.ticket(PATH);
  deepEqual(
    await tried(on, `/api/containers/db/terminal?ticket=${ofWeb}`),
    [401, "The ticket is for another container"],
  );
  deepEqual(await tried(on, `${PATH}?ticket=${ofWeb}`), invalid, "a wrong use uses it up");
  const wrongKind: [number, string] = [401, "The ticket is for another kind of terminal"];
  deepEqual(await tried(on, `${ATTACH}?ticket=${await server.ticket(PATH)}`), wrongKind);
  deepEqual(await tried(on, `${PATH}?ticket=${await server.ticket(ATTACH)}`), wrongKind);

  // It does not open the event stream either.
  const { status } = await app.call(
    "GET",
    `/api/stream?ticket=${await server.ticket(PATH)}`,
    undefined,
    { role: "public" },
  );
  equal(status, 401);
  // A name and an id lead to the same container.
  const byId = `/api/containers/${idOf("web")}/terminal?ticket=${await server.ticket(PATH)}`;
  deepEqual(await tried(on, byId), [101, ""]);
});

Deno.test("pages of other origins are refused, programs without an origin are not", async () => {
  const config = { corsOrigins: ["https://tools.example"], serviceBaseUrl: "https://ship.example" };
  await using on = served({ config });
  const from = async (origin: string | undefined, headers = {}) =>
    (await tried(on, `${PATH}?ticket=${await on.server.ticket(PATH)}`, {
      ...(origin !== undefined && { origin }),
      ...headers,
    }))[0];

  equal(await from(undefined), 101);
  equal(await from(`http://127.0.0.1:${on.server.port}`), 101);
  equal(await from("https://tools.example"), 101);
  equal(await from("https://ship.example"), 101);
  for (
    const origin of [
      "https://evil.example",
      "http://tools.example",
      "https://ship.example.evil.example",
      "https://ship.example:8443",
      "null",
      "",
      "http://127.0.0.1",
      `http://127.0.0.1:${on.server.port}/`,
    ]
  ) equal(await from(origin), 403, origin);
  // The proxy ended TLS; its header does not get in the way of the upgrade.
  const proxied = { host: "a.example", "x-forwarded-proto": "https" };
  equal(await from("https://a.example", proxied), 101);
});

Deno.test("terminals are off unless TERMINAL=admin", async () => {
  await using on = served({ config: { terminal: "off" } });
  const off = "Terminals are off; set TERMINAL=admin to allow them to admins";
  for (const path of [PATH, ATTACH]) {
    const { status, body } = await on.app.call("POST", `${path}/ticket`, { cols: 80, rows: 24 });
    deepEqual([status, body.error], [403, off]);
  }
});

Deno.test("a ticket needs an admin, a running container, and valid options", async () => {
  await using on = served();
  const ask = async (path: string, body: object, role: "admin" | "operator" = "admin") => {
    const answer = await on.app.call("POST", path, { cols: 80, rows: 24, ...body }, { role });
    return [answer.status, answer.body.error];
  };
  equal((await ask(`${PATH}/ticket`, {}, "operator"))[0], 403);
  deepEqual(await ask("/api/containers/old/terminal/ticket", {}), [
    409,
    "Container old is exited, not running",
  ]);
  equal((await ask("/api/containers/none/terminal/ticket", {}))[0], 404);
  for (
    const wrong of [
      { cols: 0 },
      { cols: 1_001 },
      { rows: 1.5 },
      { rows: "24" },
      { user: "-root" },
      { user: "a:b:c" },
      { user: "a b" },
      { command: "" },
      { command: "x".repeat(501) },
      { command: "echo 'a" },
    ]
  ) equal((await ask(`${PATH}/ticket`, wrong))[0], 400, JSON.stringify(wrong));
  equal((await ask(`${PATH}/ticket`, { command: "a; b" }))[0], 403);
});

Deno.test("a request that is not a handshake is refused", async () => {
  await using on = served();
  const path = `${PATH}?ticket=${await on.server.ticket(PATH)}`;
  deepEqual(await tried(on, path, { connection: "close", upgrade: "h2c" }), [
    400,
    "The request must be a WebSocket handshake",
  ]);
  equal(on.app.deps.terminals.count, 0);
});

Deno.test("at most 10 terminals are open at a time", async () => {
  await using on = served();
  const { server, app } = on;
  const spare = await server.ticket(PATH);
  const terminals = await Promise.all(Array.from({ length: 10 }, () => server.open(PATH)));
  const full = "Limit of 10 open terminals reached";
  deepEqual(await tried(on, `${PATH}?ticket=${spare}`), [503, full]);
  const { status, body } = await app.call("POST", `${PATH}/ticket`, { cols: 80, rows: 24 });
  deepEqual([status, body.error], [503, full]);

  terminals[0]!.socket.close();
  await until("one has ended", () => app.deps.terminals.count === 9);
  await (await server.open(PATH)).shows("$ ");
});

for (
  const { what, sent, code, error } of [
    {
      what: "text that is not JSON",
      sent: "ls\n",
      code: 1007,
      error: "A text message must be JSON; send input as binary messages",
    },
    {
      what: "a text that is too long",
      sent: `{"resize":[80,24],"x":"${"x".repeat(256)}"}`,
      code: 1007,
      error: "A text message is limited to 256 characters",
    },
    ...["null", "1", "{}", '{"resize":null}', '{"resize":[80]}', '{"resize":[80,24,1]}']
      .concat('{"resize":[0,24]}', '{"resize":[80,1001]}', '{"resize":["80",24]}')
      .concat('{"resize":[80.5,24]}', '{"resize":{"0":80,"1":24,"length":2}}')
      .map((sent) => ({
        what: `the text ${sent}`,
        sent,
        code: 1007,
        error: 'A text message must be {"resize":[cols,rows]}, each from 1 to 1000',
      })),
    {
      what: "a message of more than 1 MiB",
      sent: new Uint8Array(1024 * 1024 + 1),
      code: 1009,
      error: "A message is limited to 1048576 bytes",
    },
  ]
) {
  Deno.test(`a terminal ends after ${what}`, async () => {
    await using on = served();
    const terminal = await on.server.open(PATH);
    await terminal.shows("$ ");
    terminal.socket.send(sent);
    deepEqual(await terminal.end(), { message: { error }, code });
    await until("it is gone", () => on.app.deps.terminals.count === 0);
  });
}

Deno.test("a terminal ends with a close frame when more follows a message that it refuses", async () => {
  await using on = served();
  const path = `${PATH}?ticket=${await on.server.ticket(PATH)}`;
  using raw = await handshake(on.server.port, path);
  // Masked with zeros: a text that is not JSON, and a hundred binary messages.
  const refused = [0x81, 0x81, 0, 0, 0, 0, 0x7b];
  const input = [0x82, 0x81, 0, 0, 0, 0, 0x61];
  await raw.conn.write(new Uint8Array([refused, ...Array(100).fill(input)].flat()));
  const CLOSE_1007 = "\x88\x02\x03\xef";
  let received = "";
  const buffer = new Uint8Array(4_096);
  while (!received.includes(CLOSE_1007)) {
    const count = await raw.conn.read(buffer);
    ok(count !== null, `no close frame after ${JSON.stringify(received)}`);
    received += String.fromCharCode(...buffer.subarray(0, count));
  }
  ok(received.includes("A text message must be JSON"));
});

Deno.test("input that the program does not read is limited, whatever the size of the messages", async () => {
  for (const bytes of [64 * 1024, 1, 0]) {
    await using on = served();
    // Connected, but neither read nor answered.
    on.engine.answers["POST /containers/*/exec"] = ({ signal }) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(new Response())));
    const terminal = await on.server.open(PATH);
    await until("the terminal ends", () => {
      for (let n = 0; n < 200 && !terminal.closed; n++) {
        if (terminal.socket.readyState === WebSocket.OPEN) {
          terminal.socket.send(new Uint8Array(bytes));
        }
      }
      return terminal.closed !== undefined;
    });
    // A client that still sends may lose the last message.
    const [start] = await until("it is recorded", async () => {
      const entries = await actions(on.app);
      return entries.length > 0 && entries;
    });
    deepEqual([start!.command, start!.outcome], [
      "(The program does not read its input; send less at a time)",
      "failure",
    ]);
  }
});

Deno.test("a client that does not read gets no more output, and is disconnected after a minute", async () => {
  const line = `${"x".repeat(1023)}\n`;
  await using on = served({}, { output: () => line.repeat(16 * 1024) });
  const { app, server } = on;
  const ticket = await server.ticket(PATH);
  using client = await handshake(server.port, `${PATH}?ticket=${ticket}`);
  equal(client.status, 101);
  await until("the start is recorded", async () => (await actions(app)).length === 1);
  await until("the engine is not read any more", () => on.engine.open > 0);
  app.clock.advance({ seconds: 1 });
  await until("it is stalled", () => {
    app.deps.terminals.check();
    app.clock.advance({ seconds: 61 });
    app.deps.terminals.check();
    return app.deps.terminals.count === 0;
  });
  const end = await until("the end is recorded", async () => {
    const entries = await actions(app);
    return entries.length === 2 && entries[0];
  });
  match(end.command, /\(The client does not read the output\)$/);
});

Deno.test("a client that does not answer a ping is disconnected", async () => {
  await using on = served();
  const { app, server } = on;
  Object.assign(app.deps.terminals, { pongTimeoutS: 1 });
  using client = await handshake(server.port, `${PATH}?ticket=${await server.ticket(PATH)}`);
  equal(client.status, 101);
  await until("it is gone", () => app.deps.terminals.count === 0);
  await until("the end is recorded", async () => (await actions(app)).length === 2);
});

Deno.test("a terminal ends after 15 minutes without input, whatever it shows", async () => {
  await using on = served();
  const { app, server } = on;
  const terminal = await server.open(PATH);
  await terminal.shows("$ ");
  app.clock.advance({ minutes: 14 });
  terminal.type("x");
  await until("it has arrived", () => {
    app.deps.terminals.check();
    return app.deps.terminals.count === 1;
  });
  terminal.socket.send('{"resize":[100,40]}');
  await until(
    "the input before has arrived",
    () => on.engine.requests.includes("POST /exec/exec1/resize?w=100&h=40"),
  );
  app.clock.advance({ minutes: 14 });
  app.deps.terminals.check();
  equal(app.deps.terminals.count, 1);
  app.clock.advance({ minutes: 1 });
  app.deps.terminals.check();
  deepEqual(await terminal.end(), {
    message: { error: "Closed after 15 minutes without input" },
    code: 1008,
  });
});

Deno.test("a stop of the service ends every terminal", async () => {
  await using on = served();
  const terminal = await on.server.open(PATH);
  const spare = await on.server.ticket(PATH);
  await on.app.deps.terminals.close();
  deepEqual(await terminal.end(), { message: { error: "The service is stopping" }, code: 1001 });
  deepEqual(await tried(on, `${PATH}?ticket=${spare}`), [503, "The service is stopping"]);
});

Deno.test("the loss of the engine ends a terminal", async () => {
  await using on = served();
  const terminal = await on.server.open(PATH);
  await terminal.shows("$ ");
  await on.engine.down();
  const { message, code } = await terminal.end();
  match((message as { error: string }).error, /container engine|exit code/);
  equal(code, 1011);
});

Deno.test("an API token opens terminals in the containers of its scope only", async () => {
  await using on = served();
  const ask = async (path: string, scope: Partial<Scope>) => {
    const body = { cols: 80, rows: 24 };
    return (await on.app.call("POST", `${path}/ticket`, body, { scope })).status;
  };
  const scope = { containers: ["w*"] };
  equal(await ask(PATH, scope), 200);
  equal(await ask("/api/containers/db/terminal", scope), 404);
  equal(await ask("/api/containers/db/attach", scope), 404);
  equal(await ask(PATH, { permissions: ["containers:exec", "containers:read"] }), 403);

  const ticket = await on.server.ticket(PATH, {}, { scope });
  deepEqual(await tried(on, `/api/containers/db/terminal?ticket=${ticket}`), [
    404,
    "Container db does not exist",
  ]);
  await (await on.server.open(PATH, {}, { scope })).shows("$ ");
});

Deno.test("a terminal of an API token ends when its container leaves the scope", async () => {
  await using on = served();
  const { app, server } = on;
  const scope = { containers: ["w*"] };
  const terminal = await server.open(PATH, {}, { scope });
  await terminal.shows("$ ");
  app.deps.terminals.check();
  equal(app.deps.terminals.count, 1);

  setContainers(app, { name: "db", id: idOf("web") });
  app.deps.terminals.check();

  const error = "The API token is limited to other containers";
  deepEqual(await terminal.end(), { message: { error }, code: 1008 });
});

interface InUsersMode extends Served {
  app: Awaited<ReturnType<typeof usersApp>>;
  token: string;
}

async function inUsersMode(options: TestAppOptions = {}): Promise<InUsersMode> {
  const engine = shellEngine();
  const app = await usersApp({ ...options, engine: engine.engine, config: ON });
  const { accessToken: token } = await login(app, "admin@example.com");
  return { ...serve(app, engine), app, token };
}

/** Every change that takes the right to a terminal away, with the reason that its user gets. */
const LOSSES: {
  what: string;
  edition?: "enterprise";
  lose: (on: InUsersMode) => unknown;
  status: number;
  error: string;
}[] = [
  {
    what: "the role is lost",
    lose: ({ app }) => app.deps.accounts.put(app.ids.admin, "operator"),
    status: 403,
    error: "The role admin is required for this",
  },
  {
    what: "the login is revoked",
    lose: ({ app, token }) => app.call("POST", "/auth/logout", undefined, { token }),
    status: 401,
    error: "The login was revoked",
  },
  {
    what: "the user is deleted",
    lose: ({ app }) => app.deps.accounts.remove(app.ids.admin),
    status: 401,
    error: "The login was revoked",
  },
  {
    what: "the password is changed",
    lose: ({ app, token }) =>
      app.call("PUT", `/auth/users/${app.ids.admin}/password`, {
        password: "another battery staple",
        current_password: PASSWORD,
      }, { token }),
    status: 401,
    error: "The login was revoked",
  },
  {
    what: "the address is refused",
    edition: "enterprise",
    lose: async ({ app, token }) => {
      const base = "/api/ext/service-enterprise/ip-allowlist";
      const rule = { cidr: "192.0.2.0/24", label: "test" };
      equal((await app.call("POST", `${base}/rules`, rule, { token })).status, 201);
      const body = { enforcement_enabled: true };
      equal((await app.call("PUT", `${base}/config`, body, { token })).status, 200);
    },
    status: 403,
    error: "The IP allowlist rejects the address",
  },
  {
    what: "the login becomes too old",
    lose: ({ app }) => app.clock.advance({ minutes: 12 * 60 }),
    status: 401, // the ticket has expired, too
    error: "Terminals need a login of the last 12 hours; log in again",
  },
];

for (const { what, edition, lose, status, error } of LOSSES) {
  Deno.test(`a terminal ends when ${what}`, async () => {
    await using on = await inUsersMode(edition ? { edition } : {});
    const { app, server, token } = on;
    const checked = await server.open(PATH, {}, { token });
    const typing = await server.open(PATH, {}, { token });
    const spare = await server.ticket(PATH, {}, { token });
    app.deps.terminals.check();
    equal(app.deps.terminals.count, 2);

    await lose(on);
    // Input is refused even before the next check.
    typing.type("rm -rf /\n");
    deepEqual(await typing.end(), { message: { error }, code: 1008 });
    app.deps.terminals.check();
    deepEqual(await checked.end(), { message: { error }, code: 1008 });
    equal((await tried(on, `${PATH}?ticket=${spare}`))[0], status);
  });
}

Deno.test("in users mode a terminal needs a login of the last 12 hours", async () => {
  await using on = await inUsersMode();
  const { app } = on;
  const { refreshToken } = await login(app, "admin@example.com");
  app.clock.advance({ minutes: 12 * 60 });
  const renewed = await app.call("POST", "/auth/refresh", { refreshToken }, { role: "public" });
  equal(renewed.status, 200);
  const ask = (token: string) =>
    app.call("POST", `${PATH}/ticket`, { cols: 80, rows: 24 }, { token });
  const { status, body } = await ask(renewed.body.accessToken);
  deepEqual([status, body.error], [
    403,
    "Terminals need a login of the last 12 hours; log in again",
  ]);
  equal((await ask((await login(app, "admin@example.com")).accessToken)).status, 200);
});

/** Entries of the audit log, newest first, without those about tickets. */
async function actions(
  app: TestApp,
): Promise<{ action: string; command: string; outcome: string; targets: string[] }[]> {
  const { entries } = (await app.call("GET", "/api/audit?limit=50")).body;
  return entries.filter(({ action }: { action: string }) => action.startsWith("GET"))
    .map(({ action, command, outcome, targets }: Record<string, unknown>) => ({
      action,
      command,
      outcome,
      targets,
    }));
}

Deno.test("the logs have the start, the end and the refusals, and nothing that was typed", async () => {
  await using on = served({ edition: "enterprise" });
  const { app, server, engine } = on;
  const logs = "/api/ext/service-enterprise/compliance";
  equal((await app.call("PUT", `${logs}/config`, { enabled: true })).status, 200);
  const terminal = await server.open(PATH, { command: "zsh -l" });
  await terminal.shows("$ ");
  terminal.type("my secret password\n");
  terminal.socket.send('{"resize":[100,40]}');
  await until(
    "it has arrived",
    () => engine.requests.includes("POST /exec/exec1/resize?w=100&h=40"),
  );
  app.clock.advance({ seconds: 1 });
  engine.exit(2);
  await terminal.end();
  await until("the end is recorded", async () => (await actions(app)).length === 2);

  const common = { outcome: "success", targets: ["web", idOf("web")] };
  deepEqual((await actions(app)).map((entry) => ({ ...entry, targets: entry.targets.sort() })), [
    {
      ...common,
      action: `GET /api/containers/:id/terminal (end)`,
      command: "zsh -l (exit code 2)",
      targets: common.targets.sort(),
    },
    {
      ...common,
      action: `GET /api/containers/:id/terminal (start)`,
      command: "zsh -l",
      targets: common.targets.sort(),
    },
  ]);
  const isTerminal = ({ action }: { action: string }) =>
    /^containers\.terminal\.(start|end)$/.test(action);
  const entries = await until("both are in the compliance log", async () => {
    const { body } = await app.call("GET", `${logs}/logs?limit=50`);
    return body.logs.filter(isTerminal).length === 2 && body.logs;
  });
  deepEqual(
    entries.filter(isTerminal).map((
      { action, category, actor_id, resource_id, metadata }: Record<string, unknown>,
    ) => [
      action,
      category,
      actor_id,
      resource_id,
      (metadata as { command: string }).command,
    ]),
    [
      ["containers.terminal.end", "container", "key", "web", "zsh -l (exit code 2)"],
      ["containers.terminal.start", "container", "key", "web", "zsh -l"],
    ],
  );
  ok(!JSON.stringify(entries).includes("my secret password"));

  app.clock.advance({ seconds: 1 });
  await tried(on, `/api/containers/db/terminal?ticket=${await server.ticket(PATH)}`);
  const [denied] = await actions(app);
  deepEqual([denied!.action, denied!.outcome], ["GET /api/containers/:id/terminal", "denied"]);
});

Deno.test("a HEAD of a terminal opens nothing", async () => {
  await using on = served();
  const path = `${PATH}?ticket=${await on.server.ticket(PATH)}`;
  const { status } = await on.app.call("HEAD", path, undefined, { role: "public" });
  equal(status, 400);
  deepEqual(on.engine.created, []);
  equal(on.app.deps.terminals.count, 0);
});
