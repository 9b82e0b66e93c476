/** Attacks on the sign-in through OpenID Connect, each refused for its own reason. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import { exportSPKI, importJWK, SignJWT } from "jose";
import { type EvilProvider, startEvilProvider } from "../../helpers/evil_provider.ts";
import {
  addOidcProvider,
  beginSignIn,
  callSession,
  collectSession,
  comeBack,
  newPage,
  oidcApp,
} from "../../helpers/oidc.ts";
import { keptLog, type TestApp } from "../../helpers/test_app.ts";

const PUBLIC = { role: "public" } as const;

/** An application whose log is kept. */
function attackedApp() {
  const { log, lines } = keptLog();
  const app = oidcApp({ log });
  /** Reason of the last refused sign-in. */
  const lastReason = () =>
    JSON.parse(lines.findLast((line) => line.includes("OIDC login refused"))!).reason;
  return { ...app, lastReason, [Symbol.dispose]: () => app[Symbol.dispose]() };
}

const base64url = (text: string) =>
  new TextEncoder().encode(text).toBase64({ alphabet: "base64url", omitPadding: true });

const change = (idp: EvilProvider, changes: Record<string, unknown>) => (nonce: string) =>
  idp.sign({ ...idp.claims(nonce), ...changes });

const seconds = (app: TestApp, offset: number) =>
  Math.floor(app.clock.now().getTime() / 1000) + offset;

type Attack = {
  attack: string;
  /** Prepares the provider. */
  prepare?: (idp: EvilProvider, app: TestApp) => void | Promise<void>;
  /** Changes of the callback; `null` removes a parameter. */
  callback?: Record<string, string | null>;
  reason: string;
  status?: number;
};

