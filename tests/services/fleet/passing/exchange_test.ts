import { equal, rejects } from "node:assert/strict";
import { exchangeOver } from "../../../../services/fleet/passing/exchange.ts";
import { streamPair } from "../../../helpers/fleet.ts";

Deno.test("a response that is not taken ends after the time that its request allows", async () => {
  const [stream, host] = streamPair(1);
  await host.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nab"));
  const ended = Promise.withResolvers<void>();
  const request = { method: "GET", target: "/archive", headers: {}, body: null, stallMaxMs: 1 };
  const { body } = await exchangeOver(stream, request, ended.resolve);
  const reader = body!.getReader();
  equal((await reader.read()).value?.length, 2);
  await rejects(reader.closed, /stopped reading/);
  await ended.promise;
});
