import { deepEqual, equal, rejects } from "node:assert/strict";
import { BUFFER_LENGTH, ByteReader, EndOfSourceError } from "../../engine/byte_reader.ts";
import { EngineProtocolError } from "../../engine/errors.ts";

/** Returns `text` in reads of at most `step` bytes. */
function readerOf(text: string, step = Infinity): ByteReader {
  let rest = new TextEncoder().encode(text);
  return new ByteReader({
    read(into) {
      if (rest.length === 0) return Promise.resolve(null);
      const part = rest.subarray(0, Math.min(step, into.length));
      rest = rest.subarray(part.length);
      into.set(part);
      return Promise.resolve(part.length);
    },
  });
}

Deno.test("readHead() ends at the empty line, however the bytes arrive", async () => {
  const wire = "HTTP/1.1 200 OK\r\nA: \r\nB: c\r\n\r\nbody";
  for (let step = 1; step <= wire.length; step++) {
    const reader = readerOf(wire, step);
    equal(await reader.readHead(), "HTTP/1.1 200 OK\r\nA: \r\nB: c");
    equal(new TextDecoder().decode((await reader.readSome(1)) ?? new Uint8Array()), "b");
  }
});

Deno.test("readHead() refuses a head of more than 64 KiB", async () => {
  const fits = "a".repeat(BUFFER_LENGTH - 4);
  equal(await readerOf(`${fits}\r\n\r\n`).readHead(), fits);
  await rejects(readerOf(`${fits}a\r\n\r\n`).readHead(), EngineProtocolError);
  await rejects(readerOf("a".repeat(BUFFER_LENGTH * 3), 1000).readHead(), EngineProtocolError);
});

Deno.test("readHead() fails when the source ends before it", async () => {
  await rejects(readerOf("").readHead(), EndOfSourceError);
  await rejects(readerOf("HTTP/1.1 200 OK\r\n\r").readHead(), EndOfSourceError);
});

Deno.test("readLine() accepts a line of the maximum length, but no longer one", async () => {
  for (const step of [1, 2, 3, Infinity]) {
    equal(await readerOf("abcd\r\n", step).readLine(4), "abcd");
    equal(await readerOf("\r\n", step).readLine(0), "");
    await rejects(readerOf("abcde\r\n", step).readLine(4), EngineProtocolError);
    await rejects(readerOf("a\r\n", step).readLine(0), EngineProtocolError);
    await rejects(readerOf("ab\n", step).readLine(4), EngineProtocolError);
    await rejects(readerOf("\n", step).readLine(4), EngineProtocolError);
    await rejects(readerOf("ab", step).readLine(4), EndOfSourceError);
  }
});

Deno.test("lines are read when the buffer is full of unread bytes", async () => {
  const line = "x".repeat(1000);
  const count = 3 * BUFFER_LENGTH / 1000;
  const reader = readerOf(`${line}\r\n`.repeat(count), 777);
  for (let at = 0; at < Math.floor(count); at++) equal(await reader.readLine(1000), line);
});

Deno.test("readSome() and readInto() return at most the requested bytes, then the end", async () => {
  const reader = readerOf("abcdef");
  equal(new TextDecoder().decode((await reader.readSome(2))!), "ab");
  const target = new Uint8Array(3);
  equal(await reader.readInto(target), 3);
  equal(new TextDecoder().decode(target), "cde");
  equal(reader.buffered, 1);
  equal(await reader.readInto(target), 1);
  equal(await reader.readInto(target), 0);
  equal(await reader.readSome(5), undefined);
  equal(reader.received, 6);
});

Deno.test("the buffer is small until reads fill it", async () => {
  const rooms: number[] = [];
  const reader = new ByteReader({
    read(into) {
      rooms.push(into.length);
      // The last one leaves room.
      return Promise.resolve(rooms.length < 5 ? into.length : 1);
    },
  });
  for (let read = 0; read < 6; read++) await reader.readSome(Infinity);
  deepEqual(rooms, [4_096, 16_384, 65_536, 65_536, 65_536, 65_536]);
});
