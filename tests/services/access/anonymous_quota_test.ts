import { deepEqual, equal } from "node:assert/strict";
import { createAnonymousQuota } from "../../../services/access/anonymous_quota.ts";

const OF_CLIENT_MAX = 10;
const OF_MINUTE_MAX = 600;
const OF_DAY_MAX = 20_000;

const createQuota = () =>
  createAnonymousQuota({ ofClient: OF_CLIENT_MAX, ofMinute: OF_MINUTE_MAX, ofDay: OF_DAY_MAX });

const START = Date.parse("2026-01-01T12:00:00Z");
const MINUTE = 60_000;

const times = (n: number, take: (n: number) => boolean) =>
  Array.from({ length: n }, (_, at) => take(at)).filter(Boolean).length;

Deno.test("ten of one address are taken in a minute, and the rest counted once", () => {
  const quota = createQuota();
  equal(times(25, () => quota.take("192.0.2.1", START)), OF_CLIENT_MAX);
  equal(times(25, () => quota.take("192.0.2.2", START + 59_999)), OF_CLIENT_MAX);
  equal(quota.settle(START + 59_999), undefined);
  deepEqual(quota.settle(START + MINUTE), {
    count: 30,
    sinceMs: START,
    clients: ["192.0.2.1", "192.0.2.2"],
  });
  equal(quota.settle(START + MINUTE), undefined);
  equal(times(25, () => quota.take("192.0.2.1", START + MINUTE)), OF_CLIENT_MAX);
  deepEqual(quota.end(), {
    count: 15,
    sinceMs: START + MINUTE,
    clients: ["192.0.2.1"],
  });
  equal(quota.end(), undefined);
});

Deno.test("addresses of one IPv6 network are one client", () => {
  const quota = createQuota();
  equal(times(100, (n) => quota.take(`2001:db8::${n.toString(16)}`, START)), OF_CLIENT_MAX);
});

Deno.test("a minute and a day of all clients are bounded, whatever addresses they have", () => {
  const quota = createQuota();
  const address = (n: number) =>
    `2001:db8:${(n >> 16).toString(16)}:${(n & 0xffff).toString(16)}::1`;
  equal(times(5_000, (n) => quota.take(address(n), START)), OF_MINUTE_MAX);
  let taken = OF_MINUTE_MAX;
  for (let minute = 1; minute < 60; minute++) {
    taken += times(1_000, (n) => quota.take(address(n), START + minute * MINUTE));
  }
  equal(taken, OF_DAY_MAX);
  equal(quota.take("192.0.2.1", START + 60 * MINUTE), false);
  equal(quota.take("192.0.2.1", START + 12 * 60 * MINUTE), true);
});

Deno.test("a summary names at most a hundred clients", () => {
  const quota = createAnonymousQuota({ ofClient: 1, ofMinute: 1 });
  times(500, (n) => quota.take(`192.0.${n >> 8}.${n & 255}`, START));
  const { count, clients } = quota.end()!;
  deepEqual([count, clients.length], [499, 100]);
});

Deno.test("a clock that is set back begins another minute", () => {
  const quota = createQuota();
  equal(times(20, () => quota.take("192.0.2.1", START)), OF_CLIENT_MAX);
  equal(quota.take("192.0.2.1", START - 10 * MINUTE), true);
  deepEqual(quota.settle(START - 10 * MINUTE), {
    count: 10,
    sinceMs: START,
    clients: ["192.0.2.1"],
  });
});
