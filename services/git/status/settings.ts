/** Settings for the status of commits at a forge. @module */

import { AppError } from "../../errors.ts";
import type { OutboundDeps } from "../../outbound/url.ts";
import { GIVE_AGAIN, NOTHING_STORED, REDACTED } from "../../text/redact.ts";
import { checkRepositoryUrl } from "../address.ts";

export const STATUS_KINDS = ["github", "gitlab", "gitea"] as const;

/** Forge that gets the status of commits. */
export interface StatusSettings {
  /** `gitea`: also Forgejo. */
  kind: (typeof STATUS_KINDS)[number];
  /** Of the API, e.g. `https://api.github.com` or `https://gitlab.example.com/api/v4`. */
  apiUrl: string;
  token: string;
}

/** @throws {AppError} `invalid` for an address that may not be reached. */
export const checkStatus = async (
  deps: OutboundDeps,
  status: StatusSettings | null,
): Promise<StatusSettings | null> =>
  status && {
    ...status,
    apiUrl: await checkRepositoryUrl(deps, status.apiUrl, "body.status.apiUrl"),
  };

/**
 * The settings after a change. The token is kept for the same server only.
 *
 * @throws {AppError} `invalid` for a token that cannot be kept.
 */
export function mergeStatus(
  before: StatusSettings | null,
  given: StatusSettings | null | undefined,
): StatusSettings | null {
  if (given === undefined) return before;
  if (given?.token !== REDACTED) return given;
  const problem = !before
    ? NOTHING_STORED
    : URL.parse(given.apiUrl)?.origin !== new URL(before.apiUrl).origin
    ? GIVE_AGAIN
    : undefined;
  if (problem !== undefined) throw new AppError("invalid", `body.status.token: ${problem}`);
  return { ...given, token: before!.token };
}
