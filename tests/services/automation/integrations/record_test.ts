import { deepEqual, equal } from "node:assert/strict";
import { dataRecord } from "../../../../services/automation/integrations/record.ts";

const now = new Date("2026-03-01T12:00:00Z");
const record = (given: Partial<Parameters<typeof dataRecord>[1]>) =>
  dataRecord({ now }, { type: "metric", name: "x", ...given });

for (
  const { at, timestamp } of [
    { at: undefined, timestamp: "2026-03-01T12:00:00.000Z" },
    { at: "2026-03-01T10:00:00.123456789+01:00", timestamp: "2026-03-01T09:00:00.123Z" },
    { at: 1_772_355_600.5, timestamp: "2026-03-01T09:00:00.500Z" },
    { at: "yesterday", timestamp: "2026-03-01T12:00:00.000Z" },
    { at: -1, timestamp: "2026-03-01T12:00:00.000Z" },
    { at: NaN, timestamp: "2026-03-01T12:00:00.000Z" },
    { at: 1e300, timestamp: "2026-03-01T12:00:00.000Z" },
    { at: "+275000-01-01T00:00:00Z", timestamp: "2026-03-01T12:00:00.000Z" },
  ]
) {
  Deno.test(`a record of the time ${at} is dated ${timestamp}`, () =>
    equal(record({ at }).timestamp, timestamp));
}

Deno.test("what a system sends is cut to size", () => {
  const long = "x".repeat(5_000);
  const labels = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`l${n}`, long]));
  const cut = record({
    name: long,
    unit: long,
    detail: long,
    status: long,
    severity: long,
    labels,
  });
  equal(JSON.stringify(cut).length < 4_000, true);
  equal(cut.name.endsWith("..."), true);
  equal(Object.keys(cut.labels).length > 3, true);
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`l${n}`, "1"]));
  equal(Object.keys(record({ labels: many }).labels).length, 40);
});

Deno.test("half a character, and numbers that are none, do not reach the database", () => {
  equal(record({ name: "a\ud800" }).name, "a\ufffd");
  equal(record({ name: "" }).name, "unnamed");
  deepEqual([NaN, Infinity, 0].map((value) => record({ value }).value), [null, null, 0]);
});

Deno.test("long keys stay apart", () => {
  const long = "k".repeat(400);
  const [a, b] = [record({ key: `${long}a` }).key!, record({ key: `${long}b` }).key!];
  equal(a === b, false);
  equal(a, record({ key: `${long}a` }).key);
  equal(a.length <= 300, true);
});
