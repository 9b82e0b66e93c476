import { deepEqual } from "node:assert/strict";
import { GrowingBytes } from "../../../routes/pipeline/growing_bytes.ts";

Deno.test("GrowingBytes joins pieces of any size, each copied", () => {
  const read = new GrowingBytes();
  const piece = new Uint8Array(1);
  for (let count = 0; count < 10_000; count++) {
    piece[0] = count % 256;
    read.append(piece);
  }
  read.append(new Uint8Array(50_000).fill(7));
  const expected = Array.from({ length: 60_000 }, (_, at) => at < 10_000 ? at % 256 : 7);
  deepEqual([read.size, [...read.bytes()]], [60_000, expected]);
});
