import { equal } from "node:assert/strict";
import {
  bytes,
  count,
  duration,
  imageName,
  percent,
  plain,
  plainLines,
  relativeTime,
} from "../../ui/base/text.ts";

Deno.test("plain() shows what is invisible or changes the direction of text", () => {
  equal(plain("web-1 ü 漢 🚢"), "web-1 ü 漢 🚢");
  equal(plain("a\u202egnp.exe"), "a\\u202egnp.exe");
  equal(plain("\u001b[31mred\u0007\n"), "\\u001b[31mred\\u0007\\u000a");
  equal(plain("\u2066x\u2069\u200b\ufeff"), "\\u2066x\\u2069\\u200b\\ufeff");
  equal(plainLines("a\tb\nc\r\u202e"), "a\tb\nc\\u000d\\u202e");
});

for (
  const [value, text] of [
    [null, "–"],
    [0, "0 B"],
    [1023, "1023 B"],
    [1024, "1 KiB"],
    [1536, "1.5 KiB"],
    [52_428_800, "50 MiB"],
    [1.37 * 2 ** 30, "1.37 GiB"],
    [2 ** 61, "2048 PiB"],
  ] as const
) {
  Deno.test(`bytes(${value}) is ${text}`, () => equal(bytes(value), text));
}

Deno.test("percent() has three digits", () => {
  equal(
    [0, 0.126, 3.456, 12.34, 100, 250.6].map(percent).join(),
    "0 %,0.13 %,3.46 %,12.3 %,100 %,251 %",
  );
  equal(percent(undefined), "–");
});

Deno.test("times are relative to now, in both directions", () => {
  const now = Date.parse("2026-01-31T12:00:00Z");
  equal(relativeTime(now - 9_000, now), "now");
  equal(relativeTime(now - 59_000, now), "59 s ago");
  equal(relativeTime(now - 3 * 3_600_000, now), "3 h ago");
  equal(relativeTime(now + 2 * 86_400_000, now), "in 2 d");
  equal(duration(400 * 86_400), "1 y");
});

Deno.test("counts and images are shortened", () => {
  equal(count(1, "container"), "1 container");
  equal(count(2_000, "container"), "2,000 containers");
  equal(
    imageName(`registry.example.com/shop/web:2@sha256:${"a".repeat(64)}`),
    "registry.example.com/shop/web:2",
  );
  equal(imageName(`sha256:${"b".repeat(64)}`), "b".repeat(12));
});

Deno.test("plain() shortens what a browser cannot lay out", () => {
  equal(plain("x".repeat(1_000_000)), `${"x".repeat(100_000)}… (1000000 characters)`);
});
