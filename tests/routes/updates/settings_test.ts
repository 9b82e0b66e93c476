import { deepEqual, equal, match } from "node:assert/strict";
import { openTestDatabase, testApp } from "../../helpers/test_app.ts";

const PATH = "/api/updates/settings";

const DEFAULTS = {
  enabled: false,
  intervalHours: 6,
  policy: "notify",
  minimumAgeHours: 72,
  keepPreviousDays: 7,
  stableSeconds: 60,
  data: "keep",
  rehearse: false,
  windows: [],
  fixed: [],
};

Deno.test("update checks are off until they are enabled", async () => {
  using app = testApp();
  deepEqual((await app.call("GET", PATH)).body, DEFAULTS);
});

Deno.test("PUT /api/updates/settings keeps omitted fields, and what it stored after a restart", async () => {
  const db = openTestDatabase();
  const windows = [{ cron: "0 3 * * sat", timeZone: "europe/berlin", durationMinutes: 120 }];
  const stored = {
    ...DEFAULTS,
    enabled: true,
    windows: [{ ...windows[0], timeZone: "Europe/Berlin" }],
  };
  {
    using app = testApp({ db });
    await app.call("PUT", PATH, { enabled: true });
    deepEqual((await app.call("PUT", PATH, { windows })).body, stored);
  }
  using app = testApp({ db });
  deepEqual((await app.call("GET", PATH)).body, stored);
  db.close();
});

for (
  const { change, error } of [
    { change: { intervalHours: 169 }, error: /^body\.intervalHours: / },
    {
      change: { windows: [{ cron: "0 3 * *", timeZone: "UTC", durationMinutes: 60 }] },
      error: /^body\.windows\.0\.cron: five fields are expected/,
    },
    {
      change: { windows: [{ cron: "0 3 * * *", timeZone: "Mars", durationMinutes: 60 }] },
      error: /^body\.windows\.0\.timeZone: Mars is not an IANA time zone/,
    },
  ]
) {
  Deno.test(`PUT /api/updates/settings refuses ${JSON.stringify(change)}`, async () => {
    using app = testApp();
    const { status, body } = await app.call("PUT", PATH, change);
    equal(status, 400);
    match(body.error, error);
    deepEqual((await app.call("GET", PATH)).body, DEFAULTS);
  });
}

Deno.test("the environment wins over the stored settings, which then cannot be changed", async () => {
  const db = openTestDatabase();
  {
    using app = testApp({ db });
    await app.call("PUT", PATH, { enabled: true, intervalHours: 12 });
  }
  using app = testApp({ db, config: { updateCheck: "off", updateCheckIntervalHours: 24 } });
  const { body } = await app.call("GET", PATH);
  deepEqual([body.enabled, body.intervalHours], [false, 24]);
  deepEqual(body.fixed, ["enabled", "intervalHours"]);

  const refused = await app.call("PUT", PATH, { enabled: true });
  deepEqual([refused.status, refused.body.error], [
    409,
    "body.enabled: is set to false by UPDATE_CHECK",
  ]);
  equal((await app.call("PUT", PATH, { enabled: false, policy: "auto" })).status, 200);
  db.close();
});

Deno.test("only admins can read and change the update settings", async () => {
  using app = testApp();
  equal((await app.call("GET", PATH, undefined, { role: "operator" })).status, 403);
  equal((await app.call("PUT", PATH, { enabled: true }, { role: "operator" })).status, 403);
});
