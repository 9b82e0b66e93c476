import { deepEqual, equal, ok } from "node:assert/strict";
import { clip, type Interval, totalMs, union } from "../../../../services/pro/uptime/intervals.ts";
import {
  budgetMs,
  budgetOf,
  burnRateByDay,
  burnRateOf,
  coveragePercent,
  datesOf,
  elapsedOf,
  exceededAt,
  intervalOf,
  periodAt,
  uptimePercent,
} from "../../../../services/pro/sla/math.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const at = (time: string) => Date.parse(time);

/** E.g. `"2026-06-01T10:00Z/2026-06-01T11:00Z"`. */
function interval(text: string): Interval {
  const [start = "", end = ""] = text.split("/");
  return { start: at(start), end: at(end) };
}

const intervals = (...texts: string[]) => texts.map(interval);

const june: Interval = interval("2026-06-01/2026-07-01");

for (
  const { type, now, dates, days } of [
    { type: "monthly", now: "2026-01-01T00:00:00.000Z", dates: "2026-01-01 2026-01-31", days: 31 },
    { type: "monthly", now: "2026-01-31T23:59:59.999Z", dates: "2026-01-01 2026-01-31", days: 31 },
    { type: "monthly", now: "2026-02-28T23:59:59.999Z", dates: "2026-02-01 2026-02-28", days: 28 },
    { type: "monthly", now: "2028-02-29T12:00:00.000Z", dates: "2028-02-01 2028-02-29", days: 29 },
    { type: "monthly", now: "2000-02-10T00:00:00.000Z", dates: "2000-02-01 2000-02-29", days: 29 },
    { type: "monthly", now: "2100-02-10T00:00:00.000Z", dates: "2100-02-01 2100-02-28", days: 28 },
    { type: "monthly", now: "2026-04-30T23:59:59.999Z", dates: "2026-04-01 2026-04-30", days: 30 },
    { type: "monthly", now: "2026-12-31T23:59:59.999Z", dates: "2026-12-01 2026-12-31", days: 31 },
    // Daylight saving time starts or ends in these months; UTC is not affected.
    { type: "monthly", now: "2026-03-29T01:30:00.000Z", dates: "2026-03-01 2026-03-31", days: 31 },
    { type: "weekly", now: "2026-03-29T23:59:59.999Z", dates: "2026-03-23 2026-03-29", days: 7 },
    { type: "weekly", now: "2026-06-01T00:00:00.000Z", dates: "2026-06-01 2026-06-07", days: 7 },
    { type: "weekly", now: "2026-06-07T23:59:59.999Z", dates: "2026-06-01 2026-06-07", days: 7 },
    { type: "weekly", now: "2026-06-08T00:00:00.000Z", dates: "2026-06-08 2026-06-14", days: 7 },
    { type: "weekly", now: "2025-12-31T12:00:00.000Z", dates: "2025-12-29 2026-01-04", days: 7 },
    { type: "weekly", now: "2026-01-01T12:00:00.000Z", dates: "2025-12-29 2026-01-04", days: 7 },
    { type: "weekly", now: "2026-01-04T23:59:59.999Z", dates: "2025-12-29 2026-01-04", days: 7 },
    { type: "weekly", now: "2024-02-29T00:00:00.000Z", dates: "2024-02-26 2024-03-03", days: 7 },
    { type: "weekly", now: "2027-01-01T00:00:00.000Z", dates: "2026-12-28 2027-01-03", days: 7 },
  ] as const
) {
  Deno.test(`the ${type} period at ${now} is ${dates}`, () => {
    const period = periodAt(type, new Date(now));
    const { start_date, end_date } = datesOf(period);
    equal(`${start_date} ${end_date}`, dates);
    equal((period.end - period.start) / DAY_MS, days);
    deepEqual(intervalOf({ start_date, end_date }), period);
  });
}

for (const type of ["monthly", "weekly"] as const) {
  Deno.test(`over a hundred years, ${type} periods follow each other without gap or overlap`, () => {
    let period = periodAt(type, new Date("1999-12-31T23:00:00Z"));
    while (period.end < at("2100-06-01")) {
      const next = periodAt(type, new Date(period.end));
      equal(next.start, period.end);
      deepEqual(periodAt(type, new Date(next.end - 1)), next);
      if (type === "weekly") equal(new Date(next.start).getUTCDay(), 1);
      else equal(new Date(next.start).getUTCDate(), 1);
      period = next;
    }
  });
}

