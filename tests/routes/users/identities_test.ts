/** Identities of users at providers: listing and unlinking them. @module */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { login, PASSWORD, statusWith } from "../../helpers/accounts.ts";
import { appWithRights } from "../../helpers/custom_roles.ts";
import { startEvilProvider } from "../../helpers/evil_provider.ts";
import { addOidcProvider, evilSignIn, oidcApp } from "../../helpers/oidc.ts";
import { addProvider, createIdp, ssoLogin, ssoTest } from "../../helpers/sso.ts";
import type { TestApp } from "../../helpers/test_app.ts";

const ADA = { email: "ada@example.com", password: PASSWORD, role: "viewer" };
const OWN = "/api/account/identities";

type App = Pick<TestApp, "call" | "deps" | "clock">;

/** An application with a provider, and the ways to sign in as Ada. */
async function withProvider(settings: Record<string, unknown> = {}) {
  const app = oidcApp();
  const idp = await startEvilProvider(app.clock.now);
  idp.answers.idToken = (nonce) => idp.sign({ ...idp.claims(nonce), groups: ["ops"] });
  const id = await addOidcProvider(app, idp, settings);
  const signIn = () => evilSignIn(app, idp, id);
  return {
    ...{ ...app, idp, signIn },
    async [Symbol.asyncDispose]() {
      app[Symbol.dispose]();
      await idp[Symbol.asyncDispose]();
    },
  };
}

const ownOf = async (app: App, token: string) =>
  (await app.call("GET", OWN, undefined, { token })).body;

const unlinkOwn = (app: App, token: string, id: string, body = {}) =>
  app.call("DELETE", `${OWN}/${id}`, body, { token });

const idOf = async (app: App, token: string): Promise<string> =>
  (await app.call("GET", "/auth/me", undefined, { token })).body.id;

Deno.test("a user with a password unlinks a provider, late with a proof", async () => {
  await using app = await withProvider({ linkByVerifiedEmail: true });
  equal((await app.call("POST", "/auth/users", ADA)).status, 201);
  equal((await app.signIn()).status, 200);
  const { accessToken: token } = await login(app, ADA.email);
  const { accessToken: other } = await login(app, ADA.email);
  const { identities: [identity], proof } = await ownOf(app, token);
  const { id, linkedAt, ...rest } = identity;
  ok(Date.parse(linkedAt) > 0);
  equal(proof, null);
  deepEqual(rest, {
    ...{ kind: "oidc", provider: "Acme", issuer: app.idp.issuer, subject: "ada" },
    ...{ setsRole: false, isOnlyWayIn: false },
  });

  app.clock.advance({ minutes: 6 });
  equal((await ownOf(app, token)).proof, "password");
  equal((await unlinkOwn(app, token, id)).status, 403);
  const unlinked = await unlinkOwn(app, token, id, { password: PASSWORD });

  equal(unlinked.status, 200, unlinked.body.error);
  deepEqual((await ownOf(app, token)).identities, []);
  equal(await statusWith(app, other), 401);
  equal((await unlinkOwn(app, token, id, { password: PASSWORD })).status, 404);
  const { body: { entries } } = await app.call("GET", "/api/audit");
  const entry = entries.find(({ command }: { command: string }) => command === "Acme");
  deepEqual([entry.action, entry.targets], [`DELETE ${OWN}/:id`, [ADA.email]]);
});

Deno.test("unlinking the provider of the current session ends that, too", async () => {
  await using app = await withProvider({ linkByVerifiedEmail: true });
  equal((await app.call("POST", "/auth/users", ADA)).status, 201);
  const { accessToken: token } = (await app.signIn()).body;
  const { identities: [{ id }] } = await ownOf(app, token);
  equal((await unlinkOwn(app, token, id)).status, 200);
  equal(await statusWith(app, token), 401);
});

Deno.test("only an admin unlinks the only way in, after which the provider must not link again", async () => {
  await using app = await withProvider();
  const { accessToken: token } = (await app.signIn()).body;
  const { identities: [{ id, isOnlyWayIn }] } = await ownOf(app, token);
  equal(isOnlyWayIn, true);
  const refused = await unlinkOwn(app, token, id);
  equal(refused.status, 409);
  match(refused.body.error, /could not sign in without Acme/);

  const userId = await idOf(app, token);
  const path = `/api/users/${userId}/identities`;
  const { body } = await app.call("GET", path);
  deepEqual(body.identities.map((each: { id: string }) => each.id), [id]);
  equal((await app.call("DELETE", `${path}/${id}`)).status, 200);

  equal(await statusWith(app, token), 401);
  const again = await app.signIn();
  equal(again.status, 403);
  match(again.body, /already exists/);
  // A password is the next way in.
  const password = { password: PASSWORD };
  equal((await app.call("PUT", `/auth/users/${userId}/password`, password)).status, 200);
  equal((await login(app, ADA.email)).role, "viewer");
});

Deno.test("a user does not escape the provider that decides about the role", async () => {
  await using app = await withProvider({
    ...{ linkByVerifiedEmail: true, rolesClaim: "groups", defaultRole: null },
    roleMap: [{ value: "ops", role: "operator" }],
  });
  equal((await app.call("POST", "/auth/users", ADA)).status, 201);
  equal((await app.signIn()).status, 200);
  const { accessToken: token, role } = await login(app, ADA.email);
  equal(role, "operator");
  const { identities: [{ id, setsRole }] } = await ownOf(app, token);
  equal(setsRole, true);
  const refused = await unlinkOwn(app, token, id);
  equal(refused.status, 403);
  match(refused.body.error, /Acme decides about your role/);

  const path = `/api/users/${await idOf(app, token)}/identities/${id}`;
  equal((await app.call("DELETE", path)).status, 200);
  equal((await login(app, ADA.email)).role, "operator");
});

Deno.test("without passwords, a linked provider is the only way in unless a passkey is left", async () => {
  await using app = await withProvider({ linkByVerifiedEmail: true });
  equal((await app.call("POST", "/auth/users", ADA)).status, 201);
  app.deps.config.passwordLogin = "off";
  const { accessToken: token } = (await app.signIn()).body;
  equal((await ownOf(app, token)).identities[0].isOnlyWayIn, true);
});

Deno.test("users:read lists identities, and only admins unlink them", async () => {
  using app = await appWithRights("users:read", "users:write");
  const path = `/api/users/${app.ids.operator}/identities`;
  equal((await app.asViewer("GET", path)).status, 200);
  equal((await app.asViewer("DELETE", `${path}/x`)).status, 403);
  equal((await app.call("DELETE", `${path}/x`)).status, 404);
  const { accessToken: token } = await login(app, "admin@example.com");
  const own = `/api/users/${app.ids.admin}/identities/x`;
  equal((await app.call("DELETE", own, undefined, { token })).status, 409);
});

ssoTest("an identity of SAML is listed and unlinked as well", async () => {
  using app = await appWithRights();
  const idp = await createIdp("https://idp.example.com/metadata");
  await addProvider(app, idp);
  const { body: { user, accessToken } } = await ssoLogin(app, idp);
  const path = `/api/users/${user.id}/identities`;
  const { body: { identities: [identity] } } = await app.call("GET", path);
  const { kind, provider, issuer, isOnlyWayIn } = identity;
  deepEqual([kind, provider, issuer, isOnlyWayIn], ["saml", "Acme", idp.entityId, true]);

  equal((await app.call("DELETE", `${path}/${identity.id}`)).status, 200);

  equal(await statusWith(app, accessToken), 401);
  const again = await ssoLogin(app, idp);
  equal(again.status, 403);
  match(again.body.error, /already exists|not allowed to link/);
});
