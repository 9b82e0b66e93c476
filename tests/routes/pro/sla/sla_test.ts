import { deepEqual, equal, match } from "node:assert/strict";
import {
  insertMonitorGap,
  updateMonitorLifeDeleted,
} from "../../../../db/pro/uptime/monitor_times.ts";
import { deleteMonitor, insertMonitor } from "../../../../db/pro/uptime/monitors.ts";
import { recalculateAll } from "../../../../services/pro/sla/periods.ts";
import { recordCheck } from "../../../../services/pro/uptime/checks.ts";
import { storedMonitor } from "../../../helpers/stored_monitor.ts";
import {
  openTestDatabase,
  type TestApp,
  testApp,
  type TestAppOptions,
} from "../../../helpers/test_app.ts";

const SLA = "/api/ext/service-pro/sla";

const UP = { ok: true, responseTimeMs: 5, statusCode: 200, error: null };
const DOWN = { ok: false, responseTimeMs: null, statusCode: null, error: "connection refused" };

const june = { now: "2026-06-01T00:00:00.000Z" };

const proApp = (options: TestAppOptions = june) => testApp({ edition: "pro", ...options });

function addMonitor({ deps }: TestApp, id: string, { retries = 0 } = {}) {
  insertMonitor(deps.db, storedMonitor({ id, createdAt: deps.now().toISOString(), retries }));
}

type Result = typeof UP | typeof DOWN;

/** Checks a monitor each minute from the time of the clock up to, and without, `until`. */
function checkUntil({ deps, clock }: TestApp, id: string, until: string, result: Result) {
  for (; deps.now() < new Date(until); clock.advance({ minutes: 1 })) {
    recordCheck(deps, id, deps.now(), result);
  }
}

/** One check, after which the state is known for a minute and a little. */
function checkAt({ deps, clock }: TestApp, id: string, at: string, result: Result) {
  clock.set(at);
  recordCheck(deps, id, deps.now(), result);
}

async function createSla(app: TestApp, changes: Record<string, unknown> = {}) {
  const { status, body } = await app.call("POST", `${SLA}/definitions`, {
    name: "Shop",
    description: "as promised",
    target_uptime: 99.9,
    period_type: "monthly",
    monitor_ids: ["web"],
    ...changes,
  });
  equal(status, 201, body.error);
  return body;
}

async function get(app: TestApp, path: string) {
  const { status, body } = await app.call("GET", `${SLA}${path}`, undefined, { role: "viewer" });
  equal(status, 200, body.error);
  return body;
}

/** Number of messages to the webhook. */
async function countDeliveries(app: TestApp, webhookId: string): Promise<number> {
  const { body } = await app.call("GET", `/api/webhooks/${webhookId}/deliveries`);
  return body.total;
}

async function addWebhook(app: TestApp): Promise<string> {
  const { body } = await app.call("POST", "/api/webhooks", {
    name: "breaches",
    url: "http://192.0.2.9/",
    events: ["sla.breached"],
  });
  return body.id;
}

const { signal } = new AbortController();

/** Allows creating the webhook. */
const open = { config: { outboundAllow: ["192.0.2.9"] } };

Deno.test("POST /sla/definitions stores a definition and returns it", async () => {
  using app = proApp();
  addMonitor(app, "web");
  addMonitor(app, "api");

  const created = await createSla(app, { monitor_ids: ["web", "api", "web"] });

  deepEqual(created, {
    id: created.id,
    name: "Shop",
    description: "as promised",
    target_uptime: 99.9,
    period_type: "monthly",
    monitor_ids: ["web", "api"],
    created_at: "2026-06-01T00:00:00.000Z",
    updated_at: "2026-06-01T00:00:00.000Z",
  });
  const early = await createSla(app, { name: "a first one" });
  deepEqual(await get(app, "/definitions"), { definitions: [early, created] });
});

Deno.test("description and period type of a definition are optional", async () => {
  using app = proApp();
  addMonitor(app, "web");
  const created = await createSla(app, { description: undefined, period_type: undefined });
  deepEqual([created.description, created.period_type], ["", "monthly"]);
});

