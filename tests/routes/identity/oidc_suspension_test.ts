/** Suspension of users by a provider: the last admin, other providers, administrators. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import { login, PASSWORD, statusWith } from "../../helpers/accounts.ts";
import { appWithRights } from "../../helpers/custom_roles.ts";
import { startEvilProvider } from "../../helpers/evil_provider.ts";
import { addOidcProvider, callSession, evilSignIn, newPage, oidcApp } from "../../helpers/oidc.ts";
import { addProvider, createIdp, ssoLogin, ssoTest } from "../../helpers/sso.ts";
import type { TestApp } from "../../helpers/test_app.ts";

const GROUPS = {
  ...{ rolesClaim: "groups", defaultRole: null, linkByVerifiedEmail: true },
  roleMap: [
    { value: "root", role: "admin" },
    { value: "ops", role: "operator" },
    { value: "staff", role: "viewer" },
  ],
};

/** A provider that decides about roles. */
async function withGroups(app: TestApp, settings: Record<string, unknown> = {}) {
  app.deps.config.outboundAllow = ["127.0.0.1"];
  const idp = await startEvilProvider(app.clock.now);
  const id = await addOidcProvider(app, idp, { ...GROUPS, ...settings });
  return {
    ...{ idp, id },
    signIn(groups: string[], name = "ada", page = newPage()) {
      const claims = { sub: name, email: `${name}@example.com`, groups };
      idp.answers.idToken = (nonce) => idp.sign({ ...idp.claims(nonce), ...claims });
      idp.answers.userInfo = { sub: name, groups };
      return evilSignIn(app, idp, id, page);
    },
    [Symbol.asyncDispose]: () => idp[Symbol.asyncDispose](),
  };
}

const signInByPassword = (app: TestApp, name: string) =>
  app.call("POST", "/auth/login", { email: `${name}@example.com`, password: PASSWORD }, {
    role: "public",
  });

Deno.test("a suspended admin does not count as one: the last of the others is never suspended or demoted", async () => {
  using app = oidcApp();
  await using provider = await withGroups(app);
  for (const name of ["root", "eve"]) {
    const user = { email: `${name}@example.com`, password: PASSWORD, role: "admin" };
    equal((await app.call("POST", "/auth/users", user)).status, 201);
    equal((await provider.signIn(["root"], name)).body.role, "admin");
  }
  equal((await provider.signIn([], "eve")).status, 403);
  equal((await signInByPassword(app, "eve")).status, 403);

  equal((await provider.signIn(["staff"], "root")).body.role, "admin");
  equal((await provider.signIn([], "root")).status, 403);

  equal((await signInByPassword(app, "root")).status, 200);
  // Eve does not come back by it.
  equal((await signInByPassword(app, "eve")).status, 403);
  const { body: { users } } = await app.call("GET", "/auth/users");
  const [eve, root] = users;
  deepEqual([eve.isSuspended, root.isSuspended], [true, false]);
  const demoted = await app.call("PUT", `/auth/users/${root.id}/role`, { role: "viewer" });
  match(demoted.body.error, /last admin/);
  match((await app.call("DELETE", `/auth/users/${root.id}`)).body.error, /last admin/);
  equal((await app.call("DELETE", `/auth/users/${eve.id}`)).status, 200);
});

Deno.test("a suspension ends at the provider that has suspended, and at no other one", async () => {
  using app = oidcApp();
  await using groups = await withGroups(app);
  await using other = await withGroups(app, { rolesClaim: null, roleMap: [] });
  const signInAtOther = () => other.signIn([]);
  const { accessToken: token } = (await groups.signIn(["ops"])).body;
  const { body: made } = await app.call("POST", "/api/tokens", { name: "ci", role: "viewer" }, {
    token,
  });
  equal((await signInAtOther()).body.role, "operator");
  equal((await groups.signIn([])).status, 403);

  const refused = await signInAtOther();

  equal(refused.status, 403);
  match(refused.body, /User ada@example.com is suspended[^]*an administrator can set the role/);
  equal(await statusWith(app, made.token), 401);
  equal((await groups.signIn(["staff"])).body.role, "viewer");
  equal(await statusWith(app, made.token), 200);
  equal((await signInAtOther()).status, 200);
});

ssoTest(
  "a suspended user does not sign in by SAML, also of a provider with the same name",
  async () => {
    using app = await appWithRights();
    await using provider = await withGroups(app);
    const idp = await createIdp(provider.idp.issuer);
    await addProvider(app, idp, { link_existing: true });
    const bySaml = () => ssoLogin(app, idp, { email: "ada@example.com" });
    equal((await provider.signIn(["ops"])).status, 200);
    equal((await bySaml()).status, 200);
    equal((await provider.signIn([])).status, 403);
    const isRefused = async () => {
      const refused = await bySaml();
      equal(refused.status, 403);
      match(refused.body.error, /is suspended/);
    };
    await isRefused();
    // The provider that has suspended a user is not always known.
    app.deps.db.run("UPDATE users SET refused_by = NULL");
    await isRefused();
  },
);

