/** The log view: colors of terminals, and the lines that are kept. */

import { deepEqual, equal, throws } from "node:assert/strict";
import { piecesOf, withoutColors } from "../../ui/pages/logs/ansi.ts";
import { createLogBuffer, searchPattern, type SentLine } from "../../ui/pages/logs/buffer.ts";

const line = (message: string, level: SentLine["level"] = null): SentLine => ({
  container: "web",
  containerId: "1",
  stream: "stdout",
  timestamp: "2026-01-01T00:00:00Z",
  message,
  level,
});

for (
  const [raw, expected] of [
    ["plain", [["plain", ""]]],
    ["\x1b[32mok\x1b[0m done", [["ok", "ansi-2"], [" done", ""]]],
    ["\x1b[1;91mbold\x1b[22m red", [["bold", "ansi-bold ansi-1"], [" red", "ansi-1"]]],
    ["\x1b[41mfill\x1b[49m.", [["fill", "ansi-fill-1"], [".", ""]]],
    ["\x1b[38;5;196mcube\x1b[38;5;240mgray", [["cube", "ansi-1"], ["gray", "ansi-0"]]],
    ["\x1b[38;2;20;200;30mgreen", [["green", "ansi-2"]]],
    ["\x1b[7minverse", [["inverse", "ansi-fill-7"]]],
    ["\x1b[2Jclear", [["\x1b[2Jclear", ""]]],
  ] as const
) {
  Deno.test(`the colors of ${JSON.stringify(raw)}`, () => {
    const pieces = piecesOf(raw);
    deepEqual(pieces.map(({ text, classes }) => [text, classes]), expected);
    equal(pieces.map(({ text }) => text).join(""), withoutColors(raw));
  });
}

Deno.test("a filter keeps lines that match and have the level, and all notes", () => {
  const buffer = createLogBuffer();
  buffer.add([line("one", "info"), line("two [x]", "error"), line("TWO [x]")]);
  buffer.addNote("web", "Restarted");

  buffer.setFilter({ search: searchPattern("two [X]", false), level: "" });
  equal(buffer.count, 2);
  buffer.setFilter({ search: undefined, level: "warn" });
  buffer.add([line("three", "fatal")]);
  deepEqual(buffer.shown.map(({ text, note }) => note ?? text), ["two [x]", "Restarted", "three"]);
  equal(buffer.size, 4);
});

Deno.test("the newest 100,000 lines are kept", () => {
  const buffer = createLogBuffer();
  for (let at = 0; at < 101; at++) {
    buffer.add(Array.from({ length: 1_000 }, (_, of) => line(`${at * 1_000 + of}`)));
  }
  equal(buffer.size, 100_000);
  equal(buffer.count, 100_000);
  equal(buffer.shown[0]!.text, "1000");
});

Deno.test("the lines of several containers are ordered by time", () => {
  const buffer = createLogBuffer({ isMerged: true });
  const at = (container: string, second: string) => ({
    ...line(`${container} ${second}`),
    container,
    timestamp: `2026-01-01T00:00:${second}Z`,
  });
  buffer.setFilter({ search: /[13579]$/, level: "" });
  buffer.add([at("web", "01"), at("web", "01.5"), at("web", "07")]);
  const [, moved] = buffer.shown;
  buffer.addNote("web", "Restarted");
  buffer.add([at("db", "00.9"), at("db", "01"), at("db", "02")]);
  buffer.add([at("web", "09")]);

  deepEqual(
    buffer.shown.map(({ text, note }) => note ?? text),
    ["db 00.9", "web 01", "db 01", "web 01.5", "web 07", "Restarted", "web 09"],
  );
  buffer.setFilter({ search: undefined, level: "" });
  deepEqual(buffer.shown.map(({ id }) => id), [1, 2, 3, 4, 5, 6, 7, 8]);
  equal(buffer.shown[3], moved);
});

Deno.test("an expression that is not valid is refused", () => {
  throws(() => searchPattern("(", true), SyntaxError);
  equal(searchPattern("", true), undefined);
});
