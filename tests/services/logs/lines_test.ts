import { deepEqual, equal } from "node:assert/strict";
import { type LogFrame, readLogLines } from "../../../services/logs/lines.ts";

const encoder = new TextEncoder();

const frame = (stream: LogFrame["stream"], ...parts: (string | Uint8Array)[]): LogFrame => ({
  stream,
  bytes: new Uint8Array(
    parts.flatMap((part) => [...typeof part === "string" ? encoder.encode(part) : part]),
  ),
});
const out = (...parts: (string | Uint8Array)[]) => frame("stdout", ...parts);
const err = (...parts: (string | Uint8Array)[]) => frame("stderr", ...parts);

async function* arriving(frames: LogFrame[]): AsyncGenerator<LogFrame> {
  yield* frames;
}

const read = (
  frames: LogFrame[],
  options: Partial<Parameters<typeof readLogLines>[1]> = {},
) => readLogLines(arriving(frames), { tail: 1_000, ...options });

const at = (second: number, nanos = "000000000") =>
  `2026-01-01T00:00:${String(second).padStart(2, "0")}.${nanos}Z`;

Deno.test("standard output and error are merged by time", async () => {
  const { lines } = await read([
    out(`${at(1)} a\n`),
    out(`${at(4)} d\n`),
    err(`${at(2)} b\n`),
    err(`${at(3)} c\n`),
    err(`${at(5)} e\n`),
  ]);
  deepEqual(lines.map((line) => line.at(-1)).join(""), "abcde");
});

Deno.test("times are compared to the nanosecond, with zones and fractions of any length", async () => {
  const { lines } = await read([
    out("2026-01-01T01:00:00.1+01:00 second\n"),
    err("2026-01-01T00:00:00.099999999Z first\n"),
    err("2026-01-01T00:00:00.100000001Z third\n"),
    err("2026-01-01T00:00:01Z fourth\n"),
  ]);
  deepEqual(lines, [
    "2026-01-01T00:00:00.099999999Z first",
    "2026-01-01T01:00:00.1+01:00 second",
    "2026-01-01T00:00:00.100000001Z third",
    "2026-01-01T00:00:01Z fourth",
  ]);
});

Deno.test("lines of a stream keep their order even if the clock was set back", async () => {
  const { lines } = await read([
    out(`${at(50)} a\n`),
    out(`${at(10)} b\n`),
    out(`${at(11)} c\n`),
  ]);
  deepEqual(lines.map((line) => line.at(-1)).join(""), "abc");
});

Deno.test("lines of the same time keep the order in which they came", async () => {
  const { lines } = await read([
    err(`${at(1)} x\n`),
    out(`${at(1)} a\n`),
    out(`${at(1)} b\n`),
    err(`${at(1)} y\n`),
  ]);
  deepEqual(lines.map((line) => line.at(-1)).join(""), "xaby");
});

Deno.test("a line split by the engine is joined and keeps its first timestamp", async () => {
  const { lines } = await read([
    out(`${at(1)} begin `),
    err(`${at(2)} between\n`),
    out(`${at(3)} middle `),
    out(`${at(4)} end\n`),
    out(`${at(5)} ${at(6)} is text\n`),
  ]);
  deepEqual(lines, [
    `${at(1)} begin middle end`,
    `${at(2)} between`,
    `${at(5)} ${at(6)} is text`,
  ]);
});

Deno.test("the last line may lack its line feed", async () => {
  deepEqual((await read([out(`${at(1)} done`)])).lines, [`${at(1)} done`]);
});

Deno.test("a terminal's chunks may be cut anywhere, its carriage returns are removed", async () => {
  const text = `${at(1)} größe\r\n${at(2)} b\r\n${at(3)} \r\n${at(4)} 10%\r20%\r\n`;
  const bytes = encoder.encode(text);
  for (let cut = 0; cut < bytes.length; cut++) {
    const { lines } = await read([out(bytes.subarray(0, cut)), out(bytes.subarray(cut))], {
      tty: true,
    });
    deepEqual(lines, [`${at(1)} größe`, `${at(2)} b`, `${at(3)} `, `${at(4)} 10%\r20%`]);
  }
});

Deno.test("invalid UTF-8 is replaced", async () => {
  const { lines } = await read([out(`${at(1)} a`, new Uint8Array([0xff, 0xc3]), "b\n")]);
  deepEqual(lines, [`${at(1)} a\ufffd\ufffdb`]);
});

