/** The fleet of this installation in memory: open links of a hub, and the membership of a member. @module */

import { countWaitingFleetBoxes } from "../../../db/fleet_boxes.ts";
import { countFleetHosts } from "../../../db/fleet_hosts.ts";
import { countFleetInvites } from "../../../db/fleet_invites.ts";
import { type Membership, selectMembership } from "../../../db/fleet_membership.ts";
import type { StateDatabase } from "../../../db/database.ts";
import type { HostCopy } from "../copies/copy.ts";
import { createReceivedEvents, type ReceivedEvents } from "../events/received.ts";
import type { OpenLink } from "../link/open_link.ts";
import type { Links } from "../link/stream.ts";
import type { WaveLink } from "../waves/exchange.ts";
import { createQuestions, type Questions } from "../waves/questions.ts";
import type { KnownReport } from "../waves/known_report.ts";

/** A host whose link is open. */
export interface OpenHost {
  link: OpenLink;
  /** Address of the other end. */
  address: string;
  /** Whether an admin has to accept it first: nothing is sent through its link until then. */
  isPending: boolean;
  /** The exchange about blocked images. */
  waves: WaveLink;
}

/** State of the link from a member to its hub. */
export interface HubLink {
  /** The link, if it is open. */
  link: OpenLink | undefined;
  /** Why the last one ended or could not be opened. */
  reason: string | undefined;
  /** Questions to the hub that it has not answered. */
  questions: Questions;
}

export interface Fleet extends Links {
  /** Whether hosts may dial this installation: it has hosts or invites. */
  readonly isHub: boolean;
  /** The hub of this installation, if it is a member. */
  readonly membership: Membership | undefined;
  /** Open links by host id, also of hosts that an admin has not accepted. */
  readonly hosts: Map<string, OpenHost>;
  readonly hub: HubLink;
  /** Copies of what hosts have, by host id. */
  readonly copies: Map<string, HostCopy>;
  /** The last events of hosts. */
  readonly received: ReceivedEvents;
  /** The last report of each host about new images, by host id. */
  readonly reports: Map<string, KnownReport>;
  /** When hosts may send the next event, by host id, in milliseconds of a monotonic clock. */
  readonly paces: Map<string, number>;
  /** When the last event about a duplicate was emitted, by host id, in Unix milliseconds. */
  readonly duplicates: Map<string, number>;
  /** Reads what was stored, after this or another process has changed it. */
  refresh(): void;
  /** Resolves after the next `refresh()` that finds a difference, or when `signal` aborts. */
  changed(signal: AbortSignal): Promise<void>;
  /** Calls `listener` once, as soon as this installation is a hub. */
  onHub(listener: () => void): void;
}

export function createFleet(db: StateDatabase): Fleet {
  const hosts = new Map<string, OpenHost>();
  const hub: HubLink = { link: undefined, reason: undefined, questions: createQuestions() };
  const listeners: (() => void)[] = [];
  let change = Promise.withResolvers<void>();
  let isHub = readIsHub();
  let membership = selectMembership(db);
  let waiting = countWaitingFleetBoxes(db);

  function readIsHub(): boolean {
    return countFleetHosts(db) > 0 || countFleetInvites(db) > 0;
  }

  function notifyHub(): void {
    if (isHub) { for (const listener of listeners.splice(0)) listener(); }
  }

  return {
    hosts,
    hub,
    copies: new Map(),
    received: createReceivedEvents(),
    paces: new Map(),
    reports: new Map(),
    duplicates: new Map(),
    get isHub() {
      return isHub;
    },
    get membership() {
      return membership;
    },
    link(hostId) {
      const host = hosts.get(hostId);
      return host?.isPending ? undefined : host?.link;
    },
    refresh() {
      const wasHub = isHub;
      const before = JSON.stringify([membership, waiting]);
      isHub = readIsHub();
      membership = selectMembership(db);
      waiting = countWaitingFleetBoxes(db);
      notifyHub();
      // Anyone may cause this call, and what waits for a change dials the hub at once.
      if (isHub === wasHub && JSON.stringify([membership, waiting]) === before) return;
      change.resolve();
      change = Promise.withResolvers();
    },
    async changed(signal) {
      const aborted = Promise.withResolvers<void>();
      const abort = () => aborted.resolve();
      signal.addEventListener("abort", abort, { once: true });
      if (!signal.aborted) await Promise.race([change.promise, aborted.promise]);
      signal.removeEventListener("abort", abort);
    },
    onHub(listener) {
      listeners.push(listener);
      notifyHub();
    },
  };
}