for (
  const { target, period, minutes } of [
    { target: 99.9, period: "2026-06-01/2026-07-01", minutes: 43.2 },
    { target: 99.9, period: "2026-01-01/2026-02-01", minutes: 44.64 },
    { target: 99.9, period: "2026-02-01/2026-03-01", minutes: 40.32 },
    { target: 99.9, period: "2028-02-01/2028-03-01", minutes: 41.76 },
    { target: 99.9, period: "2026-06-01/2026-06-08", minutes: 10.08 },
    { target: 99.5, period: "2026-06-01/2026-07-01", minutes: 216 },
    { target: 99.95, period: "2026-06-01/2026-07-01", minutes: 21.6 },
    { target: 99.99, period: "2026-06-01/2026-07-01", minutes: 4.32 },
    { target: 99.999, period: "2026-06-01/2026-07-01", minutes: 0.432 },
    { target: 99.9999, period: "2026-06-01/2026-07-01", minutes: 0.0432 },
    { target: 50, period: "2026-06-01/2026-06-08", minutes: 5_040 },
    { target: 0.1, period: "2026-06-01/2026-07-01", minutes: 43_156.8 },
  ]
) {
  Deno.test(`${target} % of ${period} allows ${minutes} minutes of downtime`, () => {
    const whole = interval(period);
    equal(budgetMs(target, whole) / MINUTE_MS, minutes);
    const progress = { period: whole, elapsed: whole, downtimeMs: 0, targetUptime: target };
    equal(budgetOf(progress).total_budget_minutes, minutes);
  });
}

Deno.test("the target closest to 100 has a budget", () => {
  const targetUptime = 99.99999999999999;
  ok(budgetMs(targetUptime, june) > 0);
  const budget = budgetOf({ period: june, elapsed: june, downtimeMs: 1, targetUptime });
  equal(budget.is_breached, true);
  for (const value of Object.values(budget)) ok(typeof value === "boolean" || isFinite(value));
});

for (
  const [name, down, minutes] of [
    ["no outage", [], 0],
    ["one outage", ["2026-06-10T10:00Z/2026-06-10T10:44Z"], 44],
    [
      "two apart",
      ["2026-06-10T10:00Z/2026-06-10T10:10Z", "2026-06-20T10:00Z/2026-06-20T10:05Z"],
      15,
    ],
    [
      "two monitors at the same time",
      ["2026-06-10T10:00Z/2026-06-10T10:30Z", "2026-06-10T10:00Z/2026-06-10T10:30Z"],
      30,
    ],
    [
      "two monitors one after the other with an overlap",
      ["2026-06-10T10:20Z/2026-06-10T10:40Z", "2026-06-10T10:00Z/2026-06-10T10:30Z"],
      40,
    ],
    [
      "one within the other",
      ["2026-06-10T10:00Z/2026-06-10T11:00Z", "2026-06-10T10:10Z/2026-06-10T10:20Z"],
      60,
    ],
    [
      "one that touches the other",
      ["2026-06-10T10:00Z/2026-06-10T10:10Z", "2026-06-10T10:10Z/2026-06-10T10:20Z"],
      20,
    ],
    [
      "three in a chain",
      [
        "2026-06-10T10:00Z/2026-06-10T10:20Z",
        "2026-06-10T10:30Z/2026-06-10T10:50Z",
        "2026-06-10T10:15Z/2026-06-10T10:35Z",
      ],
      50,
    ],
    ["over the beginning of the period", ["2026-05-31T23:00Z/2026-06-01T00:30Z"], 30],
    ["over the end of the period", ["2026-06-30T23:45Z/2026-07-01T02:00Z"], 15],
    ["over the whole period", ["2026-05-01/2026-08-01"], 30 * 24 * 60],
    ["before and after the period", ["2026-05-31T22:00Z/2026-06-01", "2026-07-01/2026-07-02"], 0],
  ] as const
) {
  Deno.test(`downtime in June with ${name} is ${minutes} minutes`, () => {
    const downtime = clip(union(intervals(...down)), june);
    equal(totalMs(downtime) / MINUTE_MS, minutes);
    const progress = { period: june, elapsed: june, targetUptime: 99.9 };
    const budget = budgetOf({ ...progress, downtimeMs: totalMs(downtime) });
    equal(budget.used_minutes, minutes);
    equal(budget.is_breached, minutes > 43.2);
    equal(exceededAt(downtime, budgetMs(99.9, june)) !== undefined, minutes > 43.2);
  });
}

