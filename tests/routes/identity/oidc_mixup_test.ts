/** Mix-up of two providers (RFC 9700, section 4.4), and the redirect URIs that prevent it. @module */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { readConfig } from "../../../services/config/config.ts";
import { type EvilProvider, startEvilProvider } from "../../helpers/evil_provider.ts";
import {
  addOidcProvider,
  BASE_URL,
  beginSignIn,
  CALLBACK,
  comeBack,
  evilSignIn,
  newPage,
  oidcApp,
} from "../../helpers/oidc.ts";
import { keptLog, type TestApp } from "../../helpers/test_app.ts";

const callbackOf = async (app: TestApp, id: string): Promise<string> =>
  (await app.call("GET", `/api/identity/oidc/${id}`)).body.callbackUrl;

const announce = ({ answers }: EvilProvider, isAnnounced: boolean) =>
  void (answers.metadata.authorization_response_iss_parameter_supported = isAnnounced);

Deno.test("providers after the first have redirect URIs of their own, unless they send iss", async () => {
  using app = oidcApp();
  await using first = await startEvilProvider(app.clock.now);
  await using silent = await startEvilProvider(app.clock.now);
  await using naming = await startEvilProvider(app.clock.now);
  announce(naming, true);
  const ids = [];
  for (const idp of [first, silent, naming]) ids.push(await addOidcProvider(app, idp));
  const [firstId, silentId, namingId] = ids as [string, string, string];

  equal(await callbackOf(app, firstId), CALLBACK);
  equal(await callbackOf(app, silentId), `${BASE_URL}/auth/oidc/${silentId}/callback`);
  equal(await callbackOf(app, namingId), CALLBACK);
  equal((await evilSignIn(app, silent, silentId)).status, 200);

  // A provider that cannot be reached has one of its own as well.
  const unknown = { ...silent, issuer: "http://127.0.0.1:1" };
  const unknownId = await addOidcProvider(app, unknown);
  equal(await callbackOf(app, unknownId), `${BASE_URL}/auth/oidc/${unknownId}/callback`);

  // It moves only when its answers cannot be told apart any more.
  const change = (id: string, { issuer, clientSecret }: EvilProvider) =>
    app.call("PUT", `/api/identity/oidc/${id}`, { issuer, clientSecret });
  equal(
    (await change(namingId, silent)).body.callbackUrl,
    `${BASE_URL}/auth/oidc/${namingId}/callback`,
  );
  equal((await change(firstId, silent)).body.callbackUrl, CALLBACK);
});

Deno.test("a provider that shares the redirect URI cannot stop naming its issuer", async () => {
  const { log, lines } = keptLog();
  using app = oidcApp({ log });
  await using first = await startEvilProvider(app.clock.now);
  await using evil = await startEvilProvider(app.clock.now);
  announce(evil, true);
  await addOidcProvider(app, first);
  const id = await addOidcProvider(app, evil);
  announce(evil, false);

  const answer = await comeBack(app, await evil.answer(await beginSignIn(app, id, newPage())));

  equal(answer.status, 401);
  ok(lines.some((line) => line.includes("issuer_missing")));
  deepEqual(evil.requests.filter((path) => path === "/token"), []);
});

for (const evilIsFirst of [true, false]) {
  Deno.test(`an evil provider gets no code of another one, ${evilIsFirst ? "before" : "after"} it`, async () => {
    const { log, lines } = keptLog();
    using app = oidcApp({ log });
    await using evil = await startEvilProvider(app.clock.now);
    await using honest = await startEvilProvider(app.clock.now);
    const ids = new Map<EvilProvider, string>();
    for (const idp of evilIsFirst ? [evil, honest] : [honest, evil]) {
      ids.set(idp, await addOidcProvider(app, idp));
    }
    const victim = new URL(await beginSignIn(app, ids.get(evil)!, newPage()));
    // The evil provider sends the browser on to the other one, which answers at its own redirect URI.
    victim.searchParams.set("redirect_uri", await callbackOf(app, ids.get(honest)!));

    const answer = await comeBack(app, await honest.answer(victim.href));

    equal(answer.status, 401);
    match(answer.body, /redirect URI of another identity provider/);
    ok(lines.some((line) => line.includes("callback_foreign")));
    deepEqual(evil.requests.filter((path) => path === "/token"), []);
  });
}

Deno.test("providers of the environment share the redirect URI unless OIDC_n_CALLBACK=own", () => {
  const env: Record<string, string> = { OIDC_3_CALLBACK: "own" };
  for (const prefix of ["OIDC", "OIDC_2", "OIDC_3"]) {
    Object.assign(env, {
      [`${prefix}_ISSUER`]: "https://id.example.com",
      [`${prefix}_CLIENT_ID`]: "longshore",
    });
  }
  const { oidcProviders } = readConfig(env, { packed: false, cpus: 1 } as never);
  deepEqual(oidcProviders.map(({ callback }) => callback), ["shared", "issuer", "own"]);
});
