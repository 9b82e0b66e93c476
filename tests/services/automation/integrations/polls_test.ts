import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { duePolls } from "../../../../services/automation/integrations/due.ts";
import { pollIntegration } from "../../../../services/automation/integrations/polls.ts";
import { integrationPoller } from "../../../../services/automation/integrations/poller.ts";
import { createRunningPolls } from "../../../../services/automation/integrations/running_polls.ts";
import { fakeSystem } from "../../../helpers/fake_system.ts";
import { integrate, integrationsApp } from "../../../helpers/integrations.ts";
import type { TestApp } from "../../../helpers/test_app.ts";
import { until } from "../../../helpers/until.ts";

const config = (url: string) => ({ url, fieldMappings: [{ path: "a", name: "a" }] });
const answering = () => fakeSystem(() => ({ a: 1 }));
const failing = () => fakeSystem(() => new Response("no", { status: 500 }));

/** A system that accepts requests and does not answer until it is disposed. */
function hanging() {
  const gate = Promise.withResolvers<void>();
  const system = fakeSystem(async () => {
    await gate.promise;
    return { a: 1 };
  });
  return {
    ...system,
    async [Symbol.asyncDispose]() {
      gate.resolve();
      await system[Symbol.asyncDispose]();
    },
  };
}

/** Seconds until an integration is due, checked every second. */
function secondsUntilDue(app: TestApp, id: string): number {
  const start = app.clock.now().toISOString();
  let seconds = 0;
  while (!duePolls(app.deps).includes(id) && seconds < 200_000) {
    app.clock.advance({ seconds: 1 });
    seconds++;
  }
  app.clock.set(start);
  return seconds;
}

const between = (value: number, min: number, max: number) =>
  equal(value >= min && value <= max, true, `${value} is not ${min} to ${max}`);

Deno.test("a new integration is due immediately, then after its interval plus jitter", async () => {
  await using system = answering();
  using app = integrationsApp();
  const ids = [];
  for (let n = 0; n < 8; n++) {
    ids.push(await integrate(app, "http-json", config(system.url), { poll_interval: 100 }));
  }
  deepEqual(duePolls(app.deps).sort(), ids.sort());
  for (const id of ids) await pollIntegration(app.deps, id);
  deepEqual(duePolls(app.deps), []);
  const waits = ids.map((id) => secondsUntilDue(app, id));
  for (const wait of waits) between(wait, 100, 110);
  equal(new Set(waits).size > 1, true, "all are due at the same moment");

  // A restart changes nothing, because the state is in the database.
  app.deps.polls = createRunningPolls(app.clock.now);
  deepEqual(ids.map((id) => secondsUntilDue(app, id)), waits);
});

Deno.test("consecutive failures double the interval up to 15 minutes, until a success", async () => {
  let status = 500;
  await using system = fakeSystem(() => Response.json({ a: 1 }, { status }));
  using app = integrationsApp();
  const id = await integrate(app, "http-json", config(system.url), { poll_interval: 60 });
  for (const wait of [120, 240, 480, 900, 900]) {
    equal((await pollIntegration(app.deps, id)).ok, false);
    const seconds = secondsUntilDue(app, id);
    between(seconds, wait, wait * 1.1);
    app.clock.advance({ seconds });
  }
  status = 200;
  equal((await pollIntegration(app.deps, id)).ok, true);
  between(secondsUntilDue(app, id), 60, 66);
});

Deno.test("an interval above the backoff limit does not change after failures", async () => {
  await using system = failing();
  using app = integrationsApp();
  const id = await integrate(app, "http-json", config(system.url), { poll_interval: 86_400 });
  await pollIntegration(app.deps, id);
  between(secondsUntilDue(app, id), 86_400, 95_040);
});

Deno.test("a change resets the backoff, and polls continue after the clock is set back", async () => {
  await using system = failing();
  using app = integrationsApp();
  const id = await integrate(app, "http-json", config(system.url), { poll_interval: 10 });
  for (let n = 0; n < 5; n++) await pollIntegration(app.deps, id);
  between(secondsUntilDue(app, id), 320, 352);
  await app.call("PUT", `/api/integrations/${id}`, { name: "mended" });
  between(secondsUntilDue(app, id), 10, 11);

  app.clock.set("2020-01-01T00:00:00Z");
  deepEqual(duePolls(app.deps), [id]);
});

Deno.test("disabled integrations and those without a license are not polled", async () => {
  using app = integrationsApp({ edition: "pro" });
  const json = await integrate(app, "http-json", config("http://10.0.0.1"));
  const paging = await integrate(app, "pagerduty", { apiKey: "x" });
  await integrate(app, "http-json", config("http://10.0.0.1"), { enabled: false });
  deepEqual(duePolls(app.deps).sort(), [json, paging].sort());
  app.deps.license.use(undefined);
  deepEqual(duePolls(app.deps), [json]);
});

