/** Sign-in at a real OpenID Connect provider. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import {
  addOidcProvider,
  BASE_URL,
  beginSignIn,
  CALLBACK,
  callSession,
  collectSession,
  comeBack,
  newPage,
  oidcApp,
  signIn,
} from "../../helpers/oidc.ts";
import type { Answer, TestApp } from "../../helpers/test_app.ts";
import { signInAt, startOidcProvider } from "../../helpers/oidc_provider.ts";

const ADA = { email: "ada@example.com", email_verified: true, groups: ["ops"] };
const GROUPS = {
  scopes: "openid email groups",
  rolesClaim: "groups",
  defaultRole: null,
  roleMap: [{ value: "ops", role: "operator" }, { value: "root", role: "admin" }],
};

Deno.test("a user of a provider signs in, and finds the same account with another address", async () => {
  await using idp = await startOidcProvider({ redirectUri: CALLBACK, users: { ada: ADA } });
  using app = oidcApp();
  const id = await addOidcProvider(app, idp);

  const first = await signIn(app, id, "ada");

  equal(first.status, 200, first.body?.error ?? first.body);
  equal(first.body.role, "viewer");
  const account = await accountOf(app, first);
  equal(account.email, "ada@example.com");
  idp.users.set("ada", { ...ADA, email: "countess@example.com" });
  const second = await signIn(app, id, "ada");
  equal((await accountOf(app, second)).id, account.id);
});

for (
  const { with: kind, options } of [
    {
      with: "a secret in the body, where nothing else is offered",
      options: { authentication: "client_secret_post" },
    },
    { with: "PKCE alone, without a secret", options: { authentication: "none" } },
    { with: "all claims in the ID token", options: { claimsInIdToken: true } },
  ] as const
) {
  Deno.test(`a client signs in with ${kind}`, async () => {
    await using idp = await startOidcProvider({
      ...{ redirectUri: CALLBACK, users: { ada: ADA } },
      ...options,
    });
    using app = oidcApp();
    const isPublic = "authentication" in options && options.authentication === "none";
    const id = await addOidcProvider(app, idp, isPublic ? { clientSecret: null } : {});
    const { status, body } = await signIn(app, id, "ada");
    equal(status, 200, body?.error ?? body);
  });
}

Deno.test("roles follow the groups at each sign-in and refresh", async () => {
  await using idp = await startOidcProvider({ redirectUri: CALLBACK, users: { ada: ADA } });
  using app = oidcApp();
  const scopes = "openid email groups offline_access";
  const id = await addOidcProvider(app, idp, { ...GROUPS, scopes });
  const page = newPage();
  equal((await signIn(app, id, "ada", { page })).body.role, "operator");

  // The highest of several.
  idp.users.set("ada", { ...ADA, groups: ["ops", "other", "root"] });
  app.clock.advance({ minutes: 14 });
  equal((await callSession(app, page, "POST", "/refresh")).body.role, "admin");

  // Parallel refreshes of several tabs are one check.
  const parallel = await Promise.all(
    [1, 2, 3].map(() => callSession(app, page, "POST", "/refresh")),
  );
  deepEqual(parallel.map(({ status }) => status), [200, 200, 200]);

  // The last admin stays one.
  idp.users.set("ada", { ...ADA, groups: "ops" });
  app.clock.advance({ minutes: 14 });
  equal((await callSession(app, page, "POST", "/refresh")).body.role, "admin");

  // A user without a group is signed out.
  idp.users.set("ada", { ...ADA, groups: ["other"] });
  app.clock.advance({ minutes: 14 });
  const refused = await callSession(app, page, "POST", "/refresh");
  deepEqual([refused.status, refused.body.error], [
    401,
    "The identity provider has ended the session; sign in again",
  ]);
  const again = await signIn(app, id, "ada");
  equal(again.status, 403);
  match(again.body, /<h1>Sign-in refused<\/h1>[^]*is in no group that has a role here/);
});

Deno.test("without a refresh token, the userinfo endpoint is asked again", async () => {
  await using idp = await startOidcProvider({ redirectUri: CALLBACK, users: { ada: ADA } });
  using app = oidcApp();
  const id = await addOidcProvider(app, idp, GROUPS);
  const page = newPage();
  equal((await signIn(app, id, "ada", { page })).body.role, "operator");
  idp.users.set("ada", { ...ADA, groups: ["root"] });
  app.clock.advance({ minutes: 14 });
  equal((await callSession(app, page, "POST", "/refresh")).body.role, "admin");
  // A provider that cannot be reached ends nothing.
  await idp[Symbol.asyncDispose]();
  app.clock.advance({ minutes: 14 });
  const unreachable = await callSession(app, page, "POST", "/refresh");
  equal(unreachable.status, 503, unreachable.body.error);
  equal((await callSession(app, page, "POST", "/refresh")).status, 503);
});

Deno.test("groups that were in the ID token are never read as none from elsewhere", async () => {
  const users = { ada: { ...ADA, realm_access: { roles: ["root"] } } };
  await using idp = await startOidcProvider({
    redirectUri: CALLBACK,
    users,
    claimsInIdToken: true,
  });
  using app = oidcApp();
  const rolesClaim = "realm_access.roles";
  const id = await addOidcProvider(app, idp, { ...GROUPS, rolesClaim, defaultRole: "viewer" });
  const page = newPage();
  equal((await signIn(app, id, "ada", { page })).body.role, "admin");
  app.clock.advance({ minutes: 14 });
  equal((await callSession(app, page, "POST", "/refresh")).status, 401);
});

Deno.test("a group gives a custom role, which ends with it", async () => {
  await using idp = await startOidcProvider({ redirectUri: CALLBACK, users: { ada: ADA } });
  using app = oidcApp({ edition: "enterprise" });
  const roles = "/api/ext/service-enterprise/roles";
  const created = await app.call("POST", roles, {
    ...{ name: "Restarter", description: "", priority: 1 },
    permissions: [{ resource: "containers", actions: ["restart"] }],
  });
  equal(created.status, 201, created.body.error);
  const roleMap = [{ value: "ops", role: "restarter" }];
  const id = await addOidcProvider(app, idp, { ...GROUPS, roleMap });

  const { body } = await signIn(app, id, "ada");
  deepEqual([body.role, body.permissions], ["viewer", ["containers:restart"]]);

  idp.users.set("ada", { ...ADA, groups: [] });
  await app.call("PUT", `/api/identity/oidc/${id}`, { defaultRole: "viewer" });
  const later = await signIn(app, id, "ada");
  deepEqual([later.body.role, later.body.permissions], ["viewer", []]);
});

Deno.test("an existing account is taken by a verified address only, where that is allowed", async () => {
  const users = { ada: ADA, eve: { email: "Ada@Example.com", email_verified: false } };
  await using idp = await startOidcProvider({ redirectUri: CALLBACK, users });
  using app = oidcApp();
  const id = await addOidcProvider(app, idp);
  const { body: user } = await app.call("POST", "/auth/users", {
    ...{ email: "ada@example.com", password: "correct horse battery", role: "operator" },
  });
  const attempt = async (name: string) => {
    const answer = await signIn(app, id, name);
    return answer.status === 200
      ? (await accountOf(app, answer)).id
      : /<p>(.*)<\/p>/.exec(answer.body)![1]!;
  };

  match(await attempt("ada"), /is not allowed to link existing users/);
  await app.call("PUT", `/api/identity/oidc/${id}`, { linkByVerifiedEmail: true });
  match(await attempt("eve"), /has not verified the address/);
  equal(await attempt("ada"), user.id);
  // Another person who later gets the same address.
  idp.users.set("eve", { email: "ada@example.com", email_verified: true });
  match(await attempt("eve"), /belongs to another account/);
  // The role is not the provider's to set.
  equal((await signIn(app, id, "ada")).body.role, "operator");
});

for (
  const { what, claims, settings, says } of [
    {
      what: "another domain",
      claims: ADA,
      settings: { allowedDomains: ["example.org"] },
      says: /allowed domain/,
    },
    {
      what: "a domain that ends alike",
      claims: { ...ADA, email: "ada@badexample.com" },
      settings: { allowedDomains: ["example.com"] },
      says: /allowed domain/,
    },
    {
      what: "an address of the domain that is not verified",
      claims: { ...ADA, email_verified: "true" },
      settings: { allowedDomains: ["example.com"] },
      says: /verified email address/,
    },
    { what: "no address", claims: { groups: [] }, settings: {}, says: /has no email address/ },
    { what: "no account", claims: ADA, settings: { autoProvision: false }, says: /does not exist/ },
    {
      what: "no role",
      claims: ADA,
      settings: { defaultRole: null },
      says: /gives new users no role/,
    },
  ]
) {
  Deno.test(`a user with ${what} gets a page with the reason`, async () => {
    await using idp = await startOidcProvider({ redirectUri: CALLBACK, users: { ada: claims } });
    using app = oidcApp();
    const id = await addOidcProvider(app, idp, settings);
    const { status, body } = await signIn(app, id, "ada");
    equal(status, 403);
    match(body, says);
    // The sign-in page leads on to where the user was going.
    match(body, /href="[./]*sign-in\?next=%2Fcontainers"/);
    equal(app.deps.db.get<{ n: number }>("SELECT count(*) AS n FROM users")!.n, 0);
  });
}

Deno.test("one user more than the edition allows gets a page with 402", async () => {
  await using idp = await startOidcProvider({ redirectUri: CALLBACK, users: { ada: ADA } });
  using app = oidcApp();
  const id = await addOidcProvider(app, idp, { allowedDomains: ["EXAMPLE.com"] });
  for (let n = 0; n < 5; n++) {
    const user = { email: `u${n}@example.com`, password: "correct horse battery", role: "viewer" };
    await app.call("POST", "/auth/users", user);
  }
  const { status, body } = await signIn(app, id, "ada");
  equal(status, 402);
  match(body, /Edition limit reached \(users\)/);
});

Deno.test("the page of a login collects the session, with the provider's word about factors", async () => {
  const users = { ada: { ...ADA, amr: ["pwd", "mfa"] } };
  await using idp = await startOidcProvider({
    redirectUri: CALLBACK,
    users,
    claimsInIdToken: true,
  });
  using app = oidcApp();
  const id = await addOidcProvider(app, idp);
  const page = newPage();
  const given: boolean[] = [];
  const { issue } = app.deps.completedLogins;
  app.deps.completedLogins.issue = (login) => {
    given.push(login.hasSecondFactor === true);
    return issue(login);
  };
  const back = await comeBack(
    app,
    await signInAt(await beginSignIn(app, id, page, "/logs?q=1"), "ada"),
  );
  match(back.headers.get("location")!, /^\.\.\/\.\.\/sign-in\?next=%2Flogs%3Fq%3D1#code=/);
  deepEqual(given, [true]);
  // Another browser cannot use the code.
  equal((await collectSession(app, newPage(), back)).status, 401);
});

Deno.test("signing out ends the session at the provider, and the provider ends it here", async () => {
  await using idp = await startOidcProvider({
    ...{ redirectUri: CALLBACK, postLogoutRedirectUri: `${BASE_URL}/sign-in`, users: { ada: ADA } },
    backchannelLogoutUri: `${BASE_URL}/auth/oidc/backchannel-logout`,
  });
  using app = oidcApp();
  const id = await addOidcProvider(app, idp);
  const page = newPage();
  await signIn(app, id, "ada", { page });

  const { status, body } = await callSession(app, page, "DELETE");

  equal(status, 200);
  // The provider's tokens went with the session.
  equal(app.deps.db.get<{ n: number }>("SELECT count(*) AS n FROM oidc_sessions")!.n, 0);
  const url = new URL(body.logoutUrl);
  equal(url.origin, idp.issuer);
  equal(url.searchParams.get("post_logout_redirect_uri"), `${BASE_URL}/sign-in`);
  equal((await fetch(url).then((response) => response.text())).includes("<form"), true);

  // Back-channel: the logout token that the provider sends.
  const other = newPage();
  await signIn(app, id, "ada", { page: other });
  const logoutToken = async (changes: Record<string, unknown> = {}) => {
    const client = await idp.provider.Client.find(idp.clientId);
    const token = new idp.provider.IdToken({ sub: "ada" }, { client, ctx: undefined });
    token.mask = { sub: null };
    token.set("events", { "http://schemas.openid.net/event/backchannel-logout": {} });
    token.set("jti", crypto.randomUUID());
    for (const [name, value] of Object.entries(changes)) token.set(name, value);
    return await token.issue({ use: "logout" });
  };
  const post = async (token: string) =>
    await app.call("POST", "/auth/oidc/backchannel-logout", `logout_token=${token}`, {
      role: "public",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
  equal((await callSession(app, other, "POST", "/refresh")).status, 200);
  match((await post(await logoutToken({ nonce: "n" }))).body.error, /has a nonce/);
  equal((await post("a.b.c")).status, 400);
  const ended = await post(await logoutToken());
  equal(ended.status, 200, ended.body.error);
  equal((await callSession(app, other, "POST", "/refresh")).status, 401);
});

async function accountOf(
  app: TestApp,
  { body: { accessToken: token } }: Answer,
): Promise<{ id: string; email: string }> {
  return (await app.call("GET", "/auth/me", undefined, { token })).body;
}
