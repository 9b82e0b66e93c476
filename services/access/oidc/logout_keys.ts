/** Names under which a provider ends sign-ins that have no session yet. @module */

import type { OidcProvider } from "./provider.ts";

/** The names of a user and of the provider's session, as a token has them. */
interface Named {
  readonly sub?: unknown;
  readonly sid?: unknown;
}

/** The names that a token of a provider has: a logout token may have only one of them. */
export const logoutKeysOf = (
  { id, issuer }: Pick<OidcProvider, "id" | "issuer">,
  { sub, sid }: Named,
): string[] =>
  Object.entries({ sub, sid }).filter(([, value]) => typeof value === "string" && value !== "")
    .map((name) => JSON.stringify([id, issuer, ...name]));
