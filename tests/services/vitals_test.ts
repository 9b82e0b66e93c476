import { deepEqual, equal } from "node:assert/strict";
import { createVitals, DURATION_BOUNDS_S } from "../../services/vitals.ts";

const ended = { method: "GET", route: "/livez", status: 200, ms: 1 };

Deno.test("requests are counted by method, route, class of status and duration", () => {
  const vitals = createVitals();
  for (const [status, ms] of [[200, 1], [204, 1.5], [404, 60], [500, 60_000]] as const) {
    vitals.requestBegan();
    vitals.requestEnded({ ...ended, status, ms });
  }
  vitals.requestBegan();

  equal(vitals.inFlight, 1);
  const [one, ...others] = vitals.traffic();
  deepEqual(others, []);
  deepEqual(one!.byClass, [0, 0, 2, 0, 1, 1]);
  deepEqual(one!.byDuration, [1, 1, 0, 0, 1, 0, 0, 0, 0, 1]);
  equal(one!.byDuration.length, DURATION_BOUNDS_S.length + 1);
  equal(Math.round(one!.seconds * 1e6), 60_062_500);
});

Deno.test("whatever a client sends, there are only so many different counts", () => {
  const vitals = createVitals();
  for (let n = 0; n < 1_000; n++) {
    vitals.requestEnded({ ...ended, method: `METHOD${n}`, route: undefined, status: 404 });
  }
  deepEqual([...vitals.traffic()].map(({ method, route }) => [method, route]), [
    ["OTHER", "other"],
  ]);
});

Deno.test("of late timers the last and the latest of the last 15 are told", () => {
  const vitals = createVitals();
  deepEqual(vitals.loopLag, { last: 0, max: 0 });
  vitals.timerEnded(2_000);
  for (let n = 0; n < 14; n++) vitals.timerEnded(100);
  deepEqual(vitals.loopLag, { last: 0.1, max: 2 });
  vitals.timerEnded(-5);
  deepEqual(vitals.loopLag, { last: 0, max: 0.1 });
});
