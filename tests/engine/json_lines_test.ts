import { deepEqual, equal, rejects } from "node:assert/strict";
import { EngineProtocolError } from "../../engine/errors.ts";
import { jsonLines } from "../../engine/json_lines.ts";

const encoder = new TextEncoder();

async function* chunksOf(...chunks: Uint8Array[]) {
  yield* chunks;
}

const read = (text: string) => Array.fromAsync(jsonLines(chunksOf(encoder.encode(text))));

const objects = [{ a: 1 }, { b: '}{"\\', c: [{ d: "é\n" }] }, {}, { e: null }];

for (
  const { form, text } of [
    { form: "with newlines", text: objects.map((o) => JSON.stringify(o) + "\n").join("") },
    { form: "with nothing between", text: objects.map((o) => JSON.stringify(o)).join("") },
    { form: "with CRLF", text: objects.map((o) => JSON.stringify(o)).join("\r\n") },
    { form: "spread over lines", text: objects.map((o) => JSON.stringify(o, null, 2)).join("\n") },
    {
      form: "with record separators",
      text: objects.map((o) => `\x1e${JSON.stringify(o)}\n`).join(""),
    },
  ]
) {
  Deno.test(`jsonLines() reads objects ${form} when split at any byte`, async () => {
    const bytes = encoder.encode(text);
    for (let split = 0; split <= bytes.length; split++) {
      const chunks = chunksOf(bytes.slice(0, split), bytes.slice(split));
      deepEqual(await Array.fromAsync(jsonLines(chunks)), objects);
    }
    const single = chunksOf(...[...bytes].map((byte) => Uint8Array.of(byte)));
    deepEqual(await Array.fromAsync(jsonLines(single)), objects);
  });
}

for (
  const text of [
    "hello",
    '{"a":1} x',
    '{"a":',
    '{"a":1}{"b"',
    '{"a" 1}',
    "{]",
    "1 2",
    '"text"',
    "}",
  ]
) {
  Deno.test(`jsonLines() refuses ${text}`, async () => {
    await rejects(read(text), EngineProtocolError);
  });
}

Deno.test("jsonLines() accepts an object of 1 MiB and refuses a larger one", async () => {
  const fits = `{"a":"${"x".repeat(1024 * 1024 - 8)}"}`;
  equal(encoder.encode(fits).length, 1024 * 1024);
  equal((await read(fits)).length, 1);
  await rejects(read(fits.replace("x", "xx")), EngineProtocolError);
  const endless = (async function* () {
    yield encoder.encode('{"a":"');
    for (;;) yield encoder.encode("x".repeat(1000));
  })();
  await rejects(Array.fromAsync(jsonLines(endless)), EngineProtocolError);
});

for (const chunkSize of [1_000, 64 * 1024, 4 * 1024 * 1024]) {
  Deno.test(`jsonLines() skips or replaces an oversized object in chunks of ${chunkSize} bytes`, async () => {
    const large = JSON.stringify({ text: '}"{'.repeat(1024 * 1024) });
    const bytes = encoder.encode(`{"a":1}\n${large}\n{"a":2}${large}{"a":3}`);
    const chunks: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += chunkSize) {
      chunks.push(bytes.slice(at, at + chunkSize));
    }
    const heads: string[] = [];
    const ofOversized = (head: string, tail: string) => {
      equal(large.endsWith(tail) && tail.length > 0, true);
      heads.push(head);
      return heads.length === 1 ? undefined : { a: 0 };
    };

    const read = await Array.fromAsync(jsonLines(chunksOf(...chunks), { ofOversized }));

    deepEqual(read, [{ a: 1 }, { a: 2 }, { a: 0 }, { a: 3 }]);
    deepEqual(heads, [large.slice(0, 4_096), large.slice(0, 4_096)]);
  });
}
