import { deepEqual, equal, match, ok } from "node:assert/strict";
import { createRelay } from "../../../commands/listener/relay.ts";
import { limitUnfinished } from "../../../routes/pipeline/received_bytes.ts";
import { readUpload } from "../../../routes/pipeline/upload.ts";
import { upgradeWebSocket } from "../../../routes/pipeline/web_socket.ts";
import { withDeadline } from "../../../services/deadline.ts";
import { silentLog } from "../../../services/log.ts";
import { until } from "../../helpers/until.ts";

const CHUNK = new TextEncoder().encode(`2000\r\n${"x".repeat(0x2000)}\r\n`);
const CHUNKS = 3_000;

/** More than the kernel keeps for the sockets of a relayed connection. */
const AHEAD_MAX = 16 * 1024 * 1024;

/** Messages that are together more than one may have. */
const FRAME_BYTES = 512 * 1024;
const MESSAGES = 20;

/** Longest wait for the end of a connection, in milliseconds. */
const ENDED_MS = 60_000;

const HANDSHAKE = [
  ...["GET / HTTP/1.1", "host: x", "connection: upgrade", "upgrade: websocket"],
  ...["sec-websocket-version: 13", "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==", "", ""],
].join("\r\n");

Deno.test("the client of an upload waits for a slow reader, whatever the size of its chunks", async () => {
  const relay = openRelay();
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const client = await Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port });
  const closing = new AbortController();
  let sent = 0;
  let aheadMost = 0;
  const handle = async (request: Request) => {
    let received = 0;
    const assertAllowed = () => Promise.resolve();
    for await (const piece of readUpload(request, { bytesMax: Infinity, assertAllowed })) {
      received += piece.length;
      aheadMost = Math.max(aheadMost, sent - received);
      await new Promise((resolve) => setTimeout(resolve));
    }
    return new Response(String(received));
  };
  const served = relay.serve(await listener.accept(), closing.signal, handle);

  const head =
    "POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n";
  await writeAll(client, new TextEncoder().encode(head));
  for (let count = 0; count < CHUNKS; count++) {
    await writeAll(client, CHUNK);
    sent += CHUNK.length;
  }
  await writeAll(client, new TextEncoder().encode("0\r\n\r\n"));
  const answer = await new Response(client.readable).text();
  await served.finished;
  await relay.shutdown();

  match(answer, new RegExp(`\\b${CHUNKS * 0x2000}\\b`));
  ok(aheadMost < AHEAD_MAX, `The client was ${aheadMost} bytes ahead`);
});

Deno.test("a WebSocket whose client sends a message without an end is closed", async () => {
  const relay = openRelay();
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const client = await Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port });
  const messages: number[] = [];
  const handle = (request: Request) => {
    const { socket, response } = upgradeWebSocket(request, 0);
    socket.binaryType = "arraybuffer";
    limitUnfinished(request, socket);
    socket.addEventListener("message", ({ data }) => messages.push(data.byteLength));
    return Promise.resolve(response);
  };
  const served = relay.serve(await listener.accept(), new AbortController().signal, handle);
  await writeAll(client, new TextEncoder().encode(HANDSHAKE));
  // The end of each message allows the next one.
  for (let count = 0; count < MESSAGES; count++) await writeAll(client, frameOf(0x82));
  await until("all messages", () => messages.length === MESSAGES);

  const write = async () => {
    for (let opcode = 2;; opcode = 0) await writeAll(client, frameOf(opcode));
  };
  equal(await withDeadline(write().catch(() => "ended"), ENDED_MS), "ended");
  await served.finished;
  client.close();
  await relay.shutdown();
  deepEqual(new Set(messages), new Set([FRAME_BYTES]));
});

const openRelay = () =>
  createRelay({
    tls: undefined,
    onError: () => new Response(null, { status: 500 }),
    persistence: {
      log: silentLog,
      now: () => performance.now(),
      isClosed: () => true,
      onFailure: () => {},
    },
  });

/** A frame of a client, whose mask is 0 (RFC 6455, section 5.2). */
function frameOf(first: number): Uint8Array {
  const frame = new Uint8Array(14 + FRAME_BYTES);
  const view = new DataView(frame.buffer);
  view.setUint8(0, first);
  view.setUint8(1, 0x80 | 127);
  view.setBigUint64(2, BigInt(FRAME_BYTES));
  return frame;
}

async function writeAll(to: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await to.write(bytes.subarray(at));
}
