/**
 * The secret between the reverse proxy and the mTLS verify endpoint.
 *
 * @module
 */

import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { timingSafeEqual } from "../../auth/timing_safe_equal.ts";

/** Whether the given text is the secret; without a configured secret nothing is. */
export function isVerifySecret({ config }: Pick<Deps, "config">, given: string | null): boolean {
  const secret = config.mtlsVerifySecret;
  return secret !== null && given !== null && timingSafeEqual(given, secret);
}

/**
 * Refuses a caller that does not show the secret.
 *
 * @throws {AppError} `unavailable` where no secret is configured; `unauthorized` for a missing or
 * wrong one.
 */
export function assertVerifySecret(deps: Pick<Deps, "config">, given: string | null): void {
  if (deps.config.mtlsVerifySecret === null) {
    throw new AppError("unavailable", "Nothing can be verified: MTLS_VERIFY_SECRET is not set");
  }
  if (!isVerifySecret(deps, given)) {
    throw new AppError(
      "unauthorized",
      given === null
        ? "The header X-Verify-Secret is required"
        : "The header X-Verify-Secret is not the one that is set as MTLS_VERIFY_SECRET",
    );
  }
}
