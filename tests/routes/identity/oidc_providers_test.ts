/** OpenID Connect providers: stored ones and those of the environment. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import { readConfig } from "../../../services/config/config.ts";
import { addOidcProvider, CALLBACK, oidcApp, signIn } from "../../helpers/oidc.ts";
import { CLIENT_ID, CLIENT_SECRET, startOidcProvider } from "../../helpers/oidc_provider.ts";
import { testApp } from "../../helpers/test_app.ts";

const OIDC = "/api/identity/oidc";
const ACME = {
  issuer: "https://id.example.com/realms/a",
  clientId: "longshore",
  clientSecret: "secret",
};

const surroundings = { hostname: "web-1", terminal: false, packed: false };

Deno.test("the client secret is sealed, redacted, kept by ******** and not taken to another issuer", async () => {
  using app = oidcApp();
  const id = await addOidcProvider(app, ACME);
  const path = `${OIDC}/${id}`;
  const stored = () =>
    app.deps.db.get<{ secret: string | null }>(
      "SELECT client_secret AS secret FROM oidc_providers",
    )!.secret;
  const sealed = stored()!;
  equal(app.deps.secrets.open(sealed, `oidc provider ${id} client secret`), "secret");

  const { body } = await app.call("GET", path);
  deepEqual([body.clientSecret, body.callbackUrl], ["********", CALLBACK]);
  const kept = await app.call("PUT", path, { clientSecret: "********", rolesClaim: "groups" });
  deepEqual([kept.status, kept.body.rolesClaim, stored()], [200, "groups", sealed]);
  const moved = await app.call("PUT", path, { issuer: "https://evil.example.com" });
  deepEqual([moved.status, moved.body.error], [
    400,
    "body.clientSecret: enter the secret itself instead of ********",
  ]);
  const cleared = await app.call("PUT", path, { clientSecret: null, rolesClaim: null });
  deepEqual([cleared.body.clientSecret, cleared.body.rolesClaim, stored()], [null, null, null]);
});

for (
  const { wrong, change, error } of [
    {
      wrong: "a plain HTTP issuer",
      change: { issuer: "http://id.example.com" },
      error: /^body\.issuer: must be an https/,
    },
    {
      wrong: "an issuer on this host",
      change: { issuer: "https://localhost" },
      error: /^body\.issuer: /,
    },
    {
      wrong: "an issuer with a query",
      change: { issuer: "https://id.example.com?a" },
      error: /query/,
    },
    { wrong: "scopes without openid", change: { scopes: "email" }, error: /must contain openid/ },
    {
      wrong: "a role that does not exist",
      change: { roleMap: [{ value: "ops", role: "admim" }] },
      error: /^body\.roleMap: role admim does not exist/,
    },
    { wrong: "an unknown field", change: { scope: "openid" }, error: /scope/ },
  ]
) {
  Deno.test(`POST ${OIDC} refuses ${wrong}`, async () => {
    using app = testApp();
    const { status, body } = await app.call("POST", OIDC, { name: "Acme", ...ACME, ...change });
    equal(status, 400);
    match(body.error, error);
  });
}

Deno.test("there are at most ten providers, and only admins change them", async () => {
  using app = oidcApp();
  for (let n = 0; n < 10; n++) await addOidcProvider(app, ACME);
  equal((await app.call("POST", OIDC, { name: "Acme", ...ACME })).status, 409);
  equal((await app.call("GET", OIDC, undefined, { role: "operator" })).status, 403);
  // An API token must not choose who can sign in.
  using keys = testApp();
  const token = { scope: { permissions: null } };
  equal((await keys.call("GET", OIDC, undefined, token)).status, 200);
  equal((await keys.call("POST", OIDC, { name: "Acme", ...ACME }, token)).status, 403);
});

Deno.test("providers of the environment sign in, and cannot be changed", async () => {
  const users = { ada: { email: "ada@example.com", groups: "cn=ops,ou=groups" } };
  await using idp = await startOidcProvider({ redirectUri: CALLBACK, users });
  const config = readConfig({
    OIDC_2_ISSUER: idp.issuer,
    OIDC_2_CLIENT_ID: CLIENT_ID,
    OIDC_2_CLIENT_SECRET_FILE: "/run/secrets/oidc",
    OIDC_2_NAME: "Acme",
    OIDC_2_SCOPES: "openid email groups",
    OIDC_2_ROLES_CLAIM: "groups",
    OIDC_2_ROLE_MAP: '{"cn=ops,ou=groups": "operator"}',
  }, { ...surroundings, readTextFile: () => `${CLIENT_SECRET}\n` });
  using app = oidcApp({ config: { oidcProviders: config.oidcProviders } });

  const { body: [provider] } = await app.call("GET", OIDC);
  deepEqual(
    [provider.id, provider.readOnly, provider.clientSecret, provider.enabled],
    ["env-2", true, "********", true],
  );
  equal((await signIn(app, "env-2", "ada")).body.role, "operator");
  for (const [method, body] of [["PUT", { name: "Other" }], ["DELETE", undefined]] as const) {
    const { status, body: { error } } = await app.call(method, `${OIDC}/env-2`, body);
    equal(status, 409);
    match(error, /environment variables/);
  }
  // Key mode has no users to sign in.
  using keys = testApp({ config: { oidcProviders: config.oidcProviders } });
  const listed = await keys.call("GET", "/auth/providers", undefined, { role: "public" });
  deepEqual(listed.body.providers, []);
});

for (
  const { wrong, env, error } of [
    {
      wrong: "a provider without an issuer",
      env: { OIDC_CLIENT_ID: "a" },
      error: /^OIDC_ISSUER is required/,
    },
    {
      wrong: "a role map without roles",
      env: { OIDC_ISSUER: "https://a", OIDC_CLIENT_ID: "a", OIDC_ROLE_MAP: "admins" },
      error: /^OIDC_ROLE_MAP=admins must be group=role pairs/,
    },
    {
      wrong: "an issuer without a scheme",
      env: { OIDC_3_ISSUER: "id.example.com", OIDC_3_CLIENT_ID: "a" },
      error: /^OIDC_3_ISSUER=id\.example\.com must be an https/,
    },
  ]
) {
  Deno.test(`the environment refuses ${wrong}`, () => {
    let message = "";
    try {
      readConfig(env, { ...surroundings, readTextFile: () => "" });
    } catch (thrown) {
      message = (thrown as Error).message;
    }
    match(message, error);
  });
}

Deno.test("with PASSWORD_LOGIN=off, right and wrong passwords are refused alike", async () => {
  using app = oidcApp({ config: { passwordLogin: "off" } });
  const email = "ada@example.com";
  const password = "correct horse battery";
  await app.call("POST", "/auth/users", { email, password, role: "admin" });
  const attempt = async (password: string) => {
    const { status, body } = await app.call("POST", "/auth/login", { email, password }, {
      role: "public",
    });
    return [status, body.error];
  };
  const refused = await attempt(password);
  equal(refused[0], 403);
  deepEqual(await attempt("wrong"), refused);
  const { body } = await app.call("GET", "/auth/providers", undefined, { role: "public" });
  deepEqual([body.password, body.passwords], [false, false]);
});
