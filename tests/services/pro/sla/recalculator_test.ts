import { deepEqual, equal, rejects } from "node:assert/strict";
import { selectSlaPeriods } from "../../../../db/pro/sla_periods.ts";
import { createSla } from "../../../../services/pro/sla/definitions.ts";
import { recalculateSlas, untilNextRound } from "../../../../services/pro/sla/recalculator.ts";
import { insertOutage, updateOutageResolved } from "../../../../db/pro/uptime/outages.ts";
import { insertMonitor } from "../../../../db/pro/uptime/monitors.ts";
import { emit } from "../../../../services/events/emit.ts";
import { storedMonitor } from "../../../helpers/stored_monitor.ts";
import { type TestApp, testApp } from "../../../helpers/test_app.ts";
import { until } from "../../../helpers/until.ts";

for (
  const { now, ms } of [
    { now: "2026-06-10T12:00:00.000Z", ms: 60_000 },
    { now: "2026-06-10T23:58:59.999Z", ms: 60_000 },
    { now: "2026-06-10T23:59:00.001Z", ms: 59_999 },
    { now: "2026-06-30T23:59:59.999Z", ms: 1 },
    { now: "2026-07-01T00:00:00.000Z", ms: 60_000 },
  ]
) {
  Deno.test(`at ${now} the next round of the SLA recalculator is in ${ms} ms`, () => {
    equal(untilNextRound(new Date(now)), ms);
  });
}

/** An application with a monitor `web` and an SLA of 99.9 % for it. */
function slaApp(): TestApp & { slaId: string } {
  const app = testApp({ edition: "pro", now: "2026-06-10T10:00:00Z" });
  insertMonitor(
    app.deps.db,
    storedMonitor({ id: "web", createdAt: app.deps.now().toISOString(), status: "up" }),
  );
  const { id } = createSla(app.deps, {
    name: "Shop",
    description: "",
    target_uptime: 99.9,
    period_type: "monthly",
    monitor_ids: ["web"],
  });
  return { ...app, slaId: id };
}

const periodsOf = ({ deps, slaId }: ReturnType<typeof slaApp>) =>
  selectSlaPeriods(deps.db, slaId, { limit: 10, offset: 0 });

Deno.test("the SLA recalculator runs at its start and when a monitor goes down or up", async () => {
  using app = slaApp();
  const { deps, clock } = app;
  const outage = { id: "o1", monitorId: "web", monitorName: "web", cause: "refused" };
  const data = { monitor: "web", monitorId: "web", outageId: "o1" };
  const breaches: string[] = [];
  const end = new AbortController();
  const listening = (async () => {
    for await (const event of deps.events.subscribe(end.signal)) {
      if (event.event === "sla.breached") breaches.push(event.data.slaId);
    }
  })();
  let rounds = 0;
  const running = recalculateSlas(deps, end.signal, () => rounds++);
  try {
    await until("the first round has ended", () => rounds === 1);
    equal(periodsOf(app).length, 1);

    emit(deps, "monitor.down", { ...data, cause: "refused" }, () => {
      insertOutage(deps.db, { ...outage, startedAt: "2026-06-10T10:00:00.000Z", resolvedAt: null });
    });
    clock.advance({ minutes: 44 });
    emit(deps, "monitor.up", { ...data, downtimeSeconds: 2_640 }, () => {
      updateOutageResolved(deps.db, "o1", "2026-06-10T10:44:00.000Z");
    });

    await until("the outage is counted", () => periodsOf(app)[0]?.total_downtime_seconds === 2_640);
    await until("the breach is reported", () => breaches.length > 0);
    deepEqual(breaches, [app.slaId]);
    equal(rounds, 1);
  } finally {
    end.abort();
    await Promise.all([running, listening]);
  }
});

Deno.test("the SLA recalculator stops if following the monitors fails", async () => {
  using app = slaApp();
  const { deps } = app;
  let broken = false;
  const all: typeof deps.metrics.all = (...query) => {
    if (broken) throw new Error("disk I/O error");
    return deps.metrics.all(...query);
  };
  const { signal } = new AbortController();
  const firstRound = Promise.withResolvers<void>();
  const running = recalculateSlas(
    { ...deps, metrics: { ...deps.metrics, all } },
    signal,
    firstRound.resolve,
  );
  await firstRound.promise;
  broken = true;
  emit(deps, "monitor.down", { monitor: "web", monitorId: "web", outageId: "o1", cause: "" });
  await rejects(running, /disk I\/O error/);
});
