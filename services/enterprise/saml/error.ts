/** Reasons to refuse a SAML message: one stable code for each rule. @module */

/** Reasons that mean that the message is not a readable SAML response. */
export const UNREADABLE = [
  "too_large",
  "base64",
  "compressed",
  "encoding",
  "character",
  "dtd",
  "cdata",
  "processing_instruction",
  "entity",
  "malformed",
  "namespace",
  "too_deep",
  "too_many_nodes",
  "too_many_references",
  "parsers_disagree",
  "not_a_response",
] as const;

/** Stable codes for tests, logs and the compliance log. They contain no secrets. */
export type SamlReason =
  | (typeof UNREADABLE)[number]
  // Structure of the document.
  | "response_count"
  | "assertion_missing"
  | "assertion_encrypted"
  | "encrypted"
  | "assertion_count"
  | "assertion_namespace"
  | "assertion_place"
  | "id_missing"
  | "id_malformed"
  | "id_variant"
  | "id_duplicate"
  | "xsi_type"
  // Signatures.
  | "signature_missing"
  | "signature_namespace"
  | "signature_place"
  | "signature_count"
  | "signature_malformed"
  | "signature_object"
  | "signature_comment"
  | "signature_character_reference"
  | "signature_value"
  | "signature_hmac"
  | "signature_sha1"
  | "signature_algorithm"
  | "signature_key_type"
  | "signature_mismatch"
  | "signature_unverifiable"
  | "key_info_certificate"
  | "canonicalization_algorithm"
  | "reference_count"
  | "reference_empty"
  | "reference_foreign"
  | "reference_elsewhere"
  | "transform_xslt"
  | "transform_algorithm"
  | "transform_list"
  | "digest_sha1"
  | "digest_algorithm"
  | "digest_value"
  | "digest_mismatch"
  | "certificate"
  // Content.
  | "version"
  | "status"
  | "issue_instant"
  | "destination"
  | "response_issuer"
  | "issuer_missing"
  | "issuer"
  | "assertion_malformed"
  | "timestamp"
  | "name_id"
  | "attribute_value"
  | "subject_confirmation_missing"
  | "recipient"
  | "subject_confirmation_times"
  | "in_response_to_mismatch"
  | "in_response_to_unsigned"
  | "conditions_missing"
  | "condition_unknown"
  | "not_yet_valid"
  | "expired"
  | "audience_missing"
  | "audience"
  | "session_ended";

export class SamlError extends Error {
  override readonly name = "SamlError";

  /** @param message One sentence for the administrator, without secrets. */
  constructor(readonly reason: SamlReason, message: string, options?: ErrorOptions) {
    super(message, options);
  }
}
