import { deepEqual, equal, match } from "node:assert/strict";
import { newPage, PAGES, proApp } from "../../../helpers/status_pages.ts";

Deno.test("an incident is published, updated, resolved and reopened", async () => {
  using app = proApp();
  const page = await newPage(app);
  const path = `${PAGES}/${page.id}/incidents`;
  const { status, body: incident } = await app.call("POST", path, {
    title: "API is slow",
    message: "We look into it.",
    severity: "major",
    status: "investigating",
  });
  equal(status, 201);
  deepEqual(incident, {
    id: incident.id,
    page_id: page.id,
    title: "API is slow",
    message: "We look into it.",
    severity: "major",
    status: "investigating",
    created_at: "2026-01-01T12:00:00.000Z",
    updated_at: "2026-01-01T12:00:00.000Z",
    resolved_at: null,
    updates: [{
      id: incident.updates[0].id,
      status: "investigating",
      message: "We look into it.",
      created_at: "2026-01-01T12:00:00.000Z",
    }],
  });
  const change = async (fields: object) =>
    (await app.call("PUT", `${path}/${incident.id}`, fields)).body;
  app.clock.advance({ minutes: 1 });
  const resolved = await change({ status: "resolved" });
  deepEqual([resolved.status, resolved.resolved_at], ["resolved", "2026-01-01T12:01:00.000Z"]);
  deepEqual((await app.call("GET", `${PAGES}/${page.id}`)).body.active_incidents, []);
  app.clock.advance({ minutes: 1 });
  equal((await change({ message: "Sorry" })).resolved_at, "2026-01-01T12:01:00.000Z");
  const reopened = await change({ status: "monitoring" });
  deepEqual([reopened.resolved_at, reopened.message], [null, "Sorry"]);
  deepEqual((await app.call("GET", `${PAGES}/${page.id}`)).body.active_incidents, [reopened]);
  app.clock.advance({ minutes: 1 });
  equal((await change({ status: "resolved" })).resolved_at, "2026-01-01T12:03:00.000Z");
  deepEqual((await app.call("DELETE", `${path}/${incident.id}`)).body, { ok: true });
  equal((await app.call("DELETE", `${path}/${incident.id}`)).status, 404);
});

Deno.test("incidents are listed newest first, by status and in pages", async () => {
  using app = proApp();
  const page = await newPage(app);
  const path = `${PAGES}/${page.id}/incidents`;
  for (const status of ["resolved", "identified", "resolved"]) {
    await app.call("POST", path, { title: status, status });
    app.clock.advance({ seconds: 1 });
  }
  const list = async (query: string) => (await app.call("GET", path + query)).body;
  const all = await list("");
  deepEqual(
    [all.total, all.incidents.map(({ status }: { status: string }) => status)],
    [3, ["resolved", "identified", "resolved"]],
  );
  const resolved = await list("?status=resolved&limit=1&offset=1");
  deepEqual([resolved.total, resolved.incidents.length, resolved.limit, resolved.offset], [
    2,
    1,
    1,
    1,
  ]);
  equal(resolved.incidents[0].resolved_at, "2026-01-01T12:00:00.000Z");
  const { status, body } = await app.call("GET", `${path}?status=open`);
  equal(status, 400);
  match(body.error, /^query\.status: /);
});

for (
  const { wrong, change, field } of [
    { wrong: "no title", change: { title: "" }, field: "title" },
    { wrong: "a title of two lines", change: { title: "a\nb" }, field: "title" },
    { wrong: "a title that is too long", change: { title: "x".repeat(501) }, field: "title" },
    { wrong: "a message that is not a string", change: { message: 1 }, field: "message" },
    { wrong: "an unknown severity", change: { severity: "info" }, field: "severity" },
    { wrong: "an unknown status", change: { status: "open" }, field: "status" },
  ]
) {
  Deno.test(`incidents are not stored with ${wrong}`, async () => {
    using app = proApp();
    const page = await newPage(app);
    const path = `${PAGES}/${page.id}/incidents`;
    const { body: { id } } = await app.call("POST", path, { title: "x" });
    for (
      const answer of [
        await app.call("POST", path, { title: "x", ...change }),
        await app.call("PUT", `${path}/${id}`, change),
      ]
    ) {
      equal(answer.status, 400);
      match(answer.body.error, new RegExp(`^body\\.${field}: `));
    }
  });
}

