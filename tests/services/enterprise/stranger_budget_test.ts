import { deepEqual, equal } from "node:assert/strict";
import {
  createStrangerBudget,
  OF_CLIENT_MAX,
  OF_DAY_MAX,
  OF_MINUTE_MAX,
} from "../../../services/enterprise/stranger_budget.ts";

const START = Date.parse("2026-01-01T12:00:00Z");
const MINUTE = 60_000;

const times = (n: number, take: (n: number) => boolean) =>
  Array.from({ length: n }, (_, at) => take(at)).filter(Boolean).length;

Deno.test("ten of one address are taken in a minute, and the rest counted once", () => {
  const budget = createStrangerBudget();
  equal(times(25, () => budget.take("192.0.2.1", START)), OF_CLIENT_MAX);
  equal(times(25, () => budget.take("192.0.2.2", START + 59_999)), OF_CLIENT_MAX);
  equal(budget.settle(START + 59_999), undefined);
  deepEqual(budget.settle(START + MINUTE), { count: 30, sinceMs: START });
  equal(budget.settle(START + MINUTE), undefined);
  equal(times(25, () => budget.take("192.0.2.1", START + MINUTE)), OF_CLIENT_MAX);
  deepEqual(budget.end(), { count: 15, sinceMs: START + MINUTE });
  equal(budget.end(), undefined);
});

Deno.test("addresses of one IPv6 network are one client", () => {
  const budget = createStrangerBudget();
  equal(times(100, (n) => budget.take(`2001:db8::${n.toString(16)}`, START)), OF_CLIENT_MAX);
});

Deno.test("a minute and a day of all clients are bounded, whatever addresses they have", () => {
  const budget = createStrangerBudget();
  const address = (n: number) =>
    `2001:db8:${(n >> 16).toString(16)}:${(n & 0xffff).toString(16)}::1`;
  equal(times(5_000, (n) => budget.take(address(n), START)), OF_MINUTE_MAX);
  let taken = OF_MINUTE_MAX;
  for (let minute = 1; minute < 60; minute++) {
    taken += times(1_000, (n) => budget.take(address(n), START + minute * MINUTE));
  }
  equal(taken, OF_DAY_MAX);
  equal(budget.take("192.0.2.1", START + 60 * MINUTE), false);
  equal(budget.take("192.0.2.1", START + 12 * 60 * MINUTE), true);
});

Deno.test("a clock that is set back begins another minute", () => {
  const budget = createStrangerBudget();
  equal(times(20, () => budget.take("192.0.2.1", START)), OF_CLIENT_MAX);
  equal(budget.take("192.0.2.1", START - 10 * MINUTE), true);
  deepEqual(budget.settle(START - 10 * MINUTE), { count: 10, sinceMs: START });
});
