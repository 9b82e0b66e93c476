import { deepEqual, equal, match } from "node:assert/strict";
import { insertPasskey } from "../../../../db/passkeys.ts";
import { statusWith, usersApp } from "../../../helpers/accounts.ts";
import { sha256 } from "../../../../services/builtins.ts";
import { OWN_PAGE, pageSecret } from "../../../helpers/browser_session.ts";
import {
  addProvider,
  createIdp,
  postAcs,
  requestIdIn,
  SSO,
  ssoLogin,
  ssoTest,
} from "../../../helpers/sso.ts";
import {
  keptLog,
  TEST_ADDRESS,
  type TestApp,
  testApp,
  type TestAppOptions,
} from "../../../helpers/test_app.ts";

const anyone = { role: "public" } as const;
const idp = await createIdp("https://idp.example.com/metadata");
const impostor = await createIdp("https://idp.example.com/metadata");

async function withProvider(changes: Record<string, unknown> = {}, options: TestAppOptions = {}) {
  const app = testApp({ edition: "enterprise", ...options });
  return Object.assign(app, { provider: await addProvider(app, idp, changes) });
}

/** Begins the login of a browser. @returns The id of its request, its cookie and its page's secret. */
async function begin(app: Awaited<ReturnType<typeof withProvider>>, secret = pageSecret()) {
  const methods = await app.call("GET", "/auth/providers", undefined, {
    ...anyone,
    headers: { "x-page-secret": secret },
  });
  const { path } = methods.body.providers[0];
  const returnTo = encodeURIComponent("/containers?q=a b");
  const { status, headers, body } = await app.call(
    "GET",
    `${path}&return_to=${returnTo}`,
    undefined,
    anyone,
  );
  equal(status, 200, body.error);
  const attributes = headers.get("set-cookie")!;
  const cookie = attributes.split(";")[0]!;
  return { inResponseTo: requestIdIn(body), browser: { cookie, secret }, attributes };
}

/** The code in the address to which a completed login leads. */
async function codeOf(app: TestApp, inResponseTo: string): Promise<string> {
  const { status, headers } = await ssoLogin(app, idp, { inResponseTo });
  equal(status, 303);
  return headers.get("location")!.split("#code=")[1]!;
}

const collect = (app: TestApp, code: string, { cookie, secret }: Browser) =>
  app.call("POST", "/auth/session", { code }, {
    ...anyone,
    headers: {
      ...OWN_PAGE,
      "x-page-secret": secret,
      ...(cookie !== undefined && { cookie }),
    },
  });

interface Browser {
  cookie?: string;
  secret: string;
}

ssoTest("a login that a browser began ends with its session", async () => {
  using app = await withProvider();
  const { inResponseTo, browser, attributes } = await begin(app);
  match(
    attributes,
    /^longshore-login-[\w-]{16}=[\w-]{43}; Path=\/auth\/session; Max-Age=900; HttpOnly; SameSite=Strict$/,
  );
  const { status, headers, body } = await ssoLogin(app, idp, { inResponseTo });
  equal(status, 303);
  // No token is in an answer that a page of the identity provider receives.
  equal(body ?? "", "");
  equal(headers.get("set-cookie"), null);
  const location = new URL(headers.get("location")!, `https://ops.example/longshore${SSO}/acs`);
  equal(location.pathname, "/longshore/sign-in");
  equal(location.searchParams.get("next"), "/containers?q=a b");

  const answer = await collect(app, location.hash.replace("#code=", ""), browser);
  equal(answer.status, 200, answer.body.error);
  deepEqual(Object.keys(answer.body).sort(), [
    "accessToken",
    "expiresIn",
    "isLimitedToHosts",
    "permissions",
    "role",
    "serverName",
  ]);
  match(answer.headers.get("set-cookie")!, /^longshore-[\w-]{16}=[\w-]{43}; /);
  equal(await statusWith(app, answer.body.accessToken), 200);
  const { sessions } = (await app.call("GET", `${SSO}/sessions`)).body;
  equal(sessions.length, 1);

  const sent = {
    ...OWN_PAGE,
    "x-page-secret": browser.secret,
    cookie: answer.headers.get("set-cookie")!.split(";")[0]!,
  };
  const refresh = (headers: Record<string, string>) =>
    app.call("POST", "/auth/session/refresh", undefined, { ...anyone, headers });
  equal((await refresh({ ...sent, "x-page-secret": pageSecret() })).status, 401);
  equal((await refresh(sent)).status, 200);
});

