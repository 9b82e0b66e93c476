/** Tickets, with which a browser opens the event stream instead of a token. @module */

import { callerOf, sessionOf } from "../access/accounts.ts";
import type { Caller, PassedTicket } from "../access/caller.ts";
import { ACCESS_TOKEN_S } from "../access/sign_in/tokens.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";

/**
 * Issues a ticket, which is valid for one connection within 30 seconds.
 *
 * @param passed The terminal at a host of this hub that it is for; default: any event stream.
 */
export function issueTicket(
  { tickets, now }: Pick<Deps, "tickets" | "now">,
  caller: Caller,
  passed?: PassedTicket,
): { ticket: string } {
  const { expiresAtMs = Infinity } = caller;
  const endsAtMs = Math.min(expiresAtMs, now().getTime() + ACCESS_TOKEN_S * 1000);
  return { ticket: tickets.issue({ ...sessionOf(caller), passed, expiresAtMs: endsAtMs }) };
}

/**
 * Consumes a ticket and returns the caller that it was issued to, with the current role and the limits
 * of the API token.
 *
 * @throws {AppError} `unauthorized` if the ticket is unknown, used or expired, or if the user was
 * deleted or logged out.
 */
export function redeemTicket(
  { tickets, accounts }: Pick<Deps, "tickets" | "accounts">,
  ticket: string,
  address: string,
): Caller {
  const grant = tickets.redeem(ticket);
  const caller = grant && callerOf(accounts, grant, address);
  if (!caller) throw new AppError("unauthorized", "The ticket is invalid or has expired");
  const { passed, expiresAtMs } = grant;
  return { ...caller, ...(passed && { passed }), expiresAtMs };
}
