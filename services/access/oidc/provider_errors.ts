/** Reasons for refusals from the errors of the libraries. @module */

import { errors as jose } from "jose";
import * as oauth from "oauth4webapi";
import { OutboundError } from "../../outbound/error.ts";
import { AppError } from "../../errors.ts";
import { UNKNOWN_KEY } from "./keys.ts";
import { notAuthenticated, type OidcReason, providerFailed } from "./refusal.ts";

/** Reason and sentence for a wrong claim of the ID token. */
const CLAIMS: Readonly<Record<string, [OidcReason, string]>> = {
  iss: ["token_issuer", "The ID token is from another issuer"],
  aud: ["audience", "The ID token is for another client"],
  azp: ["authorized_party", "The ID token was issued to another client"],
  exp: ["expired", "The ID token has expired; check the clocks of both servers"],
  nbf: ["not_yet_valid", "The ID token is not valid yet; check the clocks of both servers"],
  nonce: ["nonce", "The ID token answers another sign-in (nonce)"],
};

/**
 * Translates an error. The message repeats nothing of the provider except the code of its error.
 *
 * @param fallback The reason of an answer that is not as it should be.
 */
export function asRefusal(
  error: unknown,
  name: string,
  fallback: OidcReason = "answer_invalid",
): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof OutboundError) {
    return providerFailed(
      "provider_unreachable",
      `The identity provider ${name} cannot be asked: ${error.message}`,
      error,
    );
  }
  if (error instanceof oauth.AuthorizationResponseError) {
    const text = `The identity provider has refused the sign-in${codeOf(error.error)}`;
    return notAuthenticated("provider_error", text, error);
  }
  if (error instanceof oauth.ResponseBodyError) {
    if (isPassing(error)) {
      const text = `The identity provider ${name} cannot answer now${codeOf(error.error)}`;
      return providerFailed("provider_unreachable", text, error);
    }
    const text = `The identity provider has not accepted this client or its code${
      codeOf(error.error)
    }`;
    return notAuthenticated("token_refused", text, error);
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError) {
    const text = "The identity provider has not accepted the client secret or its own token";
    return notAuthenticated("token_refused", text, error);
  }
  return ofToken(error) ?? ofCallback(error) ??
    providerFailed(fallback, `The identity provider ${name} has sent an invalid answer`, error);
}

/** Whether the provider has trouble, and says nothing about the user or this client. */
const isPassing = ({ status, error }: oauth.ResponseBodyError) =>
  status === 429 || status >= 500 || error === "temporarily_unavailable" ||
  error === "server_error";

/** The registered codes are lower-case words. */
const codeOf = (code: string) => /^[a-z_]{1,40}$/.test(code) ? ` (${code})` : "";

function ofToken(error: unknown): AppError | undefined {
  if (error instanceof jose.JOSEAlgNotAllowed || error instanceof jose.JOSENotSupported) {
    return algorithm(error);
  }
  if (error instanceof jose.JWKSNoMatchingKey) {
    return notAuthenticated("key_unknown", UNKNOWN_KEY, error);
  }
  if (
    error instanceof jose.JWSSignatureVerificationFailed || error instanceof jose.JWSInvalid ||
    error instanceof jose.JWTInvalid || error instanceof jose.JWKSMultipleMatchingKeys
  ) {
    return notAuthenticated("signature", "The signature of the ID token is not valid", error);
  }
  const claim = error instanceof jose.JWTClaimValidationFailed || error instanceof jose.JWTExpired
    ? error.claim
    : claimOf(error);
  const known = CLAIMS[claim ?? ""];
  if (known) return notAuthenticated(...known, error);
  if (error instanceof jose.JWTClaimValidationFailed) {
    return notAuthenticated("answer_invalid", `The token has no valid claim ${claim}`, error);
  }
  const isAlgorithm = error instanceof oauth.OperationProcessingError &&
    /"alg"/.test(error.message);
  return isAlgorithm ? algorithm(error) : undefined;
}

const algorithm = (error: unknown) =>
  notAuthenticated(
    "algorithm",
    "The ID token is signed with an algorithm that is not allowed",
    error,
  );

/** The claim that the protocol's library has refused, from `JWT "aud" (audience) claim value`. */
function claimOf(error: unknown): string | undefined {
  if (!(error instanceof oauth.OperationProcessingError)) return undefined;
  return /"(\w+)"(?: \([\w ]+\))? claim/.exec(error.message)?.[1];
}

function ofCallback(error: unknown): AppError | undefined {
  if (!(error instanceof oauth.OperationProcessingError)) return undefined;
  const { message, cause } = error;
  if (message.includes('"iss" (issuer) missing')) {
    return notAuthenticated("issuer_missing", "The answer does not name its issuer", error);
  }
  if (message.includes('"iss" (issuer) response parameter')) {
    return notAuthenticated("issuer_foreign", "The answer is from another provider", error);
  }
  if (Object(cause).attribute === "sub") {
    const text = "The userinfo endpoint has answered for another user";
    return notAuthenticated("subject_foreign", text, error);
  }
  if (message.includes('"id_token"')) {
    return notAuthenticated("id_token_missing", "The provider has sent no ID token", error);
  }
  return undefined;
}