for (
  const [change, error] of [
    [{ name: undefined }, /^body\.name: /],
    [{ name: "  " }, /^body\.name: /],
    [{ name: "x".repeat(101) }, /^body\.name: /],
    [{ description: "x".repeat(1_001) }, /^body\.description: /],
    [{ target_uptime: undefined }, /^body\.target_uptime: /],
    [{ target_uptime: 0 }, /^body\.target_uptime: must be more than 0$/],
    [{ target_uptime: -1 }, /^body\.target_uptime: must be more than 0$/],
    [{ target_uptime: 100 }, /^body\.target_uptime: must be less than 100$/],
    [{ target_uptime: "99.9" }, /^body\.target_uptime: /],
    [{ target_uptime: null }, /^body\.target_uptime: /],
    [{ period_type: "yearly" }, /^body\.period_type: must be one of monthly, weekly$/],
    [{ monitor_ids: undefined }, /^body\.monitor_ids: /],
    [{ monitor_ids: [] }, /^body\.monitor_ids: /],
    [{ monitor_ids: "web" }, /^body\.monitor_ids: /],
    [{ monitor_ids: [1] }, /^body\.monitor_ids\.0: /],
    [{ monitor_ids: Array(501).fill("web") }, /^body\.monitor_ids: /],
    [
      { monitor_ids: ["web", "unknown"] },
      /^body\.monitor_ids: uptime monitor unknown does not exist$/,
    ],
  ] as const
) {
  const [[name, value] = []] = Object.entries(change);
  const title = `${name} ${JSON.stringify(value)}`.slice(0, 60);
  Deno.test(`POST and PUT /sla/definitions refuse ${title}`, async () => {
    using app = proApp();
    addMonitor(app, "web");
    const { id, created_at: _, updated_at: __, ...settings } = await createSla(app);
    const refused = await app.call("POST", `${SLA}/definitions`, { ...settings, ...change });
    equal(refused.status, 400);
    match(refused.body.error, error);
    if (value === undefined) return;
    const update = await app.call("PUT", `${SLA}/definitions/${id}`, change);
    deepEqual([update.status, update.body.error], [400, refused.body.error]);
  });
}

Deno.test("every endpoint of a definition that does not exist answers 404", async () => {
  using app = proApp();
  for (
    const [method, path, body] of [
      ["GET", ""],
      ["PUT", "", {}],
      ["DELETE", ""],
      ["GET", "/periods"],
      ["GET", "/current"],
      ["POST", "/recalculate"],
      ["GET", "/budget"],
      ["GET", "/breaches"],
      ["GET", "/report"],
    ] as const
  ) {
    const answer = await app.call(method, `${SLA}/definitions/nothing${path}`, body);
    deepEqual([method, path, answer.status], [method, path, 404]);
    equal(answer.body.error, "SLA definition nothing does not exist");
  }
});

Deno.test("the current period is opened by the first request and stays the same", async () => {
  using app = proApp({ now: "2026-06-16T00:00:00Z" });
  addMonitor(app, "web");
  const { id } = await createSla(app);

  const { period, burn_rate } = await get(app, `/definitions/${id}/current`);

  equal(burn_rate, 0);
  deepEqual(period, {
    id: period.id,
    sla_id: id,
    period_type: "monthly",
    start_date: "2026-06-01",
    end_date: "2026-06-30",
    actual_uptime: null,
    target_uptime: 99.9,
    total_downtime_seconds: 0,
    coverage_percent: 0,
    is_breached: false,
    status: "current",
    calculated_at: "2026-06-16T00:00:00.000Z",
  });
  const recalculated = await app.call("POST", `${SLA}/definitions/${id}/recalculate`);
  deepEqual([recalculated.status, recalculated.body], [200, period]);
  deepEqual(await get(app, `/definitions/${id}/periods`), {
    periods: [period],
    total: 1,
    limit: 50,
    offset: 0,
  });
});

Deno.test("repeated reads write nothing", async () => {
  using app = proApp({ now: "2026-06-16T00:00:00Z" });
  addMonitor(app, "web");
  const { id } = await createSla(app);
  checkUntil(app, "web", "2026-06-16T00:10:00Z", DOWN);
  await get(app, `/definitions/${id}/current`);
  const changes = () => app.deps.db.get<{ n: number }>("SELECT total_changes() AS n")!.n;
  const before = changes();
  for (const path of ["", "/periods", "/current", "/budget", "/breaches", "/report"]) {
    app.clock.advance({ seconds: 10 });
    await get(app, `/definitions/${id}${path}`);
  }
  await get(app, "/definitions");
  equal(changes(), before);
});

