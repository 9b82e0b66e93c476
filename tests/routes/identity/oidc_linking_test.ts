/** Attacks on accounts that a provider links later, by users with `users:write`. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import { addPasskey, PASSKEY_ORIGIN, passkeyPage } from "../../helpers/passkeys.ts";
import { login, PASSWORD, statusWith } from "../../helpers/accounts.ts";
import { appWithRights } from "../../helpers/custom_roles.ts";
import { startEvilProvider } from "../../helpers/evil_provider.ts";
import { addOidcProvider, evilSignIn } from "../../helpers/oidc.ts";

const ADA = { email: "ada@example.com", password: PASSWORD, role: "viewer" };
const KNOWN = "known to the helpdesk";

/** The viewer has `users:write`, and the provider makes Ada an admin. */
async function helpdesk() {
  const app = await appWithRights("users:write");
  Object.assign(app.deps.config, { outboundAllow: ["127.0.0.1"], serviceBaseUrl: PASSKEY_ORIGIN });
  const idp = await startEvilProvider(app.clock.now);
  idp.answers.idToken = (nonce) => idp.sign({ ...idp.claims(nonce), groups: ["root"] });
  const id = await addOidcProvider(app, idp, {
    ...{ rolesClaim: "groups", roleMap: [{ value: "root", role: "admin" }], defaultRole: null },
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

Deno.test("linking removes a password that another user has set, with its factors and sessions", async () => {
  await using app = await helpdesk();
  const { id } = (await app.call("POST", "/auth/users", ADA)).body;
  equal((await app.setPassword(id)).status, 200);
  const { accessToken } = await login(app, ADA.email, KNOWN);
  const { authenticator } = await addPasskey(app, accessToken);

  const linked = await app.signIn();

  equal(linked.body.role, "admin", linked.body.error);
  equal(await statusWith(app, accessToken), 401);
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
