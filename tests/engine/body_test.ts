import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import { Body, findFraming, readWhole } from "../../engine/body.ts";
import { ByteReader, EndOfSourceError } from "../../engine/byte_reader.ts";
import { EngineProtocolError } from "../../engine/errors.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A source that returns one part per read. */
function readerOf(...parts: string[]): ByteReader {
  const rest = parts.filter((part) => part !== "").map((part) => encoder.encode(part));
  return new ByteReader({
    read(into) {
      const part = rest.shift();
      if (!part) return Promise.resolve(null);
      const count = Math.min(part.length, into.length);
      into.set(part.subarray(0, count));
      if (count < part.length) rest.unshift(part.subarray(count));
      return Promise.resolve(count);
    },
  });
}

async function pieces(body: Body): Promise<string> {
  let text = "";
  for (let piece = await body.readSome(); piece; piece = await body.readSome()) {
    text += decoder.decode(piece);
  }
  return text;
}

const chunked =
  "5\r\nhello\r\n7;name=value\r\n, world\r\nA \r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n";

for (
  const { form, framed, wire, text } of [
    { form: "chunked", framed: "chunked" as const, wire: chunked, text: "hello, world0123456789" },
    { form: "length-framed", framed: 12, wire: "hello, world", text: "hello, world" },
    { form: "empty chunked", framed: "chunked" as const, wire: "0\r\n\r\n", text: "" },
  ]
) {
  Deno.test(`a ${form} body is read when split at any byte, and no byte beyond it`, async () => {
    for (let split = 0; split <= wire.length; split++) {
      for (
        const read of [pieces, async (body: Body) => decoder.decode(await readWhole(body, 100))]
      ) {
        const reader = readerOf(wire.slice(0, split), wire.slice(split), "rest");
        const body = new Body(reader, framed);
        equal(await read(body), text, `split at ${split}`);
        equal(body.isDone, true);
        equal(decoder.decode(await reader.readSome(100)), "rest");
      }
    }
  });

  Deno.test(`a ${form} body is read byte by byte`, async () => {
    equal(await pieces(new Body(readerOf(...wire), framed)), text);
    equal(decoder.decode(await readWhole(new Body(readerOf(...wire), framed), 100)), text);
  });

  Deno.test(`a ${form} body truncated at any byte is refused`, async () => {
    for (let length = 0; length < wire.length; length++) {
      await rejects(pieces(new Body(readerOf(wire.slice(0, length)), framed)), EndOfSourceError);
    }
  });
}

Deno.test("a body without framing ends with the connection", async () => {
  equal(await pieces(new Body(readerOf("hello", ", ", "world"), "until close")), "hello, world");
  equal(decoder.decode(await readWhole(new Body(readerOf("a", "b"), "until close"), 2)), "ab");
});

Deno.test("a large body is read in full", async () => {
  const text = "0123456789abcdef".repeat(40_000);
  const size = text.length.toString(16);
  const all = (body: Body) => readWhole(body, text.length).then((bytes) => decoder.decode(bytes));
  equal(await all(new Body(readerOf(text), text.length)), text);
  equal(await all(new Body(readerOf(text), "until close")), text);
  equal(await all(new Body(readerOf(`${size}\r\n${text}\r\n0\r\n\r\n`), "chunked")), text);
});

for (
  const { form, framed, wire } of [
    { form: "length-framed", framed: 11, wire: "hello world" },
    { form: "chunked", framed: "chunked" as const, wire: "6\r\nhello \r\n5\r\nworld\r\n0\r\n\r\n" },
    { form: "open-ended", framed: "until close" as const, wire: "hello world" },
  ]
) {
  Deno.test(`a ${form} body larger than allowed is refused`, async () => {
    await rejects(readWhole(new Body(readerOf(wire), framed), 10), EngineProtocolError);
    equal((await readWhole(new Body(readerOf(wire), framed), 11)).length, 11);
  });
}

Deno.test("a length above the limit is refused before the body is read", async () => {
  await rejects(readWhole(new Body(readerOf("ab"), 1e15), 1000), EngineProtocolError);
});

for (
  const { wrong, wire } of [
    { wrong: "a size that is not hexadecimal", wire: "xyz\r\nhello\r\n" },
    { wrong: "a negative size", wire: "-5\r\nhello\r\n" },
    { wrong: "a size with a sign", wire: "+5\r\nhello\r\n" },
    { wrong: "a size above 2^53", wire: "FFFFFFFFFFFFFF\r\nhello\r\n" },
    { wrong: "an empty size", wire: "\r\nhello\r\n" },
    { wrong: "a size line without CR", wire: "5\nhello\r\n0\r\n\r\n" },
    { wrong: "data longer than its size", wire: "3\r\nhello\r\n0\r\n\r\n" },
    { wrong: "data without CRLF after it", wire: "5\r\nhello5\r\nworld\r\n0\r\n\r\n" },
    { wrong: "an endless size line", wire: "5;" + "x".repeat(1000) + "\r\nhello\r\n" },
    { wrong: "an endless size line without end", wire: "5;" + "x".repeat(100_000) },
    { wrong: "trailers without end", wire: "0\r\n" + "a: b\r\n".repeat(100) + "\r\n" },
  ]
) {
  Deno.test(`${wrong} is a malformed chunk`, async () => {
    await rejects(pieces(new Body(readerOf(wire), "chunked")), EngineProtocolError);
    await rejects(pieces(new Body(readerOf(...wire), "chunked")), EngineProtocolError);
  });
}

Deno.test("findFraming() follows the method, the status and the headers", () => {
  const of = (headers: Record<string, string>, method = "GET", status = 200) =>
    findFraming(method, status, new Map(Object.entries(headers)));
  const length = { "content-length": "5" };

  deepEqual(of(length), 5);
  deepEqual(of({ "transfer-encoding": "Chunked" }), "chunked");
  deepEqual(of({}), "until close");
  deepEqual([of(length, "HEAD"), of(length, "GET", 204), of(length, "GET", 304)], [0, 0, 0]);
});

for (
  const headers of [
    { "content-length": "-1" },
    { "content-length": "5, 6" },
    { "content-length": "5a" },
    { "content-length": "" },
    { "content-length": "99999999999999999999" },
    { "transfer-encoding": "gzip" },
    { "transfer-encoding": "gzip, chunked" },
    { "transfer-encoding": "chunked", "content-length": "5" },
  ]
) {
  Deno.test(`findFraming() refuses ${JSON.stringify(headers)}`, () => {
    throws(() => findFraming("GET", 200, new Map(Object.entries(headers))), EngineProtocolError);
  });
}
