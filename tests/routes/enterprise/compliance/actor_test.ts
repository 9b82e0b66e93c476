/** The actor of refused requests in the compliance log. @module */

import { deepEqual, equal } from "node:assert/strict";
import { login, refresh, usersApp } from "../../../helpers/accounts.ts";
import { type TestApp, testApp } from "../../../helpers/test_app.ts";

const ENTERPRISE = "/api/ext/service-enterprise";

/** The newest entries, newest first: action, actor and outcome. */
async function newest(app: TestApp, count: number): Promise<unknown[]> {
  const { logs } = (await app.call("GET", `${ENTERPRISE}/compliance/logs?limit=${count}`)).body;
  return logs.map(({ action, actor_id, outcome }: Record<string, unknown>) => [
    action,
    actor_id,
    outcome,
  ]);
}

Deno.test("the reuse of a refresh token is recorded with its user", async () => {
  using app = await usersApp({ edition: "enterprise" });
  const { refreshToken } = await login(app, "viewer@example.com");
  equal((await refresh(app, refreshToken, "198.51.100.7")).status, 200);
  app.clock.advance({ seconds: 10 });
  equal((await refresh(app, refreshToken)).status, 401);
  deepEqual(await newest(app, 3), [
    ["auth.refresh", app.ids.viewer, "failure"],
    ["auth.refresh", app.ids.viewer, "success"],
    ["auth.login", app.ids.viewer, "success"],
  ]);
});

Deno.test("renewals of an open page are recorded from a new address only", async () => {
  using app = await usersApp({ edition: "enterprise" });
  let { refreshToken } = await login(app, "viewer@example.com");
  for (const address of [undefined, undefined, "198.51.100.7", "198.51.100.7"]) {
    const answer = await refresh(app, refreshToken, address);
    equal(answer.status, 200);
    refreshToken = answer.body.refreshToken;
  }
  deepEqual(await newest(app, 9), [
    ["auth.refresh", app.ids.viewer, "success"],
    ["auth.login", app.ids.viewer, "success"],
  ]);
});

Deno.test("a token from a refused address is recorded with its user", async () => {
  using app = await usersApp({ edition: "enterprise" });
  const { accessToken: token } = await login(app, "admin@example.com");
  const rule = { cidr: "192.0.2.0/24", label: "Office" };
  await app.call("POST", `${ENTERPRISE}/ip-allowlist/rules`, rule);
  await app.call("PUT", `${ENTERPRISE}/ip-allowlist/config`, { enforcement_enabled: true });

  const address = "198.51.100.1";
  equal((await app.call("GET", "/api/overview", undefined, { token, address })).status, 403);
  equal(
    (await app.call("GET", "/api/overview", undefined, { token: "x.y.z", address })).status,
    403,
  );
  deepEqual(await newest(app, 2), [
    ["system.read", "anonymous", "failure"],
    ["system.read", app.ids.admin, "failure"],
  ]);
});

Deno.test("the request that starts the trial is the first entry", async () => {
  using app = testApp();
  equal((await app.call("POST", "/api/edition/trial")).status, 200);
  deepEqual(await newest(app, 9), [["edition.trial", "key", "success"]]);
});

Deno.test("a refused entry is recorded, and a created one adds only itself", async () => {
  using app = testApp({ edition: "enterprise" });
  const path = `${ENTERPRISE}/compliance/logs`;
  equal((await app.call("POST", path, {})).status, 400);
  equal((await app.call("POST", path, { category: "data", action: "ship.sunk" })).status, 201);
  deepEqual(await newest(app, 9), [
    ["ship.sunk", "key", "success"],
    ["compliance.create", "key", "failure"],
  ]);
});

Deno.test("failed logins are listed, also those that were throttled", async () => {
  using app = await usersApp({ edition: "enterprise" });
  const body = { email: "viewer@example.com", password: "wrong wrong wrong" };
  for (let time = 0; time < 12; time++) {
    const { status } = await app.call("POST", "/auth/login", body, { role: "public" });
    equal(status, time < 10 ? 401 : 429);
  }
  app.clock.advance({ minutes: 2 });
  await app.call("POST", "/auth/logout", undefined, {
    token: (await login(app, "viewer@example.com")).accessToken,
  });
  const entries = await newest(app, 20);
  equal(entries.filter((entry) => (entry as string[])[1] === "anonymous").length, 12);
});
