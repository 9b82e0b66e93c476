/**
 * Tickets for the event stream. A browser cannot set headers on one, and a token in the address
 * would end up in logs; a ticket there is worthless a moment later.
 *
 * @module
 */

import { nodeCrypto, randomText } from "../builtins.ts";
import type { Session } from "../auth/accounts.ts";

/** How long a ticket can be used, in milliseconds. */
const TICKET_MS = 30_000;

/** Most unused tickets at a time; beyond, the oldest is void. */
const TICKETS_MAX = 10_000;

/** Random bits that nobody guesses within their 30 seconds. */
const TICKET_BYTES = 32;

export interface StreamTickets {
  /** Makes a ticket for a login. */
  issue(session: Session): string;
  /** Whose ticket it is; `undefined` when it is unknown, used or too old. Uses it up. */
  redeem(ticket: string): Session | undefined;
  /** Number of tickets held, for the memory bound's test. */
  readonly size: number;
}

export function createStreamTickets(now: () => Date): StreamTickets {
  // By hash, so that looking one up takes no time that depends on a secret. Oldest first.
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
