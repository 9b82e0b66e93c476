/** Ends of sign-ins that wait for their page or for a second factor. @module */

import { equal, match } from "node:assert/strict";
import { addTotp, firstStep, secondStep } from "../../helpers/second_factor.ts";
import { usersApp } from "../../helpers/accounts.ts";
import { startEvilProvider } from "../../helpers/evil_provider.ts";
import {
  addOidcProvider,
  beginSignIn,
  collectSession,
  comeBack,
  newPage,
  oidcApp,
} from "../../helpers/oidc.ts";

const EVENTS = { "http://schemas.openid.net/event/backchannel-logout": {} };

for (
  const [what, names, status] of [
    ["the user", { sub: "ada" }, 401],
    ["the session", { sid: "s1" }, 401],
    ["another session of the user", { sub: "ada", sid: "s2" }, 200],
    ["another user", { sub: "eve" }, 200],
  ] as const
) {
  Deno.test(`a back-channel logout of ${what} before the page collects a sign-in: ${status}`, async () => {
    using app = oidcApp();
    await using idp = await startEvilProvider(app.clock.now);
    idp.answers.idToken = (nonce) => idp.sign({ ...idp.claims(nonce), sid: "s1" });
    const id = await addOidcProvider(app, idp);
    const page = newPage();
    const back = await comeBack(app, await idp.answer(await beginSignIn(app, id, page)));
    const { nonce: _, sub: _sub, ...claims } = idp.claims("") as Record<string, unknown>;
    const token = await idp.sign({ ...claims, ...names, jti: "j1", events: EVENTS });

    const out = await app.call("POST", "/auth/oidc/backchannel-logout", `logout_token=${token}`, {
      role: "public",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });

    equal(out.status, 200, out.body?.error);
    equal((await collectSession(app, page, back)).status, status);
  });
}

Deno.test("a back-channel logout during the callback ends the sign-in", async () => {
  using app = oidcApp();
  await using idp = await startEvilProvider(app.clock.now);
  const id = await addOidcProvider(app, idp, { rolesClaim: "groups" });
  idp.answers.userInfo = { sub: "ada" };
  idp.answers.onUserInfo = async () => {
    const { nonce: _, ...claims } = idp.claims("") as Record<string, unknown>;
    const token = await idp.sign({ ...claims, jti: "j1", events: EVENTS });
    const out = await app.call("POST", "/auth/oidc/backchannel-logout", `logout_token=${token}`, {
      role: "public",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    equal(out.status, 200, out.body?.error);
  };
  const callback = await idp.answer(await beginSignIn(app, id, newPage()));

  const refused = await comeBack(app, callback);

  equal(refused.status, 401);
  match(refused.body, /ended during the sign-in/);
});

Deno.test("an admin who ends the sessions of a user ends a sign-in that waits for its second factor", async () => {
  using app = await usersApp();
  const account = await addTotp(app);
  const mfaToken = await firstStep(app);
  const path = `/api/users/${app.ids.viewer}/sessions`;
  equal((await app.call("DELETE", path)).status, 200);
  const refused = await secondStep(app, mfaToken, { code: account.code(1) });
  equal(refused.status, 401);
  match(refused.body.error, /took too long|ended/);
  equal((await secondStep(app, await firstStep(app), { code: account.code(1) })).status, 200);
});
