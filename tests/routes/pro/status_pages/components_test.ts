import { deepEqual, equal, match } from "node:assert/strict";
import { emit } from "../../../../services/events/emit.ts";
import { reconcileComponents } from "../../../../services/pro/status_pages/components.ts";
import { freePort } from "../../../helpers/free_port.ts";
import { newComponent, newMonitor, newPage, PAGES, proApp } from "../../../helpers/status_pages.ts";
import { collectEvents } from "../../../helpers/test_app.ts";

const down = (monitorId: string) =>
  ({ monitor: "m", monitorId, outageId: "o", cause: "refused by 10.0.0.5" }) as const;
const up = (monitorId: string) =>
  ({ monitor: "m", monitorId, outageId: "o", downtimeSeconds: 5 }) as const;

Deno.test("components are listed in the order in which they are shown", async () => {
  using app = proApp();
  const page = await newPage(app);
  const first = await newComponent(app, page.id, { group_name: "Core" });
  deepEqual(first, {
    id: first.id,
    page_id: page.id,
    name: "API",
    description: "",
    status: "operational",
    display_order: 0,
    group_name: "Core",
    monitor_id: null,
    created_at: "2026-01-01T12:00:00.000Z",
    updated_at: "2026-01-01T12:00:00.000Z",
    shown_status: "operational",
  });
  for (const [name, display_order] of [["Web", undefined], ["Mail", 7], ["DNS", undefined]]) {
    await newComponent(app, page.id, { name, display_order });
  }
  await app.call("PUT", `${PAGES}/${page.id}/components/${first.id}`, { display_order: 3 });
  const { body } = await app.call("GET", `${PAGES}/${page.id}/components`);
  deepEqual(
    body.components.map((c: { name: string; display_order: number }) => [c.name, c.display_order]),
    [["Web", 1], ["API", 3], ["Mail", 7], ["DNS", 8]],
  );
});

for (
  const [wrong, change, error] of [
    ["an unknown status", { status: "down" }, /^body\.status: /],
    ["an order that is not an integer", { display_order: 1.5 }, /display_order/],
    ["a negative order", { display_order: -1 }, /display_order/],
    ["an empty group", { group_name: "" }, /group_name/],
    ["a monitor that is not there", { monitor_id: "m" }, /monitor m does not exist/],
  ] as const
) {
  Deno.test(`components are not stored with ${wrong}`, async () => {
    using app = proApp();
    const page = await newPage(app);
    const component = await newComponent(app, page.id);
    const path = `${PAGES}/${page.id}/components`;
    for (
      const answer of [
        await app.call("POST", path, { name: "B", ...change }),
        await app.call("PUT", `${path}/${component.id}`, change),
      ]
    ) {
      equal(answer.status, 400);
      match(answer.body.error, error);
    }
  });
}

Deno.test("components of another page are 404", async () => {
  using app = proApp();
  const [page, other] = [await newPage(app), await newPage(app)];
  const component = await newComponent(app, other.id);
  const { body: incident } = await app.call("POST", `${PAGES}/${other.id}/incidents`, {
    title: "x",
  });
  const { body: subscriber } = await app.call("POST", `${PAGES}/${other.id}/subscribers`, {
    webhook_url: "http://127.0.0.1:1/",
  });
  for (
    const [method, path, body] of [
      ["PUT", `components/${component.id}`, { name: "x" }],
      ["DELETE", `components/${component.id}`, undefined],
      ["PUT", `incidents/${incident.id}`, { title: "y" }],
      ["DELETE", `incidents/${incident.id}`, undefined],
      ["DELETE", `subscribers/${subscriber.id}`, undefined],
      ["GET", `subscribers/verify/${subscriber.verify_token}`, undefined],
    ] as const
  ) {
    const answer = await app.call(method, `${PAGES}/${page.id}/${path}`, body);
    deepEqual([path, answer.status], [path, 404]);
  }
  const { body } = await app.call("GET", `${PAGES}/${other.id}`);
  deepEqual([body.components.length, body.active_incidents.length], [1, 1]);
});

