import { deepEqual, equal, match, ok } from "node:assert/strict";
import { login, loginByKey, PASSWORD, statusWith, usersApp } from "../../helpers/accounts.ts";
import { testBrowser } from "../../helpers/browser_session.ts";
import { addTotp, firstStep, secondStep, wrongCode } from "../../helpers/second_factor.ts";
import { testApp } from "../../helpers/test_app.ts";

const EMAIL = "viewer@example.com";

Deno.test("an authenticator app is set up with its first code, and signs out everywhere else", async () => {
  using app = await usersApp({ config: { serverName: "dock-1" } });
  const elsewhere = await login(app, EMAIL);
  const { accessToken: token } = await login(app, EMAIL);

  const started = await app.call("POST", "/api/account/totp", undefined, { token });

  match(started.body.secret, /^[A-Z2-7]{32}$/);
  match(started.body.otpauthUrl, /^otpauth:\/\/totp\/Longshore%20dock-1:viewer%40example.com\?/);
  match(started.body.qrSvg, /^<svg /);
  // Nothing has changed yet.
  ok("accessToken" in (await login(app, EMAIL)));
  deepEqual((await app.call("GET", "/api/account/totp", undefined, { token })).body, {
    enabled: false,
    recoveryCodesLeft: 0,
  });

  const account = await addTotp(app);

  equal(account.recoveryCodes.length, 10);
  equal(await statusWith(app, elsewhere.accessToken), 401);
  equal(await statusWith(app, account.token), 200);
  deepEqual((await app.call("GET", "/api/account/totp", undefined, account)).body, {
    enabled: true,
    recoveryCodesLeft: 10,
  });
  const [stored] = app.deps.db.all<{ secret: string }>("SELECT secret FROM totp_secrets");
  match(stored!.secret, /^v1\./);
  const again = await app.call("POST", "/api/account/totp", undefined, account);
  equal(again.status, 409);
});

Deno.test("a login with a second factor stores nothing before the code, which is accepted once", async () => {
  using app = await usersApp();
  const account = await addTotp(app);
  const count = () => app.deps.db.get<{ n: number }>("SELECT count(*) AS n FROM sessions")!.n;
  const before = count();

  const first = await app.call("POST", "/auth/login", { email: EMAIL, password: PASSWORD }, {
    role: "public",
  });

  const { mfaToken, ...rest } = first.body;
  deepEqual(rest, { mfaRequired: true, methods: ["totp", "recoveryCode"] });
  equal(count(), before);

  // The code that confirmed counts as used, and so does each accepted one.
  equal((await secondStep(app, mfaToken, { code: account.code() })).status, 401);
  const second = await secondStep(app, mfaToken, { code: account.code(1) });
  equal(second.status, 200, second.body.error);
  equal(await statusWith(app, second.body.accessToken), 200);
  equal((await secondStep(app, mfaToken, { code: account.code(1) })).status, 401);
  const other = await firstStep(app);
  equal((await secondStep(app, other, { code: account.code(1) })).status, 401);
  // The clock goes on: the code of the previous step was used, too.
  app.clock.advance({ seconds: 60 });
  equal((await secondStep(app, other, { code: account.code(-1) })).status, 401);
  equal((await secondStep(app, other, { code: account.code() })).status, 200);
});

Deno.test("a page gets the cookie with its code, and only with the same secret", async () => {
  using app = await usersApp();
  const account = await addTotp(app);
  app.clock.advance({ seconds: 60 });
  const browser = testBrowser(app);
  const first = await browser.signIn({ email: EMAIL, password: PASSWORD });
  equal(browser.cookie, "");
  const { mfaToken } = first.body;
  const page = (secret: string) => ({ headers: { "x-page-secret": secret } });

  for (
    const options of [{}, page(testBrowser(app).secret), {
      headers: { ...page(browser.secret).headers, "sec-fetch-site": "cross-site" },
    }]
  ) {
    const refused = await secondStep(app, mfaToken, { code: account.code() }, options);
    ok(refused.status === 401 || refused.status === 403, String(refused.status));
  }

  const second = await secondStep(app, mfaToken, { code: account.code() }, page(browser.secret));
  equal(second.status, 200, second.body.error);
  equal(second.body.refreshToken, undefined);
  browser.cookie = second.headers.get("set-cookie")!.split(";")[0]!;
  equal((await browser.refresh()).status, 200);
});

