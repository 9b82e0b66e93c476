/** Reasons to refuse a sign-in at an OpenID Connect provider. @module */

import { SignInRefusal, type UserReason } from "../sign_in/refusal.ts";

/** Stable codes for tests, the log and the audit log. */
export type OidcReason =
  | UserReason
  // The request
  | "mode_key"
  | "provider_disabled"
  | "provider_changed"
  | "state_missing"
  | "request_unknown"
  | "request_expired"
  | "callback_foreign"
  | "provider_error"
  | "issuer_missing"
  | "issuer_foreign"
  | "code_missing"
  // The provider
  | "provider_unreachable"
  | "metadata_invalid"
  | "token_refused"
  | "answer_invalid"
  | "subject_foreign"
  | "subject_invalid"
  | "ended"
  // The ID token
  | "id_token_missing"
  | "algorithm"
  | "key_unknown"
  | "signature"
  | "token_issuer"
  | "audience"
  | "authorized_party"
  | "expired"
  | "not_yet_valid"
  | "nonce"
  // The user
  | "domain"
  | "unknown_user"
  | "existing_user"
  | "email_unverified"
  | "other_subject"
  // A later check
  | "unverifiable"
  | "no_role";

/** The answer does not authenticate a user. */
export const notAuthenticated = (reason: OidcReason, message: string, cause?: unknown) =>
  new SignInRefusal<OidcReason>(reason, "unauthorized", message, { cause });

/** The user is authenticated, but may not sign in. */
export const notAllowed = (reason: OidcReason, message: string) =>
  new SignInRefusal<OidcReason>(reason, "forbidden", message);

/** The provider does not work as it should. */
export const providerFailed = (reason: OidcReason, message: string, cause?: unknown) =>
  new SignInRefusal<OidcReason>(reason, "bad_gateway", message, { cause });
