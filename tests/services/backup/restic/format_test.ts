import { Buffer } from "node:buffer";
import { deepEqual, equal, ok, throws } from "node:assert/strict";
import {
  CHUNK_BYTES_MAX,
  CHUNK_BYTES_MIN,
  createChunker,
} from "../../../../services/backup/restic/chunker.ts";
import { quote, unquote } from "../../../../services/backup/restic/go_quote.ts";
import { leastProcessorMsOf } from "../../../helpers/in_time.ts";
import { createMasterIndex } from "../../../../services/backup/restic/master_index.ts";
import { decodeNode, encodeNode } from "../../../../services/backup/restic/node.ts";
import { isIrreducible, randomPolynomial } from "../../../../services/backup/restic/polynomial.ts";
import { RepositoryError } from "../../../../services/backup/restic/repository_error.ts";
import { formatTime, parseTime } from "../../../../services/backup/restic/time.ts";
import { decodeTree, encodeTree } from "../../../../services/backup/restic/tree.ts";
import { randomNumbers } from "../../../helpers/drill.ts";

for (
  const [name, quoted] of [
    ["plain name.txt", "plain name.txt"],
    ['tab\tline\nquote"back\\bell\x07', 'tab\\tline\\nquote\\"back\\\\bell\\a'],
    ["\xc3\xa4", "ä"],
    ["\xe2\x82\xac\xf0\x9f\x98\x80", "€😀"],
    ["\xff\xc3", "\\xff\\xc3"],
    ["\x7f\x01", "\\x7f\\x01"],
    ["\xc2\xad", "\\u00ad"],
    ["\xed\xa0\x80", "\\xed\\xa0\\x80"],
    ["\xf3\xa0\x80\x81", "\\U000e0001"],
  ] as const
) {
  Deno.test(`the name ${quoted} is quoted as by Go's strconv.Quote`, () => {
    equal(quote(name), quoted);
    equal(unquote(quoted), name);
  });
}

Deno.test("texts that Go would not unquote are refused as names", () => {
  for (const text of ['"', "\\", "\\x4", "\\q", "\\ud800", "\\U00110000", "a\nb"]) {
    equal(unquote(text), undefined, text);
  }
});

Deno.test("any bytes come back from quoting", () => {
  const random = randomNumbers(7);
  for (let n = 0; n < 300; n++) {
    const name = Array.from({ length: 20 }, () => String.fromCharCode(256 * random())).join("");
    equal(unquote(quote(name)), name);
  }
});

Deno.test("times keep their nanoseconds, also before 1970", () => {
  for (const time of [0n, 1n, -1n, 1_700_000_000_123_456_789n, -2_000_000_000_000_000_001n]) {
    equal(parseTime(formatTime(time)), time);
  }
  equal(formatTime(1_420_222_690_483_071_960n), "2015-01-02T18:18:10.48307196Z");
  equal(parseTime("2015-01-02T19:18:10.48307196+01:00"), 1_420_222_690_483_071_960n);
  equal(formatTime(10n ** 30n), "9999-12-31T23:59:59Z");
  for (const text of ["2015-01-02", "2015-13-02T00:00:00Z", "yesterday"]) {
    equal(parseTime(text), undefined);
  }
});

Deno.test("a node has restic's fields in restic's order, and keeps 64 bits", () => {
  const json = '{"name":"a\\\\xff\\u003c","type":"file","mode":8389101,' +
    '"mtime":"2026-01-01T00:00:00.5Z","atime":"2026-01-01T00:00:00.5Z",' +
    '"ctime":"2026-01-01T00:00:00.5Z","uid":1,"gid":2,"user":"u","group":"g",' +
    '"inode":18446744073709551615,"size":3,"links":2,' +
    `"extended_attributes":[{"name":"user.x","value":"AQI="}],"content":["${"ab".repeat(32)}"]}`;
  const node = decodeNode(json, "Tree");
  equal(node.mode, 0o4755);
  equal(node.name, "a\xff<");
  equal(node.inode, 2n ** 64n - 1n);
  equal(encodeNode(node), json);
});

Deno.test("a tree whose first name begins with a character of several bytes is read", () => {
  for (const name of ["ä", "€", "😀"].map((text) => Buffer.from(text).toString("latin1"))) {
    const node = decodeNode(`{"name":${JSON.stringify(quote(name))},"type":"file"}`, "Tree 1");
    const tree = encodeTree(new Map([[name, encodeNode(node)]]), "");
    deepEqual([...decodeTree(tree, "Tree 1")].map((each) => each.name), [name]);
  }
  const empty = new TextEncoder().encode('{"nodes":null}\n');
  deepEqual([...decodeTree(empty, "Tree 1")], []);
});

Deno.test("a polynomial of degree 53 is found, and a product is not irreducible", () => {
  ok(isIrreducible(randomPolynomial()));
  ok(isIrreducible(0x3da3358b4dc173n));
  // (x + 1) (x^52 + 1)
  ok(!isIrreducible(3n ^ (3n << 52n)));
});

