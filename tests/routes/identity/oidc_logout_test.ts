/** Logout tokens, which anyone can send. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import { type EvilProvider, startEvilProvider } from "../../helpers/evil_provider.ts";
import { addOidcProvider, callSession, evilSignIn, newPage, oidcApp } from "../../helpers/oidc.ts";
import type { TestApp } from "../../helpers/test_app.ts";

const METADATA = "/.well-known/openid-configuration";

const send = (app: TestApp, token: string) =>
  app.call("POST", "/auth/oidc/backchannel-logout", `logout_token=${token}`, {
    role: "public",
    headers: { "content-type": "application/x-www-form-urlencoded" },
  });

/** A token of the provider that ends the sessions of its user. */
function logoutToken(idp: EvilProvider, changes: Record<string, unknown> = {}): Promise<string> {
  const { nonce: _, ...claims } = idp.claims("");
  const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
  return idp.sign({ ...claims, jti: "j1", events, ...changes });
}

const forged = async (idp: EvilProvider) => `${(await logoutToken(idp)).slice(0, -8)}AAAAAAAA`;

Deno.test("many logout tokens at once ask the provider once for metadata and keys", async () => {
  using app = oidcApp();
  await using idp = await startEvilProvider(app.clock.now);
  await addOidcProvider(app, idp);
  idp.requests.length = 0;
  app.deps.oidc.metadata.clear();
  const token = await forged(idp);
  const answers = await Promise.all(Array.from({ length: 40 }, () => send(app, token)));
  deepEqual(new Set(answers.map(({ status }) => status)), new Set([401]));
  deepEqual(idp.requests, [METADATA, "/jwks"]);
  // The bound of those that wait.
  app.deps.oidc.metadata.clear();
  const flood = await Promise.all(Array.from({ length: 120 }, () => send(app, token)));
  equal(flood.filter(({ status }) => status === 429).length, 10);
});

for (
  const { what, broken, path } of [
    { what: "keys", path: "/jwks", broken: { keysText: "{}" } },
    { what: "metadata", path: METADATA, broken: { metadata: { issuer: "x" } } },
  ]
) {
  Deno.test(`broken ${what} of a provider are fetched again after 10 seconds`, async () => {
    using app = oidcApp();
    await using idp = await startEvilProvider(app.clock.now);
    await addOidcProvider(app, idp);
    app.deps.oidc.metadata.clear();
    Object.assign(idp.answers, broken);
    idp.requests.length = 0;
    const token = await forged(idp);
    const fetches = () => idp.requests.filter((each) => each === path).length;
    equal((await send(app, token)).status, 502);
    equal((await send(app, token)).status, 502);
    equal(fetches(), 1);
    app.clock.advance({ seconds: 10 });
    equal((await send(app, token)).status, 502);
    equal(fetches(), 2);
  });
}

Deno.test("a logout token is accepted once, soon, and by all providers that it is for", async () => {
  using app = oidcApp();
  await using idp = await startEvilProvider(app.clock.now);
  const ids = [
    await addOidcProvider(app, idp),
    await addOidcProvider(app, idp, { name: "Acme again", linkByVerifiedEmail: true }),
  ];
  const pages = ids.map(() => newPage());
  for (const [at, id] of ids.entries()) {
    equal((await evilSignIn(app, idp, id, pages[at])).status, 200);
  }
  const seconds = Math.floor(app.clock.now().getTime() / 1000);
  const old = await send(app, await logoutToken(idp, { iat: seconds - 301, exp: seconds + 999 }));
  match(old.body.error, /too old/);
  const token = await logoutToken(idp);

  equal((await send(app, token)).status, 200);

  for (const page of pages) equal((await callSession(app, page, "POST", "/refresh")).status, 401);
  match((await send(app, token)).body.error, /used already/);
});
