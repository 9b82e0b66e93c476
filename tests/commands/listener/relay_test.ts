import { match, ok } from "node:assert/strict";
import { createRelay } from "../../../commands/listener/relay.ts";
import { readUpload } from "../../../routes/pipeline/upload.ts";
import { silentLog } from "../../../services/log.ts";

const CHUNK = new TextEncoder().encode(`2000\r\n${"x".repeat(0x2000)}\r\n`);
const CHUNKS = 3_000;

/** More than the kernel keeps for the sockets of a relayed connection. */
const AHEAD_MAX = 16 * 1024 * 1024;

Deno.test("the client of an upload waits for a slow reader, whatever the size of its chunks", async () => {
  const relay = createRelay({
    tls: undefined,
    onError: () => new Response(null, { status: 500 }),
    persistence: {
      log: silentLog,
      now: () => performance.now(),
      isClosed: () => true,
      onFailure: () => {},
    },
  });
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

async function writeAll(to: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await to.write(bytes.subarray(at));
}
