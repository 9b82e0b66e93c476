import { equal, rejects } from "node:assert/strict";
import { readStream } from "../../../services/stream/read_stream.ts";

Deno.test("readStream() disconnects a client that stops reading and closes the source", async () => {
  const closed = Promise.withResolvers<void>();
  const reader = readStream(() => Promise.resolve("chunk"), closed.resolve, 1).getReader();

  equal((await reader.read()).value, "chunk");

  await rejects(reader.closed, /stopped reading/);
  await closed.promise;
});
