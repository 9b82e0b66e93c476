/** Limits of packs that a server sends. @module */

import { deflateSync } from "node:zlib";
import { throws } from "node:assert/strict";
import { assertPack } from "../../../services/git/fetch/pack_check.ts";

const MIB = 1024 * 1024;
const BLOB = 3;
const OFS_DELTA = 6;

/** Number with seven bits in each byte, the lowest first. */
const varint = (value: number): number[] =>
  value < 128 ? [value] : [value % 128 | 128, ...varint(Math.floor(value / 128))];

const header = (type: number, size: number) => {
  const first = type << 4 | size & 15;
  return size < 16 ? [first] : [first | 128, ...varint(Math.floor(size / 16))];
};

const packOf = (count: number, ...entries: (number[] | Uint8Array)[]) =>
  new Uint8Array([
    ...new TextEncoder().encode("PACK"),
    ...[0, 0, 0, 2, 0, 0, count >> 8, count & 255],
    ...entries.flatMap((entry) => [...entry]),
    ...new Uint8Array(20),
  ]);

const delta = (size: number) => {
  const bytes = new Uint8Array([...varint(1), ...varint(size)]);
  return [...header(OFS_DELTA, bytes.length), 1, ...deflateSync(bytes)];
};

const blob = (size: number, content = new Uint8Array(size)) => [
  ...header(BLOB, size),
  ...deflateSync(content),
];

Deno.test("a pack within the limits is accepted", () => {
  assertPack(packOf(2, blob(1000), delta(2000)));
});

for (
  const { what, pack, error } of [
    {
      what: "an object that unpacks to too much",
      pack: packOf(1, blob(65 * MIB, new Uint8Array(1))),
      error: "An object unpacks to more than 64 MiB, which is the limit",
    },
    {
      what: "a delta with too large a result",
      pack: packOf(1, delta(65 * MIB)),
      error: "An object unpacks to more than 64 MiB, which is the limit",
    },
    {
      what: "objects that together are too much",
      pack: packOf(5, ...Array.from({ length: 5 }, () => delta(60 * MIB))),
      error: "The repository unpacks to more than 256 MiB, which is the limit",
    },
    {
      what: "too many objects",
      pack: (() => {
        const pack = packOf(0);
        pack.set([0, 2, 0, 0], 8);
        return pack;
      })(),
      error: "The repository has more than 100000 objects, which is the limit",
    },
    ...[
      { what: "an object that is larger than it says", entry: blob(10, new Uint8Array(2000)) },
      { what: "an object that is smaller than it says", entry: blob(10, new Uint8Array(1)) },
      { what: "bytes that are not compressed", entry: [...header(BLOB, 3), 1, 2, 3] },
      { what: "an entry that is cut", entry: blob(1000).slice(0, 6) },
      { what: "bytes behind the last object", entry: [...blob(3), 7] },
      { what: "a number without an end", entry: Array.from({ length: 100 }, () => 255) },
    ].map(({ what, entry }) => ({
      what,
      pack: packOf(1, entry),
      error: /damaged pack|unpacks to more/,
    })),
    { what: "an empty answer", pack: new Uint8Array(), error: /damaged pack/ },
  ]
) {
  Deno.test(`a pack with ${what} is refused`, () => {
    throws(() => assertPack(pack), { name: "AppError", message: error });
  });
}
