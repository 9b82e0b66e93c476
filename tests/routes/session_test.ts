import { deepEqual, equal, match, notEqual } from "node:assert/strict";
import { login, PASSWORD, refresh, statusWith, usersApp } from "../helpers/accounts.ts";
import { OWN_PAGE, testBrowser } from "../helpers/browser_session.ts";
import { TEST_API_KEY, type TestApp, testApp } from "../helpers/test_app.ts";

const ADMIN = { email: "admin@example.com", password: PASSWORD };

const nameIn = (cookie: string) => cookie.slice(0, cookie.indexOf("="));
const tokenIn = (cookie: string) => cookie.slice(cookie.indexOf("=") + 1);
const auditedActions = async (app: TestApp) =>
  (await app.call("GET", "/api/audit")).body.entries.map(
    ({ action, outcome }: { action: string; outcome: string }) => `${action} ${outcome}`,
  );

Deno.test("POST /auth/session answers the access token and sets the refresh token as cookie", async () => {
  using app = testApp({ config: { serverName: "dock-1" } });
  const answer = await testBrowser(app).signIn();

  equal(answer.status, 200);
  const { accessToken, ...rest } = answer.body;
  deepEqual(rest, {
    ...{ expiresIn: 900, role: "admin", serverName: "dock-1" },
    ...{ permissions: [], isLimitedToHosts: false },
  });
  match(
    answer.headers.get("set-cookie")!,
    /^longshore-[\w-]{16}=[\w-]{43}; Path=\/auth\/session; Max-Age=2592000; HttpOnly; SameSite=Strict$/,
  );
  equal(await statusWith(app, accessToken), 200);
});

for (
  const { what, config, headers, path } of [
    {
      what: "with SERVICE_BASE_URL over https, also below a path",
      config: { serviceBaseUrl: "https://ops.example.org/longshore" },
      headers: {},
      path: "/longshore/auth/session",
    },
    {
      what: "behind a trusted proxy with TLS",
      config: { trustedProxies: ["192.0.2.1"] },
      headers: { "x-forwarded-proto": "https" },
      path: "/auth/session",
    },
  ]
) {
  Deno.test(`the cookie is Secure and has the prefix __Secure- ${what}`, async () => {
    using app = testApp({ config });
    const browser = testBrowser(app);
    const { headers: received } = await browser.signIn(undefined, { headers });
    match(
      received.get("set-cookie")!,
      /^__Secure-longshore-[\w-]{16}=[\w-]{43}; Path=\S+; Max-Age=2592000; HttpOnly; SameSite=Strict; Secure$/,
    );
    equal(/Path=([^;]*)/.exec(received.get("set-cookie")!)![1], path);
    equal((await browser.refresh({ headers: { ...OWN_PAGE, ...headers } })).status, 200);
    // Pages without TLS can set this name.
    browser.cookie = browser.cookie.replace("__Secure-", "");
    equal((await browser.refresh({ headers: { ...OWN_PAGE, ...headers } })).status, 401);
  });
}

Deno.test("an untrusted X-Forwarded-Proto does not make the cookie Secure", async () => {
  using app = testApp();
  const headers = { "x-forwarded-proto": "https" };
  const answer = await testBrowser(app).signIn(undefined, { headers });
  match(answer.headers.get("set-cookie")!, /^longshore-/);
});

Deno.test("POST /auth/session takes email and password in users mode", async () => {
  using app = await usersApp();
  const answer = await testBrowser(app).signIn({ ...ADMIN, email: "viewer@example.com" });
  deepEqual([answer.status, answer.body.role], [200, "viewer"]);
});

for (
  const [what, body, status, error] of [
    ["a wrong key", { apiKey: "wrong" }, 401, /API key is wrong/],
    ["an email and a password", ADMIN, 400, /AUTH_MODE=key.*apiKey/],
    ["no credentials", {}, 400, /^body\.apiKey: is required/],
    ["a missing password", { email: "a@b" }, 400, /^body\.password: /],
    ["an unknown field", { apiKey: "a", name: "b" }, 400, /name/],
  ] as const
) {
  Deno.test(`POST /auth/session refuses ${what} in key mode and sets no cookie`, async () => {
    using app = testApp();
    const answer = await testBrowser(app).signIn(body);
    equal(answer.status, status);
    match(answer.body.error, error);
    equal(answer.headers.get("set-cookie"), null);
  });
}

