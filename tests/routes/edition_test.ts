import { deepEqual, equal, match } from "node:assert/strict";
import { runWorkers } from "../../services/lifecycle.ts";
import { storedTrialStart } from "../../services/access/license/licenses.ts";
import { loadLicense } from "../../services/access/license/source.ts";
import { silentLog } from "../../services/log.ts";
import { temporaryDirectory } from "../helpers/command.ts";
import { licenseKeyFor, writeLicenseKeys } from "../helpers/licenses.ts";
import {
  keptLog,
  openTestDatabase,
  type TestApp,
  testApp,
  type TestAppOptions,
} from "../helpers/test_app.ts";
import { until } from "../helpers/until.ts";

const NOW = "2026-01-01T00:00:00Z";
const now = new Date(NOW);

/** An application with a data directory that trusts the test keys. */
function licensedApp(
  options: TestAppOptions = {},
): TestApp & { directory: string; licenseFile: string } {
  const directory = temporaryDirectory();
  const app = testApp({
    now: NOW,
    ...options,
    config: {
      dataDir: directory.path,
      licenseKeysFile: writeLicenseKeys(directory.path),
      ...options.config,
    },
  });
  return {
    ...app,
    directory: directory.path,
    licenseFile: `${directory.path}/license.key`,
    [Symbol.dispose]() {
      app[Symbol.dispose]();
      directory[Symbol.dispose]();
    },
  };
}

const install = (app: TestApp, key: string) => app.call("POST", "/api/edition/license", { key });

Deno.test("an installed license applies immediately and at the next start", async () => {
  using app = licensedApp();
  const key = await licenseKeyFor({ now, limits: { users: 40 } });

  const answer = await install(app, `\n ${key} \n`);

  equal(answer.status, 200, answer.body.error);
  equal(answer.body.ok, true);
  const { body } = await app.call("GET", "/api/edition");
  deepEqual(
    [body.edition, body.customer, body.expiresAt, body.problem, body.trial],
    ["pro", "Harbour Ltd", "2026-01-31T00:00:00.000Z", null, null],
  );
  for (const feature of ["status-pages", "status_pages", "uptime", "containers"]) {
    equal(body.features.filter((each: string) => each === feature).length, 1, feature);
  }
  deepEqual([body.limits.users, body.limits.status_pages, body.limits.webhooks], [40, 3, null]);
  equal(Deno.readTextFileSync(app.licenseFile), `${key}\n`);
  equal(Deno.statSync(app.licenseFile).mode! & 0o777, 0o600);
  const { dataDir, licenseKeysFile } = app.deps.config;
  using next = testApp({ now: NOW, config: { dataDir, licenseKeysFile } });
  await loadLicense(next.deps.license, next.deps.config, silentLog);
  equal(next.deps.license.edition, "pro");
});

Deno.test("a refused license changes nothing and gives the reason", async () => {
  using app = licensedApp();
  await install(app, await licenseKeyFor({ now }));
  const kept = Deno.readTextFileSync(app.licenseFile);
  const good = await licenseKeyFor({ now, edition: "enterprise" });

  for (
    const { key, error } of [
      { key: "nonsense", error: /not signed by a known key/ },
      { key: good.slice(0, -6) + "AAAAAA", error: /not signed by a known key/ },
      { key: await licenseKeyFor({ now, days: -15 }), error: /expired on 2025-12-17/ },
      { key: "", error: /^body\.key: / },
      { key: "x".repeat(16_385), error: /^body\.key: / },
    ]
  ) {
    const answer = await install(app, key);
    equal(answer.status, 400, key);
    match(answer.body.error, error);
  }
  equal(app.deps.license.edition, "pro");
  equal(Deno.readTextFileSync(app.licenseFile), kept);
  deepEqual([...Deno.readDirSync(app.directory)].map(({ name }) => name).sort(), [
    "license.key",
    "test_license_keys.json",
  ]);
});

Deno.test("an expired license applies for 14 days, then the Community Edition gives the reason", async () => {
  using app = licensedApp();
  await install(app, await licenseKeyFor({ now }));

  app.clock.set("2026-01-31T00:00:00Z");
  let { body } = await app.call("GET", "/api/edition");
  deepEqual([body.edition, body.graceUntil], ["pro", "2026-02-14T00:00:00.000Z"]);
  app.clock.set("2026-02-14T00:00:00Z");
  ({ body } = await app.call("GET", "/api/edition"));
  deepEqual(
    [body.edition, body.expiresAt, body.customer, body.limits.users],
    ["ce", null, null, 5],
  );
  match(body.problem, /expired on 2026-01-31/);
  equal((await install(app, await licenseKeyFor({ now: app.clock.now() }))).body.edition, "pro");
});