Deno.test("of providers with one issuer, a suspension ends at one that gives roles, and that of a domain where it began", async () => {
  using app = oidcApp();
  await using groups = await withGroups(app);
  const domains = { ...{ rolesClaim: null, roleMap: [], linkByVerifiedEmail: true } };
  const other = await addOidcProvider(app, groups.idp, domains);
  const signInAtOther = () => evilSignIn(app, groups.idp, other);
  const allow = async (...allowedDomains: string[]) => {
    const { status } = await app.call("PUT", `/api/identity/oidc/${other}`, { allowedDomains });
    equal(status, 200);
  };
  equal((await groups.signIn(["ops"])).status, 200);
  equal((await signInAtOther()).status, 200);
  equal((await groups.signIn([])).status, 403);

  match((await signInAtOther()).body, /is suspended/);

  equal((await groups.signIn(["ops"])).status, 200);
  await allow("example.net");
  equal((await signInAtOther()).status, 403);
  match((await groups.signIn(["ops"])).body, /is suspended/);
  await allow("example.com");
  equal((await signInAtOther()).status, 200);
  equal((await groups.signIn(["ops"])).status, 200);
});

Deno.test("an admin who cannot sign in does not count as one", async () => {
  using app = oidcApp();
  await using provider = await withGroups(app);
  const user = { email: "ada@example.com", password: PASSWORD, role: "admin" };
  const { body: ada } = await app.call("POST", "/auth/users", user);
  equal((await provider.signIn(["root"], "eve")).body.role, "admin");
  const hasOther = () => app.deps.accounts.hasOtherAdmin(ada.id);
  equal(hasOther(), true);
  const path = `/api/identity/oidc/${provider.id}`;
  equal((await app.call("PUT", path, { enabled: false })).status, 200);
  equal(hasOther(), false);
  match((await app.call("DELETE", `/auth/users/${ada.id}`)).body.error, /last admin/);
  equal((await app.call("DELETE", path)).status, 200);
  equal(hasOther(), false);
  const { issuer } = provider.idp;
  Object.assign(app.deps.config, { oidcProviders: [{ issuer }] });
  equal(hasOther(), true);
  Object.assign(app.deps.config, { oidcProviders: [] });
  app.deps.db.run("UPDATE users SET password_hash = 'x'");
  equal(hasOther(), true);
});

Deno.test("an admin ends a suspension with the role, and users:write does not", async () => {
  using app = await appWithRights("users:write");
  await using provider = await withGroups(app);
  const { accessToken } = (await provider.signIn(["staff"])).body;
  const { id } = (await app.call("GET", "/auth/me", undefined, { token: accessToken })).body;
  equal((await provider.signIn([])).status, 403);
  const isSuspended = async () => {
    const { body: { users } } = await app.call("GET", "/auth/users");
    return users.find((user: { id: string }) => user.id === id).isSuspended;
  };
  const path = `/auth/users/${id}/role`;
  equal((await app.asViewer("PUT", path, { role: "viewer" })).status, 200);
  equal(await isSuspended(), true);
  equal((await app.call("PUT", path, { role: "viewer" })).status, 200);
  equal(await isSuspended(), false);
});

Deno.test("an identity of a suspended user is the only way in: a password does not help", async () => {
  using app = oidcApp();
  await using provider = await withGroups(app);
  const user = { email: "ada@example.com", password: PASSWORD, role: "viewer" };
  const { body: { id } } = await app.call("POST", "/auth/users", user);
  equal((await provider.signIn(["staff"])).status, 200);
  const isOnlyWayIn = async () =>
    (await app.call("GET", `/api/users/${id}/identities`)).body.identities[0].isOnlyWayIn;
  equal(await isOnlyWayIn(), false);
  equal((await provider.signIn([])).status, 403);
  equal(await isOnlyWayIn(), true);
  equal((await app.call("DELETE", `/api/identity/oidc/${provider.id}`)).status, 200);
  equal(await isOnlyWayIn(), true);
  equal((await signInByPassword(app, "ada")).status, 403);
  equal((await app.call("PUT", `/auth/users/${id}/role`, { role: "viewer" })).status, 200);
  equal(await isOnlyWayIn(), false);
  equal((await login(app, user.email)).role, "viewer");
});

for (
  const { what, before, userInfo, changes } of [
    {
      what: "says nothing of the address",
      before: { allowedDomains: ["example.com"] },
      userInfo: { groups: ["ops"] },
      changes: {},
    },
    {
      what: "was not asked for a scope that is new",
      before: {},
      userInfo: {},
      changes: { scopes: "openid email profile groups" },
    },
  ]
) {
  Deno.test(`a session ends and its user is not suspended if the provider ${what}`, async () => {
    using app = oidcApp();
    await using provider = await withGroups(app, before);
    const { idp, id } = provider;
    const page = newPage();
    // Groups that are not in the ID token are asked for again at the userinfo endpoint.
    const claims = { sub: "ada", email: "ada@example.com" };
    idp.answers.idToken = (nonce) => idp.sign({ ...idp.claims(nonce), ...claims });
    idp.answers.userInfo = { sub: "ada", groups: ["ops"] };
    const { accessToken: token } = (await evilSignIn(app, idp, id, page)).body;
    const { body: made } = await app.call("POST", "/api/tokens", { name: "ci", role: "viewer" }, {
      token,
    });
    equal((await app.call("PUT", `/api/identity/oidc/${id}`, changes)).status, 200);
    idp.answers.userInfo = { sub: "ada", ...userInfo };
    app.clock.advance({ seconds: 11 });

    equal((await callSession(app, page, "POST", "/refresh")).status, 401);

    equal(await statusWith(app, made.token), 200);
  });
}
