/** Reasons to refuse a single sign-on login, in addition to those of the SAML message. @module */

import { AppError } from "../../errors.ts";
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
  | "email_missing"
  | "email_invalid"
  | "unknown_user"
  | "existing_user"
  | "other_provider"
  | "email_unconfirmed"
  | "name_id_changed"
  | "account_off";

/** A refused login, with one code and one sentence for each reason. */
export class SsoRefusal extends AppError {
  override readonly name = "SsoRefusal";

  constructor(
    readonly reason: SsoReason | SamlReason,
    code: "invalid" | "unauthorized" | "forbidden",
    message: string,
    options?: ErrorOptions,
  ) {
    super(code, message, options);
  }
}

/** @throws {SsoRefusal} `provider_disabled`. */
export function assertProviderEnabled({ enabled }: { enabled: boolean }): void {
  if (!enabled) throw notAllowed("provider_disabled", "The identity provider is disabled");
}

/** The message does not authenticate a user. */
export const notAuthenticated = (reason: SsoReason | SamlReason, message: string) =>
  new SsoRefusal(reason, "unauthorized", message);

/** The user is authenticated, but may not log in. */
export const notAllowed = (reason: SsoReason, message: string) =>
  new SsoRefusal(reason, "forbidden", message);
