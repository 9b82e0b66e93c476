/** The started program when clients use up its connections and file descriptors. @module */

import { equal, ok } from "node:assert/strict";
import { holdConnections, UNFINISHED } from "../helpers/held_connections.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { EXECUTABLE } from "../helpers/program.ts";
import { startNotifySocket } from "../helpers/notify_socket.ts";
import { eventually, until } from "../helpers/until.ts";

const DESCRIPTORS = 256;

/**
 * The runtime compiles the modules of the sources on first use, and panics if no descriptor is free then.
 * The executable has no module to compile.
 */
const overloadTest: typeof Deno.test.ignore = EXECUTABLE === undefined
  ? Deno.test.ignore
  : Deno.test;

const portOf = ({ baseUrl }: Longshore) => Number(new URL(baseUrl).port);

const CASES = (["off", "admin"] as const).flatMap((terminal) =>
  Object.entries(UNFINISHED).map(([what, beginning]) => ({ terminal, what, beginning }))
);

for (const { terminal, what, beginning } of CASES) {
  overloadTest(
    `400 connections that send ${what} leave others served, with 256 descriptors, TERMINAL=${terminal}`,
    async () => {
      await using longshore = await startLongshore({
        descriptors: DESCRIPTORS,
        env: { TERMINAL: terminal },
      });
      using held = await holdConnections(portOf(longshore), {
        count: 400,
        beginning,
        from: "127.0.0.2",
      });
      await eventually(async () => {
        equal((await longshore.call("GET", "/livez", undefined, { token: null })).status, 200);
        equal((await longshore.call("GET", "/api/health")).status, 200);
      });
      ok(held.open < DESCRIPTORS, `${held.open} are open`);
      equal(await longshore.stop(), 0);
    },
  );
}

/** The port of a started program that only its relay connects to. */
async function relayPort({ pid, baseUrl }: Longshore): Promise<number> {
  const sockets = new Set<string>();
  for await (const { name } of Deno.readDir(`/proc/${pid}/fd`)) {
    const target = await Deno.readLink(`/proc/${pid}/fd/${name}`).catch(() => "");
    sockets.add(/^socket:\[(\d+)\]$/.exec(target)?.[1] ?? "");
  }
  const LISTENING = "0A";
  const rows = (await Deno.readTextFile("/proc/net/tcp")).trim().split("\n").slice(1)
    .map((row) => row.trim().split(/\s+/))
    .filter((row) => row[3] === LISTENING && sockets.has(row[9]!));
  const ports = rows.map((row) => parseInt(row[1]!.split(":")[1]!, 16));
  return ports.find((port) => port !== Number(new URL(baseUrl).port))!;
}

overloadTest(
  "a local program that uses up the descriptors at the relay's port does not end the service",
  async () => {
    await using longshore = await startLongshore({
      descriptors: DESCRIPTORS,
      env: { TERMINAL: "admin" },
    });
    equal((await longshore.call("GET", "/api/health")).status, 200);
    const port = await relayPort(longshore);
    {
      using _held = await holdConnections(port, { count: 400, beginning: "" });
      await until("the relay has another port", async () => {
        const current = await relayPort(longshore);
        return current !== undefined && current !== port;
      });
    }
    await eventually(async () => {
      equal((await longshore.call("GET", "/api/health")).status, 200);
    });
    equal(await longshore.stop(), 0);
  },
);

overloadTest(
  "the service is reported as alive during the attack, by a request of its own",
  async () => {
    await using notify = await startNotifySocket();
    await using longshore = await startLongshore({
      descriptors: DESCRIPTORS,
      env: { NOTIFY_SOCKET: notify.path, WATCHDOG_USEC: "400000", LOG_LEVEL: "debug" },
    });
    using _held = await holdConnections(portOf(longshore), {
      count: 400,
      beginning: UNFINISHED["half a body"],
    });
    const before = notify.count("WATCHDOG=1");
    await until("it is reported again", () => notify.count("WATCHDOG=1") > before + 1);
    equal(notify.count("READY=1"), 1);
  },
);

Deno.test("event streams up to the limit leave room for others, and the end of one for the next", async () => {
  await using longshore = await startLongshore({ env: { MAX_CONNECTIONS: "16" } });
  const token = await longshore.token();
  const beginning = `GET /api/stream HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}\r\n\r\n`;
  const port = portOf(longshore);
  using held = await holdConnections(port, { count: 8, beginning, from: "127.0.0.2" });
  await until("a quarter is left", () => held.open === 4);
  equal((await longshore.call("GET", "/api/health")).status, 200);
  held[Symbol.dispose]();
  await eventually(async () => {
    using next = await holdConnections(port, { count: 1, beginning, from: "127.0.0.2" });
    await until("it has a stream or is refused", () => next.received !== "" || next.open === 0);
    ok(next.received.includes("200 OK"));
  });
});
