import { equal } from "node:assert/strict";
import { retryAfterMs } from "../../../services/outbound/retry_after.ts";

const now = new Date("2026-01-01T12:00:00Z");

for (
  const [header, expected] of [
    ["0", 0],
    ["120", 120_000],
    [" 7 ", 7_000],
    ["Thu, 01 Jan 2026 12:00:30 GMT", 30_000],
    ["Thu, 01 Jan 2026 11:00:00 GMT", 0],
    ["", undefined],
    ["soon", undefined],
    ["9".repeat(400), undefined],
    [undefined, undefined],
  ] as const
) {
  Deno.test(`retry-after ${header?.slice(0, 40)} is ${expected} ms`, () => {
    equal(retryAfterMs(header, now), expected);
  });
}
