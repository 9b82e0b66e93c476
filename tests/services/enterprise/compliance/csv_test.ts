import { equal } from "node:assert/strict";
import { csvLine } from "../../../../services/enterprise/compliance/csv.ts";
import { processorMsOf } from "../../../helpers/in_time.ts";

for (
  const [text, cell] of [
    ["plain", '"plain"'],
    ["", '""'],
    [null, '""'],
    ["a,b;c", '"a,b;c"'],
    ['say "hi"', '"say ""hi"""'],
    ['"', '""""'],
    ["a\r\nb", '"a\r\nb"'],
    ["a=1", '"a=1"'],
    ["'=1", `"'=1"`],
    ["2026-01-01T00:00:00.000Z", '"2026-01-01T00:00:00.000Z"'],
    ["=1", `"'=1"`],
    ["+1", `"'+1"`],
    ["-1", `"'-1"`],
    ["@a", `"'@a"`],
    ["|a", `"'|a"`],
    ["%a", `"'%a"`],
    ["\ta", `"'\ta"`],
    ["\ra", `"'\ra"`],
    ["\na", `"'\na"`],
    [" =1", `"' =1"`],
    ["\t =1", `"'\t =1"`],
    ["\u3000=1", `"'\u3000=1"`],
    ["\u00a0+1", `"'\u00a0+1"`],
    ["\ufeff=1", `"'\ufeff=1"`],
    ["\u200b@a", `"'\u200b@a"`],
    ["\u202e=1", `"'\u202e=1"`],
    ["\u0001=1", `"'\u0001=1"`],
    ["\uff1d1", `"'\uff1d1"`],
    ["\uff0b1", `"'\uff0b1"`],
    ["\uff0d1", `"'\uff0d1"`],
    ["\uff20a", `"'\uff20a"`],
    ["\u22121", `"'\u22121"`],
    ["\ufe661", `"'\ufe661"`],
    ['="a"', `"'=""a"""`],
  ] as const
) {
  Deno.test(`the cell ${JSON.stringify(text)} is written so that it is text`, () => {
    equal(csvLine([text]), `${cell}\r\n`);
  });
}

Deno.test("cells are parted by commas, lines end with CR and LF", () => {
  equal(csvLine(["a", null, "b"]), '"a","","b"\r\n');
  equal(csvLine([]), "\r\n");
});

Deno.test("white space without end takes no time", async () => {
  equal(await processorMsOf(() => csvLine([" ".repeat(1_000_000)])) < 2_000, true);
});
