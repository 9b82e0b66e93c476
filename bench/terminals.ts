/**
 * Terminals: output per second and memory, with a client that reads and with ten that do not.
 *
 * @module
 */

import { connectEngine } from "../engine/client.ts";
import { execCreate, execStart } from "../engine/exec.ts";
import { handshake } from "../tests/helpers/terminal_client.ts";
import type { RealEngine } from "../tests/helpers/real_engine.ts";
import { bundlePrograms, type Running, start, tokenOf } from "./programs.ts";
import { printTable, printVerdict } from "./table.ts";

/** As many as the service allows. */
const TERMINALS = 10;

/** Time for which a client reads, and in which the service fills its buffers. */
const READ_MS = 5_000;

/** Bound of the memory of ten clients that do not read, in MB. */
const STALLED_MAX_MB = 40;

export async function benchTerminals(engine: RealEngine): Promise<void> {
  await using container = await engine.runContainer();
  await using bundles = await bundlePrograms();
  await using service = await start(bundles.service, {
    DOCKER_HOST: `unix://${engine.socketPath}`,
    TERMINAL: "admin",
  });
  const token = await tokenOf(service);
  const path = `/api/containers/${container.id}/terminal`;
  const flood = () => open(service, token, path);

  const direct = await measureEngine(engine, container.id);
  const memoryBefore = await service.memoryMb();
  const reading = await measureReader(service, await flood());
  const memoryIdle = await service.memoryMb();
  const stalled = await Promise.all(Array.from({ length: TERMINALS }, flood));
  await new Promise((resolve) => setTimeout(resolve, READ_MS));
  const memoryStalled = await service.memoryMb();
  for (const client of stalled) client[Symbol.dispose]();

  printTable("Terminals that run `cat /dev/zero`", [
    { clients: "the engine's own connection", "RSS MB": "", "MB/s": direct },
    { clients: "none", "RSS MB": memoryBefore, "MB/s": "" },
    { clients: "one that reads", "RSS MB": reading.memoryMb, "MB/s": reading.mbPerSecond },
    { clients: "none again", "RSS MB": memoryIdle, "MB/s": "" },
    { clients: `${TERMINALS} that do not read`, "RSS MB": memoryStalled, "MB/s": "" },
  ]);
  printVerdict(
    `memory of ${TERMINALS} clients that do not read`,
    memoryStalled - memoryIdle,
    STALLED_MAX_MB,
    " MB",
  );
}

/** The same without the service. @returns MB/s. */
async function measureEngine({ socketPath }: RealEngine, containerId: string): Promise<number> {
  using engine = connectEngine(socketPath);
  const { id } = await execCreate(engine, containerId, {
    cmd: ["cat", "/dev/zero"],
    tty: true,
    stdin: true,
  });
  using connection = await execStart(engine, id, { tty: true });
  const started = performance.now();
  let bytes = 0;
  for await (const frame of connection.frames) {
    bytes += frame.bytes.length;
    if (performance.now() - started > READ_MS) break;
  }
  return bytes / (performance.now() - started) / 1000;
}

async function measureReader(service: Running, client: Awaited<ReturnType<typeof handshake>>) {
  const buffer = new Uint8Array(256 * 1024);
  const started = performance.now();
  let bytes = 0;
  while (performance.now() - started < READ_MS) bytes += await client.conn.read(buffer) ?? 0;
  const mbPerSecond = bytes / (performance.now() - started) / 1000;
  const memoryMb = await service.memoryMb();
  client[Symbol.dispose]();
  return { mbPerSecond, memoryMb };
}

/** Opens a terminal that writes without end; nothing of its output is read. */
async function open({ target }: Running, token: string, path: string) {
  const response = await fetch(`http://127.0.0.1:${target.port}${path}/ticket`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ cols: 80, rows: 24, command: "cat /dev/zero" }),
  });
  const { ticket, error } = await response.json();
  if (!ticket) throw new Error(error);
  const client = await handshake(target.port, `${path}?ticket=${ticket}`);
  if (client.status !== 101) throw new Error(client.text);
  return client;
}
