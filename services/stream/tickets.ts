/**
 * Tickets for event streams, terminals and completed logins. A browser cannot set the headers of the
 * first two, and a token in the URL would end up in logs. A ticket can be used once, within seconds.
 *
 * @module
 */

import { randomText, sha256 } from "../builtins.ts";

/** Lifetime of a ticket, in milliseconds. */
export const TICKET_MS = 30_000;

/** Maximum number of unused tickets; beyond it, the oldest is dropped. */
const TICKETS_MAX = 10_000;

const TICKET_BYTES = 32;

export type Tickets<Grant> = ReturnType<typeof createTickets<Grant>>;

/** Unused tickets, each with what it was issued for. */
export function createTickets<Grant>(now: () => Date) {
  // By hash, so that the time of a lookup does not depend on a secret. Oldest first.
  const tickets = new Map<string, { grant: Grant; expiresAtMs: number }>();

  return {
    issue(grant: Grant): string {
      const at = now().getTime();
      for (const [hash, { expiresAtMs }] of tickets) {
        if (tickets.size < TICKETS_MAX && expiresAtMs > at) break;
        tickets.delete(hash);
      }
      const ticket = randomText(TICKET_BYTES);
      tickets.set(sha256(ticket), { grant, expiresAtMs: at + TICKET_MS });
      return ticket;
    },

    /** Uses a ticket up and returns its grant; `undefined` if unknown, used or expired. */
    redeem(ticket: string): Grant | undefined {
      const hash = sha256(ticket);
      const found = tickets.get(hash);
      tickets.delete(hash);
      return found && now().getTime() < found.expiresAtMs ? found.grant : undefined;
    },

    /** Number of tickets in memory, for tests. */
    get size() {
      return tickets.size;
    },
  };
}
