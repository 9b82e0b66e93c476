import { deepEqual, rejects } from "node:assert/strict";
import { Connection } from "../../../../engine/http.ts";
import { createStreamWebSocket } from "../../../../services/fleet/passing/web_socket.ts";
import { streamPair } from "../../../helpers/fleet.ts";

/** Receives a message after the host has sent these bytes. */
async function received(...frames: number[][]) {
  const [near, far] = streamPair(1);
  await far.write(Uint8Array.from(frames.flat()));
  await far.closeWrite();
  return await createStreamWebSocket(new Connection(near)).receive();
}

const TEXT = 0x01;
const FINAL = 0x80;

Deno.test("a message in pieces is received as one, and empty pieces do not count", async () => {
  const empty = Array.from({ length: 5_000 }, () => [0, 0]);
  deepEqual(await received([TEXT, 1, 97], ...empty, [0, 1, 98], [FINAL, 0]), { text: "ab" });
});

Deno.test("a message of very many pieces is refused, however short they are", async () => {
  const short = Array.from({ length: 5_000 }, () => [0, 1, 97]);
  await rejects(received([TEXT, 1, 97], ...short, [FINAL, 0]), /invalid WebSocket frame/);
});
