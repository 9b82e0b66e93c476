/** API tokens of a user whose role an OpenID Connect provider lowers or ends. @module */

import { deepEqual, equal } from "node:assert/strict";
import { startOidcProvider } from "../../helpers/oidc_provider.ts";
import {
  addOidcProvider,
  CALLBACK,
  callSession,
  newPage,
  oidcApp,
  signIn,
} from "../../helpers/oidc.ts";

const ADA = { email: "ada@example.com", email_verified: true, groups: ["ops"] };
const SETTINGS = {
  scopes: "openid email groups offline_access",
  rolesClaim: "groups",
  defaultRole: null,
  roleMap: [{ value: "ops", role: "operator" }, { value: "staff", role: "viewer" }],
};

Deno.test("API tokens of a user have the role that the provider gives now, or none", async () => {
  await using idp = await startOidcProvider({ redirectUri: CALLBACK, users: { ada: ADA } });
  using app = oidcApp();
  const id = await addOidcProvider(app, idp, SETTINGS);
  const page = newPage();
  const { accessToken } = (await signIn(app, id, "ada", { page })).body;
  const created = await app.call("POST", "/api/tokens", { name: "ci", role: "operator" }, {
    token: accessToken,
  });
  equal(created.status, 201, created.body.error);
  const roleOfToken = async () => {
    const { status, body } = await app.call("GET", "/auth/me", undefined, {
      token: created.body.token,
    });
    return status === 200 ? body.role : status;
  };
  const refreshWith = async (groups: string[]) => {
    idp.users.set("ada", { ...ADA, groups });
    app.clock.advance({ minutes: 14 });
    return (await callSession(app, page, "POST", "/refresh")).status;
  };
  equal(await roleOfToken(), "operator");
  const suspended = async () => {
    const { body: { tokens } } = await app.call("GET", "/api/tokens?all=true");
    const { body: { users } } = await app.call("GET", "/auth/users");
    return [tokens[0].isSuspended, users[0].isSuspended];
  };
  deepEqual(await suspended(), [false, false]);

  equal(await refreshWith(["staff"]), 200);
  equal(await roleOfToken(), "viewer");
  equal(await refreshWith(["ops"]), 200);
  equal(await roleOfToken(), "operator");

  // Without a role, the session ends and the token with it.
  equal(await refreshWith([]), 401);
  equal(await roleOfToken(), 401);
  deepEqual(await suspended(), [true, true]);
  equal((await signIn(app, id, "ada")).status, 403);
  equal(await roleOfToken(), 401);
  // Also after a restart.
  app.deps.accounts.reread();
  equal(await roleOfToken(), 401);

  idp.users.set("ada", ADA);
  equal((await signIn(app, id, "ada")).status, 200);
  equal(await roleOfToken(), "operator");
  deepEqual(await suspended(), [false, false]);

  // Refused at a sign-in, before any refresh.
  idp.users.set("ada", { ...ADA, groups: [] });
  equal((await signIn(app, id, "ada")).status, 403);
  equal(await roleOfToken(), 401);
  // An administrator who sets a role answers for the user.
  const [{ id: userId }] = (await app.call("GET", "/auth/users")).body.users;
  deepEqual(
    (await app.call("PUT", `/auth/users/${userId}/role`, { role: "operator" })).status,
    200,
  );
  equal(await roleOfToken(), "operator");
});

Deno.test("a provider that says nothing about a user ends no API token", async () => {
  await using idp = await startOidcProvider({
    ...{ redirectUri: CALLBACK, users: { ada: ADA }, claimsInIdToken: true },
  });
  using app = oidcApp();
  const id = await addOidcProvider(app, idp, { ...SETTINGS, scopes: "openid email groups" });
  const page = newPage();
  const { accessToken } = (await signIn(app, id, "ada", { page })).body;
  const { body: { token } } = await app.call(
    "POST",
    "/api/tokens",
    { name: "ci", role: "viewer" },
    {
      token: accessToken,
    },
  );
  app.clock.advance({ minutes: 14 });
  // Without a refresh token, and with groups in the ID token only.
  equal((await callSession(app, page, "POST", "/refresh")).status, 401);
  equal((await app.call("GET", "/auth/me", undefined, { token })).status, 200);
});
