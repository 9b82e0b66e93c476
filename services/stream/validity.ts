/** Validity of an open stream. @module */

import type { Caller } from "../access/caller.ts";
import { hostLimitsKept } from "../access/host_scope.ts";
import type { Deps } from "../deps.ts";
import { ACCESS_TOKEN_S } from "../access/sign_in/tokens.ts";

/** Lifetime of a stream that was opened with a ticket: that of an access token, in milliseconds. */
const TICKET_STREAM_MS = ACCESS_TOKEN_S * 1000;

/**
 * Returns a function that says whether a caller is still authorized: not when the token has expired,
 * the session was revoked, the user was deleted, the address was refused, or the hosts of the fleet that
 * the user may see have changed.
 */
export function callerValidity(
  { accounts, now }: Pick<Deps, "accounts" | "now">,
  caller: Caller,
): () => boolean {
  const endsAt = caller.expiresAtMs ?? now().getTime() + TICKET_STREAM_MS;
  const areHostsKept = hostLimitsKept(caller);
  return () =>
    now().getTime() < endsAt && accounts.roleOf(caller) !== undefined &&
    caller.rights?.isAdmitted() !== false && areHostsKept();
}
