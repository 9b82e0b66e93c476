/**
 * The secret between the reverse proxy and the mTLS verify endpoint.
 *
 * @module
 */

import { nodeCrypto } from "../builtins.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";

/**
 * Whether the secret was shown. Takes the same time whatever is given; of the secret not even the
 * length shows.
 */
export function isVerifySecret(
  { config }: Pick<Deps, "config">,
  given: string | null,
): boolean {
  const secret = config.mtlsVerifySecret;
  if (secret === null || given === null) return false;
  return timingSafeEqual(given, secret);
}

/** Compares two texts in a time that tells nothing of either. */
export function timingSafeEqual(a: string, b: string): boolean {
  const { createHash, timingSafeEqual } = nodeCrypto();
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/**
 * @throws {AppError} `unavailable` where no secret is configured, `unauthorized` without it or
 * with a wrong one.
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
