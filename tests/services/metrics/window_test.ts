import { deepEqual, throws } from "node:assert/strict";
import { windowOf, type WindowQuery } from "../../../services/metrics/window.ts";

const NOW = new Date("2026-02-01T00:00:00Z");
const DAY_S = 86_400;

for (
  const { query, startsAgo, endsAgo = 0, step, resolution } of [
    { query: {}, startsAgo: DAY_S, step: 120, resolution: 60 },
    { query: { hours: 1 }, startsAgo: 3_600, step: 15, resolution: 15 },
    { query: { hours: 1, points: 100 }, startsAgo: 3_600, step: 60, resolution: 60 },
    { query: { range: "30d", points: 2 }, startsAgo: 30 * DAY_S, step: 3_600, resolution: 900 },
    { query: { range: "90m" }, startsAgo: 5_400, step: 15, resolution: 15 },
    { query: { range: "7d" }, startsAgo: 7 * DAY_S, step: 900, resolution: 900 },
    { query: { range: "30d" }, startsAgo: 30 * DAY_S, step: 3_600, resolution: 900 },
    { query: { range: "99999d" }, startsAgo: 30 * DAY_S, step: 3_600, resolution: 900 },
    {
      query: { from: "2026-01-31T23:00:00.000Z", to: "2027-01-01T00:00:00.000Z" },
      startsAgo: 3_600,
      step: 15,
      resolution: 15,
    },
    {
      // Samples of 15 seconds expire after two days.
      query: { from: "2026-01-27T00:00:00.000Z", to: "2026-01-27T01:00:00.000Z" },
      startsAgo: 5 * DAY_S,
      endsAgo: 5 * DAY_S - 3_600,
      step: 60,
      resolution: 60,
    },
    {
      query: { range: "1h", to: "2026-01-12T01:00:00.000Z" },
      startsAgo: 20 * DAY_S,
      endsAgo: 20 * DAY_S - 3_600,
      step: 900,
      resolution: 900,
    },
    {
      query: { from: "1970-01-01T00:00:00.000Z" },
      startsAgo: 30 * DAY_S,
      step: 3_600,
      resolution: 900,
    },
  ] as {
    query: WindowQuery;
    startsAgo: number;
    endsAgo?: number;
    step: number;
    resolution: number;
  }[]
) {
  Deno.test(`the window of ${JSON.stringify(query)} has points of ${step} s`, () => {
    const nowS = NOW.getTime() / 1000;
    deepEqual(windowOf(query, NOW), {
      from: nowS - startsAgo,
      to: nowS - endsAgo,
      step,
      resolution,
    });
  });
}

for (
  const { query, error } of [
    { query: { hours: 1, range: "1h" }, error: /only one of hours, range and from/ },
    { query: { from: "2026-03-01T00:00:00.000Z" }, error: /from must be before to/ },
    { query: { to: "2025-12-01T00:00:00.000Z" }, error: /within the last 30 days/ },
  ]
) {
  Deno.test(`the window of ${JSON.stringify(query)} is invalid`, () => {
    throws(() => windowOf(query, NOW), error);
  });
}