Deno.test("the page has the status of its worst component", async () => {
  using app = proApp();
  const page = await newPage(app);
  const overall = async () => (await app.call("GET", `${PAGES}/${page.id}`)).body.overall_status;
  for (
    const status of [
      "operational",
      "under_maintenance",
      "degraded_performance",
      "partial_outage",
      "major_outage",
    ]
  ) {
    await newComponent(app, page.id, { status });
    await newComponent(app, page.id);
    equal(await overall(), status);
    equal((await app.call("GET", `${PAGES}/public/${page.slug}`)).body.overall_status, status);
  }
});

Deno.test("a changed status publishes an event; a changed name does not", async () => {
  using app = proApp();
  const page = await newPage(app);
  const { id } = await newComponent(app, page.id);
  const events = collectEvents(app);
  const path = `${PAGES}/${page.id}/components/${id}`;
  await app.call("PUT", path, { name: "New API" });
  await app.call("PUT", path, { status: "operational" });
  deepEqual(events, []);
  await app.call("PUT", path, { status: "partial_outage" });
  deepEqual(events.map(({ event, data }) => [event, data]), [["status_page.updated", {
    page: "Acme",
    pageId: page.id,
    component: "New API",
    incident: null,
    oldStatus: "operational",
    newStatus: "partial_outage",
    message: null,
  }]]);
});

Deno.test("a component follows its monitor down and up, on every page", async () => {
  using app = proApp();
  newMonitor(app, "m1", "up");
  newMonitor(app, "m2", "up");
  const [page, other] = [await newPage(app), await newPage(app, { name: "Other" })];
  const one = await newComponent(app, page.id, { monitor_id: "m1", status: "partial_outage" });
  equal(one.status, "operational", "the monitor wins from the beginning");
  app.clock.advance({ seconds: 1 });
  await newComponent(app, other.id, { monitor_id: "m1" });
  await newComponent(app, page.id, { name: "Free" });
  await newComponent(app, page.id, { name: "m2's", monitor_id: "m2" });
  const events = collectEvents(app);

  emit(app.deps, "monitor.down", down("m1"));
  emit(app.deps, "monitor.down", down("m1"));
  const updates = () =>
    events.filter(({ event }) => event === "status_page.updated").map(({ data }) => {
      const { page, component, oldStatus, newStatus } = data as Record<string, string>;
      return [page, component, oldStatus, newStatus];
    });
  deepEqual(updates(), [
    ["Acme", "API", "operational", "major_outage"],
    ["Other", "API", "operational", "major_outage"],
  ]);
  const { body } = await app.call("GET", `${PAGES}/public/acme`);
  deepEqual(
    body.components.map((c: { name: string; status: string }) => [c.name, c.status]),
    [["API", "major_outage"], ["Free", "operational"], ["m2's", "operational"]],
  );
  emit(app.deps, "monitor.up", up("m1"));
  equal((await app.call("GET", `${PAGES}/public/acme`)).body.overall_status, "operational");
  equal(updates().length, 4);
});

Deno.test("a component shows the result of a real check of its monitor", async () => {
  using app = proApp();
  // A port that the system gives to no other program once it is closed.
  const port = freePort();
  const listener = Deno.listen({ hostname: "127.0.0.1", port });
  const monitors = "/api/ext/service-pro/uptime/monitors";
  const { body: monitor } = await app.call("POST", monitors, {
    name: "db",
    type: "tcp",
    url: `127.0.0.1:${port}`,
    retries: 0,
  });
  const page = await newPage(app);
  await newComponent(app, page.id, { monitor_id: monitor.id, status: "under_maintenance" });
  const overall = async () => (await app.call("GET", `${PAGES}/public/acme`)).body.overall_status;
  const check = async () => {
    equal((await app.call("POST", `${monitors}/${monitor.id}/check`)).status, 200);
    reconcileComponents(app.deps);
    app.clock.advance({ minutes: 1 });
  };
  equal(await overall(), "under_maintenance");
  await check();
  equal(await overall(), "operational");
  listener.close();
  await check();
  equal(await overall(), "major_outage");
});

