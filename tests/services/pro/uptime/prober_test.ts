import { deepEqual, equal, ok } from "node:assert/strict";
import { selectOutages } from "../../../../db/pro/uptime/outages.ts";
import { countChecks } from "../../../../db/pro/uptime/checks.ts";
import { selectMonitor } from "../../../../db/pro/uptime/monitors.ts";
import type { Deps } from "../../../../services/deps.ts";
import {
  createMonitor,
  pauseMonitor,
  resumeMonitor,
} from "../../../../services/pro/uptime/monitors.ts";
import type { NewMonitor } from "../../../../services/pro/uptime/settings.ts";
import { dueMonitors } from "../../../../services/pro/uptime/schedule.ts";
import { probeMonitors } from "../../../../services/pro/uptime/prober.ts";
import { fakeReceiver } from "../../../helpers/fake_receiver.ts";
import { testApp } from "../../../helpers/test_app.ts";
import { until } from "../../../helpers/until.ts";

const app = () =>
  testApp({
    edition: "enterprise",
    now: "2026-03-01T12:00:00Z",
    config: { outboundAllow: ["127.0.0.0/8"] },
  });

const monitor = (deps: Deps, change: Partial<NewMonitor>) =>
  createMonitor(deps, { name: "Shop", type: "http", url: "http://127.0.0.1:1/", ...change });

/** Runs the prober until the test ends. */
function probing(deps: Deps) {
  const end = new AbortController();
  let rounds = 0;
  const running = probeMonitors(deps, end.signal, () => rounds++);
  return {
    /** Waits for a round at the current time and for its checks. */
    async waitUntilIdle() {
      const from = rounds;
      await until("two rounds", () => rounds >= from + 2);
    },
    async [Symbol.asyncDispose]() {
      end.abort();
      await running;
    },
  };
}

Deno.test("a new monitor is checked immediately, then once per interval", async () => {
  await using target = fakeReceiver(() => new Response("hello"));
  using pro = app();
  const { deps, clock } = pro;
  await using prober = probing(deps);
  const { id } = await monitor(deps, { url: target.url });
  await until("the first check", () => selectMonitor(deps.db, id)!.status === "up");
  await prober.waitUntilIdle();
  equal(countChecks(deps.metrics, id), 1);
  for (let minute = 1; minute <= 3; minute++) {
    clock.advance({ minutes: 1 });
    await until("the next check", () => countChecks(deps.metrics, id) === minute + 1);
  }
});

Deno.test("a failure is retried after 10 s, and the outage ends with the next success", async () => {
  let status = 200;
  await using target = fakeReceiver(() => new Response("hello", { status }));
  using pro = app();
  const { deps, clock } = pro;
  await using _ = probing(deps);
  const { id } = await monitor(deps, { url: target.url });
  const reaches = (wanted: string) =>
    until(`the status ${wanted}`, () => selectMonitor(deps.db, id)!.status === wanted);
  await reaches("up");
  status = 500;
  clock.advance({ minutes: 1 });
  await until("the first failure", () => countChecks(deps.metrics, id) === 2);
  clock.advance({ seconds: 10 });
  await reaches("down");
  status = 200;
  clock.advance({ minutes: 1 });
  await reaches("up");
  const [outage] = selectOutages(deps.db);
  deepEqual(
    [outage!.startedAt, outage!.resolvedAt].map((time) => time?.slice(11, 19)),
    ["12:01:00", "12:02:10"],
  );
});

Deno.test("checks do not pile up: a silent target has one check and delays no others", async () => {
  const silence = Promise.withResolvers<void>();
  await using silent = fakeReceiver(async () => (await silence.promise, new Response()));
  await using target = fakeReceiver(() => new Response("hello"));
  using pro = app();
  const { deps, clock } = pro;
  await using prober = probing(deps);
  await monitor(deps, { url: silent.url, intervalSeconds: 5, timeoutMs: 60_000 });
  const { id } = await monitor(deps, { url: target.url, intervalSeconds: 5 });
  await until("it is asked", () => silent.received.length === 1);
  for (let i = 1; i <= 4; i++) {
    await until("the other is checked", () => countChecks(deps.metrics, id) >= i);
    clock.advance({ seconds: 6 });
    await prober.waitUntilIdle();
  }
  equal(silent.received.length, 1);
  silence.resolve();
});

Deno.test("a paused monitor is not checked; a resumed one is checked immediately", async () => {
  using pro = app();
  const { deps, clock } = pro;
  const { id } = await monitor(deps, {});
  pauseMonitor(deps, id);
  await using prober = probing(deps);
  clock.advance({ minutes: 5 });
  await prober.waitUntilIdle();
  equal(countChecks(deps.metrics, id), 0);
  resumeMonitor(deps, id);
  await until("it is checked", () => countChecks(deps.metrics, id) === 1);
});

Deno.test("a check that cannot be stored is retried at the next interval", async () => {
  await using target = fakeReceiver(() => new Response("hello"));
  using pro = app();
  const { deps, clock } = pro;
  const metrics = {
    ...deps.metrics,
    transaction: () => {
      throw new Error("the disk is full");
    },
  } as Deps["metrics"];
  await using prober = probing({ ...deps, metrics });
  await monitor(deps, { url: target.url });
  await until("it is asked", () => target.received.length === 1);
  await prober.waitUntilIdle();
  equal(target.received.length, 1);
  clock.advance({ minutes: 1 });
  await until("it is asked again", () => target.received.length === 2);
});

Deno.test("stopping the prober aborts running checks without recording them", async () => {
  const silence = Promise.withResolvers<void>();
  await using silent = fakeReceiver(async () => (await silence.promise, new Response()));
  using pro = app();
  const { deps } = pro;
  const { id } = await monitor(deps, { url: silent.url });
  {
    await using _ = probing(deps);
    await until("it is asked", () => silent.received.length === 1);
  }
  equal(countChecks(deps.metrics, id), 0);
  equal(selectMonitor(deps.db, id)!.status, "pending");
  silence.resolve();
});

Deno.test("after a restart no check is repeated", async () => {
  await using target = fakeReceiver(() => new Response("hello"));
  using pro = app();
  const { deps, clock } = pro;
  const { id } = await monitor(deps, { url: target.url });
  {
    await using _ = probing(deps);
    await until("the first check", () => countChecks(deps.metrics, id) === 1);
  }
  {
    await using prober = probing(deps);
    await prober.waitUntilIdle();
    equal(countChecks(deps.metrics, id), 1);
    clock.advance({ minutes: 1 });
    await until("the next check", () => countChecks(deps.metrics, id) === 2);
  }
});

Deno.test("no more than 256 checks are started at a time", async () => {
  using pro = app();
  const { deps } = pro;
  for (let i = 0; i < 300; i++) await monitor(deps, { name: `m${i}` });
  const first = dueMonitors(deps, deps.now());
  equal(first.length, 256);
  const never = Promise.withResolvers<void>();
  for (const id of first.slice(0, 200)) void deps.checks.run(id, () => never.promise);
  const second = dueMonitors(deps, deps.now());
  equal(second.length, 56);
  ok(second.every((id) => !first.slice(0, 200).includes(id)));
  never.resolve();
});
