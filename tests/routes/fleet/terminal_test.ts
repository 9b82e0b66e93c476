import { deepEqual, equal, match, notEqual } from "node:assert/strict";
import { callerOfHub, sessionOf } from "../../../services/access/accounts.ts";
import { connectUntil } from "../../helpers/cut_link.ts";
import { setContainers } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { type TestFleet, testFleet } from "../../helpers/fleet.ts";
import { handshake, serveTerminals, type TerminalServer } from "../../helpers/terminal_client.ts";
import { until } from "../../helpers/until.ts";

const PATH = "/api/containers/web/terminal";
const AT_HUB = `/api/fleet/hosts/edge-7${PATH}`;

interface Served extends AsyncDisposable {
  fleet: TestFleet;
  server: TerminalServer;
  /** Ends the shell. */
  exit(): void;
}

/** A hub on a real port, and a host whose container has a shell that shows `output`. */
async function served(
  { output = "$ ", fleetTerminal = "on" as "on" | "off" } = {},
): Promise<Served> {
  let isRunning = true;
  let end = () => {};
  const engine = fakeEngine({
    "POST /containers/*/exec": () => Response.json({ Id: "exec1" }, { status: 201 }),
    "POST /exec/*/start": () =>
      new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode(output));
            end = () => controller.close();
          },
        }),
      ),
    "GET /exec/*/json": () =>
      Response.json(
        isRunning
          ? { Running: true, Pid: 42, ExitCode: null }
          : { Running: false, Pid: 0, ExitCode: 3 },
      ),
    "POST /exec/*/resize": () => new Response(null, { status: 200 }),
  });
  const fleet = await testFleet({
    hub: { config: { terminal: "admin" } },
    member: { engine: engine.engine, config: { terminal: "admin", fleetTerminal } },
  });
  setContainers(fleet.member, { name: "web" });
  const server = serveTerminals(fleet.hub);
  return {
    fleet,
    server,
    exit() {
      isRunning = false;
      end();
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await fleet.member.deps.terminals.close();
      await fleet[Symbol.asyncDispose]();
      await engine[Symbol.asyncDispose]();
    },
  };
}

// deno-lint-ignore no-explicit-any
const auditOf = async ({ call }: TestFleet["hub"]): Promise<any[]> =>
  (await call("GET", "/api/audit")).body.entries;

Deno.test("a terminal at a host is that of the host, and both logs have it", async () => {
  await using at = await served({ output: "x".repeat(300_000) + "$ " });
  const { fleet, server } = at;
  const terminal = await server.open(AT_HUB);
  await terminal.shows("$ ");
  equal(terminal.output.length, 300_002);
  equal(fleet.member.deps.terminals.count, 1);
  const started = (await auditOf(fleet.member)).find(({ action }) => action.endsWith("(start)"));
  deepEqual([started.hub.user, started.hub.name], ["API key", "hub-1"]);
  terminal.socket.close();
  await until("the host has ended the shell", () => fleet.member.deps.terminals.count === 0);
  const ended = await until("the hub has recorded the end", async () => {
    const entries = await auditOf(fleet.hub);
    return entries.find(({ action }) => action === "GET /api/fleet/hosts/:id/api/:path (end)");
  });
  deepEqual([ended.command, ended.targets], [`GET ${PATH}`, ["edge-7"]]);
});

Deno.test("a terminal ends when its program does, with the last message of the host", async () => {
  await using at = await served();
  const terminal = await at.server.open(AT_HUB);
  await terminal.shows("$ ");
  at.exit();
  deepEqual(await terminal.end(), { message: { exit: 3 }, code: 1000 });
});

Deno.test("a terminal ends when its caller may no longer use it", async () => {
  await using at = await served();
  const { fleet, server } = at;
  const terminal = await server.open(AT_HUB);
  await terminal.shows("$ ");
  fleet.hub.deps.accounts.roleOf = () => undefined;
  fleet.hub.deps.passing.passages.check();
  const error = "The rights at host edge-7 have ended";
  deepEqual(await terminal.end(), { message: { error }, code: 1001 });
  await until("the host has ended it, too", () => fleet.member.deps.terminals.count === 0);
});

