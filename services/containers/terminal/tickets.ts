/**
 * Uses terminal tickets up. Apart from `access.ts`, because every start of the service loads it.
 *
 * @module
 */

import { callerOf } from "../../access/accounts.ts";
import type { Caller } from "../../access/caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";

/**
 * Uses a ticket up and returns the caller that it was issued to, with the current role and the
 * scope of the API token that it was issued with.
 *
 * @throws {AppError} `unauthorized` if the ticket is unknown, used or expired, or if the user was
 * deleted or logged out.
 */
export function redeemTerminalTicket(
  { terminalTickets, accounts }: Pick<Deps, "terminalTickets" | "accounts">,
  ticket: string,
  address: string,
): Caller {
  const holder = terminalTickets.redeem(ticket);
  const caller = holder && callerOf(accounts, holder, address);
  if (!caller) throw new AppError("unauthorized", "The ticket is invalid or has expired");
  return { ...caller, terminal: holder.terminal };
}
