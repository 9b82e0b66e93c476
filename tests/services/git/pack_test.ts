/** Limits of packs that a server sends. @module */

import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import { deepEqual, equal, throws } from "node:assert/strict";
import { readPack } from "../../../services/git/fetch/pack.ts";
import { indexOf } from "../../../services/git/fetch/pack_index.ts";
import { takePack } from "../../../services/git/fetch/side_band.ts";
import { temporaryDirectory } from "../../helpers/command.ts";

const MIB = 1024 * 1024;
const BLOB = 3;
const OFS_DELTA = 6;
const REF_DELTA = 7;

/** Number with seven bits in each byte, the lowest first. */
const varint = (value: number): number[] =>
  value < 128 ? [value] : [value % 128 | 128, ...varint(Math.floor(value / 128))];

const header = (type: number, size: number) => {
  const first = type << 4 | size & 15;
  return size < 16 ? [first] : [first | 128, ...varint(Math.floor(size / 16))];
};

const packOf = (count: number, ...entries: (number[] | Uint8Array)[]) => {
  const content = new Uint8Array([
    ...new TextEncoder().encode("PACK"),
    ...[0, 0, 0, 2, 0, 0, count >> 8, count & 255],
    ...entries.flatMap((entry) => [...entry]),
  ]);
  return signed(content);
};

const signed = (content: Uint8Array) =>
  new Uint8Array([...content, ...createHash("sha1").update(content).digest()]);

const blob = (size: number, content = new Uint8Array(size)) => [
  ...header(BLOB, size),
  ...deflateSync(content),
];

/** A delta that says its result has a size, of a base with one byte. */
const delta = (base: number[], size: number, instructions: number[] = []) => {
  const bytes = new Uint8Array([...varint(1), ...varint(size), ...instructions]);
  const type = base.length === 20 ? REF_DELTA : OFS_DELTA;
  return [...header(type, bytes.length), ...base, ...deflateSync(bytes)];
};

const BASE = blob(1);
const BEFORE = [BASE.length];
const ID = [...createHash("sha1").update("blob 1\0\0").digest()];
/** Copies the byte, and adds one. */
const COPY_AND = (byte: number) => [0x90, 1, 1, byte];

Deno.test("a pack within the limits gets the index that Git gives it", async () => {
  const pack = packOf(3, BASE, delta(BEFORE, 2, COPY_AND(1)), delta(ID, 2, COPY_AND(2)));
  using directory = temporaryDirectory();
  await Deno.writeFile(`${directory.path}/a.pack`, pack);
  const { success } = await new Deno.Command("git", {
    args: ["index-pack", `${directory.path}/a.pack`],
    stdout: "null",
  }).output();
  equal(success, true);
  deepEqual(
    indexOf(pack, readPack(pack)),
    new Uint8Array(await Deno.readFile(`${directory.path}/a.idx`)),
  );
});

const line = (text: string) => (text.length + 4).toString(16).padStart(4, "0") + text;
const bytesOf = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0));

Deno.test("the pack of an answer is taken apart from the other lines", () => {
  const answer = ["NAK\n", "\x02Counting", "\x01PA", "\x01", "\x01CK", "\x03gone"].map(line);
  const { pack, rest } = takePack(bytesOf(`0000${answer.join("")}0000`));
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  deepEqual([text(pack), rest.map(text)], ["PACK", [
    "0000",
    line("NAK\n"),
    line("\x03gone"),
    "0000",
  ]]);
  for (const broken of ["zzzz", "0003", "00", "0008NA", "0008NAK\n0030\x01PACK"]) {
    throws(() => takePack(bytesOf(broken)), { message: /broke off$/ }, broken);
  }
  throws(() => takePack(bytesOf("0000".repeat(300_000))), { message: /too many lines/ });
});

Deno.test("a pack with objects that together are too much is refused", () => {
  const pack = packOf(2, blob(MIB), BASE);
  readPack(pack, MIB + 1);
  throws(() => readPack(pack, MIB), {
    name: "AppError",
    message: "The repository unpacks to more than 1 MiB, which is the limit",
  });
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
      pack: packOf(2, BASE, delta(BEFORE, 65 * MIB)),
      error: "An object unpacks to more than 64 MiB, which is the limit",
    },
    {
      what: "a large tree",
      pack: packOf(1, [...header(2, 5 * MIB), ...deflateSync(new Uint8Array(5 * MIB))]),
      error: "A tree unpacks to more than 4 MiB, which is the limit",
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
    ...[
      { what: "a delta that is its own base", entry: delta([0], 2, COPY_AND(1)) },
      { what: "a base inside of an entry", entry: delta([BASE.length - 1], 2, COPY_AND(1)) },
      { what: "a base before the first entry", entry: delta([100], 2, COPY_AND(1)) },
      { what: "a base of another pack", entry: delta(new Array(20).fill(7), 2, COPY_AND(1)) },
      { what: "a delta that makes its base", entry: delta(ID, 1, [0x90, 1]) },
      { what: "an object twice", entry: BASE },
      { what: "a copy from outside of the base", entry: delta(ID, 2, [0x90, 2]) },
      { what: "a delta that makes too much", entry: delta(ID, 1, COPY_AND(1)) },
      { what: "a delta that makes too little", entry: delta(ID, 3, COPY_AND(1)) },
      { what: "a delta that is cut", entry: delta(ID, 2, [0x90]) },
      { what: "an unknown instruction", entry: delta(ID, 2, [0, ...COPY_AND(1)]) },
      { what: "an unknown type", entry: [...header(5, 1), ...BASE.slice(1)] },
    ].map(({ what, entry }) => ({
      what,
      pack: packOf(2, BASE, entry),
      error: /damaged pack/,
    })),
    {
      what: "deltas that are the base of each other",
      pack: packOf(2, delta(ID, 2, COPY_AND(1)), BASE),
      error: /damaged pack/,
    },
    {
      what: "an object in a million instructions",
      pack: packOf(2, BASE, delta(BEFORE, 1_000_001, new Array(1_000_001).fill([0x90, 1]).flat())),
      error: "An object has deltas of more than 1000000 instructions, which is the limit",
    },
    { what: "an empty answer", pack: new Uint8Array(), error: /damaged pack/ },
    {
      what: "another version",
      pack: signed(packOf(1, BASE).with(7, 3).subarray(0, -20)),
      error: /damaged pack/,
    },
    {
      what: "another checksum",
      pack: packOf(1, BASE).with(-1, 0).with(-2, 0),
      error: /damaged pack/,
    },
  ]
) {
  Deno.test(`a pack with ${what} is refused`, () => {
    throws(() => readPack(pack), { name: "AppError", message: error });
  });
}
