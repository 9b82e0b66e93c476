/**
 * Why somebody does not get in by single sign-on, beyond what is wrong with the message itself.
 *
 * @module
 */

import { AppError } from "../../errors.ts";
import type { SamlReason } from "../saml/error.ts";

/** Stable codes for tests, logs and the compliance log. */
export type SsoReason =
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
  | "name_id_changed"
  | "account_off";

/** A refused login; one sentence and one code for each reason. */
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

/** Nobody is known to have logged in. */
export const notProven = (reason: SsoReason | SamlReason, message: string) =>
  new SsoRefusal(reason, "unauthorized", message);

/** Whoever it is may not come in. */
export const notAllowed = (reason: SsoReason, message: string) =>
  new SsoRefusal(reason, "forbidden", message);