Deno.test("an outage of 44 minutes causes exactly one breach, also across a restart", async () => {
  const db = openTestDatabase();
  try {
    let id: string;
    let webhookId: string;
    {
      using app = proApp({ ...june, ...open, db });
      addMonitor(app, "web");
      ({ id } = await createSla(app));
      webhookId = await addWebhook(app);
      checkAt(app, "web", "2026-06-10T10:00:00Z", DOWN);
      checkUntil(app, "web", "2026-06-10T10:43:00Z", DOWN);
      app.clock.set("2026-06-10T10:43:12.000Z");
      await recalculateAll(app.deps, signal);
      // Exactly the budget is used.
      const budget = await get(app, `/definitions/${id}/budget`);
      deepEqual(budget, {
        total_budget_minutes: 43.2,
        used_minutes: 43.2,
        remaining_minutes: 0,
        remaining_percentage: 0,
        is_breached: false,
        burn_rate: budget.burn_rate,
      });
      equal((await get(app, "/breaches")).total, 0);
      app.clock.set("2026-06-10T10:43:30.000Z");
      await recalculateAll(app.deps, signal);
      await recalculateAll(app.deps, signal);
      equal((await get(app, "/breaches")).total, 1);
    }
    using app = proApp({ now: "2026-06-10T10:43:40.000Z", ...open, db });
    await recalculateAll(app.deps, signal);
    checkAt(app, "web", "2026-06-10T10:44:00Z", UP);
    await recalculateAll(app.deps, signal);

    const { breaches, total } = await get(app, `/definitions/${id}/breaches`);
    const [breach] = breaches;
    const { period } = await get(app, `/definitions/${id}/current`);
    equal(total, 1);
    deepEqual(breaches, [{
      id: breach.id,
      sla_id: id,
      period_id: period.id,
      breached_at: "2026-06-10T10:43:12.000Z",
      // Only the hour around the outage was checked.
      actual_uptime: null,
      coverage_percent: 0.319771,
      target_uptime: 99.9,
      total_downtime_seconds: 2_610,
    }]);
    deepEqual(
      [period.total_downtime_seconds, period.is_breached, period.status],
      [2_640, true, "current"],
    );
    equal(await countDeliveries(app, webhookId), 1);
    const told = app.deps.db.all<{ payload: string }>("SELECT payload FROM outbox_messages");
    deepEqual(JSON.parse(told[0]!.payload).data, {
      sla: "Shop",
      slaId: id,
      periodId: period.id,
      breachId: breach.id,
      actualUptime: null,
      targetUptime: 99.9,
      downtimeSeconds: 2_610,
    });
  } finally {
    db.close();
  }
});

Deno.test("a breach that is detected late has the time at which the budget was exceeded", async () => {
  using app = proApp({ ...june, ...open });
  addMonitor(app, "web");
  const { id } = await createSla(app);
  const webhookId = await addWebhook(app);
  checkAt(app, "web", "2026-06-10T10:00:00Z", DOWN);
  checkUntil(app, "web", "2026-06-10T10:44:00Z", DOWN);
  checkAt(app, "web", "2026-06-10T10:44:00Z", UP);

  // The first reader gets the same breach as all later ones.
  app.clock.set("2026-06-20T00:00:00Z");
  const report = await get(app, `/definitions/${id}/report`);

  equal(report.current_status.period.is_breached, true);
  equal(report.breaches.length, 1);
  equal(report.breaches[0].breached_at, "2026-06-10T10:43:12.000Z");
  equal(report.breaches[0].total_downtime_seconds, 2_640);
  await recalculateAll(app.deps, signal);
  deepEqual((await get(app, "/breaches")).breaches, report.breaches);
  equal(await countDeliveries(app, webhookId), 1);
});

