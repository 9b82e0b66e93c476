import { deepEqual } from "node:assert/strict";
import { createAssembler } from "../../../services/logs/line_assembler.ts";

const PIECE = "x".repeat(16_384);

/** Length and truncation of the lines of entries, after the last of which the log was read no further. */
function linesOf(entries: string[], { isDocker = true } = {}): [length: number, boolean][] {
  const lines: [number, boolean][] = [];
  const { add, end } = createAssembler(
    false,
    ({ text, truncated }) => lines.push([text.length, truncated]),
    isDocker,
  );
  for (const entry of entries) {
    add(new TextEncoder().encode(`2026-01-01T00:00:00.000000000Z ${entry}`));
  }
  end();
  return lines;
}

for (
  const { what, entries, lines } of [
    { what: "its first piece", entries: [PIECE], lines: [[16_384, true]] },
    { what: "two pieces", entries: [PIECE, PIECE], lines: [[16_384, true]] },
    {
      what: "all pieces",
      entries: [PIECE, "rest\n", "next\n"],
      lines: [[16_384, true], [4, false]],
    },
    { what: "a piece and its line feed", entries: [PIECE, "\n"], lines: [[16_384, false]] },
    { what: "less than a piece", entries: ["unfinished"], lines: [[10, false]] },
  ]
) {
  Deno.test(`a line of Docker that was read with ${what} is cut where more follows`, () => {
    deepEqual(linesOf(entries), lines);
  });
}

Deno.test("an entry of Podman may be a whole line, whatever its length", () => {
  deepEqual(linesOf([PIECE], { isDocker: false }), [[16_384, false]]);
});
