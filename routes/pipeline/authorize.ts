/** Finds the caller of a request by its bearer token or ticket. @module */

import { isApiToken } from "../../services/access/api_tokens/secret.ts";
import { createApiTokenVerifier } from "../../services/access/api_tokens/verifier.ts";
import { redeemTerminalTicket } from "../../services/containers/terminal/tickets.ts";
import { redeemTicket } from "../../services/live/tickets.ts";
import { createTokenVerifier, type TokenSession } from "../../services/access/sign_in/tokens.ts";
import { callerOf, METRICS_USER } from "../../services/access/accounts.ts";
import type { Caller } from "../../services/access/caller.ts";
import { timingSafeEqual } from "../../services/access/timing_safe_equal.ts";
import type { Deps } from "../../services/deps.ts";
import { AppError } from "../../services/errors.ts";
import type { Identify } from "./request_context.ts";

/** RFC 6750, section 2.1. Schemes are compared without case (RFC 9110, section 11.1). */
const BEARER = /^bearer +([\w.~+/-]+=*)$/i;

/** `METRICS_TOKEN` may contain any characters. */
const ANY_BEARER = /^bearer +(.+)$/i;

/**
 * Creates the function that finds the caller of a request. A token is verified once; user, role and
 * logout are checked every time.
 */
export function identify(
  deps: Pick<
    Deps,
    "accounts" | "config" | "db" | "log" | "secrets" | "terminalTickets" | "tickets" | "now"
  >,
): Identify {
  const { accounts, config } = deps;
  const verify = createTokenVerifier(deps);

  const verifyApiToken = createApiTokenVerifier(deps);

  const callerWith = (session: TokenSession, address: string): Caller => {
    const caller = callerOf(accounts, session, address);
    if (!caller) {
      throw new AppError("unauthorized", "The user of this token was deleted or has logged out");
    }
    return { ...caller, expiresAtMs: session.expiresAtMs };
  };

  return async (request, { address, ticket, terminal, metrics }) => {
    if (terminal && ticket !== undefined) return redeemTerminalTicket(deps, ticket, address);
    const header = request.headers.get("authorization");
    if (metrics && config.metricsToken !== null) {
      const given = ANY_BEARER.exec(header ?? "")?.[1];
      if (given === undefined || !timingSafeEqual(given, config.metricsToken)) {
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
    const session = isApiToken(token) ? verifyApiToken(token, address) : await verify(token);
    return callerWith(session, address);
  };
}
