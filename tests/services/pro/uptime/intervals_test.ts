import { deepEqual, equal } from "node:assert/strict";
import { clip, subtract, totalMs, union } from "../../../../services/pro/uptime/intervals.ts";

/** `"1-3 5-6"`. */
const read = (text: string) =>
  text === "" ? [] : text.split(" ").map((piece) => {
    const [start, end] = piece.split("-").map(Number);
    return { start: start!, end: end! };
  });

for (
  const [given, joined, total] of [
    ["", "", 0],
    ["1-3", "1-3", 2],
    ["3-3", "", 0],
    ["5-3", "", 0],
    ["1-3 3-5", "1-5", 4],
    ["4-6 1-2", "1-2 4-6", 3],
    ["1-9 2-3 8-12", "1-12", 11],
    ["1-2 1-2 1-2", "1-2", 1],
  ] as const
) {
  Deno.test(`the union of ${given || "nothing"} is ${joined || "nothing"}`, () => {
    deepEqual(union(read(given)), read(joined));
    equal(totalMs(read(given)), total);
  });
}

for (
  const [given, bounds, clipped] of [
    ["1-3 5-9", "2-6", "2-3 5-6"],
    ["1-3", "3-6", ""],
    ["1-Infinity", "3-6", "3-6"],
  ] as const
) {
  Deno.test(`${given} within ${bounds} is ${clipped || "nothing"}`, () => {
    deepEqual(clip(read(given), read(bounds)[0]!), read(clipped));
  });
}

for (
  const [given, others, left] of [
    ["1-9", "", "1-9"],
    ["", "1-9", ""],
    ["1-9", "1-9", ""],
    ["1-9", "0-12", ""],
    ["1-9", "3-4", "1-3 4-9"],
    ["1-9", "0-2 4-5 8-12", "2-4 5-8"],
    ["1-3 5-7 9-11", "2-10", "1-2 10-11"],
    ["1-3 5-7", "3-5", "1-3 5-7"],
    ["1-9", "6-Infinity", "1-6"],
    ["1-9 2-4", "3-4 3-5", "1-3 5-9"],
  ] as const
) {
  Deno.test(`${given || "nothing"} without ${others || "nothing"} is ${left || "nothing"}`, () => {
    deepEqual(subtract(read(given), read(others)), read(left));
  });
}
