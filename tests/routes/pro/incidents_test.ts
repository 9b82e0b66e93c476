import { deepEqual, equal, match, ok } from "node:assert/strict";
import { storeUser } from "../../../services/access/users/users.ts";
import type { AppEvent } from "../../../services/events/events.ts";
import { createIncident } from "../../../services/pro/incidents/incidents.ts";
import { type TestApp, testApp, type TestAppOptions } from "../../helpers/test_app.ts";

const BASE = "/api/ext/service-pro/incidents";

const outage = {
  title: "Checkout answers with errors",
  severity: "major",
  description: "Every tenth order fails.",
  commander: "Ada",
};

const proApp = (options: TestAppOptions = {}) =>
  testApp({ edition: "pro", now: "2026-01-01T12:00:00Z", ...options });

async function open(app: TestApp, changes: Record<string, unknown> = {}) {
  const { status, body } = await app.call("POST", BASE, { ...outage, ...changes });
  equal(status, 201);
  return body;
}

function collect(app: TestApp): AppEvent[] {
  const seen: AppEvent[] = [];
  app.deps.events.publish = (event) => void seen.push(event);
  return seen;
}

Deno.test("POST /incidents opens an incident, publishes it and returns it with its timeline", async () => {
  using app = proApp();
  const events = collect(app);

  const { status, body } = await app.call("POST", BASE, outage, { role: "operator" });

  equal(status, 201);
  deepEqual(body, {
    ...outage,
    id: body.id,
    status: "open",
    source: "manual",
    source_id: null,
    created_by: "key",
    created_at: "2026-01-01T12:00:00.000Z",
    updated_at: "2026-01-01T12:00:00.000Z",
    resolved_at: null,
  });
  const shown = await app.call("GET", `${BASE}/${body.id}`, undefined, { role: "viewer" });
  const [entry] = shown.body.timeline;
  deepEqual([shown.status, shown.body], [200, {
    ...body,
    timeline: [{
      id: entry.id,
      type: "status_change",
      message: "Incident opened",
      author: "key",
      created_at: "2026-01-01T12:00:00.000Z",
    }],
  }]);
  deepEqual(events.map((event) => ({ ...event, eventId: "" })), [{
    event: "incident.created",
    timestamp: "2026-01-01T12:00:00.000Z",
    eventId: "",
    server: "test-host",
    serverId: app.deps.server.id,
    data: {
      id: body.id,
      title: outage.title,
      severity: "major",
      status: "open",
      source: "manual",
    },
  }]);
});

Deno.test("an incident requires only a title and a severity", async () => {
  using app = proApp();
  const { status, body } = await app.call("POST", BASE, { title: " x ", severity: "info" });
  deepEqual([status, body.title, body.description, body.commander], [201, "x", null, null]);
});

for (
  const [change, error] of [
    [{ title: undefined }, /^body\.title: /],
    [{ title: " " }, /^body\.title: /],
    [{ title: "x".repeat(201) }, /^body\.title: /],
    [{ severity: "bad" }, /^body\.severity: must be one of critical, major, minor, info$/],
    [{ severity: undefined }, /^body\.severity: /],
    [{ description: "x".repeat(10_001) }, /^body\.description: /],
    [{ description: 5 }, /^body\.description: /],
    [{ commander: "x".repeat(201) }, /^body\.commander: /],
  ] as const
) {
  Deno.test(`POST /incidents refuses ${JSON.stringify(change).slice(0, 60)}`, async () => {
    using app = proApp();
    const { status, body } = await app.call("POST", BASE, { ...outage, ...change });
    equal(status, 400);
    match(body.error, error);
    equal((await app.call("GET", BASE)).body.total, 0);
  });
}

