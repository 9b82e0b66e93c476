/** Tickets, with which a browser opens the event stream instead of a token. @module */

import { callerOf } from "../access/accounts.ts";
import type { Caller } from "../access/caller.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";

/** Issues a ticket, which is valid for one connection within 30 seconds. */
export function issueTicket(
  { tickets }: Pick<Deps, "tickets">,
  { userId, familyId, apiToken }: Caller,
): { ticket: string } {
  return { ticket: tickets.issue({ userId, familyId, ...(apiToken && { apiToken }) }) };
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
  const session = tickets.redeem(ticket);
  const caller = session && callerOf(accounts, session, address);
  if (!caller) throw new AppError("unauthorized", "The ticket is invalid or has expired");
  return caller;
}
