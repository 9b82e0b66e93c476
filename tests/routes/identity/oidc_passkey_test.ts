/** Passkeys of accounts that an OpenID Connect provider decides about. @module */

import { equal, match } from "node:assert/strict";
import { insertOidcIdentity } from "../../../db/oidc_identities.ts";
import { login, PASSWORD, statusWith } from "../../helpers/accounts.ts";
import { startEvilProvider } from "../../helpers/evil_provider.ts";
import { addOidcProvider, evilSignIn, oidcApp } from "../../helpers/oidc.ts";
import { addPasskey, PASSKEY_ORIGIN, passkeyPage } from "../../helpers/passkeys.ts";

const PUBLIC = { role: "public" } as const;

const CONFIG = { config: { serviceBaseUrl: PASSKEY_ORIGIN } };

Deno.test("a passkey of an account without a password is only its second factor", async () => {
  using app = oidcApp(CONFIG);
  await using idp = await startEvilProvider(app.clock.now);
  const id = await addOidcProvider(app, idp);
  const { body: { accessToken } } = await evilSignIn(app, idp, id);
  const { authenticator, added } = await addPasskey(app, accessToken);
  equal(added.status, 201, added.body.error);
  equal((await app.call("GET", "/auth/providers", undefined, PUBLIC)).body.passkeys, false);
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
  const isOffered = async () =>
    (await app.call("GET", "/auth/providers", undefined, PUBLIC)).body.passkeys;
  equal(await isOffered(), true);

  const linkedAt = app.clock.now().toISOString();
  insertOidcIdentity(app.deps.db, {
    issuer: "https://idp.example",
    subject: "ada",
    userId,
    linkedAt,
  });
  equal(await isOffered(), false);

  equal(await signIn(), 403);
  app.deps.config.passwordLogin = "on";
  equal(await signIn(), 200);
});

Deno.test("a user to whom the provider gives no role has no other way in, except the last admin", async () => {
  using app = oidcApp(CONFIG);
  await using idp = await startEvilProvider(app.clock.now);
  const answerWith = (groups: string[]) => {
    idp.answers.idToken = (nonce) => idp.sign({ ...idp.claims(nonce), groups });
    idp.answers.userInfo = { sub: "ada", groups };
  };
  answerWith(["root"]);
  const id = await addOidcProvider(app, idp, {
    ...{ rolesClaim: "groups", roleMap: [{ value: "root", role: "admin" }], defaultRole: null },
    linkByVerifiedEmail: true,
  });
  const user = { email: "ada@example.com", password: PASSWORD, role: "viewer" };
  await app.call("POST", "/auth/users", user);
  equal((await evilSignIn(app, idp, id)).body.role, "admin");
  const { accessToken } = await login(app, user.email);
  answerWith([]);
  equal((await evilSignIn(app, idp, id)).status, 403);
  // The last admin.
  equal(await statusWith(app, accessToken), 200);
  await app.call("POST", "/auth/users", { ...user, email: "root@example.com", role: "admin" });

  equal((await evilSignIn(app, idp, id)).status, 403);

  equal(await statusWith(app, accessToken), 401);
  const byPassword = { email: user.email, password: PASSWORD };
  equal((await app.call("POST", "/auth/login", byPassword, { role: "public" })).status, 403);
  answerWith(["root"]);
  equal((await evilSignIn(app, idp, id)).status, 200);
  equal((await login(app, user.email)).role, "admin");
});