Deno.test("POST /auth/session refuses the API key in users mode", async () => {
  using app = await usersApp();
  const answer = await testBrowser(app).signIn({ apiKey: TEST_API_KEY });
  equal(answer.status, 400);
  equal(answer.body.error, "body: Key mode is off (AUTH_MODE=users); send email and password");
});

Deno.test("ten wrong passwords block sign-ins and logins of the address alike", async () => {
  using app = await usersApp();
  const browser = testBrowser(app);
  const wrong = { ...ADMIN, password: "wrong wrong wrong" };
  for (let n = 0; n < 10; n++) equal((await browser.signIn(wrong)).status, 401);
  const refused = await browser.signIn(ADMIN);
  deepEqual([refused.status, refused.headers.get("retry-after")], [429, "60"]);
});

Deno.test("a refresh replaces the cookie and continues the session", async () => {
  using app = testApp();
  const browser = testBrowser(app);
  await browser.signIn();
  const first = browser.cookie;

  const answer = await browser.refresh();

  equal(answer.status, 200);
  deepEqual(Object.keys(answer.body).sort(), [
    "accessToken",
    "expiresIn",
    "isLimitedToHosts",
    "permissions",
    "role",
    "serverName",
  ]);
  notEqual(browser.cookie, first);
  equal(await statusWith(app, answer.body.accessToken), 200);
  equal((await browser.refresh()).status, 200);
});

Deno.test("two tabs that refresh in parallel get the same session", async () => {
  using app = testApp();
  const browser = testBrowser(app);
  await browser.signIn();

  const [one, two] = await Promise.all([browser.refresh(), browser.refresh()]);
  app.clock.advance({ seconds: 9 });

  deepEqual([one.status, two.status], [200, 200]);
  equal(one.headers.get("set-cookie"), two.headers.get("set-cookie"));
  equal(await statusWith(app, two.body.accessToken), 200);
  equal((await browser.refresh()).status, 200);
});

for (
  const { what, delay, address } of [
    { what: "after 10 seconds", delay: { seconds: 10 }, address: "192.0.2.1" },
    { what: "from another address", delay: {}, address: "198.51.100.7" },
  ]
) {
  Deno.test(`reuse of an old cookie ${what} ends the session and deletes the cookie`, async () => {
    using app = testApp();
    const [browser, thief] = [testBrowser(app), testBrowser(app)];
    const { body } = await browser.signIn();
    Object.assign(thief, { cookie: browser.cookie, secret: browser.secret });
    await browser.refresh();
    app.clock.advance(delay);

    const answer = await thief.refresh({ address });

    equal(answer.status, 401);
    match(
      answer.headers.get("set-cookie")!,
      /^longshore-[\w-]{16}=; Path=\/auth\/session; Max-Age=0; /,
    );
    equal(await statusWith(app, body.accessToken), 401);
    equal((await browser.refresh()).status, 401);
  });
}

Deno.test("DELETE /auth/session ends the session and deletes the cookie", async () => {
  using app = await usersApp();
  const browser = testBrowser(app);
  const { body } = await browser.signIn(ADMIN);
  const { cookie } = browser;
  app.clock.advance({ seconds: 1 });

  const answer = await browser.signOut();

  deepEqual([answer.status, answer.body], [200, { ok: true }]);
  equal(browser.cookie, "");
  equal(await statusWith(app, body.accessToken), 401);
  equal((await refresh(app, tokenIn(cookie))).status, 401);
  const { body: audit } = await app.call("GET", "/api/audit");
  const [{ action, actorEmail, outcome }] = audit.entries;
  deepEqual([action, actorEmail, outcome], [
    "DELETE /auth/session",
    "admin@example.com",
    "success",
  ]);
});

Deno.test("a refresh or a sign-out without a cookie is 401, is not audited and does not throttle", async () => {
  using app = testApp();
  const browser = testBrowser(app);
  for (let n = 0; n < 20; n++) {
    equal((await browser.refresh()).status, 401);
    equal((await browser.signOut()).status, 401);
  }
  deepEqual(await auditedActions(app), []);
  equal((await browser.signIn()).status, 200);
});