const ATTACKS: readonly Attack[] = [
  { attack: "no state", callback: { state: null }, reason: "state_missing" },
  { attack: "a wrong state", callback: { state: "x".repeat(43) }, reason: "request_unknown" },
  { attack: "no code", callback: { code: null }, reason: "code_missing" },
  { attack: "a code of another sign-in", callback: { code: "stolen" }, reason: "token_refused" },
  {
    attack: "an error",
    callback: { code: null, error: "access_denied" },
    reason: "provider_error",
  },
  {
    attack: "another issuer in `iss`",
    callback: { iss: "https://evil.example" },
    reason: "issuer_foreign",
  },
  {
    attack: "no `iss`, which the provider announces",
    prepare: (idp) =>
      void (idp.answers.metadata.authorization_response_iss_parameter_supported = true),
    reason: "issuer_missing",
  },
  {
    attack: "no ID token",
    prepare: (idp) => void (idp.answers.idToken = () => Promise.resolve(null)),
    reason: "id_token_missing",
  },
  {
    attack: "another nonce",
    prepare: (idp) => void (idp.answers.idToken = () => change(idp, {})("x")),
    reason: "nonce",
  },
  ...["", " ", "\ud800"].map((sub) => ({
    attack: `the subject ${JSON.stringify(sub)}`,
    prepare: (idp: EvilProvider) => void (idp.answers.idToken = change(idp, { sub })),
    reason: "subject_invalid",
  })),
  {
    attack: "no nonce",
    prepare: (idp) => void (idp.answers.idToken = change(idp, { nonce: undefined })),
    reason: "nonce",
  },
  {
    attack: "a token for another client",
    prepare: (idp) => void (idp.answers.idToken = change(idp, { aud: "other" })),
    reason: "audience",
  },
  {
    attack: "a token that was issued to another client",
    prepare: (idp) => void (idp.answers.idToken = change(idp, { azp: "other" })),
    reason: "authorized_party",
  },
  {
    attack: "several audiences without an authorized party",
    prepare: (idp) => void (idp.answers.idToken = change(idp, { aud: ["longshore", "other"] })),
    reason: "audience",
  },
  {
    attack: "a token of another issuer",
    prepare: (idp) => void (idp.answers.idToken = change(idp, { iss: "https://evil.example" })),
    reason: "token_issuer",
  },
  {
    attack: "an expired token",
    prepare: (idp, app) => void (idp.answers.idToken = change(idp, { exp: seconds(app, -70) })),
    reason: "expired",
  },
  {
    attack: "a token of the future",
    prepare: (idp, app) => void (idp.answers.idToken = change(idp, { nbf: seconds(app, 70) })),
    reason: "not_yet_valid",
  },
  {
    attack: "a token without a signature",
    prepare: (idp) => {
      idp.answers.idToken = (nonce) =>
        Promise.resolve(
          `${base64url('{"alg":"none"}')}.${base64url(JSON.stringify(idp.claims(nonce)))}.`,
        );
    },
    reason: "algorithm",
  },
  ...[undefined, ["RS256", "HS256", "none"]].map((announced) => ({
    attack: `a token signed with the public key as HS256, announced: ${announced ?? "no"}`,
    prepare: async (idp: EvilProvider) => {
      idp.answers.metadata.id_token_signing_alg_values_supported = announced;
      const publicKey = await importJWK(idp.answers.keys[0]!, "RS256", { extractable: true });
      const secret = new TextEncoder().encode(await exportSPKI(publicKey as CryptoKey));
      idp.answers.idToken = (nonce) =>
        new SignJWT(idp.claims(nonce)).setProtectedHeader({ alg: "HS256" }).sign(secret);
    },
    reason: "algorithm",
  })),
  {
    attack: "a token with the client secret as HS256 key",
    prepare: (idp) => {
      idp.answers.metadata.id_token_signing_alg_values_supported = ["HS256"];
      idp.answers.idToken = (nonce) =>
        new SignJWT(idp.claims(nonce)).setProtectedHeader({ alg: "HS256" })
          .sign(new TextEncoder().encode(idp.clientSecret));
    },
    reason: "algorithm",
  },
  {
    attack: "a changed payload",
    prepare: (idp) => {
      idp.answers.idToken = async (nonce) => {
        const [header, , signature] = (await idp.sign(idp.claims(nonce))).split(".");
        const payload = base64url(JSON.stringify({ ...idp.claims(nonce), sub: "admin" }));
        return `${header}.${payload}.${signature}`;
      };
    },
    reason: "signature",
  },
  {
    attack: "a key that is not published",
    prepare: (idp) =>
      void (idp.answers.idToken = (nonce) => idp.sign(idp.claims(nonce), { kid: "x" })),
    reason: "key_unknown",
  },
  {
    attack: "keys of 1 MB",
    prepare: (idp) => void (idp.answers.keysText = `{"keys":[${" ".repeat(1024 * 1024)}]}`),
    reason: "provider_unreachable",
    status: 502,
  },
  {
    attack: "metadata of another issuer",
    prepare: (idp, app) => {
      idp.answers.metadata.issuer = "https://evil.example";
      app.deps.oidc.metadata.clear();
    },
    reason: "metadata_invalid",
    status: 502,
  },
  {
    attack: "userinfo of another user",
    prepare: (idp) => {
      idp.answers.idToken = change(idp, { email: undefined, email_verified: undefined });
      idp.answers.userInfo = { sub: "admin", email: "admin@example.com", email_verified: true };
    },
    reason: "subject_foreign",
  },
  {
    attack: "a token endpoint without TLS",
    prepare: (idp, app) => {
      idp.answers.metadata.token_endpoint = "http://169.254.169.254/latest";
      app.deps.oidc.metadata.clear();
    },
    reason: "metadata_invalid",
    status: 502,
  },
];

for (const { attack, prepare, callback = {}, reason, status = 401 } of ATTACKS) {
  Deno.test(`the sign-in refuses ${attack}`, async () => {
    using app = attackedApp();
    await using idp = await startEvilProvider(app.clock.now);
    const id = await addOidcProvider(app, idp);
    const url = await beginSignIn(app, id, newPage());
    // The metadata is read again.
    app.deps.oidc.metadata.clear();
    await prepare?.(idp, app);

    const answer = await comeBack(app, await idp.answer(url, callback));

    equal(answer.status, status, answer.body);
    match(answer.body, /<h1>Sign-in refused<\/h1>/);
    equal(app.lastReason(), reason);
    equal(app.deps.db.get<{ n: number }>("SELECT count(*) AS n FROM users")!.n, 0);
    if (status === 401) {
      const { body } = await app.call("GET", "/api/audit");
      const entries: Record<string, unknown>[] = body.entries;
      const entry = entries.find(({ action }) => action === "GET /auth/oidc/callback");
      equal(entry?.command, `refused: ${reason}`);
    }
    // The state was used up.
    if (callback.state === undefined) {
      await comeBack(app, await idp.answer(url));
      equal(app.lastReason(), "request_unknown");
    }
  });
}

