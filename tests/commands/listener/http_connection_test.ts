import { equal } from "node:assert/strict";
import { serveConnection } from "../../../commands/listener/http_connection.ts";

Deno.test("a connection that has ended can be closed", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  using client = await Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port });
  const closing = new AbortController();
  const served = serveConnection(await listener.accept(), {
    signal: closing.signal,
    handle: () => Promise.resolve(new Response("ok")),
    onError: () => new Response(null, { status: 500 }),
  });
  await client.write(new TextEncoder().encode("GET / HTTP/1.1\r\nconnection: close\r\n\r\n"));
  const buffer = new Uint8Array(1_024);
  while (await client.read(buffer) !== null);
  await served.finished;
  closing.abort();
  equal(closing.signal.aborted, true);
});