Deno.test("chunks do not depend on the pieces, and an insertion changes only those around it", () => {
  const random = randomNumbers(3);
  const bytes = Uint8Array.from({ length: 12 << 20 }, () => 256 * random());
  const cut = (content: Uint8Array, pieceBytes: number) => {
    const chunker = createChunker(0x3da3358b4dc173n);
    const chunks: Uint8Array[] = [];
    for (let at = 0; at < content.length; at += pieceBytes) {
      chunks.push(...chunker.push(content.subarray(at, at + pieceBytes)));
    }
    const last = chunker.finish();
    return last === undefined ? chunks : [...chunks, last];
  };
  const lengths = (chunks: Uint8Array[]) => chunks.map(({ length }) => length);
  const chunks = cut(bytes, 1 << 20);
  deepEqual(lengths(cut(bytes, 65_537)), lengths(chunks));
  equal(lengths(chunks).reduce((sum, length) => sum + length), bytes.length);
  for (const length of lengths(chunks).slice(0, -1)) {
    ok(length >= CHUNK_BYTES_MIN && length <= CHUNK_BYTES_MAX);
  }
  const inserted = new Uint8Array(bytes.length + 1);
  inserted.set(bytes, 1);
  deepEqual(lengths(cut(inserted, 1 << 20)).slice(1), lengths(chunks).slice(1));
  // The fingerprint of zeros is zero.
  deepEqual(lengths(cut(new Uint8Array(20 << 20), 1 << 20)), Array(40).fill(CHUNK_BYTES_MIN));
});

Deno.test("the index finds each of many blobs, also one in two packs", () => {
  const index = createMasterIndex();
  const id = (n: number) => n.toString(16).padStart(8, "0").repeat(8);
  const blob = { type: "data" as const, offset: 0, length: 50, uncompressedLength: undefined };
  for (let n = 0; n < 5_000; n++) index.addPack(id(1_000_000 + n % 10), [{ ...blob, id: id(n) }]);
  index.addPack("f".repeat(64), [{ ...blob, id: id(7), offset: 9 }]);
  equal(index.count, 5_001);
  ok(Array.from({ length: 5_000 }, (_, n) => n).every((n) => index.has("data", id(n))));
  ok(!index.has("tree", id(1)) && !index.has("data", id(5_000)));
  deepEqual(Array.from(index.find("data", id(7)), ({ offset }) => offset).sort(), [0, 9]);
  index.hidePack("f".repeat(64));
  equal([...index.find("data", id(7))].length, 1);
});

Deno.test("a pack that is listed again adds only what is new", () => {
  const index = createMasterIndex();
  const blob = { type: "data" as const, offset: 0, length: 50, uncompressedLength: undefined };
  const pack = "f".repeat(64);
  const [a, b, c] = ["a", "b", "c"].map((digit) => digit.repeat(64)) as [string, string, string];
  index.addPack(pack, [{ ...blob, id: a }, { ...blob, id: b, offset: 50 }]);
  for (const _ of [1, 2]) {
    index.addPack(pack, [{ ...blob, id: b, offset: 50 }, { ...blob, id: c, offset: 100 }]);
  }
  equal(index.count, 3);
  // The same place with another content, and as another type.
  index.addPack(pack, [{ ...blob, id: b }, { ...blob, type: "tree", id: c, offset: 100 }]);
  equal(index.count, 5);
  deepEqual(Array.from(index.find("data", b), ({ offset }) => offset).sort(), [0, 50]);
});

for (
  const [what, idOf, packOf] of [
    ["with the same first word", (n) => "0".repeat(56) + hex(n), () => 0],
    ["with the same last word", (n) => hex(n * 4096) + "0".repeat(56), () => 0],
    ["of one blob in one pack", () => "a".repeat(64), () => 0],
    ["of one blob in many packs", () => "a".repeat(64), (n) => n],
  ] as [string, (n: number) => string, (n: number) => number][]
) {
  Deno.test(`an index of 50,000 entries ${what} takes a time that grows with their number`, async () => {
    const blob = { type: "data" as const, length: 50, uncompressedLength: undefined };
    const fill = () => {
      const index = createMasterIndex();
      for (let n = 0; n < 50_000; n++) {
        index.addPack(hex(packOf(n)).padStart(64, "0"), [{ ...blob, id: idOf(n), offset: n }]);
        ok(index.has("data", idOf(n)));
      }
    };
    // Quadratic: 10 s.
    ok(await leastProcessorMsOf(fill, 2) < 2_000);
  });
}

const hex = (n: number) => n.toString(16).padStart(8, "0");

Deno.test("a node of another kind of JSON is damaged, not a crash", () => {
  for (const json of ["1", "[]", '"x"', "{", '{"name":1}', '{"name":"a","type":"file","uid":-1}']) {
    throws(() => decodeNode(json, "Tree 1"), RepositoryError);
  }
});
