/** Failures of requests to registries. @module */

/**
 * - `unreachable`: no answer, or a failure of the registry itself
 * - `unauthorized`: wrong or missing credentials; Docker Hub also answers this for unknown images
 * - `not_found`: the registry does not have the repository, the tag or the digest
 * - `rate_limited`: too many requests
 * - `invalid`: not an answer of a registry
 */
export const REGISTRY_ERROR_REASONS = [
  "unreachable",
  "unauthorized",
  "not_found",
  "rate_limited",
  "invalid",
] as const;
export type RegistryErrorReason = (typeof REGISTRY_ERROR_REASONS)[number];

/** The registry did not give what was asked for. The message is a sentence for the user. */
export class RegistryError extends Error {
  override readonly name = "RegistryError";
  /** When a rate limit ends, in milliseconds since 1970. */
  readonly until?: number;
  /** Of the registry's answer, if that is the reason. */
  readonly status?: number;

  constructor(
    readonly reason: RegistryErrorReason,
    message: string,
    { until, status, ...options }: ErrorOptions & { until?: number; status?: number } = {},
  ) {
    super(message, options);
    if (until !== undefined) this.until = until;
    if (status !== undefined) this.status = status;
  }
}