Deno.test("a monitor of two definitions breaches each separately", async () => {
  using app = proApp();
  addMonitor(app, "web");
  const strict = await createSla(app, { name: "strict", target_uptime: 99.99 });
  const loose = await createSla(app, { name: "loose", target_uptime: 99 });
  checkAt(app, "web", "2026-06-10T10:00:00Z", DOWN);
  checkUntil(app, "web", "2026-06-10T10:20:00Z", DOWN);
  await recalculateAll(app.deps, signal);
  deepEqual(
    (await get(app, "/breaches")).breaches.map((breach: { sla_id: string }) => breach.sla_id),
    [strict.id],
  );
  equal((await get(app, `/breaches?sla_id=${loose.id}`)).total, 0);
  equal((await get(app, `/breaches?sla_id=${strict.id}`)).total, 1);
  deepEqual(await get(app, "/breaches?sla_id=nothing&limit=5&offset=2"), {
    breaches: [],
    total: 0,
    limit: 5,
    offset: 2,
  });
});

Deno.test("simultaneous outages of two monitors count once", async () => {
  using app = proApp();
  addMonitor(app, "web");
  addMonitor(app, "api");
  const { id } = await createSla(app, { monitor_ids: ["web", "api"] });
  for (
    const [at, monitor, result] of [
      ["10:00", "web", DOWN],
      ["10:00", "api", UP],
      ["10:01", "web", DOWN],
      ["10:01", "api", DOWN],
      ["10:02", "web", UP],
      ["10:02", "api", DOWN],
      ["10:03", "web", UP],
      ["10:03", "api", UP],
    ] as const
  ) checkAt(app, monitor, `2026-06-10T${at}:00Z`, result);
  const { period } = await get(app, `/definitions/${id}/current`);
  equal(period.total_downtime_seconds, 180);
});

Deno.test("a pause and unchecked time are not downtime", async () => {
  using app = proApp({ now: "2026-06-01T00:00:00Z" });
  addMonitor(app, "web");
  const { id } = await createSla(app);
  checkUntil(app, "web", "2026-06-01T00:10:00Z", DOWN);
  // The service is stopped for half an hour, and finds the monitor still down.
  checkAt(app, "web", "2026-06-01T00:40:00Z", DOWN);
  insertMonitorGap(app.deps.db, {
    monitorId: "web",
    startedAt: "2026-06-01T00:40:30.000Z",
    endedAt: null,
    reason: "paused",
  });
  app.clock.set("2026-06-01T00:50:00Z");

  const { period } = await get(app, `/definitions/${id}/current`);

  // Ten minutes and the half one before the pause.
  equal(period.total_downtime_seconds, 630);
  equal(period.coverage_percent, 21);
  // All of the known time was downtime.
  equal(period.actual_uptime, 0);
});

Deno.test("an outage across the end of a month counts in both months", async () => {
  using app = proApp({ now: "2026-06-30T23:00:00Z" });
  addMonitor(app, "web");
  const { id } = await createSla(app);
  checkUntil(app, "web", "2026-06-30T23:40:00Z", UP);
  await recalculateAll(app.deps, signal);
  checkUntil(app, "web", "2026-07-01T00:10:00Z", DOWN);
  await recalculateAll(app.deps, signal);
  const { periods } = await get(app, `/definitions/${id}/periods`);
  deepEqual(
    periods.map((period: Record<string, unknown>) => [
      period["start_date"],
      period["end_date"],
      period["total_downtime_seconds"],
      period["status"],
    ]),
    [
      ["2026-07-01", "2026-07-31", 600, "current"],
      ["2026-06-01", "2026-06-30", 1_200, "closed"],
    ],
  );
});

Deno.test("an outage that began in a period that has just ended is still counted there", async () => {
  using app = proApp({ now: "2026-06-30T23:00:00Z" });
  addMonitor(app, "web", { retries: 2 });
  const { id } = await createSla(app);
  checkUntil(app, "web", "2026-06-30T23:58:00Z", UP);
  // Two failures before midnight do not make an outage yet.
  checkUntil(app, "web", "2026-07-01T00:00:00Z", DOWN);
  await recalculateAll(app.deps, signal);
  const downtimes = async () =>
    (await get(app, `/definitions/${id}/periods`)).periods.map((
      period: { total_downtime_seconds: number; status: string },
    ) => [period.total_downtime_seconds, period.status]);
  deepEqual(await downtimes(), [[0, "current"], [0, "closed"]]);

  checkUntil(app, "web", "2026-07-01T00:01:00Z", DOWN);
  await recalculateAll(app.deps, signal);

  deepEqual(await downtimes(), [[60, "current"], [120, "closed"]]);
});

