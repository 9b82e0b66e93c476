import { deepEqual, equal, rejects } from "node:assert/strict";
import { cacheResponse } from "../../../services/probes/response_cache.ts";
import { testClock } from "../../helpers/test_app.ts";

Deno.test("concurrent callers share a response, which is cached until it expires", async () => {
  const clock = testClock();
  let made = 0;
  const ask = cacheResponse({ maxAgeMs: 1_000, now: clock.now }, () => Promise.resolve(++made));

  deepEqual(await Promise.all([ask(), ask(), ask()]), [1, 1, 1]);
  clock.advance({ ms: 999 });
  equal(await ask(), 1);
  clock.advance({ ms: 1 });
  deepEqual(await Promise.all([ask(), ask()]), [2, 2]);
});

Deno.test("a cached response expires when the clock is set back", async () => {
  const clock = testClock("2026-01-01T00:00:00Z");
  let made = 0;
  const ask = cacheResponse({ maxAgeMs: 1_000, now: clock.now }, () => Promise.resolve(++made));
  await ask();
  clock.set("2025-01-01T00:00:00Z");
  equal(await ask(), 2);
});

Deno.test("a failure reaches all waiting callers and is not cached", async () => {
  let tries = 0;
  const ask = cacheResponse({ maxAgeMs: 1_000, now: testClock().now }, () => {
    return ++tries === 1 ? Promise.reject(new Error("no")) : Promise.resolve("yes");
  });
  await Promise.all([rejects(ask(), /no/), rejects(ask(), /no/)]);
  equal(await ask(), "yes");
  equal(tries, 2);
});
