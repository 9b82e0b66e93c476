import { deepEqual, equal, match, ok } from "node:assert/strict";
import { nodeZlib } from "../../../../services/builtins.ts";
import { type Log, silentLog } from "../../../../services/log.ts";
import { statusWith } from "../../../helpers/accounts.ts";
import {
  ACS_URL,
  addProvider,
  BASE_URL,
  createIdp,
  PERSISTENT,
  postAcs,
  requestIdIn,
  SP_ENTITY_ID,
  SSO,
  ssoLogin,
  ssoTest,
} from "../../../helpers/sso.ts";
import { keptLog, type TestApp, testApp, type TestAppOptions } from "../../../helpers/test_app.ts";

const NOW = "2026-01-01T12:00:00.000Z";
const anyone = { role: "public" } as const;
const idp = await createIdp("https://idp.example.com/metadata");
const other = await createIdp("https://other.example.com/metadata");

async function withProvider(changes: Record<string, unknown> = {}, options: TestAppOptions = {}) {
  const app = testApp({ edition: "enterprise", now: NOW, ...options });
  return Object.assign(app, { provider: await addProvider(app, idp, changes) });
}

const auditOf = async (app: TestApp) =>
  (await app.call("GET", "/api/audit")).body.entries
    .filter(({ action }: { action: string }) => action === `POST ${SSO}/acs`);

/** The form of a page and its fields. */
function formOf(html: string) {
  const action = /<form method="post" action="([^"]*)"/.exec(html)![1]!;
  const fields = Object.fromEntries(
    [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)]
      .map(([, name, value]) => [name, unescaped(value!)]),
  );
  return { action: unescaped(action), fields };
}