Deno.test("periods that ended while the service was down are closed, and missed ones are created", async () => {
  using app = proApp({ now: "2026-01-31T23:00:00Z" });
  addMonitor(app, "web");
  const { id } = await createSla(app);
  await recalculateAll(app.deps, signal);
  checkUntil(app, "web", "2026-01-31T23:50:00Z", DOWN);

  app.clock.set("2026-04-10T00:00:00Z");
  await recalculateAll(app.deps, signal);

  const { periods, total } = await get(app, `/definitions/${id}/periods`);
  equal(total, 4);
  deepEqual(
    periods.map((period: Record<string, unknown>) => [
      period["start_date"],
      period["end_date"],
      period["status"],
      period["total_downtime_seconds"],
      period["is_breached"],
    ]),
    [
      ["2026-04-01", "2026-04-30", "current", 0, false],
      ["2026-03-01", "2026-03-31", "closed", 0, false],
      ["2026-02-01", "2026-02-28", "closed", 0, false],
      // Known time ends with the last check.
      ["2026-01-01", "2026-01-31", "closed", 3_000, true],
    ],
  );
  deepEqual(
    (await get(app, "/breaches")).breaches.map((breach: Record<string, unknown>) => [
      breach["period_id"],
      breach["breached_at"],
      breach["total_downtime_seconds"],
    ]),
    [[periods[3].id, "2026-01-31T23:44:38.400Z", 3_000]],
  );
  const page = await get(app, `/definitions/${id}/periods?limit=2&offset=1`);
  deepEqual(page, { periods: periods.slice(1, 3), total: 4, limit: 2, offset: 1 });
});

Deno.test("weeks continue across the end of a year", async () => {
  using app = proApp({ now: "2025-12-30T00:00:00Z" });
  addMonitor(app, "web");
  const { id } = await createSla(app, { period_type: "weekly" });
  await recalculateAll(app.deps, signal);
  app.clock.set("2026-01-14T00:00:00Z");
  await recalculateAll(app.deps, signal);
  const { periods } = await get(app, `/definitions/${id}/periods`);
  deepEqual(
    periods.map((period: Record<string, unknown>) => [period["start_date"], period["end_date"]]),
    [
      ["2026-01-12", "2026-01-18"],
      ["2026-01-05", "2026-01-11"],
      ["2025-12-29", "2026-01-04"],
    ],
  );
  equal((await get(app, `/definitions/${id}/budget`)).total_budget_minutes, 10.08);
});

Deno.test("after the clock is set back, closed periods stay unchanged", async () => {
  using app = proApp({ now: "2026-06-30T00:00:00Z" });
  addMonitor(app, "web");
  const { id } = await createSla(app);
  checkUntil(app, "web", "2026-06-30T00:10:00Z", DOWN);
  checkAt(app, "web", "2026-06-30T00:10:00Z", UP);
  app.clock.set("2026-07-01T12:00:00Z");
  await recalculateAll(app.deps, signal);
  const stored = () => app.deps.db.all("SELECT * FROM sla_periods ORDER BY start_date");
  const before = stored();
  equal(before.length, 2);

  app.clock.set("2026-06-20T00:00:00Z");
  await recalculateAll(app.deps, signal);

  deepEqual(stored()[0], before[0]);
  equal((await get(app, `/definitions/${id}/periods`)).total, 2);
  equal((await get(app, `/definitions/${id}/current`)).period.status, "closed");
});

