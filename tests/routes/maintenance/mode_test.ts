import { deepEqual, equal } from "node:assert/strict";
import { openTestDatabase, testApp } from "../../helpers/test_app.ts";

const OFF = { enabled: false, since: null, until: null, reason: null };

Deno.test("POST /api/maintenance enables the mode until it ends", async () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  deepEqual((await app.call("GET", "/api/maintenance")).body, OFF);
  const on = { enabled: true, until: "2026-01-01T14:00:00+01:00", reason: "new disks" };
  const answer = await app.call("POST", "/api/maintenance", on);
  deepEqual([answer.status, answer.body], [
    200,
    {
      enabled: true,
      since: "2026-01-01T12:00:00.000Z",
      until: "2026-01-01T13:00:00.000Z",
      reason: "new disks",
    },
  ]);
  equal(app.deps.maintenance.active, true);
  app.clock.set("2026-01-01T13:00:00Z");
  equal(app.deps.maintenance.active, false);
  deepEqual((await app.call("GET", "/api/maintenance")).body, OFF);
});

Deno.test("a change of the end or the reason keeps the time since when the mode is on", async () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  await app.call("POST", "/api/maintenance", { enabled: true });
  app.clock.set("2026-01-01T12:30:00Z");
  const sinceAfter = async (change: object) =>
    (await app.call("POST", "/api/maintenance", change)).body.since;

  equal(await sinceAfter({ enabled: true, reason: "new disks" }), "2026-01-01T12:00:00.000Z");
  equal(await sinceAfter({ enabled: false }), null);
  equal(await sinceAfter({ enabled: true }), "2026-01-01T12:30:00.000Z");
});

Deno.test("maintenance survives a restart", async () => {
  const db = openTestDatabase();
  {
    using app = testApp({ db });
    await app.call("POST", "/api/maintenance", { enabled: true });
  }
  using app = testApp({ db });
  equal(app.deps.maintenance.active, true);
  db.close();
});

Deno.test("POST /api/maintenance refuses an end in the past", async () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  const { status, body } = await app.call("POST", "/api/maintenance", {
    enabled: true,
    until: "2025-12-31T00:00:00Z",
  });
  deepEqual([status, body.error], [400, "body.until: 2025-12-31T00:00:00Z is in the past"]);
});

Deno.test("POST /api/maintenance refuses an end after the year 9999", async () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  const on = { enabled: true, until: "9999-12-31T23:59:59-14:00" };
  const { status, body } = await app.call("POST", "/api/maintenance", on);
  deepEqual([status, body.error], [400, "body.until: must be before the year 10000 (UTC)"]);
  deepEqual((await app.call("GET", "/api/maintenance")).body, OFF);
});

Deno.test("only admins can read and change maintenance mode", async () => {
  using app = testApp();
  equal((await app.call("GET", "/api/maintenance", undefined, { role: "operator" })).status, 403);
});
