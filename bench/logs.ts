/**
 * Log streams: the time from the engine to the client, a container that writes a lot with a fast and
 * one or many stalled clients, and the engine connections of many clients.
 *
 * @module
 */

import { BUSYBOX, importBusybox, type RealEngine } from "../tests/helpers/real_engine.ts";
import { bundlePrograms, type Running, start, tokenOf } from "./programs.ts";
import { printTable, printVerdict } from "./table.ts";

/** Lines of the slow container, which writes ten every ten milliseconds. */
const SLOW_LINES = 10_000;

/** Lines of the fast container, which writes a portion every tenth of a second. */
const FAST_LINES = 2_000_000;
const PORTION_LINES = 10_000;

const CLIENTS = 100;

/** With the fast client, as many as the service accepts. */
const STALLED = 199;

/** Lines for the stalled clients: many times what they and their sockets can hold. */
const STALLED_LINES = 500_000;

/** Time limit of a measurement, in milliseconds. */
const DEADLINE_MS = 120_000;

export async function benchLogs(engine: RealEngine): Promise<void> {
  await importBusybox(engine);
  await using bundles = await bundlePrograms();
  await using service = await start(bundles.service, {
    DOCKER_HOST: `unix://${engine.socketPath}`,
  });
  const token = await tokenOf(service);

  // The first rounds of the workers would delay some lines.
  await settle();
  const latency = await measureLatency(engine, service, token);
  const load = await measureLoad(engine, service, token, { stalled: 1, lines: FAST_LINES });
  const crowd = await measureLoad(engine, service, token, {
    stalled: STALLED,
    lines: STALLED_LINES,
  });
  const connections = await measureConnections(engine, service, token);
  printTable("Log streams", [{
    "lines/s": latency.perSecond,
    "p50 ms": latency.p50,
    "p99 ms": latency.p99,
    "engine's p99 ms": latency.engineP99,
    "fast lines/s": load.perSecond,
    "RSS MB before": load.before,
    "RSS MB most": load.most,
    [`lines/s beside ${STALLED} stalled`]: crowd.perSecond,
    [`RSS MB of ${STALLED} stalled`]: crowd.most - crowd.before,
    connections,
  }]);
  printVerdict("from the engine to the client, p99", latency.p99, 100, " ms");
  printVerdict("lines that the fast client lost", load.lost, 0);
  printVerdict("memory with a fast and a stalled client", load.most - load.before, 20, " MB");
  printVerdict(`lines lost by the fast client beside ${STALLED} stalled ones`, crowd.lost, 0);
  printVerdict("memory of a stalled client", (crowd.most - crowd.before) / STALLED, 1, " MB");
  printVerdict(`engine connections of ${CLIENTS} clients`, connections, 1);
}

/** Compares the engine's time of each line, when it read the line, with that of its arrival. */
async function measureLatency(engine: RealEngine, service: Running, token: string) {
  await using container = await createContainer(
    engine,
    `awk 'BEGIN { for (i = 1; i <= ${SLOW_LINES}; i++) { print "line", i; ` +
      `if (i % 10 == 0) { fflush(); system("usleep 7000") } } }'`,
  );
  using client = await connect(service, token, container.id);
  await container.start();
  // The engine's own stream of the same lines, on the same machine at the same time.
  const engineConnection = await Deno.connect({ transport: "unix", path: engine.socketPath });
  using direct = await request(
    engineConnection,
    `/containers/${container.id}/logs?follow=1&stdout=1&timestamps=1`,
  );
  const [received, own] = await Promise.all([
    delaysOf(client, /"timestamp":"([^"]{30})"/g),
    delaysOf(direct, /(\d{4}-\d\d-\d\dT[\d:.]{18}Z)/g),
  ]);
  const at = ({ delays }: Delays, share: number) =>
    delays[Math.floor(delays.length * share)] ?? NaN;
  return {
    perSecond: received.perSecond,
    p50: at(received, 0.5),
    p99: at(received, 0.99),
    engineP99: at(own, 0.99),
  };
}

interface Delays {
  /** Sorted, in milliseconds. */
  delays: number[];
  /** Lines per second, from the first to the last. */
  perSecond: number;
}

async function delaysOf({ read }: Client, time: RegExp): Promise<Delays> {
  const delays: number[] = [];
  let started = NaN;
  let ended = NaN;
  await read((text) => {
    const now = performance.timeOrigin + performance.now();
    for (const [, at] of text.matchAll(time)) {
      delays.push(now - Date.parse(at!));
      if (delays.length === 1) started = now;
      ended = now;
    }
    return delays.length < SLOW_LINES;
  });
  const perSecond = delays.length / ((ended - started) / 1000);
  return { delays: delays.sort((a, b) => a - b), perSecond };
}