Deno.test("guessed cookies are throttled", async () => {
  using app = testApp();
  const browser = testBrowser(app);
  await browser.signIn();
  const name = nameIn(browser.cookie);
  for (let n = 0; n < 10; n++) {
    browser.cookie = `${name}=guess-${n}`;
    equal((await browser.signOut()).status, 401);
  }
  browser.cookie = `${name}=guess`;
  equal((await browser.signOut()).status, 429);
  browser.cookie = `${name}=guess`;
  equal((await browser.refresh()).status, 429);
});

for (
  const [what, headers] of [
    ["without the header", {}],
    ["with another value of the header", { "x-requested-with": "XMLHttpRequest" }],
    ["of another origin", { ...OWN_PAGE, origin: "https://evil.example" }],
    ["of a sandboxed page", { ...OWN_PAGE, origin: "null" }],
    ["of another port of the host", { ...OWN_PAGE, origin: "http://longshore.test:8080" }],
    ["of a neighboring site", { ...OWN_PAGE, "sec-fetch-site": "same-site" }],
    ["of another site", { ...OWN_PAGE, "sec-fetch-site": "cross-site" }],
    ["of an origin in CORS_ORIGINS", { ...OWN_PAGE, origin: "https://pages.example" }],
  ] as [what: string, headers: Record<string, string>][]
) {
  Deno.test(`refresh and sign-out refuse a request ${what}, and the session continues`, async () => {
    using app = testApp({ config: { corsOrigins: ["https://pages.example"] } });
    const browser = testBrowser(app);
    const { body } = await browser.signIn();
    for (const call of [browser.refresh, browser.signOut]) {
      const answer = await call({ headers });
      deepEqual([answer.status, answer.headers.get("set-cookie")], [403, null]);
    }
    deepEqual(await auditedActions(app), ["POST /auth/session success"]);
    equal(await statusWith(app, body.accessToken), 200);
    equal((await browser.refresh()).status, 200);
  });
}

Deno.test("another site cannot sign a browser in, and does not use up its attempts", async () => {
  using app = testApp();
  const browser = testBrowser(app);
  for (let n = 0; n < 20; n++) {
    const headers = { origin: "https://evil.example" };
    equal((await browser.signIn(undefined, { headers })).status, 403);
  }
  deepEqual([browser.cookie, await auditedActions(app)], ["", []]);
  equal((await browser.signIn()).status, 200);
});

for (
  const { what, config, headers } of [
    { what: "the same origin", config: {}, headers: { origin: "http://longshore.test" } },
    {
      what: "SERVICE_BASE_URL, behind a proxy that replaces Host",
      config: { serviceBaseUrl: "https://ops.example.org/longshore" },
      headers: { origin: "https://ops.example.org" },
    },
    {
      what: "a browser that vouches for the origin, behind a proxy that replaces Host",
      config: {},
      headers: { origin: "https://ops.example.org", "sec-fetch-site": "same-origin" },
    },
  ]
) {
  Deno.test(`browser sign-in accepts ${what}`, async () => {
    using app = testApp({ config });
    const browser = testBrowser(app);
    const own = { headers: { ...OWN_PAGE, ...headers } };
    equal((await browser.signIn(undefined, own)).status, 200);
    equal((await browser.refresh(own)).status, 200);
    equal((await browser.signOut(own)).status, 200);
  });
}

Deno.test("a preflight of CORS_ORIGINS allows neither the header nor credentials", async () => {
  using app = testApp({ config: { corsOrigins: ["https://pages.example"] } });
  const { headers } = await app.fetch("OPTIONS", "/auth/session/refresh", undefined, {
    role: "public",
    headers: {
      origin: "https://pages.example",
      "access-control-request-method": "POST",
      "access-control-request-headers": "x-requested-with",
    },
  });
  equal(headers.get("access-control-allow-headers")!.toLowerCase().includes("x-requested"), false);
  equal(headers.get("access-control-allow-credentials"), null);
});