Deno.test("GET /incidents is paged, newest first, and filtered by status", async () => {
  using app = proApp();
  for (const title of ["a", "b", "c"]) {
    await open(app, { title });
    app.clock.advance({ minutes: 1 });
  }
  const titles = async (query: string) => {
    const { body } = await app.call("GET", `${BASE}${query}`, undefined, { role: "viewer" });
    return [body.incidents.map(({ title }: { title: string }) => title), body.total];
  };
  deepEqual(await titles(""), [["c", "b", "a"], 3]);
  deepEqual(await titles("?limit=1&offset=1"), [["b"], 3]);
  const { body } = await app.call("GET", `${BASE}?limit=1&offset=2`);
  deepEqual([body.limit, body.offset], [1, 2]);
  await app.call("PUT", `${BASE}/${body.incidents[0].id}/status`, { status: "resolved" });
  deepEqual(await titles("?status=resolved"), [["a"], 1]);
  deepEqual(await titles("?status=open"), [["c", "b"], 2]);
  equal((await app.call("GET", BASE)).body.limit, 50);
  for (const query of ["status=closed", "status=", "limit=501", "offset=-1", "limit=1&limit=2"]) {
    equal((await app.call("GET", `${BASE}?${query}`)).status, 400, query);
  }
});

Deno.test("PUT /incidents/:id changes the given fields and publishes the change", async () => {
  using app = proApp();
  const incident = await open(app);
  const events = collect(app);
  app.clock.advance({ minutes: 1 });

  const changed = await app.call("PUT", `${BASE}/${incident.id}`, {
    severity: "critical",
    commander: null,
  });

  deepEqual([changed.status, changed.body], [200, {
    ...incident,
    severity: "critical",
    commander: null,
    updated_at: "2026-01-01T12:01:00.000Z",
  }]);
  deepEqual(events.map(({ event, data }) => [event, data]), [["incident.updated", {
    id: incident.id,
    title: outage.title,
    severity: "critical",
    status: "open",
    source: "manual",
    previousStatus: "open",
    message: null,
  }]]);
  const same = await app.call("PUT", `${BASE}/${incident.id}`, { severity: "critical" });
  deepEqual([same.body, events.length], [changed.body, 1]);
  const wrong = await app.call("PUT", `${BASE}/${incident.id}`, { title: "" });
  deepEqual([wrong.status, wrong.body.error.split(":")[0]], [400, "body.title"]);
});

Deno.test("PUT /incidents/:id/status records each change; reopening clears resolved_at", async () => {
  using app = proApp();
  const { id } = await open(app);
  const events = collect(app);
  const steps: unknown[] = [];
  for (
    const change of [
      { status: "identified", message: "A full disk." },
      { status: "resolved" },
      { status: "investigating", message: "It is back." },
    ]
  ) {
    app.clock.advance({ minutes: 1 });
    const { status, body } = await app.call("PUT", `${BASE}/${id}/status`, change, {
      role: "operator",
    });
    equal(status, 200);
    steps.push([body.status, body.resolved_at, body.updated_at]);
  }
  deepEqual(steps, [
    ["identified", null, "2026-01-01T12:01:00.000Z"],
    ["resolved", "2026-01-01T12:02:00.000Z", "2026-01-01T12:02:00.000Z"],
    ["investigating", null, "2026-01-01T12:03:00.000Z"],
  ]);
  const { timeline } = (await app.call("GET", `${BASE}/${id}`)).body;
  deepEqual(
    timeline.map(({ type, message, author }: Record<string, string>) => [type, message, author]),
    [
      ["status_change", "Status changed from resolved to investigating: It is back.", "key"],
      ["status_change", "Status changed from identified to resolved", "key"],
      ["status_change", "Status changed from open to identified: A full disk.", "key"],
      ["status_change", "Incident opened", "key"],
    ],
  );
  deepEqual(
    events.map(({ event, data }) => {
      const { previousStatus, message } = data as Record<string, string>;
      return [event, previousStatus, message];
    }),
    [
      ["incident.updated", "open", "A full disk."],
      ["incident.resolved", undefined, undefined],
      ["incident.updated", "resolved", "It is back."],
    ],
  );
});

Deno.test("the same status again changes nothing, but its message is an update", async () => {
  using app = proApp();
  const incident = await open(app);
  const events = collect(app);
  const path = `${BASE}/${incident.id}/status`;
  deepEqual((await app.call("PUT", path, { status: "open" })).body, incident);
  equal(events.length, 0);
  equal((await app.call("PUT", path, { status: "open", message: "Still." })).status, 200);
  const { timeline } = (await app.call("GET", `${BASE}/${incident.id}`)).body;
  deepEqual([timeline.length, timeline[0].type, timeline[0].message], [2, "update", "Still."]);
  deepEqual(events.map(({ event }) => event), ["incident.updated"]);
  for (const change of [{}, { status: "closed" }, { status: "open", message: "" }]) {
    equal((await app.call("PUT", path, change)).status, 400);
  }
});

