import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { openStateDatabase } from "../../../../db/database.ts";
import { migrate } from "../../../../db/migrate.ts";
import { stateMigrations } from "../../../../db/migrations/state/mod.ts";
import { createAccounts } from "../../../../services/access/accounts.ts";
import { acceptAssertion } from "../../../../services/enterprise/sso/login.ts";
import {
  changeProvider,
  setProviderEnabled,
} from "../../../../services/enterprise/sso/providers.ts";
import { setPassword } from "../../../../services/access/users/passwords.ts";
import { login, loginByKey, PASSWORD, statusWith, usersApp } from "../../../helpers/accounts.ts";
import { addProvider, createIdp, postAcs, SSO, ssoLogin, ssoTest } from "../../../helpers/sso.ts";
import { TEST_CLIENT, type TestApp, testApp, testConfig } from "../../../helpers/test_app.ts";

const admin = { userId: "key", role: "admin", familyId: "f", address: "192.0.2.1" } as const;
const NOW = "2026-01-01T12:00:00.000Z";
const idp = await createIdp("https://idp.example.com/metadata");

const tables = (app: TestApp) =>
  ["users", "sso_identities", "sso_sessions", "saml_assertions", "refresh_tokens"].map((table) =>
    app.deps.db.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)!.n
  );

