import { deepEqual, equal } from "node:assert/strict";
import { sweepAudit } from "../../../services/ce/audit.ts";
import { usersApp } from "../../helpers/accounts.ts";
import { type TestApp, testApp } from "../../helpers/test_app.ts";

const entries = async (app: TestApp, query = "") =>
  (await app.call("GET", `/api/audit${query}`)).body.entries;

Deno.test("GET /api/audit shows every write with its outcome, newest first", async () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  await app.call("POST", "/api/maintenance", { enabled: true });
  app.clock.advance({ seconds: 1 });
  await app.call("POST", "/api/maintenance", { enabled: "yes" });
  app.clock.advance({ seconds: 1 });
  await app.call("POST", "/api/containers/web/stop", undefined, { role: "viewer" });

  const [denied, failed, done] = await entries(app);
  const { id: _, ...shown } = denied;
  deepEqual(shown, {
    at: "2026-01-01T12:00:02.000Z",
    actor: "key",
    role: "viewer",
    action: "POST /api/containers/:id/stop",
    target: "web",
    outcome: "denied",
    ip: "192.0.2.1",
  });
  deepEqual([failed.outcome, done.outcome], ["failure", "success"]);
});

Deno.test("GET /api/audit is paged", async () => {
  using app = testApp();
  for (let n = 0; n < 5; n++) {
    await app.call("POST", "/api/maintenance", { enabled: false });
    app.clock.advance({ seconds: 1 });
  }
  const { body } = await app.call("GET", "/api/audit?limit=2&offset=4");
  deepEqual([body.entries.length, body.total, body.limit, body.offset], [1, 5, 2, 4]);
});

Deno.test("reads, refreshes and strangers leave no entry", async () => {
  using app = testApp();
  await app.call("GET", "/api/maintenance");
  await app.call("POST", "/auth/refresh", { refreshToken: "nothing" }, { role: "public" });
  await app.call("POST", "/api/maintenance", { enabled: true }, { role: "public" });
  await app.call("POST", "/auth/token", { apiKey: 1 }, { role: "public" });
  await app.call("POST", "/auth/token", "apiKey", { role: "public" });
  await app.call("POST", "/auth/login", { email: "a@b.io", password: "x" }, { role: "public" });
  deepEqual(await entries(app), []);
});

Deno.test("a failed login is an entry", async () => {
  using app = testApp();
  await app.call("POST", "/auth/token", { apiKey: "not the key" }, { role: "public" });
  const [entry] = await entries(app);
  deepEqual([entry.action, entry.outcome, entry.actor], ["POST /auth/token", "denied", ""]);
});

Deno.test("a failed login names the account, and nothing that is none", async () => {
  using app = await usersApp();
  for (const email of ["Viewer@example.com", "p@ssword in the wrong field", "eve@example.com"]) {
    await app.call("POST", "/auth/login", { email, password: "wrong" }, { role: "public" });
  }
  const targets = (await entries(app)).map(({ target }: { target: string }) => target);
  deepEqual(targets.sort(), ["", "", "viewer@example.com"]);
});

Deno.test("sweepAudit() forgets what is older than 90 days", async () => {
  using app = testApp();
  await app.call("POST", "/api/maintenance", { enabled: false });
  app.clock.advance({ days: 89 });
  sweepAudit(app.deps);
  equal((await entries(app)).length, 1);
  app.clock.advance({ days: 2 });
  sweepAudit(app.deps);
  equal((await entries(app)).length, 0);
});
