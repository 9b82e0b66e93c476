/** Events on their way between a member and its hub: both are real applications, and may lose messages. @module */

import { newWaveLink } from "../../services/fleet/waves/exchange.ts";
import { insertFleetHost } from "../../db/fleet_hosts.ts";
import { replaceMembership } from "../../db/fleet_membership.ts";
import { createEventSender } from "../../services/fleet/events/send.ts";
import { createIntake } from "../../services/fleet/events/take.ts";
import type { Control } from "../../services/fleet/link/control.ts";
import type { OpenLink } from "../../services/fleet/link/open_link.ts";
import type { TestApp } from "./test_app.ts";

const AT = "2026-01-01T00:00:00.000Z";

/** Adds an accepted host to a hub. */
export function addHost({ deps }: TestApp, name: string, labels: Record<string, string> = {}) {
  const id = crypto.randomUUID();
  insertFleetHost(deps.db, {
    ...{ id, name, labels, linkKey: id, noteKey: id, machine: "test", version: "1" },
    ...{
      address: "192.0.2.7",
      inviteId: null,
      dialAddress: null,
      isPending: false,
      challenge: 0,
      joinedAt: AT,
    },
    ...{ lastSeenAt: AT, isConnected: true, isReportedAway: false, leftAt: null },
  });
  deps.fleet.refresh();
  return id;
}

/** Makes an application a member of a hub that takes events. */
export function makeMember({ deps }: TestApp, hostId: string): void {
  replaceMembership(deps.db, {
    ...{ address: "https://hub.example.com", hubKey: "key", hubNoteKey: "key", hubName: "hub" },
    ...{ hostId, name: "edge-7", isPending: false, challenge: null, challengeProof: null },
    ...{ joinedAt: AT, hubTakesEvents: true, labels: {}, asksHub: false },
  });
  deps.fleet.refresh();
}

/** A link on which the hub takes events until it is disposed, as when either end is killed. */
export interface EventLink extends AsyncDisposable {
  /** Messages that the hub has sent. */
  taken: Control<"taken">[];
  /** Why the hub has closed the link. */
  closed: string | undefined;
}

/** @param losesTaken Whether acknowledgements get lost: the hub was killed after its commit. */
export function linkEvents(
  { hub, member, hostId }: { hub: TestApp; member: TestApp; hostId: string },
  { losesTaken = false } = {},
): EventLink {
  const end = new AbortController();
  const closing = Promise.withResolvers<string>();
  const state: Pick<EventLink, "taken" | "closed"> = { taken: [], closed: undefined };
  const hubLink = {
    closed: closing.promise,
    close(reason: string) {
      state.closed = reason;
      closing.resolve(reason);
    },
    tell(message: Control) {
      state.taken.push(message as Control<"taken">);
      if (!losesTaken) sender.onTaken(message as Control<"taken">);
    },
  } as OpenLink;
  hub.deps.fleet.hosts.set(hostId, {
    ...{ link: hubLink, address: "192.0.2.7", isPending: false, waves: newWaveLink() },
  });
  const intake = createIntake(hub.deps, hostId, hubLink);
  const memberLink = { tell: (message: Control) => intake(message as Control<"events">) };
  member.deps.fleet.hub.link = memberLink as OpenLink;
  const sender = createEventSender(member.deps, memberLink);
  const running = sender.run(end.signal);
  return Object.assign(state, {
    async [Symbol.asyncDispose]() {
      closing.resolve("killed");
      hub.deps.fleet.hosts.delete(hostId);
      member.deps.fleet.hub.link = undefined;
      end.abort();
      await running;
    },
  });
}
