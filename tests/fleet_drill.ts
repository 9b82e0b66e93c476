/**
 * A hub and a member as real programs: an upload of 2 GB beside a terminal, and `kill -9` of either side
 * while requests, streams and uploads are passed on.
 *
 *     LONGSHORE_EXECUTABLE=$PWD/dist/longshore deno task fleet-drill [MIB] [KILLS]
 *
 * Prints what was measured, and fails if a request has run twice or something waits for longer than 30
 * seconds. Times count on a machine that does nothing else.
 *
 * @module
 */

import { equal, ok } from "node:assert/strict";
import { join } from "node:path";
import { engineOf } from "./acceptance/planted_service.ts";
import { plantedSecrets } from "./acceptance/planted_secrets.ts";
import { fakeEngine } from "./helpers/fake_engine.ts";
import { joinFleet, stateOfHost } from "./helpers/joined_host.ts";
import { type Longshore, startLongshore } from "./helpers/longshore.ts";
import { openTerminal } from "./helpers/terminal_client.ts";
import { until } from "./helpers/until.ts";

const AT_HOST = "/api/fleet/hosts/edge-7/api";
const [mib = 2_048, kills = 20] = Deno.args.map(Number);
const MIB = new Uint8Array(1024 * 1024);
const HANG_MS = 30_000;
const decoder = new TextDecoder();

/** An engine that takes archives of any size, and whose shell echoes. */
function drillEngine(path: string, inner: string): { close(): void } {
  const listener = Deno.listen({ transport: "unix", path });
  const serve = async (conn: Deno.Conn) => {
    using other = await Deno.connect({ transport: "unix", path: inner });
    copy(other, conn).catch(() => {});
    const buffer = new Uint8Array(64 * 1024);
    for (let count = await conn.read(buffer); count; count = await conn.read(buffer)) {
      const head = decoder.decode(buffer.subarray(0, count));
      if (/^POST \S*\/images\/load/.test(head)) return await takeArchive(conn, buffer);
      if (/^POST \S*\/exec\/\w+\/start/.test(head)) return await echo(conn, buffer);
      await other.write(buffer.slice(0, count));
    }
  };
  (async () => {
    for await (const conn of listener) serve(conn).catch(() => {}).finally(() => conn.close());
  })().catch(() => {});
  return listener;
}

async function takeArchive(conn: Deno.Conn, buffer: Uint8Array): Promise<void> {
  let last = "";
  while (!last.endsWith("0\r\n\r\n")) {
    const read = await conn.read(buffer);
    if (read === null) return;
    last = (last + decoder.decode(buffer.subarray(Math.max(0, read - 5), read))).slice(-5);
  }
  const body = '{"stream":"Loaded image: app:1\\n"}';
  const answer = `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`;
  await conn.write(new TextEncoder().encode(answer + body));
}

async function echo(conn: Deno.Conn, buffer: Uint8Array): Promise<void> {
  const upgraded = "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n$ ";
  await conn.write(new TextEncoder().encode(upgraded));
  for (let read = await conn.read(buffer); read; read = await conn.read(buffer)) {
    await conn.write(buffer.slice(0, read));
  }
}

async function copy(from: Deno.Conn, to: Deno.Conn): Promise<void> {
  const buffer = new Uint8Array(64 * 1024);
  for (let read = await from.read(buffer); read; read = await from.read(buffer)) {
    for (let at = 0; at < read;) at += await to.write(buffer.subarray(at, read));
  }
}

const headersOf = async (hub: Longshore) => ({ authorization: `Bearer ${await hub.token()}` });

/** Uploads an archive of zeros to the host. @returns The status; 0 if the connection was lost. */
async function upload(hub: Longshore, pieces: number): Promise<number> {
  let left = pieces;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => left-- > 0 ? controller.enqueue(MIB) : controller.close(),
  }, { highWaterMark: 0 });
  const headers = { ...await headersOf(hub), "content-type": "application/x-tar" };
  const sent = fetch(`${hub.baseUrl}${AT_HOST}/images/load`, { method: "POST", headers, body });
  return await sent.then(async (answer) => {
    await answer.text();
    return answer.status;
  }).catch(() => 0);
}

