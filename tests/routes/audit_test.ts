import { deepEqual, equal, match } from "node:assert/strict";
import {
  type AuditEntry,
  type AuditFilter,
  insertAuditEntry,
  selectAuditEntries,
} from "../../db/audit_entries.ts";
import {
  automaticActor,
  listAudit,
  recordAudit,
  sweepAudit,
} from "../../services/access/audit/audit.ts";
import { login, usersApp } from "../helpers/accounts.ts";
import { containerOf, idOf, setContainers } from "../helpers/fake_containers.ts";
import { type TestApp, testApp } from "../helpers/test_app.ts";

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
    actorEmail: null,
    role: "viewer",
    action: "POST /api/containers/:id/stop",
    target: "web",
    targets: ["web"],
    command: null,
    outcome: "denied",
    ip: "192.0.2.1",
    token: null,
    hub: null,
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

Deno.test("an entry keeps the actor's email after the user is deleted", async () => {
  using app = await usersApp();
  const { accessToken: token } = await login(app, "operator@example.com");
  await app.call("POST", "/api/containers/web/stop", undefined, { token });
  const [{ actor, actorEmail }] = await entries(app);
  equal(actorEmail, "operator@example.com");

  app.clock.advance({ seconds: 1 });
  await app.call("DELETE", `/auth/users/${actor}`);
  const [deletion, stop] = await entries(app);
  deepEqual(deletion.targets, ["operator@example.com", actor]);
  equal(stop.actorEmail, "operator@example.com");
});

Deno.test("bulk and exec are recorded with their targets and their command", async () => {
  using app = testApp();
  const running = ["web", "db"].map((name) => containerOf({ name, state: "running" }));
  setContainers(app, ...running);
  await app.call("POST", "/api/containers/bulk", {
    ids: ["web", idOf("db"), "nope"],
    action: "restart",
  });
  app.clock.advance({ seconds: 1 });
  // Auditors look for commands outside the allowlist.
  await app.call("POST", "/api/containers/web/exec", { command: "rm -rf '/data dir'" });

  const [exec, bulk] = await entries(app);
  deepEqual(
    [exec.action, exec.targets, exec.command, exec.outcome],
    ["POST /api/containers/:id/exec", ["web"], "rm -rf '/data dir'", "denied"],
  );
  deepEqual([bulk.targets, bulk.command], [["web", "db", idOf("db"), "nope"], "restart"]);
});

Deno.test("targets and commands of an entry are truncated and well-formed", () => {
  using app = testApp();
  recordAudit(app.deps, {
    caller: automaticActor("schedule"),
    action: "test",
    target: "x".repeat(1_000),
    targets: Array.from({ length: 200 }, (_, n) => `${n}${"y".repeat(1_000)}`),
    command: "z".repeat(499) + "\u{1F600}",
    outcome: "success",
  });
  const { entries: [entry] } = listAudit(app.deps, { limit: 1, offset: 0 });
  equal(entry!.target.length, 300);
  deepEqual([entry!.targets.length, entry!.targets[0]!.length], [100, 300]);
  equal(entry!.command, "z".repeat(499) + "\uFFFD");
});

for (
  const { query, ids } of [
    { query: "", ids: ["5", "4", "3", "2", "1"] },
    { query: "?actor=ANN@example.com", ids: ["2", "1"] },
    { query: "?actor=u-ann", ids: ["2", "1"] },
    { query: "?actor=key", ids: ["4", "3"] },
    { query: "?action=stop", ids: ["2", "1"] },
    { query: "?action=POST /API/images", ids: ["3"] },
    { query: "?action=%25", ids: [] },
    { query: "?target=WEB", ids: ["5", "1"] },
    { query: "?target=we", ids: [] },
    { query: "?outcome=denied", ids: ["4"] },
    { query: "?from=2026-01-02T00:00:00Z&to=2026-01-04", ids: ["4", "3", "2"] },
    { query: "?from=2026-01-05T01:00:00%2B01:00", ids: ["5"] },
    { query: "?actor=key&outcome=success", ids: ["3"] },
    { query: "?action=stop&target=db&actor=u-ann", ids: ["2"] },
  ]
) {
  Deno.test(`GET /api/audit${query} selects entries ${ids.join(", ") || "none"}`, async () => {
    using app = testApp();
    const ann = { actor: "u-ann", actorEmail: "ann@example.com" };
    const key = { actor: "key", actorEmail: null };
    const stop = "POST /api/containers/:id/stop";
    for (
      const entry of [
        { id: "1", ...ann, action: stop, targets: ["web", "c1"] },
        { id: "2", ...ann, action: stop, targets: ["db"] },
        { id: "3", ...key, action: "POST /api/images/prune", targets: [] },
        { id: "4", ...key, action: "PUT /api/webhooks/:id", targets: ["w1"], outcome: "denied" },
        {
          id: "5",
          actor: "schedule",
          actorEmail: null,
          action: "schedule restart",
          targets: ["web"],
        },
      ]
    ) {
      insertAuditEntry(app.deps.db, {
        at: `2026-01-0${entry.id}T00:00:00.000Z`,
        role: "admin",
        target: entry.targets[0] ?? "",
        command: null,
        outcome: "success",
        ip: "",
        ...entry,
      } as AuditEntry);
    }
    const { body } = await app.call("GET", `/api/audit${query}`);
    deepEqual(body.entries.map(({ id }: AuditEntry) => id), ids);
    equal(body.total, ids.length);
  });
}

