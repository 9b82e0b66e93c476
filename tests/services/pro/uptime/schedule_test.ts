import { equal, ok } from "node:assert/strict";
import { calculateDueMs, phaseMs } from "../../../../services/pro/uptime/schedule.ts";

const START = Date.parse("2026-03-01T12:00:00Z");
const MINUTE = 60_000;

/** An ID whose phase in a minute is near the given second. */
const idAt = (second: number) => {
  for (let i = 0;; i++) {
    const phase = phaseMs(`m${i}`, 60);
    if (phase >= second * 1000 && phase < (second + 1) * 1000) return `m${i}`;
  }
};

const id = idAt(20);
const phase = phaseMs(id, 60);
const schedule = {
  id,
  intervalSeconds: 60,
  retries: 1,
  status: "up" as "up" | "down" | "pending",
  updatedAt: new Date(START - 1e9).toISOString(),
};
const good = (checkedAt: number) => ({ checkedAt, failures: 0 });
const alive = { proberStartMs: START - 1e9 };

for (
  const { when, change = {}, last, at, due } of [
    { when: "it is new", last: undefined, at: { ...alive, nowMs: START }, due: START - 1e9 },
    {
      when: "it was checked at its place",
      last: good(START + phase),
      at: { ...alive, nowMs: START + phase + 1 },
      due: START + phase + MINUTE,
    },
    {
      when: "it was checked a little late",
      last: good(START + phase + 300),
      at: { ...alive, nowMs: START + phase + 301 },
      due: START + phase + MINUTE,
    },
    {
      when: "a user checked it in between",
      last: good(START + 1_000),
      at: { ...alive, nowMs: START + 2_000 },
      due: START + phase,
    },
    {
      when: "it was changed after its last check",
      change: { updatedAt: new Date(START + 5_000).toISOString() },
      last: good(START),
      at: { ...alive, nowMs: START + 6_000 },
      due: START + 5_000,
    },
    {
      when: "it failed once and is not down yet",
      last: { checkedAt: START, failures: 1 },
      at: { ...alive, nowMs: START },
      due: START + 10_000,
    },
    {
      when: "it failed once and may not fail at all",
      change: { retries: 0 },
      last: { checkedAt: START, failures: 1 },
      at: { ...alive, nowMs: START },
      due: START + phase,
    },
    {
      when: "it failed and is down",
      change: { status: "down" as const },
      last: { checkedAt: START, failures: 1 },
      at: { ...alive, nowMs: START },
      due: START + phase,
    },
    {
      when: "it failed twice and pays for it",
      last: { checkedAt: START, failures: 2 },
      at: { ...alive, nowMs: START },
      due: START + phase,
    },
    {
      when: "the clock was set back",
      last: good(START + 1e7),
      at: { ...alive, nowMs: START },
      due: START,
    },
    {
      when: "its check began but could not be stored",
      last: good(START - MINUTE),
      at: { ...alive, lastStartMs: START + phase, nowMs: START + phase + 1 },
      due: START + phase + MINUTE,
    },
    {
      when: "it was missed within a running service",
      last: good(START - 10 * MINUTE),
      at: { ...alive, nowMs: START },
      due: START - 10 * MINUTE + phase,
    },
  ]
) {
  Deno.test(`the due time is right when ${when}`, () => {
    equal(calculateDueMs({ ...schedule, ...change }, last, at), due);
  });
}

Deno.test("a change in the future does not make a monitor due repeatedly", () => {
  const updatedAt = new Date(START + 1e7).toISOString();
  const changed = { ...schedule, updatedAt };
  ok(calculateDueMs(changed, good(START), { ...alive, nowMs: START + 500 }) > START + 500);
  equal(calculateDueMs(changed, undefined, { ...alive, nowMs: START }), START);
});

Deno.test("after a downtime the missed checks are spread over 30 s", () => {
  const proberStartMs = START;
  const dues = Array.from({ length: 500 }, (_, i) => {
    const intervalSeconds = i % 2 ? 30 : 86_400;
    return calculateDueMs(
      { ...schedule, id: crypto.randomUUID(), intervalSeconds },
      good(START - 1e9 + 1),
      {
        proberStartMs,
        nowMs: START,
      },
    );
  });
  for (const due of dues) ok(due >= START && due <= START + 30_000, String(due - START));
  const busiest = Math.max(
    ...Map.groupBy(dues, (due) => Math.floor(due / 1000)).values().map((all) => all.length),
  );
  ok(busiest < 50, `${busiest} in one second`);
});

Deno.test("the phases of many monitors are spread over the interval", () => {
  const places = Array.from({ length: 3_000 }, () => phaseMs(crypto.randomUUID(), 30));
  const perSecond = Map.groupBy(places, (place) => Math.floor(place / 1000));
  equal(perSecond.size, 30);
  for (const all of perSecond.values()) ok(all.length > 50 && all.length < 160, String(all.length));
});
