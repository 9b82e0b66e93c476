/** Attacks on accounts that a provider links later, by users with `users:write`. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import { addPasskey, PASSKEY_ORIGIN, passkeyPage } from "../../helpers/passkeys.ts";
import { login, PASSWORD, statusWith } from "../../helpers/accounts.ts";
import { appWithRights } from "../../helpers/custom_roles.ts";
import { type EvilProvider, startEvilProvider } from "../../helpers/evil_provider.ts";
import { addOidcProvider, evilSignIn, oidcApp } from "../../helpers/oidc.ts";

const ADA = { email: "ada@example.com", password: PASSWORD, role: "viewer" };
const KNOWN = "known to the helpdesk";

const GROUPS = {
  rolesClaim: "groups",
  roleMap: [{ value: "root", role: "admin" }],
  defaultRole: null,
};

/** The viewer has `users:write`, and the provider makes Ada an admin. */
async function helpdesk() {
  const app = await appWithRights("users:write");
  Object.assign(app.deps.config, { outboundAllow: ["127.0.0.1"], serviceBaseUrl: PASSKEY_ORIGIN });
  const idp = await startEvilProvider(app.clock.now);
  idp.answers.idToken = (nonce) => idp.sign({ ...idp.claims(nonce), groups: ["root"] });
  const id = await addOidcProvider(app, idp, {
    ...GROUPS,
    linkByVerifiedEmail: true,
  });
  return {
    ...app,
    signIn: () => evilSignIn(app, idp, id),
    setPassword: (userId: string) =>
      app.asViewer("PUT", `/auth/users/${userId}/password`, { password: KNOWN }),
    async [Symbol.asyncDispose]() {
      app[Symbol.dispose]();
      await idp[Symbol.asyncDispose]();
    },
  };
}

Deno.test("an account that users:write has created is not linked", async () => {
  await using app = await helpdesk();
  equal((await app.asViewer("POST", "/auth/users", ADA)).status, 201);
  const refused = await app.signIn();
  equal(refused.status, 403);
  match(refused.body, /No administrator has confirmed the address/);
});

Deno.test("an admin confirms the address of an account, which is linked then", async () => {
  await using app = await helpdesk();
  const { id } = (await app.asViewer("POST", "/auth/users", ADA)).body;
  const isConfirmed = async () => {
    const { body: { users } } = await app.call("GET", "/auth/users");
    return users.find((user: { id: string }) => user.id === id).isEmailConfirmed;
  };
  equal(await isConfirmed(), false);
  const path = `/auth/users/${id}/email/confirm`;
  const { email } = ADA;
  equal((await app.asViewer("POST", path, { email })).status, 403);
  // The user may have changed the address since the admin saw it.
  equal((await app.call("POST", path, { email: "ceo@example.com" })).status, 409);
  equal(await isConfirmed(), false);

  equal((await app.call("POST", path, { email })).status, 200);

  equal(await isConfirmed(), true);
  const { body: { entries } } = await app.call("GET", "/api/audit");
  const confirmed = entries.filter(({ action, outcome }: Record<string, string>) =>
    action!.endsWith("/email/confirm") && outcome === "success"
  );
  deepEqual(confirmed.map(({ targets }: { targets: string[] }) => targets), [[email, id]]);
  equal((await app.signIn()).body.role, "admin");
  // Another address is not confirmed.
  const { accessToken } = await app.signIn().then(({ body }) => body);
  app.deps.db.run("UPDATE users SET role = 'viewer', password_hash = 'x' WHERE id = :id", { id });
  app.deps.accounts.reread();
  const changed = { email: "ceo@example.com" };
  equal((await app.call("PUT", "/api/account", changed, { token: accessToken })).status, 200);
  equal(await isConfirmed(), false);
});

Deno.test("users:write sets no password of an account that a provider signs in", async () => {
  await using app = await helpdesk();
  const { body } = await app.signIn();
  const { id } = (await app.call("GET", "/auth/me", undefined, { token: body.accessToken })).body;
  app.deps.db.run("UPDATE users SET role = 'viewer' WHERE id = :id", { id });
  const alone = await app.setPassword(id);
  equal(alone.status, 403);
  match(alone.body.error, /identity provider/);
  // An admin can.
  const path = `/auth/users/${id}/password`;
  equal((await app.call("PUT", path, { password: PASSWORD })).status, 200);
  equal((await app.setPassword(id)).status, 403);
});