Deno.test("POST /incidents/:id/timeline adds entries, and publishes updates", async () => {
  using app = proApp();
  const { id } = await open(app);
  const events = collect(app);
  const message = '<script>alert(1)</script> \u{1f525} \u202eabc "q" ' + "x".repeat(9_900);
  for (const type of [undefined, "action", "update"]) {
    app.clock.advance({ minutes: 1 });
    const { status, body } = await app.call("POST", `${BASE}/${id}/timeline`, { type, message }, {
      role: "operator",
    });
    deepEqual([status, body], [201, {
      id: body.id,
      type: type ?? "note",
      message,
      author: "key",
      created_at: app.deps.now().toISOString(),
    }]);
  }
  deepEqual(
    events.map(({ event, data }) => [event, (data as { message: string }).message]),
    [["incident.updated", message]],
  );
  const shown = (await app.call("GET", `${BASE}/${id}`)).body;
  deepEqual(
    shown.timeline.map(({ type }: { type: string }) => type),
    ["update", "action", "note", "status_change"],
  );
  equal(shown.updated_at, "2026-01-01T12:03:00.000Z");
  for (const entry of [{ type: "status_change", message }, { message: "x".repeat(10_001) }, {}]) {
    equal((await app.call("POST", `${BASE}/${id}/timeline`, entry)).status, 400);
  }
});

Deno.test("a timeline has a limit", async () => {
  using app = proApp();
  const { id } = await open(app);
  const add = () => app.call("POST", `${BASE}/${id}/timeline`, { message: "x" });
  for (let n = 1; n < 1_000; n++) await add();
  const full = await add();
  deepEqual([full.status, full.body], [409, {
    error: "Limit of 1000 timeline entries reached",
  }]);
  const resolved = await app.call("PUT", `${BASE}/${id}/status`, { status: "resolved" });
  equal(resolved.status, 200);
});

Deno.test("DELETE /incidents/:id deletes the incident with its timeline and nothing else", async () => {
  using app = proApp();
  const [kept, gone] = [await open(app), await open(app)];
  const { status, body } = await app.call("DELETE", `${BASE}/${gone.id}`);
  deepEqual([status, body], [200, { ok: true }]);
  equal((await app.call("GET", `${BASE}/${gone.id}`)).status, 404);
  const count = (sql: string) => app.deps.db.get<{ n: number }>(sql)!.n;
  equal(count("SELECT count(*) AS n FROM incident_timeline"), 1);
  equal((await app.call("GET", `${BASE}/${kept.id}`)).body.timeline.length, 1);
});

for (
  const [method, path, body] of [
    ["GET", "/unknown", undefined],
    ["PUT", "/unknown", { title: "x" }],
    ["PUT", "/unknown/status", { status: "resolved" }],
    ["POST", "/unknown/timeline", { message: "x" }],
    ["DELETE", "/unknown", undefined],
  ] as const
) {
  Deno.test(`${method} /incidents${path} is 404`, async () => {
    using app = proApp();
    const answer = await app.call(method, BASE + path, body);
    deepEqual([answer.status, answer.body], [404, { error: "Incident unknown does not exist" }]);
  });
}

Deno.test("in users mode an incident names its author by email", () => {
  using app = proApp({ config: { authMode: "users" } });
  const user = storeUser(app.deps, { email: "ada@example.com", passwordHash: null, role: "admin" });
  const incident = createIncident(app.deps, { ...outage, severity: "minor" }, {
    userId: user.id,
    role: "admin",
    familyId: "f",
    address: "192.0.2.1",
  });
  equal(incident.created_by, "ada@example.com");
});

Deno.test("incidents are 402 on CE", async () => {
  using app = testApp();
  for (const [method, path] of [["GET", ""], ["POST", ""], ["GET", "/x"]] as const) {
    const { status, body } = await app.call(
      method,
      BASE + path,
      method === "POST" ? {} : undefined,
    );
    equal(status, 402);
    ok(body.error);
  }
});
