/**
 * The identity providers that the sign-in page offers. Enterprise reads its own; pages of all
 * editions show them.
 *
 * @module
 */

import { type Edition, includesEdition } from "../../edition.ts";

export interface SignInProvider {
  id: string;
  name: string;
  kind: "oidc" | "saml";
  /** The path of the service that starts a login. */
  path: string;
}

export type SignInProviders = ReturnType<typeof createSignInProviders>;

export function createSignInProviders(license: { readonly edition: Edition }) {
  let read: () => SignInProvider[] = () => [];
  return {
    /** Those that can be used now; none without a license. */
    list: () => includesEdition(license.edition, "enterprise") ? read() : [],
    readWith: (reader: () => SignInProvider[]): void => void (read = reader),
  };
}