for (
  const { case: name, down, exceeded } of [
    {
      case: "exactly the budget",
      down: ["2026-06-10T10:00:00Z/2026-06-10T10:43:12Z"],
      exceeded: undefined,
    },
    {
      case: "a millisecond more",
      down: ["2026-06-10T10:00:00Z/2026-06-10T10:43:12.001Z"],
      exceeded: "2026-06-10T10:43:12.000Z",
    },
    {
      case: "one of 44 minutes",
      down: ["2026-06-10T10:00:00Z/2026-06-10T10:44:00Z"],
      exceeded: "2026-06-10T10:43:12.000Z",
    },
    {
      case: "exactly the budget, and later one more second",
      down: [
        "2026-06-10T10:00:00Z/2026-06-10T10:43:12Z",
        "2026-06-12T08:00:00Z/2026-06-12T08:00:01Z",
      ],
      exceeded: "2026-06-12T08:00:00.000Z",
    },
    {
      case: "the third of three",
      down: [
        "2026-06-10T10:00:00Z/2026-06-10T10:20:00Z",
        "2026-06-11T10:00:00Z/2026-06-11T10:20:00Z",
        "2026-06-12T10:00:00Z/2026-06-12T10:20:00Z",
      ],
      exceeded: "2026-06-12T10:03:12.000Z",
    },
  ]
) {
  Deno.test(`the budget of 43.2 minutes with outages of ${name}`, () => {
    const downtime = intervals(...down);
    equal(exceededAt(downtime, budgetMs(99.9, june))?.toISOString(), exceeded);
    const progress = { period: june, elapsed: june, targetUptime: 99.9 };
    const { is_breached } = budgetOf({ ...progress, downtimeMs: totalMs(downtime) });
    equal(is_breached, exceeded !== undefined);
  });
}

for (
  const [now, minutes, uptime, burnRate, remaining, percentage] of [
    // Nothing has elapsed yet.
    ["2026-06-01T00:00Z", 0, null, 0, 43.2, 100],
    // The clock was set back to before the period.
    ["2026-05-01T00:00Z", 0, null, 0, 43.2, 100],
    ["2026-06-16T00:00Z", 0, 100, 0, 43.2, 100],
    // Half of the budget after half of the period.
    ["2026-06-16T00:00Z", 21.6, 99.9, 1, 21.6, 50],
    // All of it after half.
    ["2026-06-16T00:00Z", 43.2, 99.8, 2, 0, 0],
    ["2026-06-16T00:00Z", 86.4, 99.6, 4, -43.2, 0],
    // Down from the first minute on.
    ["2026-06-01T00:01Z", 1, 0, 1000, 42.2, 97.685185],
    // The period is over.
    ["2027-01-01T00:00Z", 43.2, 99.9, 1, 0, 0],
    ["2027-01-01T00:00Z", 43_200, 0, 1000, -43_156.8, 0],
  ] as const
) {
  Deno.test(`99.9 % of June with ${minutes} minutes of downtime at ${now}`, () => {
    const progress = {
      period: june,
      elapsed: elapsedOf(june, at(now)),
      downtimeMs: minutes * MINUTE_MS,
      targetUptime: 99.9,
    };
    equal(uptimePercent([[june]], progress), uptime);
    equal(burnRateOf(progress), burnRate);
    deepEqual(budgetOf(progress), {
      total_budget_minutes: 43.2,
      used_minutes: minutes,
      remaining_minutes: remaining,
      remaining_percentage: percentage,
      is_breached: minutes > 43.2,
      burn_rate: burnRate,
    });
  });
}