Deno.test("the status of a component with a monitor cannot be set", async () => {
  using app = proApp();
  newMonitor(app, "m1", "down");
  const page = await newPage(app);
  const component = await newComponent(app, page.id, { monitor_id: "m1" });
  equal(component.status, "major_outage");
  const path = `${PAGES}/${page.id}/components/${component.id}`;
  const refused = await app.call("PUT", path, { status: "operational" });
  equal(refused.status, 409);
  match(refused.body.error, /follows monitor m1; set monitor_id to null/);
  equal((await app.call("PUT", path, { ...component, name: "B" })).status, 200);
  const { status, body } = await app.call("PUT", path, {
    status: "under_maintenance",
    monitor_id: null,
  });
  deepEqual([status, body.status, body.monitor_id], [200, "under_maintenance", null]);
  const again = await app.call("PUT", path, { monitor_id: "m1" });
  deepEqual([again.body.status, again.body.monitor_id], ["major_outage", "m1"]);
});

for (const [state, paused] of [["pending", false], ["down", true]] as const) {
  Deno.test(`under a monitor that is ${paused ? "paused" : state} a component keeps its status`, async () => {
    using app = proApp();
    newMonitor(app, "m1", state, paused);
    const page = await newPage(app);
    const options = { monitor_id: "m1", status: "degraded_performance" };
    equal((await newComponent(app, page.id, options)).status, "degraded_performance");
    reconcileComponents(app.deps);
    const { body } = await app.call("GET", `${PAGES}/${page.id}`);
    equal(body.overall_status, "degraded_performance");
  });
}

Deno.test("a monitor that changed without an event is noticed in the next round", async () => {
  using app = proApp();
  newMonitor(app, "m1", "up");
  const page = await newPage(app);
  await newComponent(app, page.id, { monitor_id: "m1" });
  const overall = async () => (await app.call("GET", `${PAGES}/public/acme`)).body.overall_status;
  app.deps.db.run("UPDATE uptime_monitors SET status = 'down'");
  equal(await overall(), "operational");
  const events = collectEvents(app);
  reconcileComponents(app.deps);
  reconcileComponents(app.deps);
  equal(await overall(), "major_outage");
  deepEqual(events.map(({ event }) => event), ["status_page.updated"]);
});

Deno.test("deleting a monitor leaves its component with the last status", async () => {
  using app = proApp();
  newMonitor(app, "m1", "down");
  const page = await newPage(app);
  const { id } = await newComponent(app, page.id, { monitor_id: "m1" });
  equal((await app.call("DELETE", "/api/ext/service-pro/uptime/monitors/m1")).status, 200);
  const path = `${PAGES}/${page.id}/components`;
  const [component] = (await app.call("GET", path)).body.components;
  deepEqual([component.monitor_id, component.status], [null, "major_outage"]);
  const { status } = await app.call("PUT", `${path}/${id}`, { status: "operational" });
  equal(status, 200);
});

Deno.test("a page has at most 200 components, a monitor at most 50 that follow it", async () => {
  using app = proApp();
  newMonitor(app, "m1", "up");
  const page = await newPage(app);
  const path = `${PAGES}/${page.id}/components`;
  const add = (fields: object) => app.call("POST", path, { name: "x", ...fields });
  for (let i = 0; i < 50; i++) equal((await add({ monitor_id: "m1" })).status, 201);
  equal((await add({ monitor_id: "m1" })).status, 409);
  for (let i = 0; i < 150; i++) equal((await add({})).status, 201);
  const { status, body } = await add({});
  equal(status, 409);
  match(body.error, /Limit of 200 components/);
  emit(app.deps, "monitor.down", down("m1"));
  equal((await app.call("GET", `${PAGES}/${page.id}`)).body.overall_status, "major_outage");
});
