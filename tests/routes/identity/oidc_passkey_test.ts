/** Passkeys of accounts that an OpenID Connect provider decides about. @module */

import { equal, match } from "node:assert/strict";
import { insertOidcIdentity } from "../../../db/oidc_identities.ts";
import { login, PASSWORD } from "../../helpers/accounts.ts";
import { startEvilProvider } from "../../helpers/evil_provider.ts";
import { addOidcProvider, evilSignIn, oidcApp } from "../../helpers/oidc.ts";
import { addPasskey, PASSKEY_ORIGIN, passkeyPage } from "../../helpers/passkeys.ts";

const CONFIG = { config: { serviceBaseUrl: PASSKEY_ORIGIN } };

Deno.test("a passkey of an account without a password is only its second factor", async () => {
  using app = oidcApp(CONFIG);
  await using idp = await startEvilProvider(app.clock.now);
  const id = await addOidcProvider(app, idp);
  const { body: { accessToken } } = await evilSignIn(app, idp, id);
  const { authenticator, added } = await addPasskey(app, accessToken);
  equal(added.status, 201, added.body.error);
  equal((await app.call("PUT", `/api/identity/oidc/${id}`, { enabled: false })).status, 200);

  const page = passkeyPage(app);
  const alone = await page.signIn(authenticator.use(await page.options()));

  equal(alone.status, 403);
  match(alone.body.error, /identity provider/);
  equal((await app.call("PUT", `/api/identity/oidc/${id}`, { enabled: true })).status, 200);
  equal((await evilSignIn(app, idp, id)).body.mfaRequired, true);
});

Deno.test("without passwords, the passkey of a linked account is only its second factor", async () => {
  using app = oidcApp(CONFIG);
  const user = { email: "ada@example.com", password: PASSWORD, role: "viewer" };
  const { body: { id: userId } } = await app.call("POST", "/auth/users", user);
  const { accessToken } = await login(app, user.email);
  const { authenticator } = await addPasskey(app, accessToken);
  app.deps.config.passwordLogin = "off";
  const page = passkeyPage(app);
  const signIn = async () => (await page.signIn(authenticator.use(await page.options()))).status;
  equal(await signIn(), 200);

  const linkedAt = app.clock.now().toISOString();
  insertOidcIdentity(app.deps.db, {
    issuer: "https://idp.example",
    subject: "ada",
    userId,
    linkedAt,
  });

  equal(await signIn(), 403);
  app.deps.config.passwordLogin = "on";
  equal(await signIn(), 200);
});