for (
  const [name, known, percent] of [
    ["nothing", [[]], 0],
    ["everything", [["2026-05-01/2026-07-01"]], 100],
    ["the second half", [["2026-06-06/2026-06-11"]], 50],
    ["all but a pause of a day", [["2026-06-01/2026-06-04", "2026-06-05/2026-06-11"]], 90],
    ["one of two monitors", [["2026-06-01/2026-06-11"], []], 50],
    [
      "two monitors, one from the fifth day on",
      [["2026-06-01/2026-06-11"], ["2026-06-06/2026-06-11"]],
      75,
    ],
    ["the time after", [["2026-06-11/2026-06-30"]], 0],
  ] as const
) {
  Deno.test(`ten days of which ${name} is known have a coverage of ${percent} %`, () => {
    const elapsed = interval("2026-06-01/2026-06-11");
    equal(coveragePercent(known.map((each) => intervals(...each)), elapsed), percent);
  });
}

Deno.test("at the start of a period nothing is known", () => {
  equal(coveragePercent([[]], elapsedOf(june, june.start)), 0);
});

for (
  const [name, known, minutes, uptime] of [
    ["a tenth", [["2026-06-01/2026-06-02"]], 144, 90],
    ["nothing but a downtime", [["2026-06-01/2026-06-02"]], 1_440, 0],
    ["one of two monitors", [["2026-06-01/2026-06-11"], []], 1_440, 90],
    [
      "each half by another monitor",
      [["2026-06-01/2026-06-06"], ["2026-06-06/2026-06-11"]],
      1_440,
      90,
    ],
    ["exactly 1 %", [["2026-06-01T00:00:00Z/2026-06-01T02:24:00Z"]], 0, 100],
    ["less than 1 %", [["2026-06-01T00:00:00Z/2026-06-01T02:23:59Z"]], 0, null],
    ["nothing", [[]], 0, null],
  ] as const
) {
  Deno.test(`ten days of which ${name} is known with ${minutes} minutes of downtime are ${uptime} %`, () => {
    const elapsed = interval("2026-06-01/2026-06-11");
    const progress = { elapsed, downtimeMs: minutes * MINUTE_MS };
    equal(uptimePercent(known.map((each) => intervals(...each)), progress), uptime);
  });
}

Deno.test("the burn rate has a point for each day so far, with the current rate for today", () => {
  const elapsed = elapsedOf(june, at("2026-06-04T12:00:00Z"));
  // The second spans midnight and counts for both days.
  const downtime = intervals(
    "2026-06-02T10:00:00Z/2026-06-02T10:01:26.400Z",
    "2026-06-03T23:59:00Z/2026-06-04T00:02:00Z",
  );

  const points = burnRateByDay(downtime, { period: june, elapsed, targetUptime: 99.9 });

  deepEqual(points, [
    { date: "2026-06-01", burn_rate: 0 },
    { date: "2026-06-02", burn_rate: 0.5 },
    { date: "2026-06-03", burn_rate: 0.564815 },
    { date: "2026-06-04", burn_rate: 0.880952 },
  ]);
  const downtimeMs = totalMs(downtime);
  equal(
    points.at(-1)!.burn_rate,
    burnRateOf({ period: june, elapsed, downtimeMs, targetUptime: 99.9 }),
  );
});

for (
  const { now, first, last, count } of [
    { now: "2026-06-01T00:00:00.000Z", first: undefined, last: undefined, count: 0 },
    { now: "2026-06-01T00:00:00.001Z", first: "2026-06-01", last: "2026-06-01", count: 1 },
    { now: "2026-06-02T00:00:00.000Z", first: "2026-06-01", last: "2026-06-01", count: 1 },
    { now: "2026-06-30T23:59:59.999Z", first: "2026-06-01", last: "2026-06-30", count: 30 },
    { now: "2026-09-01T00:00:00.000Z", first: "2026-06-01", last: "2026-06-30", count: 30 },
  ]
) {
  Deno.test(`at ${now} the burn rate of June has ${count} points`, () => {
    const elapsed = elapsedOf(june, at(now));
    const points = burnRateByDay([], { period: june, elapsed, targetUptime: 99.9 });
    deepEqual([points.at(0)?.date, points.at(-1)?.date, points.length], [first, last, count]);
  });
}
