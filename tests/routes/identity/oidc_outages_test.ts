/** Sessions while their provider has trouble. @module */

import { deepEqual, equal } from "node:assert/strict";
import { startEvilProvider } from "../../helpers/evil_provider.ts";
import { addOidcProvider, callSession, evilSignIn, newPage, oidcApp } from "../../helpers/oidc.ts";

Deno.test("a session survives failures of its provider, also with refresh tokens for one use", async () => {
  using app = oidcApp();
  await using idp = await startEvilProvider(app.clock.now);
  const used: string[] = [];
  const groups = ["ops"];
  idp.answers.idToken = (nonce) => idp.sign({ ...idp.claims(nonce), groups: undefined });
  idp.answers.userInfo = { sub: "ada", email: "ada@example.com", email_verified: true, groups };
  idp.answers.refresh = (token) => {
    used.push(token);
    const refresh_token = `refresh-${used.length}`;
    return Response.json({ access_token: "new", token_type: "Bearer", refresh_token });
  };
  const id = await addOidcProvider(app, idp, {
    ...{ rolesClaim: "groups", roleMap: [{ value: "ops", role: "operator" }], defaultRole: null },
  });
  const page = newPage();
  equal((await evilSignIn(app, idp, id, page)).status, 200);
  const refresh = async () => {
    app.clock.advance({ minutes: 1 });
    return (await callSession(app, page, "POST", "/refresh")).status;
  };

  idp.answers.userInfoStatus = 502;
  equal(await refresh(), 503);
  idp.answers.userInfoStatus = 200;
  equal(await refresh(), 200);
  deepEqual(used, ["refresh-0", "refresh-1"]);
  const { refresh: right } = idp.answers;
  idp.answers.refresh = () => Response.json({ error: "slow_down" }, { status: 429 });
  equal(await refresh(), 503);
  idp.answers.refresh = right!;
  equal(await refresh(), 200);

  const { accessToken: session } = (await evilSignIn(app, idp, id)).body;
  const made = await app.call("POST", "/api/tokens", { name: "script", role: "viewer" }, {
    token: session,
  });
  equal(made.status, 201, made.body.error);
  const status = async (token: string) =>
    (await app.call("GET", "/api/schedules", undefined, { token })).status;
  equal(await status(made.body.token), 200);

  // In key mode, OpenID Connect is off.
  app.deps.config.authMode = "key";
  app.deps.accounts.reread();
  equal(await refresh(), 401);
  equal(await status(made.body.token), 401);
  equal(await status(session), 401);
});
