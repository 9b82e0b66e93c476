/**
 * A login that ends at a set time: nothing of it goes beyond, however often it is renewed.
 *
 * @module
 */

import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { decodeJwt } from "jose";
import { startSession, type TokenPair } from "../../../../services/access/sign_in/sessions.ts";
import { refresh, statusWith } from "../../../helpers/accounts.ts";
import { TEST_CLIENT, type TestApp, testApp } from "../../../helpers/test_app.ts";

const NOW = "2026-01-01T12:00:00.250Z";

const begin = (app: TestApp, endsAt?: string) =>
  startSession(
    app.deps,
    "key",
    TEST_CLIENT,
    endsAt === undefined ? {} : { endsAt: new Date(endsAt) },
  );

const expiryOf = ({ accessToken }: TokenPair) => new Date(decodeJwt(accessToken).exp! * 1000);
const stored = (app: TestApp) =>
  app.deps.db.get<{ expires: string; ends: string | null }>(
    "SELECT expires_at AS expires, ends_at AS ends FROM refresh_tokens",
  )!;

for (
  const [ends, accessUntil, expiresIn, refreshUntil] of [
    [undefined, "2026-01-01T12:15:00.000Z", 900, "2026-01-31T12:00:00.250Z"],
    ["2026-01-01T12:10:00.900Z", "2026-01-01T12:10:00.000Z", 600, "2026-01-01T12:10:00.900Z"],
    ["2026-01-01T20:00:00.000Z", "2026-01-01T12:15:00.000Z", 900, "2026-01-01T20:00:00.000Z"],
    ["2027-01-01T00:00:00.000Z", "2026-01-01T12:15:00.000Z", 900, "2026-01-31T12:00:00.250Z"],
  ] as const
) {
  Deno.test(`tokens of a login that ends ${ends ?? "never"} are good as long as they may`, async () => {
    using app = testApp({ now: NOW });
    const pair = await begin(app, ends);
    equal(expiryOf(pair).toISOString(), accessUntil);
    equal(pair.expiresIn, expiresIn);
    const { expires, ends: end } = stored(app);
    deepEqual([expires, end], [refreshUntil, ends ?? null]);
  });
}

Deno.test("renewing a login day by day does not move its end", async () => {
  using app = testApp({ now: "2026-01-01T00:00:00Z" });
  const ends = new Date("2026-01-21T00:00:00.500Z");
  let pair = await begin(app, ends.toISOString());
  for (let day = 1; day <= 20; day++) {
    app.clock.advance({ days: 1 });
    const { status, body } = await refresh(app, pair.refreshToken);
    equal(status, 200);
    pair = body;
    ok(expiryOf(pair) <= ends);
    ok(app.clock.now().getTime() + pair.expiresIn * 1000 <= ends.getTime());
  }
  equal(pair.expiresIn, 0, "in whole seconds");
  equal(await statusWith(app, pair.accessToken), 401);
  app.clock.advance({ ms: 500 });
  equal((await refresh(app, pair.refreshToken)).status, 401);
});

Deno.test("the end of a login applies to each of its refresh tokens, and to no other login", async () => {
  using app = testApp({ now: NOW });
  const ending = await begin(app, "2026-01-01T20:00:00.000Z");
  const lasting = await begin(app);
  await refresh(app, ending.refreshToken);
  await refresh(app, lasting.refreshToken);
  deepEqual(
    app.deps.db.all<{ n: number }>(
      "SELECT count(*) AS n FROM refresh_tokens GROUP BY family_id, ends_at ORDER BY ends_at",
    ).map(({ n }) => n),
    [2, 2],
  );
});

Deno.test("startSession() refuses an unknown user", async () => {
  using app = testApp({ now: NOW });
  await rejects(startSession(app.deps, "unknown", TEST_CLIENT), { code: "unauthorized" });
  deepEqual(app.deps.db.all("SELECT * FROM refresh_tokens"), []);
});
