/**
 * Redirect URIs. A provider could otherwise send a browser to another one, and get the code of its
 * answer (mix-up, RFC 9700, section 4.4): providers share a redirect URI only if at most one of them,
 * the first, may leave out the issuer in its answers.
 *
 * @module
 */

import { hasSharedOidcCallback, type OidcProvider } from "../../../db/oidc_providers.ts";
import type { Deps } from "../../deps.ts";
import { asAppError } from "../../errors.ts";
import type { ClientDeps } from "./fetch.ts";

type Callback = OidcProvider["callback"];

/** The path of the shared redirect URI, below the address of this service. */
export const CALLBACK_PATH = "/auth/oidc/callback";

export const ownCallbackPath = (providerId: string): string => `/auth/oidc/${providerId}/callback`;

/** The path of a provider's redirect URI, below the address of this service. */
export const callbackPathOf = ({ id, callback }: Pick<OidcProvider, "id" | "callback">): string =>
  callback === "own" ? ownCallbackPath(id) : CALLBACK_PATH;

/**
 * Decides about the redirect URI of a new provider, or of one with a new issuer.
 *
 * @param known The present decision; `undefined` for a new provider.
 * @returns A function for the moment of the storage, because another provider may be stored meanwhile.
 */
export async function chooseCallback(
  deps: ClientDeps & Pick<Deps, "config" | "db">,
  provider: Pick<OidcProvider, "id" | "name" | "issuer">,
  known?: Callback,
): Promise<() => Callback> {
  if (known === "shared" || known === "own") return () => known;
  const hasFirst = () =>
    hasSharedOidcCallback(deps.db) ||
    deps.config.oidcProviders.some(({ callback }) => callback === "shared");
  const namesIssuer = (known !== undefined || hasFirst()) && await announcesIssuer(deps, provider);
  return () => {
    if (namesIssuer) return "issuer";
    return known === undefined && !hasFirst() ? "shared" : "own";
  };
}

/** Whether the provider says that its answers name their issuer (RFC 9207); `false` if it cannot be reached. */
async function announcesIssuer(
  deps: ClientDeps,
  provider: Pick<OidcProvider, "id" | "name" | "issuer">,
): Promise<boolean> {
  const { discover } = await import("./client.ts");
  try {
    const server = await discover(deps, provider);
    return server.authorization_response_iss_parameter_supported === true;
  } catch (error) {
    if (!asAppError(error)) throw error;
    return false;
  }
}
