import { deepEqual, equal } from "node:assert/strict";
import { deleteUser } from "../../../../db/users.ts";
import { sweepSso } from "../../../../services/enterprise/sso/sessions.ts";
import { refresh, statusWith, usersApp } from "../../../helpers/accounts.ts";
import { addProvider, createIdp, SSO, ssoLogin, ssoTest } from "../../../helpers/sso.ts";
import { type TestApp, testApp } from "../../../helpers/test_app.ts";

const SESSIONS = `${SSO}/sessions`;
const NOW = "2026-01-01T12:00:00.000Z";
const idp = await createIdp("https://idp.example.com/metadata");

async function withProvider() {
  const app = testApp({ edition: "enterprise", now: NOW });
  const provider = await addProvider(app, idp);
  return Object.assign(app, { provider });
}

const listed = async (app: TestApp) =>
  (await app.call("GET", SESSIONS)).body.sessions.map(({ id }: { id: string }) => id);

ssoTest("a session shows its user and provider", async () => {
  using app = await withProvider();
  const { body } = await ssoLogin(app, idp, { email: "Ada@Example.com" }, { address: "192.0.2.7" });

  deepEqual((await app.call("GET", SESSIONS)).body, {
    sessions: [{
      id: body.sessionId,
      provider_id: app.provider.id,
      user_id: body.user.id,
      email: "Ada@Example.com",
      ip: "192.0.2.7",
      created_at: NOW,
      expires_at: "2026-01-01T20:00:00.000Z",
    }],
    total: 1,
    limit: 100,
    offset: 0,
  });
});

ssoTest("sessions are listed newest first, page by page", async () => {
  using app = await withProvider();
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) {
    ids.unshift((await ssoLogin(app, idp)).body.sessionId);
    app.clock.advance({ seconds: 1 });
  }
  deepEqual(await listed(app), ids);
  const { body } = await app.call("GET", `${SESSIONS}?limit=1&offset=1`);
  deepEqual([body.total, body.limit, body.offset], [3, 1, 1]);
  deepEqual(body.sessions.map(({ id }: { id: string }) => id), [ids[1]]);
  equal((await app.call("GET", `${SESSIONS}?limit=501`)).status, 400);
});

ssoTest(
  "a revoked session's access and refresh tokens are refused at once, also after a refresh",
  async () => {
    using app = await withProvider();
    const first = (await ssoLogin(app, idp)).body;
    const second = (await ssoLogin(app, idp)).body;
    const renewed = (await refresh(app, first.refreshToken)).body;
    equal(await statusWith(app, renewed.accessToken), 200);

    const revoked = await app.call("DELETE", `${SESSIONS}/${first.sessionId}`);

    deepEqual([revoked.status, revoked.body], [200, { ok: true }]);
    for (const token of [first.accessToken, renewed.accessToken]) {
      equal(await statusWith(app, token), 401);
    }
    equal((await refresh(app, renewed.refreshToken)).status, 401);
    equal(await statusWith(app, second.accessToken), 200, "another session of the same user");
    deepEqual(await listed(app), [second.sessionId]);
    const again = await app.call("DELETE", `${SESSIONS}/${first.sessionId}`);
    equal(again.status, 404);
    equal(again.body.error, `SSO session ${first.sessionId} does not exist`);
  },
);

ssoTest("DELETE /sessions/expired deletes only ended sessions", async () => {
  using app = await withProvider();
  await ssoLogin(app, idp, { sessionNotOnOrAfter: new Date("2026-01-01T13:00:00Z") });
  const { sessionId } = (await ssoLogin(app, idp)).body;
  const purge = async () => (await app.call("DELETE", `${SESSIONS}/expired`)).body;

  deepEqual(await purge(), { ok: true, deleted: 0 });
  app.clock.set("2026-01-01T13:00:00Z");
  deepEqual(await listed(app), [sessionId]);
  deepEqual(await purge(), { ok: true, deleted: 1 });
  deepEqual(await listed(app), [sessionId]);
});

ssoTest("a session that was logged out of is not active", async () => {
  using app = await withProvider();
  const { accessToken: token } = (await ssoLogin(app, idp)).body;
  await app.call("POST", "/auth/logout", undefined, { token });
  deepEqual(await listed(app), []);
});

ssoTest(
  "concurrent refreshes of a session give one pair, which ends with the session",
  async () => {
    using app = await withProvider();
    const first = (await ssoLogin(app, idp, {
      sessionNotOnOrAfter: new Date("2026-01-01T12:05:00Z"),
    })).body;
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => refresh(app, first.refreshToken)),
    );
    const [next, ...others] = answers.map(({ body }) => body);
    for (const other of others) deepEqual(other, next);
    equal(next.expiresIn, 5 * 60);
    deepEqual(await listed(app), [first.sessionId]);

    equal((await app.call("DELETE", `${SESSIONS}/${first.sessionId}`)).status, 200);
    equal((await refresh(app, first.refreshToken)).status, 401);
    equal(await statusWith(app, next.accessToken), 401);
  },
);