Deno.test("with LICENSE_KEY, a license can be neither installed nor removed", async () => {
  using app = licensedApp({ config: { licenseKey: await licenseKeyFor({ now }) } });
  await loadLicense(app.deps.license, app.deps.config, silentLog);
  for (
    const answer of [
      await install(app, await licenseKeyFor({ now, edition: "enterprise" })),
      await app.call("DELETE", "/api/edition/license"),
    ]
  ) {
    equal(answer.status, 409);
    match(answer.body.error, /LICENSE_KEY is set in the environment/);
  }
  equal(app.deps.license.edition, "pro");
});

Deno.test("a removed license ends immediately and cannot be removed again", async () => {
  using app = licensedApp();
  await install(app, await licenseKeyFor({ now }));
  const removed = await app.call("DELETE", "/api/edition/license");
  deepEqual([removed.status, removed.body.edition], [200, "ce"]);
  equal((await app.call("DELETE", "/api/edition/license")).status, 404);
});

Deno.test("the trial is Enterprise for 30 days and cannot be repeated", async () => {
  const db = openTestDatabase();
  {
    using app = licensedApp({ db });
    const started = await app.call("POST", "/api/edition/trial");
    equal(started.status, 200);
    deepEqual(
      [started.body.edition, started.body.expiresAt, started.body.limits.users],
      ["enterprise", "2026-01-31T00:00:00.000Z", null],
    );
    const again = await app.call("POST", "/api/edition/trial");
    equal(again.status, 409);
    match(again.body.error, /was started at 2026-01-01.* and ends at 2026-01-31/);
  }
  {
    using restarted = licensedApp({ db, now: "2026-01-30T23:59:59Z" });
    equal(restarted.deps.license.edition, "enterprise");
    restarted.clock.advance({ seconds: 1 });
    const { body } = await restarted.call("GET", "/api/edition");
    deepEqual([body.edition, body.graceUntil, body.trial.active], ["ce", null, false]);
    const again = await restarted.call("POST", "/api/edition/trial");
    equal(again.status, 409);
    match(again.body.error, /and ended at 2026-01-31/);
  }
  db.close();
});

Deno.test("a trial does not last longer because the clock was ahead at its start", async () => {
  using app = testApp({ now: "2036-01-01T00:00:00Z" });
  equal((await app.call("POST", "/api/edition/trial")).body.edition, "enterprise");

  using corrected = testApp({ now: "2026-01-01T00:00:00Z", db: app.deps.db });
  const { body } = await corrected.call("GET", "/api/edition");
  deepEqual([body.edition, body.trial.active, body.expiresAt], ["ce", false, null]);
  equal((await corrected.call("POST", "/api/edition/trial")).status, 409);
});

Deno.test("a license takes precedence over a trial", async () => {
  using app = licensedApp();
  await app.call("POST", "/api/edition/trial");
  const { body } = await install(app, await licenseKeyFor({ now, limits: { users: 7 } }));
  deepEqual([body.edition, body.limits.users, body.trial.active], ["pro", 7, false]);

  const removed = await app.call("DELETE", "/api/edition/license");
  deepEqual([removed.body.edition, removed.body.limits.users], ["enterprise", null]);
});

Deno.test("a trial cannot be started while a license is installed", async () => {
  using app = licensedApp();
  await install(app, await licenseKeyFor({ now }));
  const { status, body } = await app.call("POST", "/api/edition/trial");
  equal(status, 409);
  match(body.error, /A license is installed \(pro\)/);
  equal(storedTrialStart(app.deps.db), undefined);
});

Deno.test("only admins change the edition; the key is in no log and no audit entry", async () => {
  const { log, lines } = keptLog();
  using app = licensedApp({ log });
  const key = await licenseKeyFor({ now });
  for (const [method, path] of [["POST", "license"], ["DELETE", "license"], ["POST", "trial"]]) {
    const answer = await app.call(method!, `/api/edition/${path}`, { key }, { role: "operator" });
    equal(answer.status, 403);
  }
  await install(app, key);
  const { body } = await app.call("GET", "/api/audit");
  deepEqual(
    body.entries.filter((entry: { outcome: string }) => entry.outcome === "success")
      .map((entry: { action: string }) => entry.action),
    ["POST /api/edition/license"],
  );
  equal((lines.join() + JSON.stringify(body)).includes(key.slice(-40)), false);
});

Deno.test("workers of an edition start and stop with its license, without a restart", async () => {
  using app = licensedApp();
  const end = new AbortController();
  let running = 0;
  const worker = {
    name: "worker of the test",
    edition: "pro" as const,
    async run(_: unknown, signal: AbortSignal) {
      running++;
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      running--;
    },
  };
  const ended = runWorkers([worker], app.deps, end.signal);
  equal(running, 0);
  await install(app, await licenseKeyFor({ now }));
  await until("it runs", () => running === 1);
  app.clock.advance({ days: 44 });
  await until("it is stopped", () => running === 0);
  equal(app.deps.license.edition, "ce");
  end.abort();
  await ended;
});