Deno.test("a changed target applies only to the current period", async () => {
  using app = proApp({ now: "2026-05-10T00:00:00Z" });
  addMonitor(app, "web");
  const { id } = await createSla(app);
  checkUntil(app, "web", "2026-05-10T00:10:00Z", DOWN);
  await recalculateAll(app.deps, signal);
  checkAt(app, "web", "2026-06-10T00:00:00Z", DOWN);
  checkUntil(app, "web", "2026-06-10T00:10:00Z", DOWN);
  await recalculateAll(app.deps, signal);

  const changed = await app.call("PUT", `${SLA}/definitions/${id}`, { target_uptime: 99.99 });

  deepEqual([changed.status, changed.body.target_uptime], [200, 99.99]);
  equal(changed.body.name, "Shop");
  equal(changed.body.updated_at, "2026-06-10T00:10:00.000Z");
  const { periods } = await get(app, `/definitions/${id}/periods`);
  deepEqual(
    periods.map((period: Record<string, unknown>) => [
      period["start_date"],
      period["target_uptime"],
      period["total_downtime_seconds"],
      period["is_breached"],
    ]),
    [["2026-06-01", 99.99, 600, true], ["2026-05-01", 99.9, 600, false]],
  );
  equal((await get(app, "/breaches")).total, 1);

  // A period stays breached even if a new target would allow the downtime.
  await app.call("PUT", `${SLA}/definitions/${id}`, { target_uptime: 90 });
  equal((await get(app, `/definitions/${id}/current`)).period.is_breached, false);
  await app.call("PUT", `${SLA}/definitions/${id}`, { target_uptime: 99.99 });
  equal((await get(app, `/definitions/${id}/current`)).period.is_breached, true);
  equal((await get(app, "/breaches")).total, 1);
});

Deno.test("a period that ended before a change is closed with its own target", async () => {
  using app = proApp({ now: "2026-06-30T23:00:00Z" });
  addMonitor(app, "web");
  addMonitor(app, "api");
  const { id } = await createSla(app);
  await recalculateAll(app.deps, signal);
  checkUntil(app, "web", "2026-07-01T00:00:00Z", DOWN);
  checkAt(app, "web", "2026-07-01T00:00:00Z", UP);

  // Nothing was counted since the end of June.
  await app.call("PUT", `${SLA}/definitions/${id}`, { monitor_ids: ["api"], target_uptime: 50 });
  app.clock.advance({ minutes: 1 });
  await recalculateAll(app.deps, signal);

  const { periods } = await get(app, `/definitions/${id}/periods`);
  deepEqual(
    periods.map((period: Record<string, unknown>) => [
      period["target_uptime"],
      period["total_downtime_seconds"],
      period["is_breached"],
    ]),
    [[50, 0, false], [99.9, 3_600, true]],
  );
});

Deno.test("a changed period type opens a period of that type, and the previous one continues", async () => {
  using app = proApp({ now: "2026-06-24T00:00:00Z" });
  addMonitor(app, "web");
  const { id } = await createSla(app);
  const { period: month } = await get(app, `/definitions/${id}/current`);

  const { body } = await app.call("PUT", `${SLA}/definitions/${id}`, { period_type: "weekly" });

  equal(body.period_type, "weekly");
  const { period: week } = await get(app, `/definitions/${id}/current`);
  deepEqual([week.start_date, week.end_date], ["2026-06-22", "2026-06-28"]);
  app.clock.set("2026-07-02T00:00:00Z");
  await recalculateAll(app.deps, signal);
  const { periods } = await get(app, `/definitions/${id}/periods`);
  deepEqual(
    periods.map((period: Record<string, unknown>) => [
      period["start_date"],
      period["end_date"],
      period["status"],
    ]),
    [
      ["2026-06-29", "2026-07-05", "current"],
      ["2026-06-22", "2026-06-28", "closed"],
      ["2026-06-01", "2026-06-30", "closed"],
    ],
  );
  equal(periods[2].id, month.id);
});

Deno.test("past outages of a deleted monitor count, and the definition can still be changed", async () => {
  using app = proApp();
  addMonitor(app, "web");
  addMonitor(app, "api");
  const { id } = await createSla(app);
  checkAt(app, "web", "2026-06-10T10:00:00Z", DOWN);
  checkUntil(app, "web", "2026-06-10T10:05:00Z", DOWN);
  checkAt(app, "web", "2026-06-10T10:05:00Z", UP);
  updateMonitorLifeDeleted(app.deps.db, "web", app.deps.now().toISOString());
  equal(deleteMonitor(app.deps.db, "web"), true);

  const { period } = await get(app, `/definitions/${id}/current`);
  equal(period.total_downtime_seconds, 300);
  const change = (monitor_ids: string[]) =>
    app.call("PUT", `${SLA}/definitions/${id}`, { monitor_ids });
  equal((await change(["web", "api"])).status, 200);
  equal((await get(app, `/definitions/${id}/current`)).period.total_downtime_seconds, 300);
  equal((await change(["api"])).status, 200);
  equal((await get(app, `/definitions/${id}/current`)).period.total_downtime_seconds, 0);
  // It is no longer in the definition, and the monitor does not exist.
  equal((await change(["api", "web"])).status, 400);
});