Deno.test("linking removes a password that another user has set, with factors, API tokens and sessions", async () => {
  await using app = await helpdesk();
  const { id } = (await app.call("POST", "/auth/users", ADA)).body;
  equal((await app.setPassword(id)).status, 200);
  const { accessToken: token } = await login(app, ADA.email, KNOWN);
  const permissions = ["settings:write"];
  const wide = { name: "later", role: "viewer", permissions };
  const { body: made } = await app.call("POST", "/api/tokens", wide, { token });
  const { authenticator } = await addPasskey(app, token);

  const linked = await app.signIn();

  equal(linked.body.role, "admin", linked.body.error);
  equal(await statusWith(app, token), 401);
  equal(await statusWith(app, made.token), 401);
  const page = passkeyPage(app);
  equal((await page.signIn(authenticator.use(await page.options()))).status, 401);
  const byPassword = { email: ADA.email, password: KNOWN };
  equal((await app.call("POST", "/auth/login", byPassword, { role: "public" })).status, 401);
});

Deno.test("linking ends sessions of the account, and keeps the password that an admin has set", async () => {
  await using app = await helpdesk();
  equal((await app.call("POST", "/auth/users", ADA)).status, 201);
  const { accessToken } = await login(app, ADA.email);
  equal((await app.signIn()).status, 200);
  equal(await statusWith(app, accessToken), 401);
  equal((await login(app, ADA.email)).role, "admin");
});

for (const trusted of [false, true]) {
  Deno.test(`a provider that ${trusted ? "may" : "may not"} link has created an account that another one links`, async () => {
    using app = oidcApp();
    await using partner = await startEvilProvider(app.clock.now);
    await using corp = await startEvilProvider(app.clock.now);
    const answerWith = (idp: EvilProvider, claims: Record<string, unknown>) =>
      idp.answers.idToken = (nonce) => idp.sign({ ...idp.claims(nonce), ...claims });
    answerWith(partner, { sub: "mallory", groups: [] });
    answerWith(corp, { sub: "ceo", groups: ["root"] });
    const partnerId = await addOidcProvider(app, partner, { linkByVerifiedEmail: trusted });
    const corpId = await addOidcProvider(app, corp, { ...GROUPS, linkByVerifiedEmail: true });
    const { accessToken: token } = (await evilSignIn(app, partner, partnerId)).body;
    const made = await app.call("POST", "/api/tokens", { name: "ci", role: "viewer" }, { token });
    equal(made.status, 201, made.body.error);

    const linked = await evilSignIn(app, corp, corpId);

    equal(linked.body.role, "admin", linked.body.error);
    equal(await statusWith(app, token), 401);
    equal(await statusWith(app, made.body.token), trusted ? 200 : 401);
    app.deps.accounts.reread();
    equal(await statusWith(app, made.body.token), trusted ? 200 : 401);
    const again = await evilSignIn(app, partner, partnerId);
    deepEqual([again.status, again.body.role], trusted ? [200, "admin"] : [403, undefined]);
    // The owner of the address keeps the account.
    equal((await evilSignIn(app, corp, corpId)).body.role, "admin");
  });
}

Deno.test("an admin who entered another's address has no way in after it is linked", async () => {
  await using app = await helpdesk();
  const { accessToken: token } = await login(app, "admin@example.com");
  const { email } = ADA;
  equal((await app.call("PUT", "/api/account", { email }, { token })).status, 200);

  equal((await app.signIn()).body.role, "admin");

  const byPassword = { email, password: PASSWORD };
  equal((await app.call("POST", "/auth/login", byPassword, { role: "public" })).status, 401);
});

Deno.test("an account whose user entered another address is shown with both, and loses its ways in when it is linked", async () => {
  await using app = await helpdesk();
  const mallory = { ...ADA, email: "mallory@example.com" };
  equal((await app.call("POST", "/auth/users", mallory)).status, 201);
  const { accessToken: token } = await login(app, mallory.email);
  const made = await app.call("POST", "/api/tokens", { name: "ci", role: "viewer" }, { token });
  for (const email of ["someone@example.com", ADA.email]) {
    equal((await app.call("PUT", "/api/account", { email }, { token })).status, 200);
  }
  equal((await app.signIn()).status, 403);
  const listed = async () => {
    const { body: { users } } = await app.call("GET", "/auth/users");
    return users.find(({ email }: { email: string }) => email === ADA.email);
  };
  const { id, formerEmail } = await listed();
  equal(formerEmail, mallory.email);
  const path = `/auth/users/${id}/email/confirm`;
  equal((await app.call("POST", path, { email: ADA.email })).status, 200);
  equal((await listed()).formerEmail, null);

  equal((await app.signIn()).body.role, "admin");

  equal(await statusWith(app, made.body.token), 401);
  const byPassword = { email: ADA.email, password: PASSWORD };
  equal((await app.call("POST", "/auth/login", byPassword, { role: "public" })).status, 401);
});
