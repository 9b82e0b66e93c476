/** Passkeys of test users. @module */

import { equal } from "node:assert/strict";
import { type Claims, createAuthenticator } from "./authenticator.ts";
import { OWN_PAGE, pageSecret } from "./browser_session.ts";
import type { TestApp } from "./test_app.ts";

/** Address of the service in tests of passkeys, unless given. */
export const PASSKEY_ORIGIN = "https://longshore.example.com";

export const PASSKEYS = "/api/account/passkeys";

/** Adds a passkey to the account of an access token. */
export async function addPasskey(
  app: TestApp,
  token: string,
  claims: Claims = {},
  proof: Record<string, unknown> = {},
) {
  const authenticator = createAuthenticator(app.deps.config.serviceBaseUrl ?? PASSKEY_ORIGIN);
  const options = await app.call("POST", `${PASSKEYS}/options`, undefined, { token });
  equal(options.status, 200, options.body.error);
  const credential = authenticator.create(options.body, claims);
  const added = await app.call("POST", PASSKEYS, { credential, ...proof }, { token });
  return { token, authenticator, credential, options: options.body, added };
}

/** A page that signs in with a passkey alone. */
export function passkeyPage(app: TestApp) {
  const headers = { ...OWN_PAGE, "x-page-secret": pageSecret() };
  const call = (path: string, body: unknown) =>
    app.call("POST", path, body, { role: "public", headers });
  return {
    headers,
    options: async () => (await call("/auth/passkey/options", {})).body,
    signIn: (credential: unknown) => call("/auth/passkey", { credential }),
  };
}
