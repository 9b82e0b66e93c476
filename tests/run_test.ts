import { deepEqual } from "node:assert/strict";
import { parseSummary } from "./run.ts";

for (
  const { text, counts } of [
    {
      text: "ok | 12 passed (3 steps) | 0 failed | 1 ignored (2s)\n",
      counts: { passed: 12, failed: 0, skipped: 1 },
    },
    {
      text:
        "\x1b[0m\x1b[31mFAILED\x1b[0m | 2 passed (2 steps) | 1 failed (1 step) \x1b[2m(1ms)\x1b[0m",
      counts: { passed: 2, failed: 1, skipped: 0 },
    },
    {
      text: "ok | 1 passed | 0 failed (1s)\nok | 0 passed | 0 failed | 1 filtered out (6ms)\n\n",
      counts: { passed: 0, failed: 0, skipped: 0 },
    },
    { text: "error: Type checking failed.\n", counts: undefined },
    { text: "", counts: undefined },
  ]
) {
  Deno.test(`parseSummary() reads ${JSON.stringify(text)}`, () => {
    deepEqual(parseSummary(text), counts);
  });
}