Deno.test("failing systems leave slots for healthy ones", async () => {
  await using well = answering();
  await using slow = hanging();
  using app = integrationsApp({ edition: "pro" });
  const good = await integrate(app, "http-json", config(well.url), { poll_interval: 10 });
  await pollIntegration(app.deps, good);
  const bad: string[] = [];
  for (let n = 0; n < 30; n++) bad.push(await integrate(app, "http-json", config(slow.url)));

  app.clock.advance({ seconds: 20 });
  const started = duePolls(app.deps);
  equal(started.length, 9);
  equal(started.includes(good), true);
  const polls = started.filter((id) => id !== good).map((id) => pollIntegration(app.deps, id));
  deepEqual(duePolls(app.deps), [good]);
  app.deps.polls.stopAll();
  for (const { error } of await Promise.all(polls)) match(error!, /interrupted/);
});

Deno.test("concurrent polls of an integration are one", async () => {
  await using system = hanging();
  using app = integrationsApp();
  const id = await integrate(app, "http-json", config(system.url));
  const both = [pollIntegration(app.deps, id), pollIntegration(app.deps, id)];
  await until("the system was asked", () => system.asked.length > 0);
  await system[Symbol.asyncDispose]();
  const [a, b] = await Promise.all(both);
  deepEqual(a, b);
  equal(a!.ok, true);
  equal(system.asked.length, 1);
});

for (
  const { what, stop, status } of [
    {
      what: "disabled",
      stop: (app: TestApp, id: string) =>
        app.call("PUT", `/api/integrations/${id}`, { enabled: false }),
      status: 200,
    },
    {
      what: "deleted",
      stop: (app: TestApp, id: string) => app.call("DELETE", `/api/integrations/${id}`),
      status: 404,
    },
  ]
) {
  Deno.test(`an integration that is ${what} cancels its poll and stores nothing`, async () => {
    await using system = hanging();
    using app = integrationsApp();
    const id = await integrate(app, "http-json", config(system.url));
    const poll = pollIntegration(app.deps, id);
    await until("the system was asked", () => system.asked.length > 0);

    equal((await stop(app, id)).status, 200);

    deepEqual({ ...await poll, durationMs: 0 }, {
      ok: false,
      records: 0,
      durationMs: 0,
      error: "The poll was interrupted: the integration changed",
    });
    const after = await app.call("GET", `/api/integrations/${id}`);
    equal(after.status, status);
    if (status === 200) equal(after.body.last_status, "never");
    deepEqual(app.deps.metrics.all("SELECT * FROM integration_data"), []);
    deepEqual(app.deps.metrics.all("SELECT * FROM integration_polls"), []);
  });
}

Deno.test("a poll whose result cannot be stored fails and is not repeated before its interval", async () => {
  await using system = answering();
  using app = integrationsApp();
  const id = await integrate(app, "http-json", config(system.url), { poll_interval: 60 });
  app.deps.metrics.exec(
    `CREATE TRIGGER full BEFORE INSERT ON integration_polls
     BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`,
  );
  await rejects(pollIntegration(app.deps, id), /disk is full/);
  deepEqual(app.deps.metrics.all("SELECT * FROM integration_data"), []);
  between(secondsUntilDue(app, id), 60, 66);
});

Deno.test("the oldest data of an integration is deleted above the limit", async () => {
  await using system = answering();
  using app = integrationsApp();
  const mappings = Array.from({ length: 100 }, (_, n) => ({ path: "a", name: `a${n}` }));
  const id = await integrate(app, "http-json", { url: system.url, fieldMappings: mappings });
  // The rows of many polls, oldest first.
  app.deps.metrics.exec(
    `INSERT INTO integration_data (id, integration_id, type, name, labels, timestamp, active)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100500)
     SELECT i, '${id}', 'metric', 'old', '{}',
            strftime('%Y-%m-%dT%H:%M:%fZ', '2026-03-01 00:00:00', '+' || (i * 0.4) || ' seconds'), 0
     FROM n`,
  );
  for (let n = 0; n < 10; n++) {
    app.clock.advance({ minutes: 1 });
    equal((await pollIntegration(app.deps, id)).records, 100);
  }
  const counted = app.deps.metrics.get<{ n: number; names: number }>(
    "SELECT count(*) AS n, sum(name = 'old') AS names FROM integration_data",
  )!;
  deepEqual([counted.n, counted.names], [100_000, 99_000]);
});

Deno.test("the poller polls due integrations, and a slow system does not delay others", async () => {
  await using well = answering();
  await using slow = hanging();
  using app = integrationsApp();
  const stuck = await integrate(app, "http-json", config(slow.url));
  const good = await integrate(app, "http-json", config(well.url), { poll_interval: 10 });
  const end = new AbortController();
  let rounds = 0;
  const running = integrationPoller.run(app.deps, end.signal, () => rounds++);

  await until("both were asked", () => well.asked.length === 1 && slow.asked.length === 1);
  await until(
    "one is polled",
    async () => (await app.call("GET", `/api/integrations/${good}`)).body.last_status === "ok",
  );
  app.clock.advance({ seconds: 12 });
  await until("the one that is well is asked again", () => well.asked.length === 2);
  equal(slow.asked.length, 1);
  equal(rounds >= 2, true);

  end.abort();
  await running;
  // The poller has not waited for the slow system.
  equal((await app.call("GET", `/api/integrations/${stuck}`)).body.last_status, "never");
});