Deno.test("a stolen code is of no use in another sign-in, because of PKCE", async () => {
  using app = attackedApp();
  await using idp = await startEvilProvider(app.clock.now);
  const id = await addOidcProvider(app, idp);
  const stolen = await idp.answer(await beginSignIn(app, id, newPage()));
  const own = await idp.answer(await beginSignIn(app, id, newPage()));
  own.searchParams.set("code", stolen.searchParams.get("code")!);
  equal((await comeBack(app, own)).status, 401);
  equal(app.lastReason(), "token_refused");
});

Deno.test("clocks may differ by a minute, and signed keys may change at any time", async () => {
  using app = attackedApp();
  await using idp = await startEvilProvider(app.clock.now);
  const id = await addOidcProvider(app, idp);
  const signIn = async () => {
    const url = await beginSignIn(app, id, newPage());
    return (await comeBack(app, await idp.answer(url))).status;
  };
  idp.answers.idToken = change(idp, { exp: seconds(app, -50) });
  equal(await signIn(), 303);
  idp.answers.idToken = (nonce) => idp.sign(idp.claims(nonce));
  const keyRequests = () => idp.requests.filter((path) => path === "/jwks").length;
  equal(keyRequests(), 1);

  // A new key: fetched at once after a minute, and not before.
  await idp.rotate();
  equal(await signIn(), 401);
  app.clock.advance({ seconds: 61 });
  equal(await signIn(), 303);
  equal(keyRequests(), 2);
  // Unknown keys cause one request in a minute.
  idp.answers.idToken = (nonce) => idp.sign(idp.claims(nonce), { kid: crypto.randomUUID() });
  for (let n = 0; n < 5; n++) equal(await signIn(), 401);
  equal(keyRequests(), 2);
  app.clock.advance({ seconds: 61 });
  for (let n = 0; n < 5; n++) equal(await signIn(), 401);
  equal(keyRequests(), 3);
});

Deno.test("a state is valid for 15 minutes, for one provider, and for the page that began", async () => {
  using app = attackedApp();
  await using idp = await startEvilProvider(app.clock.now);
  const id = await addOidcProvider(app, idp);
  const late = await beginSignIn(app, id, newPage());
  app.clock.advance({ minutes: 15 });
  await comeBack(app, await idp.answer(late));
  equal(app.lastReason(), "request_expired");

  // Mix-up: the answer of another provider for the state of this one.
  await using other = await startEvilProvider(app.clock.now);
  await addOidcProvider(app, other, { name: "Other" });
  const url = await beginSignIn(app, id, newPage());
  await comeBack(app, await other.answer(url, { iss: other.issuer }));
  equal(app.lastReason(), "issuer_foreign");

  // Login CSRF: a victim's browser opens the callback of the attacker's sign-in.
  const attacker = newPage();
  const callback = await idp.answer(await beginSignIn(app, id, attacker));
  const back = await comeBack(app, callback);
  const victim = newPage();
  equal((await collectSession(app, victim, back)).status, 401);
  // Not even the attacker can use the code afterwards.
  equal((await collectSession(app, attacker, back)).status, 401);
});

Deno.test("a session that was planted before the sign-in does not become the user's", async () => {
  using app = attackedApp();
  await using idp = await startEvilProvider(app.clock.now);
  const id = await addOidcProvider(app, idp);
  const planted = newPage();
  const signIn = async (sub: string) => {
    idp.answers.idToken = change(idp, { sub, email: `${sub}@example.com` });
    const back = await comeBack(app, await idp.answer(await beginSignIn(app, id, planted)));
    return await collectSession(app, planted, back);
  };
  equal((await signIn("eve")).status, 200);
  // The attacker knows the secret and the cookie of the victim's page.
  const attacker = { ...planted, cookies: new Map(planted.cookies) };

  const { body } = await signIn("ada");

  equal((await callSession(app, attacker, "POST", "/refresh")).status, 401);
  const { body: user } = await app.call("GET", "/auth/me", undefined, { token: body.accessToken });
  equal(user.email, "ada@example.com");
});

