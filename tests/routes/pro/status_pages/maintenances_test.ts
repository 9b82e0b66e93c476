import { deepEqual, equal, match, ok } from "node:assert/strict";
import { reconcileComponents } from "../../../../services/pro/status_pages/components.ts";
import { advanceMaintenances } from "../../../../services/pro/status_pages/maintenances.ts";
import { emit } from "../../../../services/events/emit.ts";
import { smtpServer } from "../../../helpers/smtp_server.ts";
import {
  deliver,
  newComponent,
  newMonitor,
  newPage,
  newSubscriber,
  PAGES,
  proApp,
} from "../../../helpers/status_pages.ts";
import type { TestApp } from "../../../helpers/test_app.ts";

const PLAN = {
  title: "Database upgrade",
  message: "Read-only for ten minutes.",
  starts_at: "2026-01-01T15:00:00+01:00",
  ends_at: "2026-01-01T15:00:00Z",
};

const shownOf = async (app: TestApp) => {
  const { body } = await app.call("GET", `${PAGES}/public/acme`, undefined, { role: "public" });
  return [body.overall_status, body.components[0].status, body.maintenances[0]?.status];
};

Deno.test("the clock starts and completes a maintenance, and its components show it", async () => {
  using app = proApp();
  const page = await newPage(app);
  const component = await newComponent(app, page.id);
  const path = `${PAGES}/${page.id}/maintenances`;
  const { status, body } = await app.call("POST", path, {
    ...PLAN,
    component_ids: [component.id, component.id],
  });
  equal(status, 201);
  deepEqual(body, {
    ...PLAN,
    id: body.id,
    page_id: page.id,
    status: "scheduled",
    starts_at: "2026-01-01T14:00:00.000Z",
    ends_at: "2026-01-01T15:00:00.000Z",
    component_ids: [component.id],
    created_at: "2026-01-01T12:00:00.000Z",
    updated_at: "2026-01-01T12:00:00.000Z",
  });
  const seen: (string | null)[][] = [];
  const { events } = app.deps;
  app.deps.events = {
    ...events,
    publish: (event) => {
      if (event.event !== "status_page.updated") return;
      const { maintenance, oldStatus, newStatus } = event.data as Record<string, string | null>;
      seen.push([maintenance!, oldStatus!, newStatus!]);
    },
  };
  const at = (time: string) => {
    app.clock.set(time);
    advanceMaintenances(app.deps);
    return shownOf(app);
  };

  deepEqual(await at("2026-01-01T13:59:59Z"), ["operational", "operational", "scheduled"]);
  deepEqual(await at("2026-01-01T14:00:00Z"), [
    "under_maintenance",
    "under_maintenance",
    "in_progress",
  ]);
  const listed = (await app.call("GET", `${PAGES}/${page.id}/components`)).body.components[0];
  deepEqual([listed.status, listed.shown_status], ["operational", "under_maintenance"]);
  deepEqual(await at("2026-01-01T15:00:00Z"), ["operational", "operational", undefined]);
  deepEqual(seen, [
    ["Database upgrade", "scheduled", "in_progress"],
    ["Database upgrade", "in_progress", "completed"],
  ]);
  equal((await app.call("GET", path)).body.maintenances[0].status, "completed");
});

Deno.test("maintenance that ended while the service was down is completed, not started", async () => {
  using app = proApp();
  const page = await newPage(app);
  await app.call("POST", `${PAGES}/${page.id}/maintenances`, PLAN);
  app.clock.set("2026-01-02T00:00:00Z");
  advanceMaintenances(app.deps);
  const { body } = await app.call("GET", `${PAGES}/${page.id}/maintenances`);
  equal(body.maintenances[0].status, "completed");
});

Deno.test("the status follows changed times, and an early end completes it", async () => {
  using app = proApp();
  const page = await newPage(app);
  const path = `${PAGES}/${page.id}/maintenances`;
  const { id } = (await app.call("POST", path, PLAN)).body;
  const change = async (fields: object) =>
    (await app.call("PUT", `${path}/${id}`, fields)).body.status;
  equal(await change({ starts_at: "2026-01-01T12:00:00Z" }), "in_progress");
  equal(await change({ starts_at: "2026-01-01T12:30:00Z" }), "scheduled");
  app.clock.set("2026-01-01T12:40:00Z");
  equal(await change({ ends_at: "2026-01-01T12:40:00Z" }), "completed");
});