Deno.test("a second step is bound to its client, 5 minutes, the password and the factors", async () => {
  using app = await usersApp();
  const account = await addTotp(app);
  app.clock.advance({ seconds: 60 });
  const elsewhere = { address: "198.51.100.9" };

  const foreign = await secondStep(app, await firstStep(app), { code: account.code() }, elsewhere);
  equal(foreign.status, 401);
  const slow = await firstStep(app);
  app.clock.advance({ minutes: 5 });
  equal((await secondStep(app, slow, { code: account.code() })).status, 401);
  const outdated = await firstStep(app);
  const change = { currentPassword: PASSWORD, newPassword: "violet tractor under nine moons" };
  equal((await app.call("PUT", "/api/account/password", change, account)).status, 200);
  equal((await secondStep(app, outdated, { code: account.code() })).status, 401);
  equal((await secondStep(app, "unknown", { code: account.code() })).status, 401);
});

Deno.test("wrong codes are throttled for the account and the address, whatever the password", async () => {
  using app = await usersApp();
  const account = await addTotp(app);
  const wrong = wrongCode(account);
  // From many addresses, with a new right password each time.
  const guess = async (address: string) =>
    await secondStep(app, await firstStep(app, EMAIL, { address }), { code: wrong }, { address });

  let refused = 0;
  for (let minute = 0; minute < 5; minute++) {
    app.clock.advance({ seconds: 61 });
    for (let at = 0; at < 12; at++) {
      const answer = await guess(`198.51.${minute}.${at}`);
      if (answer.status === 401) refused++;
      else equal(answer.status, 429);
    }
  }

  equal(refused, 30);
  // The owner's own address is known, so that an attacker cannot lock the owner out.
  const own = await secondStep(app, await firstStep(app), { code: account.code() });
  equal(own.status, 200, own.body.error);
  app.clock.advance({ minutes: 61 });
  equal((await guess("198.51.9.9")).status, 401);
});

Deno.test("a recovery code replaces the second factor once, also of parallel requests", async () => {
  using app = await usersApp();
  const account = await addTotp(app);
  const [recoveryCode = "", another = ""] = account.recoveryCodes;
  match(recoveryCode, /^(?:[2-9A-HJ-NP-Z]{4}-){3}[2-9A-HJ-NP-Z]{4}$/);
  const tokens = await Promise.all([1, 2, 3].map(() => firstStep(app)));

  const answers = await Promise.all(
    tokens.map((mfaToken) => secondStep(app, mfaToken, { recoveryCode })),
  );

  deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401]);
  const typed = another.toLowerCase().replaceAll("-", " ");
  const lower = await secondStep(app, await firstStep(app), { recoveryCode: typed });
  equal(lower.status, 200, lower.body.error);
  const state = await app.call("GET", "/api/account/totp", undefined, account);
  equal(state.body.recoveryCodesLeft, 8);
  const stored = JSON.stringify(app.deps.db.all("SELECT code_hash FROM recovery_codes"));
  for (const code of account.recoveryCodes) ok(!stored.includes(code));
});

Deno.test("wrong recovery codes are throttled like other codes", async () => {
  using app = await usersApp();
  await addTotp(app);
  const address = "198.51.100.1";
  const mfaToken = await firstStep(app, EMAIL, { address });
  const statuses: number[] = [];
  for (let at = 0; at < 11; at++) {
    const recoveryCode = `AAAA-AAAA-AAAA-AAA${"23456789ABC"[at]}`;
    statuses.push((await secondStep(app, mfaToken, { recoveryCode }, { address })).status);
  }
  deepEqual(statuses, [...Array(10).fill(401), 429]);
});

