/**
 * The listener next to `Deno.serve`: the same handler behind both, on kept-alive connections and on
 * one connection for each request, and memory for each idle connection.
 *
 * @module
 */

import { load } from "./load.ts";
import { printTable, printVerdict } from "./table.ts";
import { RUN_FLAGS } from "../deploy/build/run_flags.ts";

const CONNECTIONS = 16;
const SECONDS = 4;
const ROUNDS = 3;
const IDLE_CONNECTIONS = 1_000;

/** Limit of the difference, in percent: that of two runs of the same program on a noisy machine. */
const DIFFERENCE_MAX = 10;

const root = new URL("../", import.meta.url);

const SETTINGS = `{ host: "127.0.0.1", port: 0, tlsCertFile: null, tlsKeyFile: null,
  maxConnections: 12000, terminal: Deno.args[0], trustedProxies: [] }`;

const PROGRAM = `
import { listen } from "${new URL("commands/listener/listener.ts", root)}";
import { drainBody } from "${new URL("commands/listener/unread_body.ts", root)}";
import { respondAlive } from "${new URL("routes/pipeline/exchange.ts", root)}";
import { silentLog } from "${new URL("services/log.ts", root)}";
const answer = (_request, peer) =>
  Promise.resolve(respondAlive({ requestId: "1", address: peer, headers: {} }));
if (Deno.args[0] === "Deno.serve") {
  const respond = async (request, info) => {
    const response = await answer(request, info.remoteAddr.hostname);
    if (request.method !== "GET") await drainBody(request);
    return response;
  };
  Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: ({ port }) => console.log(port) }, respond);
} else {
  console.log(new URL(listen(${SETTINGS}, silentLog, answer).address).port);
}`;

interface Measured {
  requestsPerSecond: number[];
  connectionsPerSecond: number[];
  idleKb: number;
}

export async function benchConnections(): Promise<void> {
  await using plain = await startProgram("Deno.serve");
  await using listener = await startProgram("off");
  await using relay = await startProgram("admin");
  const programs = { "Deno.serve": plain, listener, "listener with TERMINAL=admin": relay };
  const results = new Map<string, Measured>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, { port }] of Object.entries(programs)) {
      const target = { transport: "tcp", hostname: "127.0.0.1", port } as const;
      const kept = await load(target, {
        path: "/livez",
        connections: CONNECTIONS,
        seconds: SECONDS,
      });
      const measured = results.get(name) ??
        { requestsPerSecond: [], connectionsPerSecond: [], idleKb: 0 };
      measured.requestsPerSecond.push(kept.requestsPerSecond);
      measured.connectionsPerSecond.push(await connectionsPerSecond(port));
      results.set(name, measured);
    }
  }
  for (const [name, program] of Object.entries(programs)) {
    results.get(name)!.idleKb = await idleKb(program);
  }
  printTable(
    "The listener next to Deno.serve",
    [...results].map(([name, { requestsPerSecond, connectionsPerSecond, idleKb }]) => ({
      program: name,
      "requests/s": median(requestsPerSecond),
      "connections/s": median(connectionsPerSecond),
      "KB per idle connection": idleKb,
    })),
  );
  const [reference, own] = ["Deno.serve", "listener"].map((name) =>
    median(results.get(name)!.requestsPerSecond)
  ) as [number, number];
  printVerdict("loss of throughput", (1 - own / reference) * 100, DIFFERENCE_MAX, " %");
}

async function connectionsPerSecond(port: number): Promise<number> {
  const end = performance.now() + SECONDS * 1000;
  const request = new TextEncoder().encode(
    "GET /livez HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
  );
  let count = 0;
  await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
    const buffer = new Uint8Array(4_096);
    for (; performance.now() < end; count++) {
      using conn = await Deno.connect({ hostname: "127.0.0.1", port });
      await conn.write(request);
      while (await conn.read(buffer) !== null);
    }
  }));
  return count / SECONDS;
}

/** Memory for each connection that sends nothing. */
async function idleKb({ port, pid }: Program): Promise<number> {
  const before = await residentKb(pid);
  const connections: Deno.Conn[] = [];
  for (let at = 0; at < IDLE_CONNECTIONS; at++) {
    connections.push(await Deno.connect({ hostname: "127.0.0.1", port }));
  }
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const after = await residentKb(pid);
  for (const connection of connections) connection.close();
  return (after - before) / IDLE_CONNECTIONS;
}

async function residentKb(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
}

interface Program extends AsyncDisposable {
  port: number;
  pid: number;
}

async function startProgram(kind: "Deno.serve" | "off" | "admin"): Promise<Program> {
  const script = new URL(`bench/.connections_${kind}.ts`, root);
  await Deno.writeTextFile(script, PROGRAM);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", ...RUN_FLAGS, script.pathname, kind],
    cwd: root,
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  return {
    port: Number(new TextDecoder().decode(value)),
    pid: child.pid,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.status;
      await reader.cancel();
      await Deno.remove(script);
    },
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
