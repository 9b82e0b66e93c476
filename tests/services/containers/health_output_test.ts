import { equal } from "node:assert/strict";
import { readable } from "../../../services/containers/health_output.ts";

for (
  const { what, output, shown } of [
    { what: "lines", output: "curl: (7) refused\r\nexit 7\n", shown: "curl: (7) refused\nexit 7" },
    { what: "colours", output: "\x1b[1;31mFAIL\x1b[0m down", shown: "FAIL down" },
    { what: "a window title", output: "\x1b]0;owned\x07down", shown: "down" },
    { what: "a lone escape", output: "a\x1bc\x00b\x7f\u009b", shown: "ab" },
    { what: "nothing but control characters", output: "\x00\x01\x1b[2J", shown: "" },
    { what: "a long output", output: "x".repeat(5_000), shown: "x".repeat(997) + "..." },
    { what: "half a character", output: "\uD83D", shown: "\uFFFD" },
  ]
) {
  Deno.test(`a health check's output with ${what} is readable in a message`, () => {
    equal(readable(output), shown);
  });
}