Deno.test("removing an authenticator app needs the password and a code", async () => {
  using app = await usersApp();
  const account = await addTotp(app);
  app.clock.advance({ seconds: 60 });
  const remove = (body: unknown) => app.call("DELETE", "/api/account/totp", body, account);

  equal((await remove({ code: account.code() })).status, 400);
  equal((await remove({ password: "wrong wrong wrong", code: account.code() })).status, 403);
  equal((await remove({ password: PASSWORD, code: wrongCode(account) })).status, 403);
  const elsewhere = await secondStep(app, await firstStep(app), { code: account.code() });
  equal((await remove({ password: PASSWORD, code: account.code() })).status, 403);
  const removed = await remove({ password: PASSWORD, code: account.code(1) });
  equal(removed.status, 200, removed.body.error);

  equal(await statusWith(app, elsewhere.body.accessToken), 401);
  ok("accessToken" in (await login(app, EMAIL)));
  deepEqual(app.deps.db.all("SELECT user_id FROM recovery_codes"), []);
  equal((await remove({ password: PASSWORD, code: account.code() })).status, 404);
});

Deno.test("wrong codes of a removal are throttled", async () => {
  using app = await usersApp();
  const account = await addTotp(app);
  const body = { password: PASSWORD, code: wrongCode(account) };
  const statuses: number[] = [];
  for (let at = 0; at < 11; at++) {
    statuses.push((await app.call("DELETE", "/api/account/totp", body, account)).status);
  }
  deepEqual(statuses, [...Array(10).fill(403), 429]);
});

Deno.test("an admin resets the second factors of another user, which the audit log shows", async () => {
  using app = await usersApp();
  const account = await addTotp(app);
  const { accessToken: token } = await login(app, "admin@example.com");
  const path = (id: string) => `/api/users/${id}/mfa`;

  equal((await app.call("DELETE", path(app.ids.admin), undefined, { token })).status, 409);
  equal((await app.call("DELETE", path("unknown"), undefined, { token })).status, 404);
  const reset = await app.call("DELETE", path(app.ids.viewer), undefined, { token });
  equal(reset.status, 200, reset.body.error);

  equal(await statusWith(app, account.token), 401);
  ok("accessToken" in (await login(app, EMAIL)));
  const { body } = await app.call("GET", "/api/audit", undefined, { token });
  const resets = body.entries.filter(({ action, outcome }: Record<string, string>) =>
    action === "DELETE /api/users/:id/mfa" && outcome === "success"
  );
  equal(resets.length, 1);
  ok(JSON.stringify(resets).includes(app.ids.viewer));
});

Deno.test("second factors belong to logins of users mode", async () => {
  using app = await usersApp();
  const { accessToken: token } = await login(app, "admin@example.com");
  const created = await app.call("POST", "/api/tokens", { name: "ci", role: "admin" }, { token });
  for (
    const [method, path] of [
      ["GET", "/api/account/totp"],
      ["POST", "/api/account/totp"],
      ["DELETE", `/api/users/${app.ids.viewer}/mfa`],
    ] as const
  ) {
    const answer = await app.call(method, path, undefined, { token: created.body.token });
    equal(answer.status, 403, path);
  }
  using byKey = testApp();
  const key = await loginByKey(byKey);
  const answer = await byKey.call("POST", "/api/account/totp", undefined, {
    token: key.accessToken,
  });
  equal(answer.status, 404);
});

Deno.test("wrong codes of a session count for its account, and block no other at its address", async () => {
  using app = await usersApp();
  const account = await addTotp(app);
  const { accessToken: token } = await login(app, "operator@example.com");
  await app.call("POST", "/api/account/totp", undefined, { token });
  const statuses = [];
  for (let n = 0; n < 12; n++) {
    const confirm = { code: wrongCode(account) };
    statuses.push((await app.call("POST", "/api/account/totp/confirm", confirm, { token })).status);
  }
  deepEqual(statuses, [...Array(10).fill(403), 429, 429]);
  const own = await secondStep(app, await firstStep(app), { code: account.code(1) });
  equal(own.status, 200, own.body.error);
});
