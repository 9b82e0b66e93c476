/**
 * Tickets for event streams and terminals. A browser cannot set their headers, and a token in the URL
 * would end up in logs. A ticket can be used once, within seconds.
 *
 * @module
 */

import { nodeCrypto, randomText } from "../builtins.ts";
import type { Session } from "../auth/accounts.ts";

/** Lifetime of a ticket, in milliseconds. */
export const TICKET_MS = 30_000;

/** Maximum number of unused tickets; beyond it, the oldest is dropped. */
const TICKETS_MAX = 10_000;

/** Random bytes of a ticket. */
const TICKET_BYTES = 32;

/** Unused tickets, each with what it was issued for. */
export interface Tickets<Grant> {
  /** Creates a ticket. */
  issue(grant: Grant): string;
  /** Uses a ticket up and returns its grant; `undefined` if unknown, used or expired. */
  redeem(ticket: string): Grant | undefined;
  /** Number of tickets in memory, for tests. */
  readonly size: number;
}

export type StreamTickets = Tickets<Session>;

export const createStreamTickets = (now: () => Date): StreamTickets => createTickets(now);

export function createTickets<Grant>(now: () => Date): Tickets<Grant> {
  // By hash, so that the time of a lookup does not depend on a secret. Oldest first.
  const tickets = new Map<string, { grant: Grant; expiresAtMs: number }>();

  return {
    issue(grant) {
      const at = now().getTime();
      for (const [hash, { expiresAtMs }] of tickets) {
        if (tickets.size < TICKETS_MAX && expiresAtMs > at) break;
        tickets.delete(hash);
      }
      const ticket = randomText(TICKET_BYTES);
      tickets.set(hashOf(ticket), { grant, expiresAtMs: at + TICKET_MS });
      return ticket;
    },

    redeem(ticket) {
      const hash = hashOf(ticket);
      const found = tickets.get(hash);
      tickets.delete(hash);
      return found && now().getTime() < found.expiresAtMs ? found.grant : undefined;
    },

    get size() {
      return tickets.size;
    },
  };
}

function hashOf(ticket: string): string {
  return nodeCrypto().createHash("sha256").update(ticket).digest("base64url");
}
