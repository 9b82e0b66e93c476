import { deepEqual, equal, match } from "node:assert/strict";
import { reloadLicense } from "../../../services/access/license/watcher.ts";
import { emit } from "../../../services/events/emit.ts";
import { appWithRights } from "../../helpers/custom_roles.ts";
import { TEST_ADDRESS, type TestApp, testApp } from "../../helpers/test_app.ts";

const ENTERPRISE = "/api/ext/service-enterprise";
const OUTSIDE = "198.51.100.9";
const START = "2026-01-01T00:00:00.000Z";
const UNTIL = "2026-01-15T00:00:00.000Z";

/** With an enforced allowlist and a started compliance log, at {@linkcode START}. */
async function protectedApp(): Promise<TestApp> {
  const app = testApp({ edition: "enterprise", now: START });
  const rule = { cidr: TEST_ADDRESS, label: "office" };
  await done(app.call("POST", `${ENTERPRISE}/ip-allowlist/rules`, rule), 201);
  await done(app.call("PUT", `${ENTERPRISE}/ip-allowlist/config`, { enforcement_enabled: true }));
  await done(app.call("PUT", `${ENTERPRISE}/compliance/config`, { enabled: true }));
  return app;
}

async function done(answer: ReturnType<TestApp["call"]>, status = 200): Promise<void> {
  equal((await answer).status, status, JSON.stringify((await answer).body));
}

const statusFrom = async (app: TestApp, address: string) =>
  (await app.call("GET", "/api/edition", undefined, { address })).status;

const protection = async (app: TestApp) => {
  const { edition, protectedUntil, warning } = (await app.call("GET", "/api/edition")).body;
  const { license } = (await app.call("GET", "/api/health")).body;
  deepEqual([license.protectedUntil, license.warning], [protectedUntil, warning]);
  return { edition, protectedUntil, warning };
};

const entries = ({ deps }: TestApp) =>
  deps.db.all<{ action: string }>("SELECT action FROM compliance_logs ORDER BY sequence")
    .map(({ action }) => action);

Deno.test("allowlist and compliance log outlive the license for 14 days", async () => {
  using app = await protectedApp();
  deepEqual(await protection(app), { edition: "enterprise", protectedUntil: null, warning: null });

  app.deps.license.use(undefined);

  const { warning, ...rest } = await protection(app);
  deepEqual(rest, { edition: "ce", protectedUntil: UNTIL });
  match(
    warning,
    /^The Enterprise edition ended\. .* stay in force until 2026-01-15 \d\d:\d\d UTC;/,
  );
  equal(await statusFrom(app, OUTSIDE), 403);
  equal((await app.call("GET", `${ENTERPRISE}/ip-allowlist/config`)).status, 402);
  const before = entries(app).length;
  await done(app.call("POST", "/api/maintenance", { enabled: true, reason: "test" }));
  emit(app.deps, "schedule.failed", {
    schedule: "nightly",
    scheduleId: "s1",
    container: "web",
    action: "restart",
    error: "test",
  });
  deepEqual(entries(app).slice(before).at(-1), "schedule.failed");
  equal(entries(app).length, before + 2);

  app.clock.set("2026-01-14T23:59:59.999Z");
  equal(await statusFrom(app, OUTSIDE), 403);
  app.clock.set(UNTIL);
  equal(await statusFrom(app, OUTSIDE), 200);
  const after = entries(app).length;
  await done(app.call("POST", "/api/maintenance", { enabled: false }));
  equal(entries(app).length, after);
  deepEqual(await protection(app), { edition: "ce", protectedUntil: null, warning: null });
});

Deno.test("a restart without the license neither ends nor restarts the protection", async () => {
  using before = await protectedApp();
  using first = testApp({ db: before.deps.db, now: "2026-01-03T00:00:00.000Z" });
  equal(await statusFrom(first, OUTSIDE), 403);
  using second = testApp({ db: before.deps.db, now: "2026-01-10T00:00:00.000Z" });
  equal((await protection(second)).protectedUntil, "2026-01-17T00:00:00.000Z");
  using third = testApp({ db: before.deps.db, now: "2026-01-17T00:00:00.000Z" });
  equal(await statusFrom(third, OUTSIDE), 200);
});

Deno.test("an end is stored without a request, and a new license ends the period", async () => {
  using app = await protectedApp();
  const { grant } = app.deps.license;
  app.deps.license.use(undefined);
  await reloadLicense(app.deps, "");
  app.clock.advance({ days: 13 });
  equal((await protection(app)).protectedUntil, UNTIL);

  app.deps.license.use(grant);
  equal((await protection(app)).protectedUntil, null);
  app.deps.license.use(undefined);
  equal((await protection(app)).protectedUntil, "2026-01-28T00:00:00.000Z");
});

Deno.test("a clock that was years ahead when the license ended does not prolong the period", async () => {
  using app = await protectedApp();
  app.clock.set("2040-01-01T00:00:00Z");
  app.deps.license.use(undefined);
  equal(await statusFrom(app, OUTSIDE), 403);
  app.clock.set(START);
  equal((await protection(app)).protectedUntil, UNTIL);
});

Deno.test("an installation that never had Enterprise has no protection", async () => {
  using app = testApp();
  deepEqual(await protection(app), { edition: "ce", protectedUntil: null, warning: null });
});

Deno.test("custom roles end with the license, also while the protection lasts", async () => {
  using app = await appWithRights("settings:read");
  equal((await app.asViewer("GET", "/api/audit")).status, 200);
  app.deps.license.use(undefined);
  const { status, body } = await app.asViewer("GET", "/api/audit");
  deepEqual([status, body.error], [403, "The role admin is required for this"]);
});

Deno.test("no custom role can change the license", async () => {
  using app = await appWithRights("settings:read", "settings:write");
  for (
    const [method, path, body] of [
      ["POST", "/api/edition/license", { key: "x" }],
      ["DELETE", "/api/edition/license", undefined],
      ["POST", "/api/edition/trial", undefined],
    ] as const
  ) {
    const answer = await app.asViewer(method, path, body);
    deepEqual([path, answer.status, answer.body.error], [
      path,
      403,
      "The role admin is required for this",
    ]);
  }
});
