import { deepEqual, equal } from "node:assert/strict";
import { createVitals, DURATION_BOUNDS_S } from "../../../services/metrics/vitals.ts";

const ended = { method: "GET", route: "/livez", status: 200, ms: 1 };

Deno.test("requests are counted by method, route and class of status, durations by group", () => {
  const vitals = createVitals();
  for (const [status, ms] of [[200, 1], [204, 1.5], [404, 60], [500, 60_000]] as const) {
    vitals.recordRequestStart();
    vitals.recordRequestEnd({ ...ended, status, ms });
  }
  vitals.recordRequestStart();

  equal(vitals.inFlight, 1);
  const [one, ...others] = vitals.traffic();
  deepEqual(others, []);
  deepEqual(one!.byClass, [0, 0, 2, 0, 1, 1]);
  const { group, byDuration, seconds } = [...vitals.durations()][0]!;
  equal(group, "/livez");
  deepEqual(byDuration, [1, 1, 0, 0, 1, 0, 0, 0, 0, 1]);
  equal(byDuration.length, DURATION_BOUNDS_S.length + 1);
  equal(Math.round(seconds * 1e6), 60_062_500);
});

Deno.test("routes of the same resource share one histogram", () => {
  const vitals = createVitals();
  for (
    const route of [
      "/api/containers",
      "/api/containers/:id/stop",
      "/api/ext/service-pro/uptime/monitors",
      "/api/ext/service-pro/uptime/monitors/:id",
      "/api/ext/service-enterprise/roles",
      "/auth/token",
      "/status/:slug",
      "/",
      undefined,
    ]
  ) vitals.recordRequestEnd({ ...ended, route });
  deepEqual([...vitals.durations()].map(({ group }) => group), [
    "/api/containers",
    "/api/ext/service-pro/uptime",
    "/api/ext/service-enterprise/roles",
    "/auth",
    "/status",
    "/",
    "other",
  ]);
});

Deno.test("whatever a client sends, there are only so many different counts", () => {
  const vitals = createVitals();
  for (let n = 0; n < 1_000; n++) {
    vitals.recordRequestEnd({ ...ended, method: `METHOD${n}`, route: undefined, status: 404 });
  }
  deepEqual([...vitals.traffic()].map(({ method, route }) => [method, route]), [
    ["OTHER", "other"],
  ]);
});

Deno.test("of late timers the last and the latest of the last 15 are told", () => {
  const vitals = createVitals();
  deepEqual(vitals.loopLag, { last: 0, max: 0 });
  vitals.recordTimerLag(2_000);
  for (let n = 0; n < 14; n++) vitals.recordTimerLag(100);
  deepEqual(vitals.loopLag, { last: 0.1, max: 2 });
  vitals.recordTimerLag(-5);
  deepEqual(vitals.loopLag, { last: 0, max: 0.1 });
});