ssoTest(
  "the login of another page of the host is refused, and foreign cookies are ignored",
  async () => {
    using app = await withProvider();
    // An app on another port began a login and planted its cookie in the browser of a user.
    const planted = await begin(app);
    const secret = pageSecret();
    const own = await begin(app, secret);
    const name = own.browser.cookie.split("=")[0]!;
    const value = planted.browser.cookie.split("=")[1]!;
    const cookie = `${name}=${value}; ${own.browser.cookie}; ${planted.browser.cookie}`;
    const ofAttacker = await codeOf(app, planted.inResponseTo);
    equal((await collect(app, ofAttacker, { cookie, secret })).status, 401);
    const ofUser = await codeOf(app, own.inResponseTo);
    equal((await collect(app, ofUser, { cookie, secret })).status, 200);
  },
);

ssoTest("a link with return_to leads to the sign-in page, which begins the login", async () => {
  using app = await withProvider();
  const { id } = app.provider;
  const login = `${SSO}/login/${id}?return_to=${encodeURIComponent("/containers?q=a&b")}`;
  const { status, headers } = await app.call("GET", login, undefined, anyone);
  deepEqual([status, headers.get("set-cookie")], [302, null]);
  const page = new URL(headers.get("location")!, `https://ops.example/longshore${login}`);
  equal(page.pathname, "/longshore/sign-in");
  deepEqual(Object.fromEntries(page.searchParams), { next: "/containers?q=a&b", provider: id });

  const wrong = await app.call("GET", `${login}&page=short`, undefined, anyone);
  equal(wrong.status, 400);
  match(wrong.body.error, /^query\.page: must be a SHA-256/);
});

ssoTest("the cookie of a login over TLS is Secure and has the prefix __Secure-", async () => {
  using app = await withProvider({}, { config: { serviceBaseUrl: "https://ops.example.com" } });
  const { attributes } = await begin(app);
  match(
    attributes,
    /^__Secure-longshore-login-[\w-]{16}=[\w-]{43}; Path=\/auth\/session; .*; Secure$/,
  );
});

ssoTest(
  "a code is refused without the cookie, with another one, twice and when it is old",
  async () => {
    using app = await withProvider();
    const refused = /took too long or was begun elsewhere/;
    const own = await begin(app);
    const foreign = await begin(app);
    // An attacker's page gives the victim the attacker's code, or the other way round.
    const { secret, cookie: ownCookie } = own.browser;
    for (
      const browser of [
        { secret },
        foreign.browser,
        { secret, cookie: foreign.browser.cookie },
        { secret, cookie: `${ownCookie.split("=")[0]}=` },
      ]
    ) {
      const { inResponseTo } = await begin(app, secret);
      const { status, body } = await collect(app, await codeOf(app, inResponseTo), browser);
      equal(status, 401);
      match(body.error, refused);
    }
    const { inResponseTo, browser } = await begin(app);
    const code = await codeOf(app, inResponseTo);
    equal((await collect(app, code, browser)).status, 200);
    equal((await collect(app, code, browser)).status, 401);

    const late = await begin(app);
    const lateCode = await codeOf(app, late.inResponseTo);
    app.clock.advance({ seconds: 31 });
    equal((await collect(app, lateCode, late.browser)).status, 401);
  },
);

ssoTest(
  "an account with a second factor is asked for it, unless the provider has done so",
  async () => {
    using app = await withProvider();
    const first = await ssoLogin(app, idp);
    equal(first.status, 200, first.body.error);
    insertPasskey(app.deps.db, {
      ...{ id: "p1", userId: first.body.user.id, name: "Key", rpId: "longshore.example.com" },
      ...{ credentialId: "AA", publicKey: "AA", counter: 0, transports: [] },
      ...{ createdAt: "2026-01-01T12:00:00.000Z", lastUsedAt: null },
    });
    const sessions = async () => (await app.call("GET", `${SSO}/sessions`)).body.sessions.length;

    const asked = await ssoLogin(app, idp);
    deepEqual([asked.status, asked.body.mfaRequired, asked.body.methods], [200, true, ["passkey"]]);
    const { inResponseTo, browser } = await begin(app);
    const collected = await collect(app, await codeOf(app, inResponseTo), browser);
    deepEqual([collected.status, collected.body.mfaRequired], [200, true]);
    equal(collected.headers.get("set-cookie"), null);
    equal(await sessions(), 1);

    const done = await ssoLogin(app, idp, { authnContext: "https://refeds.org/profile/mfa" });
    equal(await statusWith(app, done.body.accessToken), 200);
    equal(await sessions(), 2);
  },
);

ssoTest("codes are throttled, and belong to pages of the service", async () => {
  using app = await withProvider();
  const { inResponseTo, browser } = await begin(app);
  const { cookie, secret } = browser;
  const code = await codeOf(app, inResponseTo);
  const headers = { origin: "https://evil.example", "x-page-secret": secret, cookie };
  const foreign = await app.call("POST", "/auth/session", { code }, { ...anyone, headers });
  equal(foreign.status, 403);
  for (let attempt = 0; attempt < 10; attempt++) {
    equal((await collect(app, `${code}x`, browser)).status, 401);
  }
  equal((await collect(app, code, browser)).status, 429);
});