const unescaped = (text: string) =>
  text.replace(
    /&(amp|lt|gt|quot|#39|#13);/g,
    (_, name) =>
      ({ amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", "#13": "\r" })[name as string]!,
  );

const decoded = (base64: string) => new TextDecoder().decode(Uint8Array.fromBase64(base64));

/** Starts a login. @returns The id of its request. */
async function begun(app: TestApp, providerId: string): Promise<string> {
  const { status, body } = await app.call("GET", `${SSO}/login/${providerId}`, undefined, anyone);
  equal(status, 200);
  return requestIdIn(body);
}

Deno.test("GET /metadata is public and has entity id, ACS URL and NameID format", async () => {
  using app = testApp({ edition: "enterprise" });
  const { status, headers, body } = await app.call("GET", `${SSO}/metadata`, undefined, anyone);
  equal(status, 200);
  equal(headers.get("content-type"), "application/samlmetadata+xml; charset=utf-8");
  match(body, new RegExp(`entityID="${SP_ENTITY_ID}"`));
  match(body, new RegExp(`Location="${ACS_URL}"`));
  match(body, /<md:NameIDFormat>urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress</);
});

Deno.test("GET /metadata has the address of SERVICE_BASE_URL, or else of the Host", async () => {
  using app = testApp({ edition: "enterprise" });
  const request = new Request(`https://ops.example.com:8443${SSO}/metadata`);
  match(
    await (await app.app(request, "192.0.2.1")).text(),
    /Location="https:\/\/ops\.example\.com:8443\/api\/ext\/service-enterprise\/sso\/acs"/,
  );
  using set = testApp({
    edition: "enterprise",
    config: { serviceBaseUrl: "https://ops.example.com" },
  });
  const { body } = await set.call("GET", `${SSO}/metadata`, undefined, anyone);
  match(body, /entityID="https:\/\/ops\.example\.com\/api\//);
});

ssoTest("GET /metadata has the NameID format of all enabled providers", async () => {
  using app = await withProvider({ name_id_format: PERSISTENT });
  const format = async () => {
    const { body } = await app.call("GET", `${SSO}/metadata`, undefined, anyone);
    return /NameIDFormat>([^<]+)</.exec(body)![1];
  };
  equal(await format(), PERSISTENT);
  const second = await addProvider(app, other, { name_id_format: "urn:a:b" });
  match((await format())!, /emailAddress$/);
  await app.call("PUT", `${SSO}/providers/${second.id}/toggle`, { enabled: false });
  equal(await format(), PERSISTENT);
});

ssoTest(
  "GET /login/:id takes a browser to the provider by a form that nothing can break out of",
  async () => {
    using app = await withProvider({ sso_url: `https://idp.example.com/sso?a=1&b="><script>` });
    const relayState = `"><script>alert(1)</script>\r\n'&amp;`;
    const path = `${SSO}/login/${app.provider.id}?relay_state=${encodeURIComponent(relayState)}`;

    const { status, headers, body } = await app.call("GET", path, undefined, anyone);

    equal(status, 200);
    equal(headers.get("content-type"), "text/html; charset=utf-8");
    equal(headers.get("cache-control"), "no-store");
    const policy = headers.get("content-security-policy")!;
    match(policy, /^default-src 'none'; script-src 'sha256-[\w+/]{43}='; style-src 'sha256-/);
    match(policy, /; form-action https:\/\/idp\.example\.com https:; base-uri 'none'; frame-anc/);
    equal(body.match(/<script/g).length, 1, "its own");
    const { action, fields } = formOf(body);
    equal(action, app.provider.sso_url);
    equal(fields.RelayState, relayState);
    const request = decoded(fields.SAMLRequest!);
    match(request, new RegExp(`AssertionConsumerServiceURL="${ACS_URL}"`));
    match(request, new RegExp(`<saml:Issuer>${SP_ENTITY_ID}</saml:Issuer>`));
  },
);

ssoTest("GET /login/:id redirects where the provider's binding is a redirect", async () => {
  using app = await withProvider({
    binding: "HTTP-Redirect",
    sso_url: "https://idp.example.com/sso?t=1",
  });
  const path = `${SSO}/login/${app.provider.id}?RelayState=a%20b`;
  const { status, headers, body } = await app.call("GET", path, undefined, anyone);
  equal(status, 302);
  equal(body, undefined);
  const url = new URL(headers.get("location")!);
  equal(url.origin + url.pathname, "https://idp.example.com/sso");
  equal(url.searchParams.get("t"), "1");
  equal(url.searchParams.get("RelayState"), "a b");
  const deflated = Uint8Array.fromBase64(url.searchParams.get("SAMLRequest")!);
  match(String(nodeZlib().inflateRawSync(deflated)), /<samlp:AuthnRequest /);
});

ssoTest("GET /login/:id of an unknown provider is 404, of a disabled one 403", async () => {
  using app = await withProvider({ enabled: false });
  equal((await app.call("GET", `${SSO}/login/x`, undefined, anyone)).status, 404);
  const { status, body } = await app.call(
    "GET",
    `${SSO}/login/${app.provider.id}`,
    undefined,
    anyone,
  );
  deepEqual([status, body], [403, { error: "The identity provider is disabled" }]);
});

ssoTest(
  "GET /login/:id refuses an endless relay state and the 31st request in a minute",
  async () => {
    using app = await withProvider();
    const path = `${SSO}/login/${app.provider.id}`;
    const long = await app.call(
      "GET",
      `${path}?relay_state=${"x".repeat(2_049)}`,
      undefined,
      anyone,
    );
    equal(long.status, 400);
    for (let n = 1; n < 30; n++) {
      equal((await app.call("GET", path, undefined, anyone)).status, 200);
    }
    const refused = await app.call("GET", path, undefined, anyone);
    equal(refused.status, 429);
    equal(refused.headers.get("retry-after"), "60");
    const elsewhere = { ...anyone, address: "192.0.2.2" };
    equal((await app.call("GET", path, undefined, elsewhere)).status, 200);
  },
);

ssoTest(
  "requests are limited to 10 000; beyond that the oldest ones of the busiest client are deleted",
  async () => {
    using app = await withProvider();
    const { db } = app.deps;
    const first = await begun(app, app.provider.id);
    db.transaction(() => {
      for (let n = 1; n < 10_000; n++) {
        db.run(
          `INSERT INTO saml_requests (id, provider_id, expires_at, client)
         SELECT :id, :provider, :at, client FROM saml_requests WHERE id = :first`,
          { id: `_${n}`, first, provider: app.provider.id, at: "2026-01-01T12:30:00.000Z" },
        );
      }
    });
    await begun(app, app.provider.id);
    equal(db.get<{ n: number }>("SELECT count(*) AS n FROM saml_requests")!.n, 10_000 - 100 + 1);
    const answered = await ssoLogin(app, idp, { inResponseTo: first });
    equal(answered.status, 401);
  },
);

ssoTest("without the license all of it is 402", async () => {
  using app = testApp();
  for (
    const [method, path] of [["GET", "metadata"], ["GET", "login/x"], ["POST", "acs"]] as const
  ) {
    const { status, body } = await app.call(method, `${SSO}/${path}`, undefined, anyone);
    deepEqual([status, body.error], [402, "Single sign-on needs the Enterprise edition (sso)"]);
  }
});

ssoTest(
  "POST /acs logs in who the provider vouches for, with tokens, session, user and relay state",
  async () => {
    using app = await withProvider({}, { config: { authMode: "users", serverName: "dock-1" } });

    const { status, body } = await ssoLogin(
      app,
      idp,
      { email: "Ada@Example.com", attributes: { displayName: "Ada Lovelace" } },
      { relayState: "https://evil.example/" },
    );

    equal(status, 200);
    const { accessToken, refreshToken, sessionId, user, ...rest } = body;
    deepEqual(rest, {
      expiresIn: 900,
      role: "viewer",
      serverName: "dock-1",
      relayState: "https://evil.example/",
    });
    match(refreshToken, /^[\w-]{43}$/);
    match(sessionId, /^[\w-]{36}$/);
    deepEqual(user, {
      id: user.id,
      email: "Ada@Example.com",
      role: "viewer",
      name: "Ada Lovelace",
    });
    const me = await app.call("GET", "/auth/me", undefined, { token: accessToken });
    deepEqual([me.body.id, me.body.email, me.body.lastLoginAt], [user.id, "Ada@Example.com", NOW]);
  },
);

ssoTest("the response is JSON that is not cached, without a redirect", async () => {
  using app = await withProvider();
  const { headers, body } = await ssoLogin(app, idp, {}, { relayState: "https://evil.example/" });
  equal(headers.get("location"), null);
  equal(headers.get("refresh"), null);
  equal(headers.get("set-cookie"), null);
  equal(headers.get("cache-control"), "no-store");
  equal(body.relayState, "https://evil.example/");
  equal("relayState" in (await ssoLogin(app, idp)).body, false);
});

ssoTest(
  "an answer to a login that was begun here is accepted, also where only those are",
  async () => {
    using app = await withProvider({ allow_unsolicited: false });
    const inResponseTo = await begun(app, app.provider.id);
    equal((await ssoLogin(app, idp, { inResponseTo })).status, 200);
  },
);

/** Each attack gets an application with the provider, and a second one. */
const REFUSED: {
  attack: string;
  provider?: Record<string, unknown>;
  post: (app: TestApp & { provider: { id: string }; second: { id: string } }) => Promise<
    { status: number; body: { error: string } }
  >;
  /** Default: 401. */
  status?: number;
  error?: RegExp;
  /** Reason in the log. */
  reason: string;
  /** The target of the audit entry; `null` for none. Default: the provider. */
  target?: string | null;
}[] = [
  {
    attack: "a value that is not base64",
    post: (app) => postAcs(app, "<xml>"),
    status: 400,
    error: /base64/i,
    reason: "base64",
    target: null,
  },
  {
    attack: "a value that is not SAML",
    post: (app) => postAcs(app, btoa("<a/>")),
    status: 400,
    error: /not a SAML 2\.0 response$/,
    reason: "not_a_response",
    target: null,
  },
  {
    attack: "an unknown issuer",
    post: async (app) => await ssoLogin(app, await createIdp("https://evil.example/metadata"), {}),
    error: /^No identity provider has this entity ID$/,
    reason: "unknown_issuer",
    target: "https://evil.example/metadata",
  },
  {
    attack: "an issuer that would write on a screen",
    post: async (app) => await ssoLogin(app, await createIdp("\u009b2J\u202ee\nvil"), {}),
    error: /^No identity provider has this entity ID$/,
    reason: "unknown_issuer",
    target: "\ufffd2J\ufffde\ufffdvil",
  },
  {
    attack: "a disabled provider",
    provider: { enabled: false },
    post: (app) => ssoLogin(app, idp),
    status: 403,
    error: /^The identity provider is disabled$/,
    reason: "provider_disabled",
  },
  {
    attack: "another provider's signature",
    post: (app) => ssoLogin(app, other, { issuer: idp.entityId }),
    reason: "key_info_certificate",
  },
  {
    attack: "an assertion for another service",
    post: (app) => ssoLogin(app, idp, { audience: "https://other.example/metadata" }),
    reason: "audience",
  },
  {
    attack: "an expired assertion",
    post: (app) =>
      ssoLogin(app, idp, {
        issuedAt: new Date("2026-01-01T11:00:00Z"),
        notOnOrAfter: new Date("2026-01-01T11:54:59Z"),
      }),
    reason: "expired",
  },
  {
    attack: "an assertion that was used",
    post: async (app) => {
      const message = await idp.answer({ issuedAt: app.clock.now() });
      equal((await postAcs(app, message)).status, 200);
      return await postAcs(app, message);
    },
    error: /^The assertion has already been used$/,
    reason: "replay",
  },
  {
    attack: "an assertion id that was used, in another message",
    post: async (app) => {
      equal((await ssoLogin(app, idp, { assertionId: "_same" })).status, 200);
      return await ssoLogin(app, idp, { assertionId: "_same", email: "eve@example.com" });
    },
    error: /^The assertion has already been used$/,
    reason: "replay",
  },
  {
    attack: "an answer to nothing, where that is not allowed",
    provider: { allow_unsolicited: false },
    post: (app) => ssoLogin(app, idp),
    error: /^The response is unsolicited/,
    reason: "unsolicited",
  },
  {
    attack: "an answer to a login that was never begun",
    post: (app) => ssoLogin(app, idp, { inResponseTo: "_unknown" }),
    error: /^The assertion answers an unknown request$/,
    reason: "request_unknown",
  },
  {
    attack: "a second answer to one login",
    post: async (app) => {
      const inResponseTo = await begun(app, app.provider.id);
      equal((await ssoLogin(app, idp, { inResponseTo })).status, 200);
      return await ssoLogin(app, idp, { inResponseTo });
    },
    error: /^The request has already been answered$/,
    reason: "request_used",
  },
  {
    attack: "an answer to another provider's login",
    post: async (app) =>
      await ssoLogin(app, idp, { inResponseTo: await begun(app, app.second.id) }),
    error: /answers a request to another identity provider$/,
    reason: "request_foreign",
  },
  {
    attack: "an answer after more than 15 minutes",
    post: async (app) => {
      const inResponseTo = await begun(app, app.provider.id);
      app.clock.advance({ minutes: 15 });
      return await ssoLogin(app, idp, { inResponseTo });
    },
    error: /request has expired/,
    reason: "request_expired",
  },
  {
    attack: "a session that ends within the second",
    post: (app) =>
      ssoLogin(app, idp, { sessionNotOnOrAfter: new Date("2026-01-01T12:00:00.900Z") }),
    error: /The session at the identity provider has ended$/,
    reason: "session_ended",
  },
  {
    attack: "an unknown user without provisioning",
    provider: { auto_provision: false },
    post: (app) => ssoLogin(app, idp),
    status: 403,
    error:
      /^User ada@example\.com does not exist, and the identity provider is not allowed to create users$/,
    reason: "unknown_user",
  },
  {
    attack: "no address",
    provider: { attribute_mapping: { email: "missing" } },
    post: (app) => ssoLogin(app, idp, { nameId: "ada", nameIdFormat: PERSISTENT }),
    status: 403,
    error: /has no email address/,
    reason: "email_missing",
  },
  {
    attack: "a value that is not an address",
    post: (app) => ssoLogin(app, idp, { email: "ada lovelace" }),
    status: 403,
    error: /The email address in the assertion is not valid$/,
    reason: "email_invalid",
  },
  {
    attack: "an address that looks like another one",
    post: (app) => ssoLogin(app, idp, { email: "ada@example.com\u3164" }),
    status: 403,
    error: /The email address in the assertion is not valid$/,
    reason: "email_invalid",
  },
  {
    attack: "an address of which one letter becomes ASCII without case",
    post: (app) => ssoLogin(app, idp, { email: "\u00f6\u212A@example.com" }),
    status: 403,
    error: /The email address in the assertion is not valid$/,
    reason: "email_invalid",
  },
  {
    attack: "an address that only becomes ASCII without case",
    post: (app) => ssoLogin(app, idp, { email: "ada@\u212Aelvin.example" }),
    status: 403,
    error: /The email address in the assertion is not valid$/,
    reason: "email_invalid",
  },
];

for (
  const { attack, provider, post, status = 401, error = /./, reason, target = "Acme" } of REFUSED
) {
  ssoTest(`POST /acs refuses ${attack}`, async () => {
    const warnings: Record<string, unknown>[] = [];
    const log: Log = {
      ...silentLog,
      warn: (message, fields = {}) => void warnings.push({ message, ...fields }),
    };
    using app = await withProvider(provider, { log });
    const second = await addProvider(app, other, { name: "Other" });

    const answer = await post(Object.assign(app, { second }));

    equal(answer.status, status, answer.body.error);
    match(answer.body.error, error);
    deepEqual(Object.keys(answer.body), ["error"]);
    deepEqual(warnings, [
      { message: "SSO login refused", reason, provider: target ?? undefined, address: "192.0.2.1" },
    ]);
    const denied = (await auditOf(app)).filter(
      ({ outcome }: { outcome: string }) => outcome === "denied",
    );
    deepEqual(
      denied.map(({ target, actor, ip }: Record<string, string>) => ({ target, actor, ip })),
      target === null ? [] : [{ target, actor: "", ip: "192.0.2.1" }],
    );
  });
}

ssoTest("a login is audited with the resulting user", async () => {
  using app = await withProvider();
  const { user } = (await ssoLogin(app, idp)).body;
  const [{ actor, target, outcome }] = await auditOf(app);
  deepEqual([actor, target, outcome], [user.id, "Acme", "success"]);
});

ssoTest(
  "a message whose user is refused is used up, and so is the login that it answers",
  async () => {
    using app = await withProvider({ auto_provision: false });
    const inResponseTo = await begun(app, app.provider.id);
    const message = await idp.answer({ issuedAt: app.clock.now(), inResponseTo });
    equal((await postAcs(app, message)).status, 403);

    await app.call("PUT", `${SSO}/providers/${app.provider.id}`, { auto_provision: true });

    match((await postAcs(app, message)).body.error, /already been used/);
    match((await ssoLogin(app, idp, { inResponseTo })).body.error, /already been answered/);
    equal((await ssoLogin(app, idp)).status, 200);
  },
);

ssoTest("a forged message does not use up the request", async () => {
  using app = await withProvider();
  const inResponseTo = await begun(app, app.provider.id);
  const assertionId = "_one";
  const forged = await ssoLogin(app, other, { issuer: idp.entityId, inResponseTo, assertionId });
  equal(forged.status, 401);
  equal((await ssoLogin(app, idp, { inResponseTo, assertionId })).status, 200);
});

ssoTest("of two concurrent posts of one message one succeeds", async () => {
  using app = await withProvider();
  for (const inResponseTo of [null, await begun(app, app.provider.id)]) {
    const message = await idp.answer({ issuedAt: app.clock.now(), inResponseTo });
    const answers = await Promise.all(Array.from({ length: 4 }, () => postAcs(app, message)));
    deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401, 401]);
  }
});

ssoTest("of two concurrent responses to one login one succeeds", async () => {
  using app = await withProvider();
  const says = { issuedAt: app.clock.now(), inResponseTo: await begun(app, app.provider.id) };
  const messages = await Promise.all([idp.answer(says), idp.answer(says)]);
  const answers = await Promise.all(messages.map((message) => postAcs(app, message)));
  deepEqual(answers.map(({ status }) => status).sort(), [200, 401]);
});

ssoTest("two concurrent first logins of one person create one user", async () => {
  using app = await withProvider();
  const issuedAt = app.clock.now();
  const messages = await Promise.all([
    idp.answer({ issuedAt }),
    idp.answer({ issuedAt, email: "ADA@example.com" }),
  ]);
  const answers = await Promise.all(messages.map((message) => postAcs(app, message)));
  deepEqual(answers.map(({ status }) => status), [200, 200]);
  equal(answers[0]!.body.user.id, answers[1]!.body.user.id);
});

ssoTest(
  "an assertion is accepted once per issuer; another issuer may use the same id",
  async () => {
    using app = await withProvider();
    await addProvider(app, other);
    equal((await ssoLogin(app, idp, { assertionId: "_1", email: "a@example.com" })).status, 200);
    equal((await ssoLogin(app, other, { assertionId: "_1", email: "b@example.com" })).status, 200);
  },
);

ssoTest("recreating a provider does not make a used assertion valid again", async () => {
  using app = await withProvider();
  const message = await idp.answer({ issuedAt: app.clock.now() });
  equal((await postAcs(app, message)).status, 200);
  await app.call("DELETE", `${SSO}/providers/${app.provider.id}`);
  await addProvider(app, idp, { link_existing: true });
  match((await postAcs(app, message)).body.error, /already been used/);
});

ssoTest("an assertion for another service is refused for any Host", async () => {
  using app = await withProvider();
  const evil = "http://evil.example";
  const message = await idp.answer({
    issuedAt: app.clock.now(),
    acsUrl: `${evil}${SSO}/acs`,
    audience: `${evil}${SSO}/metadata`,
  });
  for (const host of [evil, BASE_URL]) {
    const request = new Request(`${host}${SSO}/acs`, {
      method: "POST",
      body: new URLSearchParams({ SAMLResponse: message }),
    });
    const response = await app.app(request, "192.0.2.1");
    equal(response.status, 401);
    match((await response.json()).error, /destination/);
  }
});

ssoTest(
  "a login with another Host uses the address that the admin used",
  async () => {
    using app = await withProvider();
    const message = await idp.answer({ issuedAt: app.clock.now() });
    const request = new Request(`http://10.0.0.1:3000${SSO}/acs`, {
      method: "POST",
      body: new URLSearchParams({ SAMLResponse: message }),
    });
    const response = await app.app(request, "192.0.2.1");
    equal(response.status, 200);
    await response.body?.cancel();
  },
);

ssoTest("POST /acs accepts only a form, with each field once", async () => {
  using app = await withProvider();
  const post = (body: unknown, type?: string) =>
    app.call("POST", `${SSO}/acs`, body, {
      ...anyone,
      ...(type !== undefined && { headers: { "content-type": type } }),
    });
  const form = "application/x-www-form-urlencoded";
  equal((await post({ SAMLResponse: "x" })).status, 415);
  equal((await post("SAMLResponse=x", "text/plain")).status, 415);
  equal((await post("", form)).status, 400);
  match((await post("SAMLResponse=x&SAMLResponse=y", form)).body.error, /given 2 times/);
  match(
    (await post(`SAMLResponse=x&RelayState=${"y".repeat(2_049)}`, form)).body.error,
    /^body\.RelayState: /,
  );
  match(
    (await post(`SAMLResponse=${"x".repeat(400_001)}`, form)).body.error,
    /^body\.SAMLResponse: /,
  );
  equal((await post(`SAMLResponse=${"x".repeat(2 ** 20)}`, form)).status, 413);
  equal((await app.call("GET", `${SSO}/acs`, undefined, anyone)).status, 405);
});

ssoTest(
  "the 11th message of an address within a minute is 429, and other addresses are not affected",
  async () => {
    using app = await withProvider();
    for (let n = 0; n < 10; n++) equal((await postAcs(app, "eA==")).status, 400);

    const refused = await ssoLogin(app, idp);

    equal(refused.status, 429);
    equal(refused.headers.get("retry-after"), "60");
    deepEqual(refused.body, { error: "Limit of 10 requests per minute exceeded" });
    equal((await ssoLogin(app, idp, {}, { address: "192.0.2.2" })).status, 200);
    app.clock.advance({ minutes: 1 });
    equal((await ssoLogin(app, idp)).status, 200);
  },
);

ssoTest(
  "the limit is each client's own behind a trusted proxy, and cannot be talked away without",
  async () => {
    const proxied = await withProvider({}, { config: { trustedProxies: ["192.0.2.1"] } });
    using app = proxied;
    const from = (client: string) => ({ headers: { "x-forwarded-for": client } });
    for (let n = 0; n < 10; n++) await postAcs(app, "eA==", from("198.51.100.1, 203.0.113.1"));
    equal(
      (await postAcs(app, "eA==", from("198.51.100.2, 203.0.113.1"))).status,
      429,
      "the last hop",
    );
    equal((await postAcs(app, "eA==", from("203.0.113.2"))).status, 400);

    using direct = await withProvider();
    for (let n = 0; n < 10; n++) await postAcs(direct, "eA==", from(`203.0.113.${n}`));
    equal((await postAcs(direct, "eA==", from("203.0.113.99"))).status, 429);
  },
);

ssoTest("a session end in the far future is stored and compared correctly", async () => {
  using app = await withProvider();
  const far = new Date("9999-12-31T23:59:59.999Z");
  const { status, body } = await ssoLogin(app, idp, { sessionNotOnOrAfter: far });
  equal(status, 200, body.error);
  equal(await statusWith(app, body.accessToken), 200);
  const { sessions } = (await app.call("GET", `${SSO}/sessions`)).body;
  equal(sessions[0].expires_at, far.toISOString());
});

ssoTest("messages, assertions and tokens are in no log", async () => {
  const { log, lines } = keptLog();
  using app = await withProvider({}, { log });
  const message = await idp.answer({ issuedAt: app.clock.now(), assertionId: "_secret-id" });
  const { body } = await postAcs(app, message, { relayState: "secret-state" });
  await postAcs(app, message, { relayState: "secret-state" });
  const rows = ["sso_sessions", "sso_identities", "refresh_tokens", "audit_entries"]
    .flatMap((table) => app.deps.db.all(`SELECT * FROM ${table}`));
  const sessions = (await app.call("GET", `${SSO}/sessions`)).body;
  const seen = JSON.stringify([lines, rows, sessions]);
  for (
    const secret of [message.slice(0, 200), body.accessToken, body.refreshToken, "secret-state"]
  ) ok(!seen.includes(secret));
  ok(!JSON.stringify(lines).includes("_secret-id"));
});