ssoTest("a session whose refresh token was used twice is not active", async () => {
  using app = await withProvider();
  const { refreshToken } = (await ssoLogin(app, idp)).body;
  await refresh(app, refreshToken);
  app.clock.advance({ seconds: 10 });
  await refresh(app, refreshToken);
  deepEqual(await listed(app), []);
});

ssoTest("the sessions of a deleted user end, and their rows go with it", async () => {
  using app = await usersApp({ edition: "enterprise", now: NOW });
  await addProvider(app, idp);
  const { accessToken, user } = (await ssoLogin(app, idp)).body;

  equal((await app.call("DELETE", `/auth/users/${user.id}`)).status, 200);

  equal(await statusWith(app, accessToken), 401);
  deepEqual(await listed(app), []);
  deepEqual(app.deps.db.all("SELECT * FROM sso_identities"), []);
});

ssoTest(
  "a changed role holds at the next request, stays, and ends the session when its token does",
  async () => {
    using app = await usersApp({ edition: "enterprise", now: NOW });
    await addProvider(app, idp);
    const first = (await ssoLogin(app, idp)).body;
    const role = { role: "operator" };
    equal((await app.call("PUT", `/auth/users/${first.user.id}/role`, role)).status, 200);

    const me = await app.call("GET", "/auth/me", undefined, { token: first.accessToken });
    equal(me.body.role, "operator");
    deepEqual(await listed(app), [first.sessionId]);
    app.clock.advance({ minutes: 15 });
    equal(await statusWith(app, first.accessToken), 401);
    deepEqual(await listed(app), []);
    equal((await ssoLogin(app, idp)).body.role, "operator");
  },
);

ssoTest(
  "a session goes on through refreshes to its end, and nothing of it goes beyond",
  async () => {
    using app = await withProvider();
    let pair =
      (await ssoLogin(app, idp, { sessionNotOnOrAfter: new Date("2026-01-01T12:20:00.500Z") }))
        .body;
    equal(pair.expiresIn, 900);
    app.clock.set("2026-01-01T12:10:00Z");
    pair = (await refresh(app, pair.refreshToken)).body;
    equal(pair.expiresIn, 600, "to the end of the session, in whole seconds");
    app.clock.set("2026-01-01T12:19:59Z");
    equal(await statusWith(app, pair.accessToken), 200);
    const last = (await refresh(app, pair.refreshToken)).body;
    equal(last.expiresIn, 1);
    app.clock.set("2026-01-01T12:20:00.500Z");
    equal(await statusWith(app, pair.accessToken), 401);
    equal(await statusWith(app, last.accessToken), 401);
    equal((await refresh(app, last.refreshToken)).status, 401);
    deepEqual(await listed(app), []);
  },
);

ssoTest("a session without SessionNotOnOrAfter lasts 8 hours", async () => {
  using app = await withProvider();
  let pair = (await ssoLogin(app, idp)).body;
  for (let n = 0; n < 47; n++) {
    app.clock.advance({ minutes: 10 });
    pair = (await refresh(app, pair.refreshToken)).body;
  }
  equal(pair.expiresIn, 600);
  app.clock.set("2026-01-01T19:59:59Z");
  equal(await statusWith(app, pair.accessToken), 200);
  app.clock.set("2026-01-01T20:00:00Z");
  equal(await statusWith(app, pair.accessToken), 401);
  equal((await refresh(app, pair.refreshToken)).status, 401);
});

ssoTest(
  "the sweeper forgets ended sessions, old requests and old assertions, and what counts stays",
  async () => {
    using app = await withProvider();
    const { db } = app.deps;
    await app.call("GET", `${SSO}/login/${app.provider.id}`, undefined, { role: "public" });
    await ssoLogin(app, idp, { sessionNotOnOrAfter: new Date("2026-01-01T12:05:00Z") });
    const rows = () =>
      ["sso_sessions", "saml_requests", "saml_assertions"].map((table) =>
        db.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)!.n
      );
    deepEqual(rows(), [1, 1, 1]);
    equal(sweepSso(app.deps), 0);
    app.clock.set("2026-01-01T12:05:00Z");
    equal(sweepSso(app.deps), 1);
    deepEqual(rows(), [0, 1, 1]);
    app.clock.set("2026-01-01T12:09:59Z");
    equal(sweepSso(app.deps), 0, "the assertion is good for 5 minutes, and 5 more by the skew");
    app.clock.set("2026-01-01T12:10:00Z");
    equal(sweepSso(app.deps), 1);
    app.clock.set("2026-01-01T12:15:00Z");
    equal(sweepSso(app.deps), 1);
    deepEqual(rows(), [0, 0, 0]);
  },
);

ssoTest("sessions are for admins, also to read", async () => {
  using app = await withProvider();
  equal((await app.call("GET", SESSIONS, undefined, { role: "operator" })).status, 403);
  equal((await app.call("DELETE", `${SESSIONS}/x`, undefined, { role: "operator" })).status, 403);
});

ssoTest("a user with identities and sessions can be deleted", async () => {
  using app = await withProvider();
  const { user } = (await ssoLogin(app, idp)).body;
  equal(deleteUser(app.deps.db, user.id), true);
  deepEqual(app.deps.db.all("SELECT id FROM sso_sessions"), []);
});
