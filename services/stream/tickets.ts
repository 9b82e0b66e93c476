/**
 * Tickets for the event stream. A browser cannot set its headers, and a token in the URL would end up
 * in logs. A ticket can be used once, within seconds.
 *
 * @module
 */

import { nodeCrypto, randomText } from "../builtins.ts";
import type { Session } from "../auth/accounts.ts";

/** Lifetime of a ticket, in milliseconds. */
const TICKET_MS = 30_000;

/** Maximum number of unused tickets; beyond it, the oldest is dropped. */
const TICKETS_MAX = 10_000;

/** Random bytes of a ticket. */
const TICKET_BYTES = 32;

export interface StreamTickets {
  /** Creates a ticket for a session. */
  issue(session: Session): string;
  /** Returns the session of a ticket and uses it up; `undefined` if unknown, used or expired. */
  redeem(ticket: string): Session | undefined;
  /** Number of tickets in memory, for tests. */
  readonly size: number;
}

export function createStreamTickets(now: () => Date): StreamTickets {
  // By hash, so that the time of a lookup does not depend on a secret. Oldest first.
  const tickets = new Map<string, Session & { expiresAtMs: number }>();

  return {
    issue({ userId, familyId }) {
      const at = now().getTime();
      for (const [hash, { expiresAtMs }] of tickets) {
        if (tickets.size < TICKETS_MAX && expiresAtMs > at) break;
        tickets.delete(hash);
      }
      const ticket = randomText(TICKET_BYTES);
      tickets.set(hashOf(ticket), { userId, familyId, expiresAtMs: at + TICKET_MS });
      return ticket;
    },

    redeem(ticket) {
      const hash = hashOf(ticket);
      const found = tickets.get(hash);
      tickets.delete(hash);
      return found && now().getTime() < found.expiresAtMs ? found : undefined;
    },

    get size() {
      return tickets.size;
    },
  };
}

function hashOf(ticket: string): string {
  return nodeCrypto().createHash("sha256").update(ticket).digest("base64url");
}