Deno.test("a component under maintenance follows its monitor again afterwards, and only then notifies", async () => {
  using app = proApp();
  newMonitor(app, "m1", "up");
  const page = await newPage(app);
  const component = await newComponent(app, page.id, { monitor_id: "m1" });
  await app.call("POST", `${PAGES}/${page.id}/maintenances`, {
    ...PLAN,
    component_ids: [component.id],
  });
  app.clock.set("2026-01-01T14:10:00Z");
  advanceMaintenances(app.deps);
  app.deps.db.run("UPDATE uptime_monitors SET status = 'down' WHERE id = 'm1'");
  const down = {
    monitor: "m",
    monitorId: "m1",
    type: "http",
    url: "http://x",
    cause: "c",
  } as const;
  emit(app.deps, "monitor.down", down as never);
  reconcileComponents(app.deps);
  deepEqual(await shownOf(app), ["under_maintenance", "under_maintenance", "in_progress"]);

  app.clock.set("2026-01-01T15:00:00Z");
  advanceMaintenances(app.deps);
  reconcileComponents(app.deps);
  deepEqual(await shownOf(app), ["major_outage", "major_outage", undefined]);
});

Deno.test("subscribers are notified of the plan with its times, and of its cancellation", async () => {
  await using server = await smtpServer();
  using app = proApp({
    config: { outboundAllow: ["127.0.0.1"], smtpUrl: server.url, smtpFrom: "s@longshore.test" },
  });
  const page = await newPage(app);
  await newSubscriber(app, page.id, { email: "ada@example.com" });
  const path = `${PAGES}/${page.id}/maintenances`;
  const { id } = (await app.call("POST", path, PLAN)).body;
  await deliver(app);
  await app.call("DELETE", `${path}/${id}`);
  await deliver(app);
  const mails = server.mails.map(({ headers, parts }) => ({
    subject: headers["subject"],
    text: parts["text/plain"]!,
  }));
  const [planned, cancelled] = mails.slice(-2);
  equal(planned!.subject, "[Acme] Scheduled: Database upgrade");
  match(planned!.text, /Maintenance: Database upgrade\r?\nStatus: Scheduled\r?\n/);
  match(planned!.text, /Planned: 2026-01-01 14:00 UTC to 2026-01-01 15:00 UTC/);
  equal(cancelled!.subject, "[Acme] Cancelled: Database upgrade");
});

Deno.test("the page shows maintenance in progress and planned apart from incidents", async () => {
  using app = proApp();
  const page = await newPage(app);
  const component = await newComponent(app, page.id);
  const path = `${PAGES}/${page.id}/maintenances`;
  await app.call("POST", path, { ...PLAN, title: "Later" });
  await app.call("POST", path, {
    ...PLAN,
    title: "Now",
    starts_at: "2026-01-01T11:00:00Z",
    component_ids: [component.id],
  });
  const { body } = await app.call("GET", "/status/acme", undefined, { role: "public" });
  ok(body.indexOf("Maintenance in progress") < body.indexOf("Planned maintenance"));
  match(body, /API is under maintenance/);
  match(body, /Affects: API/);
  const feed = await app.call("GET", "/status/acme/feed.atom", undefined, { role: "public" });
  match(feed.body, /<title>Maintenance scheduled: Later<\/title>/);
});

for (
  const { wrong, fields, error } of [
    {
      wrong: "an end before its start",
      fields: { ends_at: "2026-01-01T13:00:00Z" },
      error: /after/,
    },
    {
      wrong: "an end in the past",
      fields: { starts_at: "2025-01-01T00:00:00Z", ends_at: "2025-01-02T00:00:00Z" },
      error: /in the future/,
    },
    { wrong: "a component of no page", fields: { component_ids: ["x"] }, error: /no component x/ },
    { wrong: "no time", fields: { starts_at: "tomorrow" }, error: /starts_at/ },
  ]
) {
  Deno.test(`a maintenance is not stored with ${wrong}`, async () => {
    using app = proApp();
    const page = await newPage(app);
    const path = `${PAGES}/${page.id}/maintenances`;
    const answer = await app.call("POST", path, { ...PLAN, ...fields });
    equal(answer.status, 400);
    match(answer.body.error, error);
    equal((await app.call("GET", path)).body.total, 0);
  });
}

Deno.test("a page has at most 50 maintenances that are not completed; viewers cannot plan", async () => {
  using app = proApp();
  const page = await newPage(app);
  const path = `${PAGES}/${page.id}/maintenances`;
  equal((await app.call("POST", path, PLAN, { role: "viewer" })).status, 403);
  for (let n = 0; n < 50; n++) await app.call("POST", path, PLAN);
  equal((await app.call("POST", path, PLAN)).status, 409);
  equal((await app.call("PUT", `${path}/other`, PLAN)).status, 404);
});