for (
  const [query, error] of [
    ["outcome=maybe", /outcome/],
    ["from=yesterday", /from/],
    ["from=2026-02-01&to=2026-01-01", /must not be before from/],
    ["actor=", /actor/],
  ] as const
) {
  Deno.test(`GET /api/audit?${query} is refused`, async () => {
    using app = testApp();
    const { status, body } = await app.call("GET", `/api/audit?${query}`);
    equal(status, 400);
    match(body.error, error);
  });
}

Deno.test("filters use an index", () => {
  using app = testApp();
  const plan = (filter: AuditFilter) => {
    const { all } = app.deps.db;
    let sql = "";
    const recording = { ...app.deps.db, all: (text: string) => (sql = text, []) };
    selectAuditEntries(recording, filter, { limit: 1, offset: 0 });
    return all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, {
      ...filter as Record<string, string>,
      limit: 1,
      offset: 0,
    })
      .map(({ detail }) => detail).join("\n");
  };
  match(plan({ actor: "x" }), /audit_entries_by_actor[\s\S]*audit_entries_by_email/);
  match(plan({ action: "x" }), /audit_entries_by_action/);
  match(plan({ target: "x" }), /SEARCH audit_targets USING PRIMARY KEY/);
  match(plan({ outcome: "denied" }), /audit_entries_by_outcome/);
  match(plan({ from: "2026" }), /audit_entries_by_time/);
});

Deno.test("reads, refreshes and anonymous requests leave no entry", async () => {
  using app = testApp();
  await app.call("GET", "/api/maintenance");
  await app.call("POST", "/auth/refresh", { refreshToken: "nothing" }, { role: "public" });
  await app.call("POST", "/api/maintenance", { enabled: true }, { role: "public" });
  await app.call("POST", "/auth/token", { apiKey: 1 }, { role: "public" });
  await app.call("POST", "/auth/token", "apiKey", { role: "public" });
  await app.call("POST", "/auth/login", { email: "a@b.io", password: "x" }, { role: "public" });
  deepEqual(await entries(app), []);
});

Deno.test("a failed login is recorded", async () => {
  using app = testApp();
  await app.call("POST", "/auth/token", { apiKey: "not the key" }, { role: "public" });
  const [entry] = await entries(app);
  deepEqual([entry.action, entry.outcome, entry.actor], ["POST /auth/token", "denied", ""]);
});

Deno.test("a failed login names the account only if it exists", async () => {
  using app = await usersApp();
  for (const email of ["Viewer@example.com", "p@ssword in the wrong field", "eve@example.com"]) {
    await app.call("POST", "/auth/login", { email, password: "wrong" }, { role: "public" });
  }
  const targets = (await entries(app)).map(({ target }: { target: string }) => target);
  deepEqual(targets.sort(), ["", "", "viewer@example.com"]);
});

Deno.test("sweepAudit() deletes entries older than 90 days", async () => {
  using app = testApp();
  await app.call("POST", "/api/containers/web/stop");
  app.clock.advance({ days: 89 });
  sweepAudit(app.deps);
  equal((await entries(app)).length, 1);
  app.clock.advance({ days: 2 });
  sweepAudit(app.deps);
  equal((await entries(app)).length, 0);
  deepEqual(app.deps.db.all("SELECT * FROM audit_targets"), []);
});