Deno.test("deleting a definition deletes only its periods and breaches", async () => {
  using app = proApp();
  addMonitor(app, "web");
  const gone = await createSla(app, { name: "gone" });
  const kept = await createSla(app, { name: "kept" });
  checkAt(app, "web", "2026-06-10T10:00:00Z", DOWN);
  checkUntil(app, "web", "2026-06-10T10:50:00Z", DOWN);
  await recalculateAll(app.deps, signal);
  equal((await get(app, "/breaches")).total, 2);
  const tables = app.deps.db.all<{ name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name",
  ).map(({ name }) => name);
  const counts = () =>
    Object.fromEntries(tables.map((name) => [
      name,
      app.deps.db.get<{ n: number }>(`SELECT count(*) AS n FROM "${name}"`)!.n,
    ]));
  const before = counts();

  const deleted = await app.call("DELETE", `${SLA}/definitions/${gone.id}`);

  deepEqual([deleted.status, deleted.body], [200, { ok: true }]);
  deepEqual(counts(), {
    ...before,
    sla_definitions: before["sla_definitions"]! - 1,
    sla_monitors: before["sla_monitors"]! - 1,
    sla_periods: before["sla_periods"]! - 1,
    sla_breaches: before["sla_breaches"]! - 1,
    // The deletion itself is audited.
    audit_entries: before["audit_entries"]! + 1,
    audit_targets: before["audit_targets"]! + 1,
  });
  deepEqual((await get(app, "/definitions")).definitions, [kept]);
  equal((await get(app, "/breaches")).breaches[0].sla_id, kept.id);
  equal((await app.call("DELETE", `${SLA}/definitions/${gone.id}`)).status, 404);
});

Deno.test("the report holds definition, status, periods, breaches and a point for each day", async () => {
  using app = proApp({ now: "2026-05-31T12:00:00Z" });
  addMonitor(app, "web");
  const definition = await createSla(app);
  await recalculateAll(app.deps, signal);
  checkAt(app, "web", "2026-06-02T10:00:00Z", DOWN);
  checkUntil(app, "web", "2026-06-02T10:50:00Z", DOWN);
  checkAt(app, "web", "2026-06-02T10:50:00Z", UP);
  app.clock.set("2026-06-04T00:00:00Z");
  await recalculateAll(app.deps, signal);

  const report = await get(app, `/definitions/${definition.id}/report`);

  deepEqual(Object.keys(report), [
    "definition",
    "current_status",
    "periods",
    "breaches",
    "burn_rate_chart",
  ]);
  deepEqual(report.definition, definition);
  const { period, burn_rate } = await get(app, `/definitions/${definition.id}/current`);
  const budget = await get(app, `/definitions/${definition.id}/budget`);
  deepEqual(report.current_status, { period, burn_rate, budget });
  deepEqual(await get(app, `/definitions/${definition.id}`), {
    ...definition,
    current_status: { period, burn_rate, budget },
  });
  deepEqual([budget.used_minutes, budget.remaining_minutes, budget.remaining_percentage], [
    50,
    -6.8,
    0,
  ]);
  deepEqual(report.periods, (await get(app, `/definitions/${definition.id}/periods`)).periods);
  equal(report.periods.length, 2);
  deepEqual(report.breaches, (await get(app, `/definitions/${definition.id}/breaches`)).breaches);
  deepEqual(report.burn_rate_chart, [
    { date: "2026-06-01", burn_rate: 0 },
    { date: "2026-06-02", burn_rate: 17.361111 },
    { date: "2026-06-03", burn_rate: 11.574074 },
  ]);
  equal(report.burn_rate_chart.at(-1).burn_rate, burn_rate);
});
