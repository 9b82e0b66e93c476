/** The provider's tokens of a session, sealed in the database. @module */

import type { OidcSession } from "../../../db/oidc_sessions.ts";
import { openIfPossible, type Secrets } from "../../secrets/secrets.ts";
import type { ProviderTokens } from "./client.ts";

/** The provider's tokens that are kept. */
export interface SessionTokens extends Omit<ProviderTokens, "idToken"> {
  /** The last ID token, for the sign-out at the provider. */
  idToken: string;
  /** The scopes that the sign-in requested, separated by spaces; `undefined` in older sessions. */
  scopes?: string | undefined;
}

const purpose = (sessionId: string) => `oidc session ${sessionId} tokens`;

export function sealTokens(
  secrets: Secrets,
  sessionId: string,
  { accessToken, refreshToken, idToken, scopes }: SessionTokens,
): string {
  const tokens: SessionTokens = { accessToken, refreshToken, idToken, scopes };
  return secrets.seal(JSON.stringify(tokens), purpose(sessionId));
}

/** The tokens; `undefined` if they cannot be decrypted. */
export function openTokens(
  secrets: Secrets,
  { sessionId, sealed }: Pick<OidcSession, "sessionId" | "sealed">,
): SessionTokens | undefined {
  const text = openIfPossible(() => secrets.open(sealed, purpose(sessionId)));
  return text === undefined ? undefined : JSON.parse(text);
}