Deno.test("a byte order mark and other odd characters stay in the text", async () => {
  const { lines } = await read([out(`${at(1)} \ufeff\u0000\u001b[31mred\u2028\n`)]);
  deepEqual(lines, [`${at(1)} \ufeff\u0000\u001b[31mred\u2028`]);
});

for (
  const { what, text, kept } of [
    { what: "ASCII", text: "a".repeat(20_000), kept: "a".repeat(16_384) },
    { what: "just fitting", text: "a".repeat(16_384), kept: "a".repeat(16_384) },
    { what: "two bytes a letter", text: "x" + "ä".repeat(9_000), kept: "x" + "ä".repeat(8_191) },
    { what: "three bytes", text: "€".repeat(6_000), kept: "€".repeat(5_461) },
    { what: "four bytes", text: "xyz" + "😀".repeat(5_000), kept: "xyz" + "😀".repeat(4_095) },
  ]
) {
  Deno.test(`a long line is cut at 16 KiB on a character's border: ${what}`, async () => {
    const frames = [out(`${at(1)} ${text}\n`), out(`${at(2)} next\n`)];
    deepEqual((await read(frames)).lines, [`${at(1)} ${kept}`, `${at(2)} next`]);
    deepEqual((await read(frames, { tty: true })).lines, [`${at(1)} ${kept}`, `${at(2)} next`]);
  });
}

Deno.test("a line of invalid bytes is at most 16 KiB after they are replaced, too", async () => {
  const { lines } = await read([out(`${at(1)} `, new Uint8Array(20_000).fill(0xff), "\n")]);
  equal(lines[0], `${at(1)} ${"\ufffd".repeat(5_461)}`);
});

Deno.test("a line of continuation bytes only is cut, too", async () => {
  const { lines } = await read([out(`${at(1)} `, new Uint8Array(20_000).fill(0x80), "\n")]);
  equal(lines[0], `${at(1)} ${"\ufffd".repeat(5_461)}`);
});

Deno.test("the tail counts the lines of the merged log", async () => {
  const frames = [
    ...[1, 3, 5].map((second) => out(`${at(second)} o${second}\n`)),
    ...[2, 4, 6].map((second) => err(`${at(second)} e${second}\n`)),
  ];
  deepEqual((await read(frames, { tail: 3 })).lines, [
    `${at(4)} e4`,
    `${at(5)} o5`,
    `${at(6)} e6`,
  ]);
});

Deno.test("an unselected stream is left out, but its frames are counted", async () => {
  const frames = [out(`${at(1)} a\n`), err(`${at(2)} b\n`), out(`${at(3)} c\n`)];
  deepEqual(await read(frames, { streams: ["stderr"] }), {
    lines: [`${at(2)} b`],
    frames: 3,
    dropped: false,
  });
  deepEqual((await read(frames, { streams: [] })).lines, []);
});

Deno.test("beyond the limit the oldest lines of either stream are dropped", async () => {
  const frames = [
    err(`${at(1)} ${"e".repeat(40)}\n`),
    out(`${at(2)} ${"a".repeat(40)}\n`),
    out(`${at(3)} ${"b".repeat(40)}\n`),
  ];
  const { lines, dropped } = await read(frames, { bytesMax: 100 });
  deepEqual(lines, [`${at(2)} ${"a".repeat(40)}`, `${at(3)} ${"b".repeat(40)}`]);
  equal(dropped, true);
  // Lines beyond the tail do not count as dropped.
  equal((await read(frames, { bytesMax: 100, tail: 2 })).dropped, false);
});

Deno.test("a flood is held within the tail, whatever its size", async () => {
  async function* flood(): AsyncGenerator<LogFrame> {
    yield err(`${at(1)} lone\n`);
    for (let index = 0; index < 50_000; index++) yield out(`${at(2)} ${index}\n`);
  }
  const { lines, frames } = await readLogLines(flood(), { tail: 3 });
  deepEqual(lines, [49_997, 49_998, 49_999].map((index) => `${at(2)} ${index}`));
  equal(frames, 50_001);
});

Deno.test("a line without a timestamp gets that of the previous line", async () => {
  const { lines } = await read([
    out(`${at(1)} a\n`),
    out("bare\n"),
    out("2026-99-99T00:00:00Z x\n"),
  ]);
  deepEqual(lines, [`${at(1)} a`, `${at(1)} bare`, `${at(1)} 2026-99-99T00:00:00Z x`]);
  deepEqual((await read([out("bare\n")])).lines, ["1970-01-01T00:00:00Z bare"]);
});

Deno.test("an empty log has no lines", async () => {
  deepEqual((await read([])).lines, []);
  deepEqual((await read([out("")])).lines, []);
});