Deno.test("a disabled or deleted provider, and key mode, end a sign-in that was begun", async () => {
  using app = attackedApp();
  await using idp = await startEvilProvider(app.clock.now);
  const id = await addOidcProvider(app, idp);
  const path = `/api/identity/oidc/${id}`;
  const page = newPage();
  const back = await comeBack(app, await idp.answer(await beginSignIn(app, id, page)));
  equal((await collectSession(app, page, back)).status, 200);
  const begun = await beginSignIn(app, id, newPage());

  equal((await app.call("PUT", path, { enabled: false })).status, 200);

  // Its sessions ended with it.
  equal((await callSession(app, page, "POST", "/refresh")).status, 401);
  await comeBack(app, await idp.answer(begun));
  equal(app.lastReason(), "request_unknown");
  const refused = await app.call(
    "GET",
    `/auth/oidc/${id}/login?page=${page.pageHash}`,
    undefined,
    PUBLIC,
  );
  equal(refused.status, 403);
  match(refused.body, /is disabled/);
  const { body } = await app.call("GET", "/auth/providers", undefined, PUBLIC);
  deepEqual(body.providers, []);
  equal((await app.call("DELETE", path)).status, 200);
  equal(
    (await app.call("GET", `/auth/oidc/${id}/login?page=${page.pageHash}`, undefined, PUBLIC))
      .status,
    404,
  );
});

Deno.test("a logout token ends sessions only if it is one, of this provider and recent", async () => {
  using app = attackedApp();
  await using idp = await startEvilProvider(app.clock.now);
  const id = await addOidcProvider(app, idp);
  const page = newPage();
  const back = await comeBack(app, await idp.answer(await beginSignIn(app, id, page)));
  await collectSession(app, page, back);
  const good = {
    ...{ iss: idp.issuer, aud: idp.clientId, sub: "ada", jti: "1", iat: seconds(app, 0) },
    events: { "http://schemas.openid.net/event/backchannel-logout": {} },
  };
  const send = async (changes: Record<string, unknown>, header = {}) => {
    const token = await idp.sign({ ...good, ...changes }, header);
    const { status, body } = await app.call(
      "POST",
      "/auth/oidc/backchannel-logout",
      `logout_token=${token}`,
      { ...PUBLIC, headers: { "content-type": "application/x-www-form-urlencoded" } },
    );
    return status === 200 ? "ended" : body.error;
  };

  for (
    const { changes, header, says } of [
      { changes: { iat: seconds(app, -301) }, says: /too old/ },
      { changes: { iat: seconds(app, 301) }, says: /too old/ },
      { changes: { exp: seconds(app, -61) }, says: /has expired/ },
      { changes: { aud: "other" }, says: /no provider/ },
      { changes: { iss: "https://evil.example" }, says: /no provider/ },
      { changes: { events: {} }, says: /no logout event/ },
      { changes: { events: undefined }, says: /no valid claim events/ },
      { changes: { nonce: "n" }, says: /nonce/ },
      { changes: { sub: undefined }, says: /names no session/ },
      { changes: {}, header: { kid: "other" }, says: /key that it does not publish/ },
    ]
  ) {
    match(await send(changes, header), says);
    equal((await callSession(app, page, "POST", "/refresh")).status, 200);
  }
  // Authentik sends none that says when it expires.
  equal(await send({}), "ended");
  equal((await callSession(app, page, "POST", "/refresh")).status, 401);
});

for (
  const returnTo of [
    "//evil.example",
    "/\\evil.example",
    "https://evil.example",
    "javascript:alert(1)",
    "/\tevil",
    "",
  ]
) {
  Deno.test(`returnTo refuses ${JSON.stringify(returnTo)}`, async () => {
    using app = attackedApp();
    await using idp = await startEvilProvider(app.clock.now);
    const id = await addOidcProvider(app, idp);
    const query = new URLSearchParams({ returnTo });
    const { status } = await app.call("GET", `/auth/oidc/${id}/login?${query}`, undefined, PUBLIC);
    equal(status, 400);
  });
}

Deno.test("an unverified address creates an account that no other provider can link", async () => {
  using app = attackedApp();
  await using evil = await startEvilProvider(app.clock.now);
  await using good = await startEvilProvider(app.clock.now);
  const evilId = await addOidcProvider(app, evil);
  const goodId = await addOidcProvider(app, good, { linkByVerifiedEmail: true });
  evil.answers.idToken = change(evil, { email_verified: false, sub: "attacker" });
  equal(
    (await comeBack(app, await evil.answer(await beginSignIn(app, evilId, newPage())))).status,
    303,
  );
  equal(
    (await comeBack(app, await good.answer(await beginSignIn(app, goodId, newPage())))).status,
    403,
  );
  equal(app.lastReason(), "email_unconfirmed");
});
