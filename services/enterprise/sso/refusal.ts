/** Reasons to refuse a single sign-on login, in addition to those of the SAML message. @module */

import { SignInRefusal } from "../../access/sign_in/refusal.ts";
import type { SamlReason } from "../saml/error.ts";

/** Stable codes for tests, logs and the compliance log. */
type SsoReason =
  | "unknown_issuer"
  | "provider_disabled"
  | "provider_changed"
  | "replay"
  | "unsolicited"
  | "request_unknown"
  | "request_expired"
  | "request_used"
  | "request_foreign"
  | "unknown_user"
  | "existing_user"
  | "other_provider"
  | "name_id_changed";

/** @throws {SignInRefusal} `provider_disabled`. */
export function assertProviderEnabled({ enabled }: { enabled: boolean }): void {
  if (!enabled) throw notAllowed("provider_disabled", "The identity provider is disabled");
}

/** The message does not authenticate a user. */
export const notAuthenticated = (reason: SsoReason | SamlReason, message: string) =>
  new SignInRefusal(reason, "unauthorized", message);

/** The user is authenticated, but may not log in. */
export const notAllowed = (reason: SsoReason, message: string) =>
  new SignInRefusal(reason, "forbidden", message);