/** Times from a typed character to its echo, in milliseconds, sorted. */
async function echoes(hub: Longshore, isOver: (count: number) => boolean): Promise<number[]> {
  const path = `${AT_HOST}/containers/web/terminal`;
  const { body } = await hub.call("POST", `${path}/ticket`, { cols: 80, rows: 24 });
  const url = `${hub.baseUrl.replace("http:", "ws:")}${path}?ticket=${body.ticket}`;
  const terminal = await openTerminal(url);
  await terminal.shows("$ ");
  const times: number[] = [];
  while (!isOver(times.length)) {
    const [at, length] = [performance.now(), terminal.output.length];
    const echoed = new Promise((resolve) =>
      terminal.socket.addEventListener("message", resolve, { once: true })
    );
    terminal.type("x");
    await echoed;
    if (terminal.output.length > length) times.push(performance.now() - at);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  terminal.socket.close();
  return times.sort((a, b) => a - b);
}

function describe(times: readonly number[]): string {
  const at = (share: number) => times[Math.floor(share * (times.length - 1))]!.toFixed(1);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms (${times.length})`;
}

async function measure(hub: Longshore): Promise<void> {
  console.log(`terminal alone:            ${describe(await echoes(hub, (count) => count >= 100))}`);
  let isOver = false;
  const at = performance.now();
  const [status, times] = await Promise.all([
    upload(hub, mib).finally(() => isOver = true),
    echoes(hub, () => isOver),
  ]);
  const rate = mib / ((performance.now() - at) / 1000);
  console.log(`terminal beside an upload: ${describe(times)}; ${rate.toFixed(0)} MiB/s, ${status}`);
  equal(status, 200);
}

/** Everything that can be passed on, until its end. @returns The status of the write. */
async function passAll(hub: Longshore, name: string): Promise<number> {
  const headers = await headersOf(hub);
  const hook = { name, url: "https://example.org/hook", events: ["container.down"] };
  const stream = async () =>
    void await (await fetch(`${hub.baseUrl}${AT_HOST}/stream`, { headers })).text();
  const write = hub.call("POST", `${AT_HOST}/webhooks`, hook).then(({ status }) => status, () => 0);
  await Promise.all([write, upload(hub, 64), stream().catch(() => {})]);
  return await write;
}

/** Kills one side at a random moment. */
async function killOnce(round: number, sides: Sides): Promise<void> {
  const name = `hook ${round}`;
  const passed = passAll(sides.hub, name);
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 300));
  const which = round % 2 === 0 ? "hub" : "member";
  const at = performance.now();
  await sides[which].kill9();
  const status = await passed;
  const ms = performance.now() - at;
  ok(ms < HANG_MS, `${name}: ended ${ms} ms after the kill of the ${which}`);
  await sides.restart(which);
  await until("the host is back", async () => await stateOfHost(sides.hub) === "connected", {
    deadlineMs: 120_000,
  });
  const { body } = await sides.member.call("GET", "/api/webhooks");
  const found = body.webhooks.filter((each: { name: string }) => each.name === name);
  ok(
    found.length <= 1 && (status !== 201 || found.length === 1),
    `${name} ran ${found.length} times`,
  );
  for (const { id } of found) await sides.member.call("DELETE", `/api/webhooks/${id}`);
  console.log(
    `${name}: killed the ${which}, answer ${status}, ran ${found.length} times, ${
      ms.toFixed(0)
    } ms`,
  );
}

interface Sides {
  hub: Longshore;
  member: Longshore;
  restart(which: "hub" | "member"): Promise<void>;
}

await using stack = new AsyncDisposableStack();
const folder = await Deno.makeTempDir({ prefix: "longshore-fleet-drill-" });
stack.defer(() => Deno.remove(folder, { recursive: true }));
const inner = stack.use(fakeEngine({
  ...engineOf(plantedSecrets()),
  "POST /containers/*/exec": () => Response.json({ Id: "exec1" }, { status: 201 }),
  "GET /exec/*/json": () => Response.json({ Running: true, Pid: 42, ExitCode: null }),
  "POST /exec/*/resize": () => new Response(null),
}));
const engineSocket = join(folder, "engine.sock");
const engine = drillEngine(engineSocket, inner.socketPath);
stack.defer(() => engine.close());
const common = { FLEET_INSECURE: "on", TERMINAL: "admin", IMAGE_UPLOAD_MAX_BYTES: String(2 ** 40) };
const port = String(40_000 + Math.floor(Math.random() * 9_000));
const options = {
  hub: {
    dataDir: join(folder, "hub"),
    env: { ...common, PORT: port, API_KEY: crypto.randomUUID(), RATE_LIMIT_PER_MINUTE: "0" },
  },
  member: {
    dataDir: join(folder, "member"),
    engineSocket,
    env: { ...common, FLEET_ALLOW: "admin", FLEET_TERMINAL: "on", API_KEY: crypto.randomUUID() },
  },
};
const sides: Sides = {
  hub: await startLongshore(options.hub),
  member: await startLongshore(options.member),
  async restart(which) {
    sides[which] = await startLongshore(options[which]);
  },
};
stack.defer(() => sides.hub.kill9());
stack.defer(() => sides.member.kill9());
await joinFleet(sides.hub, sides.member);
await measure(sides.hub);
for (let round = 1; round <= kills; round++) await killOnce(round, sides);