ssoTest("a used assertion is refused after a restart as well", async () => {
  const directory = await Deno.makeTempDir({ prefix: "longshore-sso-" });
  const started = () => {
    const db = openStateDatabase(`${directory}/state.sqlite`);
    migrate(db, stateMigrations);
    const app = testApp({ edition: "enterprise", now: NOW, db });
    return Object.assign(app, {
      [Symbol.dispose]: ((end) => () => {
        end();
        db.close();
      })(app[Symbol.dispose]),
    });
  };
  try {
    const message = await idp.answer({ issuedAt: new Date(NOW) });
    let token: string;
    {
      using app = started();
      await addProvider(app, idp);
      const { status, body } = await postAcs(app, message);
      equal(status, 200);
      token = body.accessToken;
    }
    using app = started();
    const { status, body } = await postAcs(app, message);
    deepEqual([status, body.error], [401, "The assertion has already been used"]);
    equal(await statusWith(app, token), 200, "a session goes on");
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

ssoTest("an assertion id is kept for as long as the assertion would be good", async () => {
  using app = testApp({ edition: "enterprise", now: NOW });
  await addProvider(app, idp);
  const message = await idp.answer({ issuedAt: app.clock.now() });
  await postAcs(app, message);
  const { sweepSso } = await import("../../../../services/enterprise/sso/sessions.ts");
  const reasons = new Set<string>();
  for (let minute = 0; minute <= 12; minute++) {
    sweepSso(app.deps);
    const { status, body } = await postAcs(app, message, { address: `192.0.2.${minute}` });
    equal(status, 401);
    reasons.add(body.error);
    app.clock.advance({ minutes: 1 });
  }
  equal(reasons.size, 2, "used before, then expired");
});

for (
  const { what, act, reason } of [
    {
      what: "disabled",
      act: (app: TestApp, id: string) => setProviderEnabled(app.deps, admin, id, false),
      reason: "provider_disabled",
    },
    {
      what: "changed",
      act: (app: TestApp, id: string) =>
        changeProvider(app.deps, admin, id, { auto_provision: false }, "http://longshore.test"),
      reason: "provider_changed",
    },
  ]
) {
  ssoTest(
    `a provider that is ${what} while its message is verified refuses the login`,
    async () => {
      using app = testApp({ edition: "enterprise", now: NOW });
      const { id } = await addProvider(app, idp);
      const samlResponse = await idp.answer({ issuedAt: app.clock.now() });
      let acted = false;
      const now = () => {
        // The clock is first asked when the check of the message begins.
        if (!acted) act(app, id);
        acted = true;
        return app.clock.now();
      };
      await rejects(
        acceptAssertion({ ...app.deps, now }, { samlResponse, relayState: undefined }, TEST_CLIENT),
        { reason },
      );
      ok(acted);
      deepEqual(tables(app), [0, 0, 0, 0, 0]);
    },
  );
}

ssoTest(
  "what cannot be stored leaves nothing behind, in memory either, and can be tried again",
  async () => {
    using app = testApp({ edition: "enterprise", now: NOW });
    await addProvider(app, idp);
    const message = await idp.answer({ issuedAt: app.clock.now() });
    const put: string[] = [];
    const { accounts, db } = app.deps;
    const watched = {
      ...accounts,
      put: (id: string, role: "viewer") => {
        put.push(id);
        accounts.put(id, role);
      },
    };
    db.exec(
      "CREATE TRIGGER full BEFORE INSERT ON sso_sessions BEGIN SELECT raise(ABORT, 'x'); END",
    );
    await rejects(
      acceptAssertion(
        { ...app.deps, accounts: watched },
        { samlResponse: message, relayState: undefined },
        TEST_CLIENT,
      ),
    );
    equal(put.length, 1);
    equal(accounts.roleOf({ userId: put[0]!, familyId: "f" }), undefined);
    deepEqual(tables(app), [0, 0, 0, 0, 0]);

    db.exec("DROP TRIGGER full");
    equal((await postAcs(app, message)).status, 200);
  },
);

ssoTest("in key mode SSO users and the key's holder live side by side", async () => {
  using app = testApp({ edition: "enterprise", now: NOW });
  await addProvider(app, idp, { default_role: "operator" });
  const key = await loginByKey(app);
  const { accessToken: token, role, user } = (await ssoLogin(app, idp)).body;

  equal(role, "operator");
  deepEqual((await app.call("GET", "/auth/me", undefined, { token })).body, {
    id: user.id,
    email: "ada@example.com",
    role: "operator",
    createdAt: NOW,
    lastLoginAt: NOW,
  });
  equal((await app.call("GET", "/auth/me", undefined, { token: key.accessToken })).body.id, "key");
  equal((await app.call("GET", "/auth/users", undefined, { token: key.accessToken })).status, 404);
  // After a restart as well.
  const again = createAccounts(app.deps.db, testConfig({ authMode: "key" }), app.clock.now);
  equal(again.roleOf({ userId: user.id, familyId: "f" }), "operator");
});

ssoTest("an SSO user who is given a password is off in key mode, with what it holds", async () => {
  using app = testApp({ edition: "enterprise", now: NOW });
  await addProvider(app, idp);
  const { user } = (await ssoLogin(app, idp)).body;
  await setPassword(app.deps, user.id, PASSWORD);
  const accounts = createAccounts(app.deps.db, testConfig({ authMode: "key" }), app.clock.now);
  equal(accounts.roleOf({ userId: user.id, familyId: "f" }), undefined);
});

ssoTest("an SSO user cannot log in with a password", async () => {
  using app = await usersApp({ edition: "enterprise", now: NOW });
  await addProvider(app, idp, { default_role: "admin" });
  await ssoLogin(app, idp);
  for (const password of ["null", "undefined", PASSWORD]) {
    const body = { email: "ada@example.com", password };
    equal((await app.call("POST", "/auth/login", body, { role: "public" })).status, 401);
  }
});

ssoTest(
  "a linked user goes on logging in by password, and sessions of both kinds are apart",
  async () => {
    using app = await usersApp({ edition: "enterprise", now: NOW });
    await addProvider(app, idp, { link_existing: true, auto_provision: false });
    const sso = (await ssoLogin(app, idp, { email: "admin@example.com" })).body;
    equal(sso.user.id, app.ids.admin);
    equal(sso.role, "admin");
    const own = await login(app, "admin@example.com");
    await app.call("DELETE", `${SSO}/sessions/${sso.sessionId}`);
    equal(await statusWith(app, sso.accessToken), 401);
    equal(await statusWith(app, own.accessToken), 200);
  },
);

ssoTest(
  "a user beyond the license is 402, and the next one who is there already gets in",
  async () => {
    using app = testApp({ edition: "enterprise", now: NOW });
    await addProvider(app, idp);
    const grant = { customer: "test", edition: "enterprise", limits: { users: 1 } } as const;
    app.deps.license.use({ ...grant, expiresAt: new Date("2999-01-01T00:00:00Z") });
    equal((await ssoLogin(app, idp, { email: "first@example.com" })).status, 200);

    const refused = await ssoLogin(app, idp, { email: "second@example.com" });

    equal(refused.status, 402);
    deepEqual(
      [refused.body.error, refused.body.current, refused.body.max],
      [
        "Edition limit reached (users): the Enterprise edition allows 1; delete one or upgrade",
        1,
        1,
      ],
    );
    deepEqual(tables(app).slice(0, 3), [1, 1, 1]);
    equal((await ssoLogin(app, idp, { email: "first@example.com" })).status, 200);
  },
);
