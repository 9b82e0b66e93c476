import { deepEqual, equal } from "node:assert/strict";
import { dayOf, weeksOf } from "../../ui/base/month.ts";

Deno.test("a month has its days in weeks from Monday", () => {
  const { title, weeks, weekdays, previous, next } = weeksOf("2026-11");
  equal(title, "November 2026");
  equal(weekdays[0], "Mon");
  deepEqual([previous, next], ["2026-10", "2026-12"]);
  deepEqual(weeks[0], [...Array.from({ length: 6 }, () => undefined), "2026-11-01"]);
  deepEqual(weeks.map(({ length }) => length), [7, 7, 7, 7, 7, 7]);
  deepEqual(weeks.flat().filter(Boolean).length, 30);
  deepEqual(weeks.at(-1)!.slice(0, 2), ["2026-11-30", undefined]);
});

Deno.test("a month that fills its weeks has no empty one, and years end", () => {
  equal(weeksOf("2027-02").weeks.length, 4);
  deepEqual([weeksOf("2026-12").next, weeksOf("2026-01").previous], ["2027-01", "2025-12"]);
});

Deno.test("a day is that of the browser's calendar", () => {
  equal(dayOf(new Date(2026, 2, 5, 23, 59)), "2026-03-05");
});
