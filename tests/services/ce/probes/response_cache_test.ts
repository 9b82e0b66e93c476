import { deepEqual, equal, rejects } from "node:assert/strict";
import { keepAnswer } from "../../../../services/ce/probes/response_cache.ts";
import { testClock } from "../../../helpers/test_app.ts";

Deno.test("an answer is made once for all who wait, and kept for its time", async () => {
  const clock = testClock();
  let made = 0;
  const ask = keepAnswer({ keptMs: 1_000, now: clock.now }, () => Promise.resolve(++made));

  deepEqual(await Promise.all([ask(), ask(), ask()]), [1, 1, 1]);
  clock.advance({ ms: 999 });
  equal(await ask(), 1);
  clock.advance({ ms: 1 });
  deepEqual(await Promise.all([ask(), ask()]), [2, 2]);
});

Deno.test("an answer does not outlive a clock that is set back", async () => {
  const clock = testClock("2026-01-01T00:00:00Z");
  let made = 0;
  const ask = keepAnswer({ keptMs: 1_000, now: clock.now }, () => Promise.resolve(++made));
  await ask();
  clock.set("2025-01-01T00:00:00Z");
  equal(await ask(), 2);
});

Deno.test("a failure is everybody's who waits, and the next who asks tries again", async () => {
  let tries = 0;
  const ask = keepAnswer({ keptMs: 1_000, now: testClock().now }, () => {
    return ++tries === 1 ? Promise.reject(new Error("no")) : Promise.resolve("yes");
  });
  await Promise.all([rejects(ask(), /no/), rejects(ask(), /no/)]);
  equal(await ask(), "yes");
  equal(tries, 2);
});
