/**
 * Tickets for event streams, terminals, completed logins and steps of a sign-in. A browser cannot set
 * the headers of the first two, and a token in the URL would end up in logs. A ticket can be used
 * once, by default within seconds.
 *
 * @module
 */

import { DROPPED, mostCrowded } from "../access/crowd.ts";
import { createShares, type Holder } from "../access/shares.ts";
import { randomText, sha256 } from "../builtins.ts";

/** Lifetime of a ticket unless given, in milliseconds. */
export const TICKET_MS = 30_000;

/** Maximum number of unused tickets; beyond it, those of the clients that have the most are dropped. */
const TICKETS_MAX = 10_000;

const TICKET_BYTES = 32;

interface Ticket<Grant> {
  grant: Grant;
  expiresAtMs: number;
  client: string;
  /** Gives the share of its holder back. */
  release: () => void;
}

export type Tickets<Grant> = ReturnType<typeof createTickets<Grant>>;

/**
 * Unused tickets, each with what it was issued for.
 *
 * @param holderOf The account or API token that a ticket counts for; by default there are no shares.
 * @param lifeMs Lifetime of a ticket, in milliseconds.
 */
export function createTickets<Grant>(
  now: () => Date,
  holderOf: (grant: Grant) => Holder | undefined = () => undefined,
  lifeMs = TICKET_MS,
) {
  // By hash, so that the time of a lookup does not depend on a secret. Oldest first.
  const tickets = new Map<string, Ticket<Grant>>();
  const shares = createShares({ what: "unused tickets", max: TICKETS_MAX });

  return {
    /**
     * @param client The user, or the address group of an anonymous client: one that has many drops its
     * own; default: all are those of one client.
     * @throws {AppError} `too_many_requests` above the share of the holder.
     */
    issue(grant: Grant, client = ""): string {
      const at = now().getTime();
      for (const [hash, { expiresAtMs }] of tickets) {
        if (expiresAtMs > at) break;
        drop(hash);
      }
      if (tickets.size >= TICKETS_MAX) dropCrowded();
      const holder = holderOf(grant);
      const release = holder ? shares.take(holder) : () => {};
      const ticket = randomText(TICKET_BYTES);
      tickets.set(sha256(ticket), { grant, expiresAtMs: at + lifeMs, client, release });
      return ticket;
    },

    /** Uses a ticket up and returns its grant; `undefined` if unknown, used or expired. */
    redeem(ticket: string): Grant | undefined {
      return grantOf(drop(sha256(ticket)));
    },

    /** Returns the grant of a ticket without using it up; `undefined` if unknown, used or expired. */
    find: (ticket: string): Grant | undefined => grantOf(tickets.get(sha256(ticket))),

    /** Number of tickets in memory, for tests. */
    get size() {
      return tickets.size;
    },
  };

  function grantOf(ticket: Ticket<Grant> | undefined): Grant | undefined {
    return ticket && now().getTime() < ticket.expiresAtMs ? ticket.grant : undefined;
  }

  function dropCrowded(): void {
    const entries = [...tickets].map(([hash, { client }]) => [hash, client] as const);
    for (const hash of mostCrowded(entries, DROPPED)) drop(hash);
  }

  function drop(hash: string): Ticket<Grant> | undefined {
    const found = tickets.get(hash);
    tickets.delete(hash);
    found?.release();
    return found;
  }
}
