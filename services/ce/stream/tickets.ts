/**
 * Tickets: what a browser brings to the event stream instead of a token.
 *
 * @module
 */

import type { Caller } from "../../auth/caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";

/** Makes a ticket that is good for one connection within 30 seconds. */
export function issueTicket(
  { tickets }: Pick<Deps, "tickets">,
  caller: Caller,
): { ticket: string } {
  return { ticket: tickets.issue(caller) };
}

/**
 * The caller that a ticket was made for, with the role of now. Uses the ticket up.
 *
 * @throws {AppError} `unauthorized` when the ticket is unknown, used or too old, or when the user
 * is gone or logged out.
 */
export function redeemTicket(
  { tickets, accounts }: Pick<Deps, "tickets" | "accounts">,
  ticket: string,
  address: string,
): Caller {
  const session = tickets.redeem(ticket);
  const role = session && accounts.roleOf(session);
  if (!role) throw new AppError("unauthorized", "The ticket is not valid (any more)");
  return { userId: session.userId, familyId: session.familyId, role, address };
}