Deno.test("a terminal ends with a sentence when its host is killed or the link is cut", async () => {
  await using at = await served();
  const { fleet, server } = at;
  const { link } = await connectUntil(fleet, Infinity);
  const killed = await server.open(AT_HUB);
  await killed.shows("$ ");
  link.close("killed");
  const error = "The link to host edge-7 has ended";
  deepEqual(await killed.end(), { message: { error }, code: 1001 });
  await until("the host has ended it, too", () => fleet.member.deps.terminals.count === 0);

  // No message arrives, and the connection is not closed.
  let silentMs = 0;
  const open = (await connectUntil(fleet, Infinity)).link;
  fleet.link = {
    ...open,
    get silentMs() {
      return silentMs;
    },
  };
  const cut = await server.open(AT_HUB);
  await cut.shows("$ ");
  silentMs = 24_000;
  fleet.hub.deps.passing.passages.check();
  equal(cut.closed, undefined);
  silentMs++;
  fleet.hub.deps.passing.passages.check();
  deepEqual(await cut.end(), { message: { error: "Host edge-7 does not answer" }, code: 1001 });
  using silent = await handshake(server.port, `${AT_HUB}?ticket=${await server.ticket(AT_HUB)}`);
  equal(silent.status, 503);
  open.close("the end");
});

Deno.test("the host's ticket never leaves the hub, and the hub's is for this terminal only", async () => {
  await using at = await served();
  const { fleet, server } = at;
  const ticket = await server.ticket(AT_HUB);
  equal(fleet.member.deps.terminalTickets.find(ticket), undefined);
  const other = `/api/fleet/hosts/edge-7/api/containers/db/terminal?ticket=${ticket}`;
  using refused = await handshake(server.port, other);
  equal(refused.status, 401);
  using again = await handshake(server.port, `${AT_HUB}?ticket=${ticket}`);
  equal(again.status, 401, "it was used up");
  const stream = (await fleet.hub.call("POST", "/api/stream/ticket")).body.ticket;
  using ofStream = await handshake(server.port, `${AT_HUB}?ticket=${stream}`);
  equal(ofStream.status, 401);
  const origin = { origin: "https://evil.example" };
  using foreign = await handshake(
    server.port,
    `${AT_HUB}?ticket=${await server.ticket(AT_HUB)}`,
    origin,
  );
  equal(foreign.status, 403);
});

Deno.test("without FLEET_TERMINAL=on the host refuses terminals and commands", async () => {
  await using at = await served({ fleetTerminal: "off" });
  const { fleet } = at;
  for (const path of ["terminal/ticket", "attach/ticket", "exec"]) {
    const response = await fleet.pass("POST", `/api/containers/web/${path}`, {
      cols: 80,
      rows: 24,
    });
    const { error } = await response.json();
    deepEqual([path, response.status], [path, 403]);
    match(error, /FLEET_TERMINAL=on/);
  }
});

Deno.test("without TERMINAL=admin at the hub, it opens no terminals at hosts", async () => {
  await using fleet = await testFleet({ member: { config: { fleetTerminal: "on" } } });
  const response = await fleet.pass("POST", `${PATH}/ticket`, { cols: 80, rows: 24 });
  equal(response.status, 403);
  match((await response.json()).error, /^Terminals are off/);
});

Deno.test("a host's tickets are kept by the hub, however their path is written", async () => {
  await using fleet = await testFleet({
    member: { config: { terminal: "admin", fleetTerminal: "on" } },
  });
  for (const path of ["ticket/", "ticket/.", "%74icket"]) {
    const response = await fleet.pass("POST", `${PATH}/${path}`, { cols: 80, rows: 24 });
    deepEqual([response.status, (await response.json()).error.slice(0, 17)], [
      403,
      "Terminals are off",
    ]);
    const stream = await fleet.pass("POST", `/api/stream/${path}`);
    notEqual(fleet.hub.deps.tickets.redeem((await stream.json()).ticket), undefined, path);
  }
});

Deno.test("a ticket of a hub's user opens nothing without the hub", async () => {
  await using fleet = await testFleet({ member: { config: { terminal: "admin" } } });
  const { tickets, terminalTickets } = fleet.member.deps;
  const hub = {
    ...{ id: "hub", name: "hub-1", user: "Ada", permissions: [], mayRunPrograms: true },
    role: "admin",
  } as const;
  const session = sessionOf(callerOfHub("hub/hub/u1", hub));
  const terminal = { kind: "shell", containerId: "web", command: null, user: null } as const;
  const paths = {
    "/api/stream": tickets.issue({ ...session, passed: undefined, expiresAtMs: Infinity }),
    "/api/fleet/hosts/edge-8/api/stream": tickets.issue({
      ...session,
      passed: undefined,
      expiresAtMs: Infinity,
    }),
    [PATH]: terminalTickets.issue({ ...session, terminal: { ...terminal, cols: 80, rows: 24 } }),
  };
  for (const [path, ticket] of Object.entries(paths)) {
    const options = { role: "public" } as const;
    const answer = await fleet.member.call("GET", `${path}?ticket=${ticket}`, undefined, options);
    deepEqual([path, answer.status, answer.body.error], [
      path,
      401,
      "The ticket is for requests of the hub",
    ]);
  }
});
