/**
 * Secrets in what is shown.
 *
 * @module
 */

/** Stands for a secret in an answer; sent back in an update it means "keep". */
export const REDACTED = "********";