Deno.test("no other endpoint accepts the cookie", async () => {
  using app = testApp();
  const browser = testBrowser(app);
  await browser.signIn();
  const headers = { ...OWN_PAGE, "x-page-secret": browser.secret, cookie: browser.cookie };
  for (
    const [method, path] of [
      ["GET", "/auth/me"],
      ["POST", "/auth/logout"],
      ["GET", "/api/containers"],
      ["GET", "/api/stream"],
      ["POST", "/api/stream/ticket"],
      ["GET", "/metrics"],
    ] as const
  ) {
    const answer = await app.call(method, path, undefined, { role: "public", headers });
    equal(answer.status, 401, `${method} ${path}`);
  }
  const answer = await app.call("POST", "/auth/refresh", undefined, { role: "public", headers });
  equal(answer.status, 400);
  equal((await browser.refresh()).status, 200);
});

Deno.test("a bearer token does not replace the cookie", async () => {
  using app = testApp();
  const browser = testBrowser(app);
  const { body } = await browser.signIn();
  browser.cookie = "";
  const headers = { ...OWN_PAGE, authorization: `Bearer ${body.accessToken}` };
  equal((await browser.signOut({ headers })).status, 401);
  equal(await statusWith(app, body.accessToken), 200);
});

Deno.test("a sign-in ends the earlier session of the page", async () => {
  using app = await usersApp();
  const browser = testBrowser(app);
  await browser.signIn({ ...ADMIN, email: "viewer@example.com" });
  const earlier = browser.cookie;
  await browser.signIn(ADMIN);
  const own = browser.cookie;

  equal(nameIn(own), nameIn(earlier));
  browser.cookie = earlier;
  equal((await browser.refresh()).status, 401);
  browser.cookie = `${earlier}; ${own}`;
  equal((await browser.refresh()).body.role, "admin");
});

Deno.test("a cookie that another port received is of no use without the page's secret", async () => {
  using app = testApp();
  const [browser, thief] = [testBrowser(app), testBrowser(app)];
  const { body } = await browser.signIn();
  const token = tokenIn(browser.cookie);
  await thief.signIn();
  const nameOfThief = nameIn(thief.cookie);

  for (const cookie of [browser.cookie, `${nameOfThief}=${token}`]) {
    for (const call of [thief.refresh, thief.signOut]) {
      thief.cookie = cookie;
      equal((await call()).status, 401);
    }
  }
  for (const refreshToken of [token, `${token}.${browser.secret}`]) {
    const { status, body } = await refresh(app, refreshToken);
    deepEqual([status, body.error], [
      401,
      "The refresh token is invalid or has expired; log in again",
    ]);
  }
  equal((await browser.refresh()).status, 200);
  equal(await statusWith(app, body.accessToken), 200);
  // Reuse of a used one does not end the login either.
  equal((await refresh(app, token)).status, 401);
  equal(await statusWith(app, body.accessToken), 200);
});

Deno.test("the token of a client without pages is refused as a cookie", async () => {
  using app = testApp();
  const browser = testBrowser(app);
  await browser.signIn();
  const { body } = await app.call("POST", "/auth/token", { apiKey: TEST_API_KEY }, {
    role: "public",
  });
  browser.cookie = `${nameIn(browser.cookie)}=${body.refreshToken}`;
  equal((await browser.refresh()).status, 401);
  equal((await refresh(app, body.refreshToken)).status, 200);
});

Deno.test("foreign cookies neither end a session nor lead to another account", async () => {
  using app = await usersApp();
  const [browser, other] = [testBrowser(app), testBrowser(app)];
  const { body } = await browser.signIn(ADMIN);
  const name = nameIn(browser.cookie);
  const first = tokenIn(browser.cookie);
  await browser.refresh();
  await other.signIn({ ...ADMIN, email: "viewer@example.com" });
  const planted = [first, tokenIn(other.cookie), "planted"].map((value) => `${name}=${value}`);
  app.clock.advance({ minutes: 1 });

  for (let n = 0; n < 3; n++) {
    const own = browser.cookie;
    // Cookies with a longer path come first.
    browser.cookie = [...planted, own, ...planted, ...Array(150).fill(planted[2])].join("; ");
    const answer = await browser.refresh();
    deepEqual([answer.status, answer.body.role], [200, "admin"]);
  }
  equal(await statusWith(app, body.accessToken), 200);
  // Alone, they do not sign the browser in.
  browser.cookie = planted[1]!;
  equal((await browser.refresh()).status, 401);
  equal((await other.refresh()).body.role, "viewer");
});

