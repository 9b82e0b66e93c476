import { deepEqual, equal } from "node:assert/strict";
import { storeLogin } from "../../../services/access/sign_in/sessions.ts";
import { signAccessToken } from "../../../services/access/sign_in/tokens.ts";
import { login, loginByKey, PASSWORD, statusWith, usersApp } from "../../helpers/accounts.ts";
import { testBrowser } from "../../helpers/browser_session.ts";
import { appWithRights } from "../../helpers/custom_roles.ts";
import { addTotp, firstStep } from "../../helpers/second_factor.ts";
import { TEST_CLIENT, testApp } from "../../helpers/test_app.ts";

Deno.test("MFA_REQUIRED=all lets logins without a second factor only set one up", async () => {
  using app = await usersApp({ config: { mfaRequired: "all" } });
  const { accessToken: token } = await login(app, "viewer@example.com");

  const refused = await app.call("GET", "/api/account", undefined, { token });
  equal(refused.status, 403);
  deepEqual(refused.body, {
    error: "Set up a second factor first: an authenticator app or a passkey",
    code: "mfa_enrolment_required",
  });
  for (const path of ["/auth/me", "/api/account/totp", "/api/account/passkeys"]) {
    equal((await app.call("GET", path, undefined, { token })).status, 200, path);
  }
  const browser = testBrowser(app);
  equal(
    (await browser.signIn({ email: "operator@example.com", password: PASSWORD })).status,
    200,
  );
  equal((await browser.signOut()).status, 200);

  const account = await addTotp(app);
  equal((await app.call("GET", "/api/account", undefined, account)).status, 200);
  equal((await app.call("POST", "/auth/logout", undefined, account)).status, 200);
  equal(typeof await firstStep(app), "string");
});

Deno.test("MFA_REQUIRED=admins asks admins only, and neither API tokens nor the holder of the key", async () => {
  using app = await usersApp();
  const { accessToken: admin } = await login(app, "admin@example.com");
  const { accessToken: viewer } = await login(app, "viewer@example.com");
  const created = await app.call("POST", "/api/tokens", { name: "ci", role: "admin" }, {
    token: admin,
  });
  app.deps.config.mfaRequired = "admins";

  const statusOf = async (token: string) =>
    (await app.call("GET", "/api/account", undefined, { token })).status;
  equal(await statusOf(admin), 403);
  equal(await statusOf(viewer), 200);
  equal(await statusOf(created.body.token), 200);
  using byKey = testApp({ config: { mfaRequired: "all" } });
  equal(await statusWith(byKey, (await loginByKey(byKey)).accessToken), 200);
});

Deno.test("a login whose identity provider has asked for several factors needs no own one", async () => {
  using app = await usersApp({ config: { mfaRequired: "all" } });
  const { deps } = app;
  const tokenOf = async (hasSecondFactor: boolean) => {
    const terms = { endsAt: null, pageHash: null, hasSecondFactor };
    const { session, role, issuedAt } = deps.db.transaction(() =>
      storeLogin(deps, app.ids.viewer, TEST_CLIENT, terms)
    );
    return await signAccessToken(deps, session, role, { id: "id", issuedAt, endsAt: null });
  };
  for (const [hasSecondFactor, status] of [[true, 200], [false, 403]] as const) {
    const token = await tokenOf(hasSecondFactor);
    equal((await app.call("GET", "/api/account", undefined, { token })).status, status);
  }
});

Deno.test("MFA_REQUIRED=admins asks users who manage others or the settings by a custom role", async () => {
  for (
    const [permission, status] of [["users:write", 403], ["settings:write", 403], [
      "users:read",
      200,
    ]]
  ) {
    using app = await appWithRights(String(permission));
    app.deps.config.mfaRequired = "admins";
    equal((await app.asViewer("GET", "/api/account")).status, status, String(permission));
  }
});
