import { equal, rejects } from "node:assert/strict";
import { copiesWithin } from "../../../../services/snapshots/transfer/room.ts";

const MIB = 1024 ** 2;

Deno.test("a snapshot that arrives stops before it fills its target, whatever its sender has said", async () => {
  const piece = new Uint8Array(32 * MIB);
  let left = 320 * MIB;
  let stored = 0;
  async function* endless() {
    for (;;) yield await Promise.resolve(piece);
  }
  const store = async () => {
    for await (const { length } of copiesWithin(endless(), () => Promise.resolve(left), "own")) {
      stored += length;
      left -= length;
    }
  };
  await rejects(store(), { code: "conflict", message: /^Target own has .* left/ });
  equal(stored, 128 * MIB);
});