for (const secret of [undefined, "", "short", "x".repeat(44), `${"x".repeat(42)}=`]) {
  Deno.test(`the page's secret ${JSON.stringify(secret)} is refused`, async () => {
    using app = testApp();
    const browser = testBrowser(app);
    await browser.signIn();
    const { cookie } = browser;
    const headers: Record<string, string> = { ...OWN_PAGE, cookie };
    if (secret !== undefined) headers["x-page-secret"] = secret;
    const asPublic = { role: "public", headers } as const;
    const { status, body } = await app.call("POST", "/auth/session", {
      apiKey: TEST_API_KEY,
    }, asPublic);
    equal(status, 400);
    match(body.error, /^The header X-Page-Secret is required: 32 random bytes/);
    for (const [method, path] of [["POST", "/refresh"], ["DELETE", ""]] as const) {
      equal((await app.call(method, `/auth/session${path}`, undefined, asPublic)).status, 401);
    }
    equal((await browser.refresh()).status, 200);
  });
}

Deno.test("two services on ports of one host have cookies of their own", async () => {
  using one = testApp();
  using two = testApp();
  const [first, second] = [testBrowser(one), testBrowser(two)];
  await first.signIn();
  await second.signIn();
  notEqual(nameIn(first.cookie), nameIn(second.cookie));
  const jar = `${first.cookie}; ${second.cookie}`;
  first.cookie = second.cookie = jar;
  deepEqual([(await first.refresh()).status, (await second.refresh()).status], [200, 200]);
});

Deno.test("a failed sign-in keeps the session of the cookie", async () => {
  using app = testApp();
  const browser = testBrowser(app);
  await browser.signIn();
  await browser.signIn({ apiKey: "wrong" });
  equal((await browser.refresh()).status, 200);
});

for (
  const [what, cookie] of [
    ["a cookie with spaces", (own: string) => `${nameIn(own)}=a b`],
    ["an empty cookie", (own: string) => `${nameIn(own)}=`],
    ["an endless cookie", (own: string) => `${nameIn(own)}=${"x".repeat(5_000)}`],
    ["a name that ends alike", (own: string) => `x-${own}`],
    ["a name of earlier versions", (own: string) => `longshore=${tokenIn(own)}`],
    ["a quoted value", (own: string) => `${nameIn(own)}="${tokenIn(own)}"`],
  ] as const
) {
  Deno.test(`a request with ${what} has no session`, async () => {
    using app = testApp();
    const browser = testBrowser(app);
    await browser.signIn();
    const own = browser.cookie;
    browser.cookie = cookie(own);
    equal((await browser.refresh()).status, 401);
    browser.cookie = `theme=dark; ${own}`;
    equal((await browser.refresh()).status, 200);
  });
}

Deno.test("the session of a deleted user cannot be refreshed", async () => {
  using app = await usersApp();
  const browser = testBrowser(app);
  await browser.signIn({ ...ADMIN, email: "viewer@example.com" });
  const { accessToken } = await login(app, "admin@example.com");
  await app.call("DELETE", `/auth/users/${app.ids.viewer}`, undefined, { token: accessToken });
  const answer = await browser.refresh();
  equal(answer.status, 401);
  equal(browser.cookie, "");
});

Deno.test("a session ends after 30 days without a refresh, and each refresh renews it", async () => {
  using app = testApp();
  const [kept, left] = [testBrowser(app), testBrowser(app)];
  await kept.signIn();
  const { body: { accessToken } } = await left.signIn();
  app.clock.advance({ days: 29 });
  equal((await kept.refresh()).status, 200);
  app.clock.advance({ days: 1 });

  const answer = await left.refresh();
  equal(answer.status, 401);
  match(
    answer.headers.get("set-cookie")!,
    /^longshore-[\w-]{16}=; Path=\/auth\/session; Max-Age=0;/,
  );
  equal(await statusWith(app, accessToken), 401);
  const { body } = await kept.refresh();
  equal(await statusWith(app, body.accessToken), 200);
  const listed = await app.call("GET", "/api/account/sessions", undefined, {
    token: body.accessToken,
  });
  deepEqual([listed.body.total, listed.body.sessions[0].current], [1, true]);
});
