/** The shared secret of the reverse proxy and the mTLS verify endpoint. @module */

import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { timingSafeEqual } from "../../access/timing_safe_equal.ts";

/** Whether a text is the secret. Always false without a configured secret. */
export function isVerifySecret({ config }: Pick<Deps, "config">, given: string | null): boolean {
  const secret = config.mtlsVerifySecret;
  return secret !== null && given !== null && timingSafeEqual(given, secret);
}

/**
 * Refuses a caller without the secret.
 *
 * @throws {AppError} `unavailable` if no secret is configured; `unauthorized` for a missing or wrong
 * secret.
 */
export function assertVerifySecret(deps: Pick<Deps, "config">, given: string | null): void {
  if (deps.config.mtlsVerifySecret === null) {
    throw new AppError("unavailable", "mTLS verification is off: MTLS_VERIFY_SECRET is not set");
  }
  if (!isVerifySecret(deps, given)) {
    throw new AppError(
      "unauthorized",
      given === null
        ? "The header X-Verify-Secret is required"
        : "The header X-Verify-Secret does not match MTLS_VERIFY_SECRET",
    );
  }
}