ssoTest("a user whose address is not allowed gets no session", async () => {
  using users = await usersApp({ edition: "enterprise" });
  const app = Object.assign(users, { provider: await addProvider(users, idp) });
  const allowlist = "/api/ext/service-enterprise/ip-allowlist";
  const address = "10.1.2.3";
  for (
    const rule of [
      { cidr: TEST_ADDRESS, label: "Office" },
      { cidr: address, label: "VPN", scope: "user", scope_id: app.ids.operator },
    ]
  ) equal((await app.call("POST", `${allowlist}/rules`, rule)).status, 201);
  const enforced = await app.call("PUT", `${allowlist}/config`, { enforcement_enabled: true });
  equal(enforced.status, 200);
  const { inResponseTo, browser: { cookie, secret } } = await begin(app);
  const code = await codeOf(app, inResponseTo);

  const headers = { ...OWN_PAGE, "x-page-secret": secret, cookie };
  const refused = await app.call("POST", "/auth/session", { code }, {
    ...anyone,
    headers,
    address,
  });
  equal(refused.status, 403);
  deepEqual((await app.call("GET", `${SSO}/sessions`)).body.sessions, []);
});

ssoTest("a refused browser gets a page with the reason, and API clients get JSON", async () => {
  const { log, lines } = keptLog();
  using app = await withProvider({ auto_provision: false }, { log });
  const { inResponseTo } = await begin(app);
  const email = "<b>eve</b>@example.com";
  const { status, headers, body } = await ssoLogin(app, idp, {
    inResponseTo,
    email: "eve@example.com",
  });
  equal(status, 403);
  equal(headers.get("content-type"), "text/html; charset=utf-8");
  match(headers.get("content-security-policy")!, /default-src 'none'/);
  match(body, /User eve@example\.com does not exist/);
  match(body, /<a href="\.\.\/\.\.\/\.\.\/\.\.\/sign-in\?next=%2Fcontainers%3Fq%3Da%20b">/);
  const hostile = await ssoLogin(app, idp, {
    inResponseTo: (await begin(app)).inResponseTo,
    email,
  });
  equal(hostile.body.includes("<b>"), false);

  // The message of another provider, for the request of a browser.
  const open = await begin(app);
  const message = await impostor.answer({
    issuedAt: app.clock.now(),
    inResponseTo: open.inResponseTo,
  });
  const forged = await postAcs(app, message);
  deepEqual([forged.status, forged.headers.get("location")], [401, null]);
  match(forged.body, /Sign-in refused/);
  const unknown = await ssoLogin(app, idp, { inResponseTo: "_unknown" });
  deepEqual([unknown.status, typeof unknown.body.error], [401, "string"]);
  const audited = (await app.call("GET", "/api/audit")).body.entries
    .filter(({ action }: { action: string }) => action === `POST ${SSO}/acs`);
  deepEqual(audited.map(({ outcome }: { outcome: string }) => outcome), Array(4).fill("denied"));
  equal(lines.join().includes(open.browser.cookie.split("=")[1]!), false);
});

for (
  const returnTo of ["//evil.example", "/\\evil.example", "https://evil.example/", "a", "/a\nb"]
) {
  ssoTest(`a login does not return to ${JSON.stringify(returnTo)}`, async () => {
    using app = await withProvider();
    const path = `${SSO}/login/${app.provider.id}?page=${sha256("")}&return_to=${
      encodeURIComponent(returnTo)
    }`;
    const { status, headers } = await app.call("GET", path, undefined, anyone);
    deepEqual([status, headers.get("set-cookie")], [400, null]);
  });
}

Deno.test("GET /auth/providers has the enabled providers of the edition, and nothing else of them", async () => {
  using app = testApp({ edition: "enterprise", config: { authMode: "users" } });
  const { id } = await addProvider(app, idp, { name: "Acme" });
  await addProvider(app, { ...idp, entityId: "https://b" }, { name: "Off", enabled: false });
  const { status, body } = await app.call("GET", "/auth/providers", undefined, anyone);
  equal(status, 200);
  deepEqual(body, {
    apiKey: false,
    password: true,
    passwords: true,
    passkeys: false,
    providers: [{
      ...{ id, name: "Acme", kind: "saml", path: `${SSO}/login/${id}` },
      url: `http://longshore.test${SSO}/login/${id}`,
    }],
  });
  const withPage = await app.call("GET", "/auth/providers", undefined, {
    ...anyone,
    headers: { "x-page-secret": "x".repeat(43) },
  });
  equal(withPage.body.providers[0].path, `${SSO}/login/${id}?page=${sha256("x".repeat(43))}`);
  using ce = testApp();
  const { body: own } = await ce.call("GET", "/auth/providers", undefined, anyone);
  deepEqual(own, {
    ...{ apiKey: true, password: false, passwords: false, passkeys: false },
    providers: [],
  });
});
