import { deepEqual } from "node:assert/strict";
import { retryMs } from "../../../../services/fleet/enrolment/retries.ts";

for (
  const { attempt, failures, range } of [
    { attempt: "ended", failures: 0, range: [1_000, 2_000] },
    { attempt: "failed", failures: 1, range: [1_000, 4_000] },
    { attempt: "failed", failures: 3, range: [1_000, 16_000] },
    { attempt: "failed", failures: 4, range: [1_000, 30_000] },
    { attempt: "failed", failures: 5_000, range: [1_000, 30_000] },
    { attempt: "refused", failures: 1, range: [60_000, 300_000] },
  ] as const
) {
  Deno.test(`A member dials again ${range.join(" to ")} ms after ${attempt}, ${failures} failures`, () => {
    deepEqual([0, 1].map((random) => retryMs(attempt, failures, random)), range);
  });
}