/** Follows a container that writes a lot with one client that reads and others that do not. */
async function measureLoad(
  engine: RealEngine,
  service: Running,
  token: string,
  { stalled, lines: expected }: { stalled: number; lines: number },
) {
  await using container = await createContainer(
    engine,
    `i=0; while [ $i -lt ${expected} ]; do ` +
      `awk -v i=$i 'BEGIN { for (j = 1; j <= ${PORTION_LINES}; j++) ` +
      `print i + j, "GET /catalog/items?page=17&sort=price HTTP/1.1 200 5123" }'; ` +
      `i=$((i+${PORTION_LINES})); usleep 75000; done`,
  );
  using fast = await connect(service, token, container.id);
  using stack = new DisposableStack();
  for (let count = 0; count < stalled; count++) {
    // A search keeps lines in another form, which needs more memory.
    stack.use(await connect(service, token, container.id, count % 2 ? "&search=catalog" : ""));
  }
  const before = await service.memoryMb();
  let most = before;
  const sampler = setInterval(async () => most = Math.max(most, await service.memoryMb()), 200);
  const started = performance.now();
  await container.start();
  let lines = 0;
  await fast.read((text) => {
    lines += count(text, `"message":"`);
    return lines < expected && !text.includes("event: gap");
  });
  clearInterval(sampler);
  const seconds = (performance.now() - started) / 1000;
  return { perSecond: lines / seconds, lost: expected - lines, before, most };
}

/** Additional connections to the engine's socket while many clients follow one container. */
async function measureConnections(engine: RealEngine, service: Running, token: string) {
  await using container = await createContainer(engine, "sleep 1000");
  await container.start();
  await settle();
  const before = await socketsOf(engine);
  const clients = await Promise.all(
    Array.from({ length: CLIENTS }, () => connect(service, token, container.id)),
  );
  // Connections for past lines are kept for a while.
  await settle();
  const during = await socketsOf(engine);
  for (const client of clients) client[Symbol.dispose]();
  return during - before;
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 12_000));

/** Number of connections of the engine's socket; other programs have none. */
async function socketsOf({ socketPath }: RealEngine): Promise<number> {
  const table = await Deno.readTextFile("/proc/net/unix");
  return table.split("\n").filter((line) => line.endsWith(` ${socketPath}`) && / 03 /.test(line))
    .length;
}

async function createContainer(engine: RealEngine, script: string) {
  const id = await engine.docker("create", "--network=none", BUSYBOX, "sh", "-c", script);
  return {
    id,
    start: () => engine.docker("start", id),
    async [Symbol.asyncDispose]() {
      await engine.docker("rm", "--force", id);
    },
  };
}

type Client = Awaited<ReturnType<typeof request>>;

/** A client of the log stream; one that does not read is stalled. */
async function connect(
  { target }: Running,
  token: string,
  id: string,
  query = "",
): Promise<Client> {
  const path = `/api/containers/${id}/logs/stream?tail=0${query}`;
  return await request(await Deno.connect(target), path, `authorization: Bearer ${token}\r\n`);
}

async function request(connection: Deno.Conn, path: string, headers = "") {
  await connection.write(
    new TextEncoder().encode(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n`),
  );
  const buffer = new Uint8Array(256 * 1024);
  const decoder = new TextDecoder();
  const length = await connection.read(buffer) ?? 0;
  const received = decoder.decode(buffer.subarray(0, length), { stream: true });
  if (!received.startsWith("HTTP/1.1 200")) throw new Error(received);
  // The first lines may arrive together with the head.
  let text = received.slice(received.indexOf("\r\n\r\n") + 4);
  return {
    /** Reads until `receive` returns false. Text is passed on in whole lines. */
    async read(receive: (text: string) => boolean): Promise<void> {
      const deadline = setTimeout(() => connection.close(), DEADLINE_MS);
      for (;;) {
        const end = text.lastIndexOf("\n") + 1;
        if (!receive(text.slice(0, end))) break;
        const length = await connection.read(buffer).catch(() => null);
        if (length === null) break;
        text = text.slice(end) + decoder.decode(buffer.subarray(0, length), { stream: true });
      }
      clearTimeout(deadline);
    },
    [Symbol.dispose]() {
      try {
        connection.close();
      } catch { /* closed at the deadline */ }
    },
  };
}

function count(text: string, word: string): number {
  let found = 0;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) found++;
  return found;
}
