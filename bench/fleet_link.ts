/**
 * The link of a fleet alone: times from a typed character to its echo, beside uploads on the same link.
 * Both ends are in one process, each in its own thread.
 *
 * @module
 */

import { admit } from "../services/fleet/link/channel.ts";
import { createConnection, type MessageSocket } from "../services/fleet/link/connection.ts";
import { createLink } from "../services/fleet/link/link.ts";
import { createKeyPair } from "../services/fleet/link/noise.ts";
import type { OpenLink } from "../services/fleet/link/open_link.ts";
import { printTable, printVerdict } from "./table.ts";

/** Uploads at the same time. */
const UPLOADS = [0, 1, 8];

const CHARACTERS = 300;
const PAUSE_MS = 10;
const PIECE = new Uint8Array(64 * 1024);
const BULK = 2;
const ECHOED = 1;

/** Bound of the echo beside one upload, in milliseconds. */
const P99_MAX_MS = 50;

export async function benchFleetLink(): Promise<void> {
  const keys = await createKeyPair();
  const opened = Promise.withResolvers<OpenLink>();
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const { socket, response } = Deno.upgradeWebSocket(request);
    const connection = createConnection(socket as unknown as MessageSocket);
    admit(connection, { keys, findInvite: () => undefined }).then(
      ({ channel }) =>
        opened.resolve(createLink(channel, {
          ...{ peer: "host", isClient: false, onControl: () => {} },
          clock: { wallMs: () => Date.now(), steadyMs: () => performance.now() },
        })),
      opened.reject,
    );
    return response;
  });
  const worker = new Worker(new URL("./fleet_link_host.ts", import.meta.url), { type: "module" });
  worker.postMessage({ address: `http://127.0.0.1:${server.addr.port}`, hubKey: keys.publicKey });
  const link = await opened.promise;
  const results = [];
  for (const uploads of UPLOADS) results.push({ uploads, ...await measure(link, uploads) });
  link.close("measured");
  worker.terminate();

  printTable(
    `Echo of ${CHARACTERS} characters over a link, load ${Deno.loadavg()[0]!.toFixed(0)}`,
    results.map(({ uploads, p50, p99, longest, mbPerSecond }) => ({
      uploads: String(uploads),
      "p50 ms": p50,
      "p99 ms": p99,
      "longest ms": longest,
      "MB/s": mbPerSecond,
    })),
  );
  printVerdict("echo p99 beside an upload", results[1]!.p99, P99_MAX_MS, " ms");
  printVerdict("the same, times that without one", results[1]!.p50 / results[0]!.p50, 10);
}

async function measure(link: OpenLink, uploads: number) {
  const over = new AbortController();
  const bulk = Array.from({ length: uploads }, () => upload(link, over.signal));
  const at = performance.now();
  const times = await echoes(link);
  const seconds = (performance.now() - at) / 1000;
  over.abort();
  const bytes = (await Promise.all(bulk)).reduce((sum, each) => sum + each, 0);
  const part = (share: number) => times[Math.floor(share * (times.length - 1))]!;
  return { p50: part(0.5), p99: part(0.99), longest: part(1), mbPerSecond: bytes / seconds / 1e6 };
}

/** Writes as fast as the host reads. @returns Number of bytes. */
async function upload(link: OpenLink, signal: AbortSignal): Promise<number> {
  const stream = await link.open(signal);
  let bytes = await stream.write(Uint8Array.of(BULK));
  while (!signal.aborted) bytes += await stream.write(PIECE);
  await stream.closeWrite();
  return bytes;
}

/** Times in milliseconds, sorted. */
async function echoes(link: OpenLink): Promise<number[]> {
  const stream = await link.open(new AbortController().signal);
  const times: number[] = [];
  while (times.length < CHARACTERS) {
    const at = performance.now();
    await stream.write(Uint8Array.of(ECHOED));
    await stream.read(new Uint8Array(1));
    times.push(performance.now() - at);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  stream.close();
  return times.sort((a, b) => a - b);
}