Deno.test("an update never replaces an earlier one, whether it is posted or changes the incident", async () => {
  using app = proApp();
  const page = await newPage(app);
  const path = `${PAGES}/${page.id}/incidents`;
  const { body: { id } } = await app.call("POST", path, { title: "Down", message: "We look." });
  const later = async (method: string, at: string, fields: object) => {
    app.clock.advance({ minutes: 1 });
    return await app.call(method, at, fields);
  };
  const posted = await later("POST", `${path}/${id}/updates`, { message: "A disk is full." });
  equal(posted.status, 201);
  await later("PUT", `${path}/${id}`, { status: "identified" });
  await later("PUT", `${path}/${id}`, { status: "identified", message: "A disk is full." });
  await later("PUT", `${path}/${id}`, { message: "Extended." });
  const { body } = await later("POST", `${path}/${id}/updates`, {
    status: "resolved",
    message: "All is well.",
  });

  deepEqual([body.status, body.message], ["resolved", "All is well."]);
  const updates = [
    ["resolved", "All is well.", "2026-01-01T12:05:00.000Z"],
    ["identified", "Extended.", "2026-01-01T12:04:00.000Z"],
    ["identified", "", "2026-01-01T12:02:00.000Z"],
    ["investigating", "A disk is full.", "2026-01-01T12:01:00.000Z"],
    ["investigating", "We look.", "2026-01-01T12:00:00.000Z"],
  ];
  const listed = (await app.call("GET", path)).body.incidents[0];
  const shown = (await app.call("GET", `${PAGES}/public/acme`)).body.recent_incidents[0];
  type Update = { status: string; message: string; created_at: string };
  for (const incident of [body, listed, shown]) {
    deepEqual(
      incident.updates.map((update: Update) => [update.status, update.message, update.created_at]),
      updates,
    );
  }

  const refused = await app.call("POST", `${path}/${id}/updates`, { status: "resolved" });
  equal(refused.status, 400);
  const viewer = { role: "viewer" } as const;
  equal((await app.call("POST", `${path}/${id}/updates`, { message: "x" }, viewer)).status, 403);
  equal((await app.call("POST", `${path}/other/updates`, { message: "x" })).status, 404);
});

Deno.test("an incident has at most 200 updates", async () => {
  using app = proApp();
  const page = await newPage(app);
  const path = `${PAGES}/${page.id}/incidents`;
  const { body: { id } } = await app.call("POST", path, { title: "Down" });
  const post = (n: number) => app.call("POST", `${path}/${id}/updates`, { message: `Update ${n}` });
  for (let n = 1; n < 200; n++) await post(n);
  equal((await post(200)).status, 409);
  equal((await app.call("PUT", `${path}/${id}`, { message: "x" })).status, 409);
  equal((await app.call("PUT", `${path}/${id}`, { title: "Was down" })).status, 200);
});

Deno.test("every status and message is an event, a corrected title is none", async () => {
  using app = proApp();
  const page = await newPage(app);
  const seen: unknown[] = [];
  const { events } = app.deps;
  app.deps.events = { ...events, publish: ({ data }) => void seen.push(data) };
  const path = `${PAGES}/${page.id}/incidents`;
  const { body: { id } } = await app.call("POST", path, { title: "Dwon" });
  await app.call("PUT", `${path}/${id}`, { title: "Down", severity: "critical" });
  await app.call("PUT", `${path}/${id}`, { message: "Found it" });
  await app.call("PUT", `${path}/${id}`, { status: "resolved" });
  const common = { page: "Acme", pageId: page.id, component: null };
  deepEqual(seen, [
    { ...common, incident: "Dwon", oldStatus: null, newStatus: "investigating", message: null },
    {
      ...common,
      incident: "Down",
      oldStatus: "investigating",
      newStatus: "investigating",
      message: "Found it",
    },
    {
      ...common,
      incident: "Down",
      oldStatus: "investigating",
      newStatus: "resolved",
      message: "Found it",
    },
  ]);
});
