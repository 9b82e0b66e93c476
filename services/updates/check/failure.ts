/** Checks of images that failed. @module */

import { type CheckedImage, selectCheckedImage } from "../../../db/updates/images.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { RegistryError } from "../../images/registries/error.ts";
import { readUpdateSettings } from "../settings.ts";

const HOUR_MS = 60 * 60 * 1000;

/** Longest pause after a failure that may be temporary, in milliseconds. */
const RETRY_MS = HOUR_MS;

/** The check of one image exceeded its time. */
export class CheckTimeout extends Error {
  override readonly name = "CheckTimeout";

  /** @param timeoutMs In milliseconds. */
  constructor(timeoutMs: number) {
    super(`the check took longer than ${timeoutMs / 1000} seconds`);
  }
}

/** Returns the last good answer for an image with the reason why a newer one is missing. */
export function failedCheck(
  deps: Pick<Deps, "config" | "db" | "now">,
  image: string,
  error: unknown,
): CheckedImage {
  const before = selectCheckedImage(deps.db, image);
  const isLimited = error instanceof RegistryError && error.reason === "rate_limited";
  return {
    image,
    latestDigest: before?.latestDigest ?? null,
    newerVersions: before?.newerVersions ?? [],
    versionsReason: before?.versionsReason ?? null,
    reason: describeFailure(error),
    rateLimitRemaining: isLimited ? 0 : before?.rateLimitRemaining ?? null,
    checkedAt: deps.now().toISOString(),
    lastGoodAt: before?.lastGoodAt ?? null,
    retryAt: retryAt(deps, error)?.toISOString() ?? null,
    jitter: Math.random(),
  };
}

const REASONS: Record<RegistryError["reason"], string> = {
  unreachable: "unreachable",
  unauthorized: "unauthorized",
  not_found: "not found",
  rate_limited: "rate limited",
  invalid: "invalid answer",
};

/** Describes a failure for users. A defect is described in the log only. */
export function describeFailure(error: unknown): string {
  if (error instanceof CheckTimeout) return error.message;
  // A stored password that cannot be decrypted is as good as none.
  if (error instanceof AppError) return REASONS.unauthorized;
  if (!(error instanceof RegistryError)) return "the check failed; the service's log has the cause";
  const { reason, until } = error;
  return REASONS[reason] + (until === undefined ? "" : ` until ${new Date(until).toISOString()}`);
}

/** Refusals are repeated after the usual time. */
function retryAt(deps: Parameters<typeof failedCheck>[0], error: unknown): Date | undefined {
  const { reason, until } = error instanceof RegistryError ? error : {};
  if (until !== undefined) return new Date(until);
  const isRefusal = error instanceof AppError || reason === "unauthorized" ||
    reason === "not_found";
  if (isRefusal) return undefined;
  const { intervalHours } = readUpdateSettings(deps);
  return new Date(deps.now().getTime() + Math.min(intervalHours * HOUR_MS, RETRY_MS));
}
