/**
 * Finds the caller of a request by its bearer token or ticket.
 *
 * @module
 */

import { isMetricsToken } from "../services/ce/metrics/token.ts";
import { redeemTicket } from "../services/ce/stream/tickets.ts";
import { createTokenVerifier, type TokenSession } from "../services/ce/auth/tokens.ts";
import { METRICS_USER } from "../services/auth/accounts.ts";
import type { Caller } from "../services/auth/caller.ts";
import type { Deps } from "../services/deps.ts";
import { AppError } from "../services/errors.ts";
import type { Identify } from "./request_context.ts";

/** RFC 6750, section 2.1. Schemes are compared without case (RFC 9110, section 11.1). */
const BEARER = /^bearer +([\w.~+/-]+=*)$/i;

/** `METRICS_TOKEN` may contain any characters. */
const ANY_BEARER = /^bearer +(.+)$/i;

/**
 * Creates the function that finds the caller of a request. The result is synchronous for a token
 * that was verified before; user, role and logout are checked every time.
 */
export function identify(
  deps: Pick<Deps, "accounts" | "config" | "secrets" | "tickets" | "now">,
): Identify {
  const { accounts, config } = deps;
  const verify = createTokenVerifier(deps);

  const callerOf = ({ userId, familyId, expiresAtMs }: TokenSession, address: string): Caller => {
    const role = accounts.roleOf({ userId, familyId });
    if (!role) {
      throw new AppError("unauthorized", "The user of this token was deleted or has logged out");
    }
    return { userId, familyId, expiresAtMs, role, address };
  };

  return (request, { address, ticket, metrics }) => {
    const header = request.headers.get("authorization");
    if (metrics && config.metricsToken !== null) {
      if (!isMetricsToken(ANY_BEARER.exec(header ?? "")?.[1], config.metricsToken)) {
        throw new AppError("unauthorized", "The token set as METRICS_TOKEN is required");
      }
      return { userId: METRICS_USER, role: "viewer", familyId: "", address };
    }
    if (header === null) {
      return ticket === undefined ? undefined : redeemTicket(deps, ticket, address);
    }

    const token = BEARER.exec(header)?.[1];
    if (token === undefined) {
      throw new AppError("unauthorized", "The Authorization header must be: Bearer <access token>");
    }
    const session = verify(token);
    return session instanceof Promise
      ? session.then((session) => callerOf(session, address))
      : callerOf(session, address);
  };
}
