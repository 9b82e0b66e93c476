/**
 * The event stream: memory per client, next to that of an empty app whose stream stays silent, and
 * the time in which a round of frames reaches all clients, also while some of them do not read.
 *
 * Ten thousand clients need twenty thousand file descriptors, half of them here; where fewer are
 * allowed (`ulimit -n`), fewer clients are measured.
 *
 * @module
 */

import { BUSYBOX, importBusybox, type RealEngine } from "../tests/helpers/real_engine.ts";
import { bundlePrograms, cpuSeconds, type Running, start, tokenOf } from "./programs.ts";
import { printTable, printVerdict } from "./table.ts";

/** Containers of the frames; one is about a kilobyte. */
const CONTAINERS = 20;
const ROUNDS = 3;
const STALLED = 100;

/** Number of connections that are opened at the same time. */
const OPENING = 64;

/** A round is finished when no data has arrived for this long, in milliseconds. */
const QUIET_MS = 1_000;

/** Limit for a round, in milliseconds. */
const ROUND_DEADLINE_MS = 40_000;

/** All clients have the address of a proxy here; any other one may have a quarter of the connections. */
const BEHIND_PROXY = { TRUSTED_PROXIES: "127.0.0.1" };

/** Descriptors reserved for other uses. */
const RESERVED_DESCRIPTORS = 200;

export async function benchSse(engine: RealEngine): Promise<void> {
  const most = await descriptorLimit() - RESERVED_DESCRIPTORS - STALLED;
  await importBusybox(engine);
  const ids: string[] = [];
  try {
    while (ids.length < CONTAINERS) ids.push(await makeContainer(engine));
    await using bundles = await bundlePrograms();
    const rows: Record<string, string | number>[] = [];
    const results: Measured[] = [];
    for (
      const { clients, stalled } of [
        { clients: 1_000, stalled: 0 },
        { clients: Math.min(most, 10_000), stalled: 0 },
        { clients: Math.min(most, 10_000), stalled: STALLED },
      ]
    ) {
      const measured = await measure(engine, ids, bundles.service, { clients, stalled });
      results.push(measured);
      rows.push({
        clients: `${clients}${stalled ? ` and ${stalled} that do not read` : ""}`,
        "RSS MB before": measured.memoryBefore,
        "RSS MB with": measured.memoryWith,
        "KB a client": measured.roundBytes / 1024,
        "CPU ms a round": measured.roundCpuMs,
        "first to last ms": measured.fanOutMs.map((ms) => ms.toFixed(0)).join(" "),
        "/livez p50 ms": measured.livezMs.p50,
        "most ms": measured.livezMs.most,
      });
    }
    printTable(`Event stream, ${ROUNDS} rounds`, rows);
    const [small, large, beset] = results as [Measured, Measured, Measured];
    const [ofSmall, ofLarge] = [small, large].map((one) => one.memoryWith - one.memoryBefore);
    const ofReference = await measureReference(bundles.empty, 1_000);
    printTable("Memory of 1000 clients", [
      { program: "Longshore", "RSS MB": ofSmall! },
      { program: "empty app", "RSS MB": ofReference },
    ]);
    printVerdict("memory of 1 000 clients, times the empty app's", ofSmall! / ofReference, 1.15);
    printVerdict("memory of all clients", ofLarge!, 750, " MB");
    printVerdict("frame to all, slowest round", Math.max(...large.fanOutMs), 1_000, " ms");
    printVerdict(
      `the same beside ${STALLED} that do not read`,
      Math.max(...beset.fanOutMs),
      1_000,
      " ms",
    );
  } finally {
    await engine.docker("rm", "-f", ...ids);
  }
}

interface Measured {
  /** Resident memory of the service, in MB. */
  memoryBefore: number;
  memoryWith: number;
  /** Bytes that a client receives in a round. */
  roundBytes: number;
  /** Processor time of the service for a round, in milliseconds. */
  roundCpuMs: number;
  /** Time between the first and the last client that has received the round. */
  fanOutMs: number[];
  /** Times of `GET /livez` in the meantime. */
  livezMs: { p50: number; most: number };
}

