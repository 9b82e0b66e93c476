/** The fleet of this installation in memory: open links of a hub, and the membership of a member. @module */

import { countWaitingFleetBoxes } from "../../../db/fleet_boxes.ts";
import {
  countFleetHosts,
  selectDialledFleetHosts,
  selectFleetHosts,
} from "../../../db/fleet_hosts.ts";
import { countFleetInvites } from "../../../db/fleet_invites.ts";
import { type Listening, selectListening } from "../../../db/fleet_listening.ts";
import { type Membership, selectMembership } from "../../../db/fleet_membership.ts";
import type { StateDatabase } from "../../../db/database.ts";
import type { HostCopy } from "../copies/copy.ts";
import { createReceivedEvents, type ReceivedEvents } from "../events/received.ts";
import { createRepeated, type IsRepeated } from "../events/repeated.ts";
import type { Connection } from "../link/connection.ts";
import type { OpenLink } from "../link/open_link.ts";
import type { Links } from "../link/stream.ts";
import type { WaveLink } from "../waves/exchange.ts";
import { createQuestions, type Questions } from "../waves/questions.ts";
import type { KnownReport } from "../waves/known_report.ts";
import { stateOf } from "./state.ts";

/** A host whose link is open. */
export interface OpenHost {
  link: OpenLink;
  /** Address of the other end. */
  address: string;
  /** Whether an admin has to accept it first: nothing is sent through its link until then. */
  isPending: boolean;
  /** The exchange about blocked images. */
  waves: WaveLink;
  /** The key of this hub for notes that the host has confirmed over this link, base64url. */
  noteKey?: string;
}

/** State of the link from a member to its hub. */
export interface HubLink {
  /** The link, if it is open. */
  link: OpenLink | undefined;
  /** Address from which the hub has dialled this host last. */
  address: string | undefined;
  /** When this host dials again (ISO 8601, UTC). */
  nextTryAt: string | undefined;
  /** Questions to the hub that it has not answered. */
  questions: Questions;
  /**
   * Takes a connection of what may be the hub, while this installation waits for one. Resolves when it
   * is a link or was refused.
   */
  accept: ((connection: Connection, address: string) => Promise<void>) | undefined;
}

export interface Fleet extends Links {
  /** Whether hosts may dial this installation: it has hosts or invites. */
  readonly isHub: boolean;
  /** The hub of this installation, if it is a member. */
  readonly membership: Membership | undefined;
  /** The token with which a hub may add this installation; it may have expired. */
  readonly listening: Listening | undefined;
  /** Whether a hub dials this installation, or may do so with a token. */
  readonly isListening: boolean;
  /** Hosts that this hub dials. */
  readonly dialled: readonly { id: string; address: string }[];
  /** Open links by host id, also of hosts that an admin has not accepted. */
  readonly hosts: Map<string, OpenHost>;
  readonly hub: HubLink;
  /** Names of the hosts that are away, in alphabetical order. */
  hostsAway(): string[];
  /** Copies of what hosts have, by host id. */
  readonly copies: Map<string, HostCopy>;
  /** The last events of hosts. */
  readonly received: ReceivedEvents;
  /** Tells whether people were told by another manager of a swarm. */
  readonly isRepeated: IsRepeated;
  /** The last report of each host about new images, by host id. */
  readonly reports: Map<string, KnownReport>;
  /** When hosts may send the next event, by host id, in milliseconds of a monotonic clock. */
  readonly paces: Map<string, number>;
  /** Milliseconds of a monotonic clock, which measures the silence of links; tests set another. */
  steadyMs: () => number;
  /** When the last event about a duplicate was emitted, by host id, in Unix milliseconds. */
  readonly duplicates: Map<string, number>;
  /** Reads what was stored, after this or another process has changed it. */
  refresh(): void;
  /** Resolves after the next `refresh()` that finds a difference, or when `signal` aborts. */
  changed(signal: AbortSignal): Promise<void>;
  /** Calls `listener` once, as soon as others may dial this installation. */
  onDialled(listener: () => void): void;
}

export function createFleet(db: StateDatabase): Fleet {
  const hosts = new Map<string, OpenHost>();
  const hub: HubLink = {
    link: undefined,
    address: undefined,
    nextTryAt: undefined,
    questions: createQuestions(),
    accept: undefined,
  };
  const listeners: (() => void)[] = [];
  let change = Promise.withResolvers<void>();
  let stored = read();

  function read() {
    return {
      isHub: countFleetHosts(db) > 0 || countFleetInvites(db) > 0,
      membership: selectMembership(db),
      listening: selectListening(db),
      dialled: selectDialledFleetHosts(db).map(({ id, dialAddress }) => ({
        id,
        address: dialAddress!,
      })),
      waiting: countWaitingFleetBoxes(db),
    };
  }

  const isListening = ({ membership, listening } = stored) =>
    membership ? membership.address === "" : listening !== undefined;

  function notifyDialled(): void {
    if (stored.isHub || isListening()) { for (const listener of listeners.splice(0)) listener(); }
  }

  return {
    hosts,
    hub,
    copies: new Map(),
    received: createReceivedEvents(),
    isRepeated: createRepeated((hostId) => hosts.has(hostId)),
    paces: new Map(),
    reports: new Map(),
    steadyMs: () => performance.now(),
    duplicates: new Map(),
    hostsAway() {
      return selectFleetHosts(db)
        .filter((host) => stateOf(host, hosts.get(host.id)?.link.silentMs).state === "away")
        .map(({ name }) => name);
    },
    get isHub() {
      return stored.isHub;
    },
    get membership() {
      return stored.membership;
    },
    get listening() {
      return stored.listening;
    },
    get isListening() {
      return isListening();
    },
    get dialled() {
      return stored.dialled;
    },
    link(hostId) {
      const host = hosts.get(hostId);
      return host?.isPending ? undefined : host?.link;
    },
    refresh() {
      const before = JSON.stringify(stored);
      stored = read();
      notifyDialled();
      // Anyone may cause this call, and what waits for a change dials the hub at once.
      if (JSON.stringify(stored) === before) return;
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
    onDialled(listener) {
      listeners.push(listener);
      notifyDialled();
    },
  };
}