async function measure(
  engine: RealEngine,
  ids: string[],
  script: string,
  { clients, stalled }: { clients: number; stalled: number },
): Promise<Measured> {
  await using service = await start(script, {
    DOCKER_HOST: `unix://${engine.socketPath}`,
    ...BEHIND_PROXY,
  });
  const token = await tokenOf(service);
  await pause(QUIET_MS);
  const memoryBefore = await service.memoryMb();

  using crowd = await connectCrowd(service, token, clients, stalled);
  await crowd.quiet();
  const prober = probeLivez(service);
  const cpuBefore = await cpuSeconds(service);
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    // A changed list is sent to all, and is the largest frame.
    ids.push(await makeContainer(engine));
    rounds.push(await crowd.round());
  }
  return {
    memoryBefore,
    memoryWith: await service.memoryMb(),
    roundBytes: rounds[0]!.bytes,
    roundCpuMs: (await cpuSeconds(service) - cpuBefore) / ROUNDS * 1_000,
    fanOutMs: rounds.map(({ ms }) => ms),
    livezMs: await prober.end(),
  };
}

/** Memory of idle clients of the empty app, in MB. */
async function measureReference(script: string, clients: number): Promise<number> {
  await using program = await start(script, {}, { plain: true });
  const before = await program.memoryMb();
  using crowd = await connectCrowd(program, "none", clients, 0);
  await crowd.quiet();
  return await program.memoryMb() - before;
}

/** Many clients that count received bytes, and some that never read. */
async function connectCrowd(
  { target }: Running,
  token: string,
  clients: number,
  stalled: number,
) {
  const request = new TextEncoder().encode(
    `GET /api/stream HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n\r\n`,
  );
  const connections: Deno.Conn[] = [];
  const received = new Float64Array(clients);
  const before = new Float64Array(clients);
  let firstAt = Infinity;
  let lastAt = 0;

  const open = async () => {
    const connection = await Deno.connect(target);
    connections.push(connection);
    await connection.write(request);
    return connection;
  };
  const read = async (client: number, connection: Deno.Conn) => {
    const buffer = new Uint8Array(16 * 1024);
    try {
      for (let count; (count = await connection.read(buffer)) !== null;) {
        received[client]! += count;
        lastAt = performance.now();
        firstAt = Math.min(firstAt, lastAt);
      }
    } catch { /* closed at the end of the measurement */ }
  };
  await inParallel(stalled, OPENING, async () => {
    const connection = await open();
    await connection.read(new Uint8Array(16));
  });
  await inParallel(clients, OPENING, async (client) => void read(client, await open()));

  const quiet = async () => {
    while (performance.now() - lastAt < QUIET_MS) await pause(50);
  };
  return {
    quiet,
    /** Waits for the next complete round of frames. */
    async round(): Promise<{ ms: number; bytes: number }> {
      before.set(received);
      firstAt = Infinity;
      const deadline = performance.now() + ROUND_DEADLINE_MS;
      while (firstAt === Infinity) {
        if (performance.now() > deadline) throw new Error("no round came");
        await pause(10);
      }
      await quiet();
      const sizes = received.map((count, client) => count - before[client]!);
      const bytes = Math.max(...sizes);
      const missing = sizes.filter((size) => size < bytes).length;
      if (missing) console.log(`  ${missing} clients did not get the whole round`);
      return { ms: lastAt - firstAt, bytes };
    },
    [Symbol.dispose]() {
      for (const connection of connections) connection.close();
    },
  };
}

/** Requests `/livez` continuously in a separate thread, because this one is busy with the clients. */
function probeLivez({ target }: Running) {
  const worker = new Worker(new URL("./livez_probe.ts", import.meta.url), { type: "module" });
  worker.postMessage(target);
  return {
    end: () =>
      new Promise<Measured["livezMs"]>((resolve) => {
        worker.onmessage = ({ data }) => {
          worker.terminate();
          resolve(data);
        };
        worker.postMessage("end");
      }),
  };
}

function makeContainer(engine: RealEngine): Promise<string> {
  return engine.docker("create", "--network", "none", BUSYBOX, "true");
}

/** Limit of open descriptors of this process and its children. */
async function descriptorLimit(): Promise<number> {
  const limits = await Deno.readTextFile("/proc/self/limits");
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? 1_024);
}

async function inParallel(
  count: number,
  width: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  await Promise.all(Array.from({ length: width }, async () => {
    while (next < count) await work(next++);
  }));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
