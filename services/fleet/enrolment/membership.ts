/** The membership of this host as people see it: its hub, the link to it, and what the hub may do. @module */

import { type EndedMembership, selectEndedMembership } from "../../../db/fleet_ended_membership.ts";
import { selectHubLinkState, upsertHubLinkState } from "../../../db/fleet_hub_link.ts";
import { selectFleetKey } from "../../../db/fleet_keys.ts";
import { selectMembership } from "../../../db/fleet_membership.ts";
import type { Config } from "../../config/config.ts";
import type { Deps } from "../../deps.ts";
import { type HostState, stateOf } from "../hosts/state.ts";
import { mayRunPrograms } from "../notes/caller.ts";
import { knownHubKeys } from "./hub_keys.ts";
import { fingerprintOf, type KeyDeps, toBytes } from "./keys.ts";

/** Resource whose changes clients follow. */
const MEMBERSHIP_RESOURCE = "/api/fleet/membership";

/** Times are ISO 8601, UTC; fingerprints are those of `longshore join`. */
export interface MembershipView {
  hub: string;
  hubFingerprint: string;
  /** Of the hub; where the hub dials, the address of its last connection, if it is known. */
  address: string | null;
  /** Side that opens the connection. */
  dials: "host" | "hub";
  /** Name of this host at the hub, and its labels there. */
  name: string;
  labels: Record<string, string>;
  fingerprint: string;
  /** Whether an admin of the hub has to accept this host first. */
  isPending: boolean;
  state: Extract<HostState, "connected" | "late" | "away" | "never">;
  /** Since when it is connected or away. */
  since: string | null;
  /** Why the last link has ended, or could not be opened. */
  reason: string | null;
  /** Since when the hub does not know this host: removed there, or the hub is from an older backup. */
  unknownSince: string | null;
  /** When this host dials next. */
  nextTryAt: string | null;
  /** Limit of the rights of the hub's users here, and whether its admins may run programs. */
  allows: Config["fleetAllow"];
  runsPrograms: boolean;
  joinedAt: string;
}

/** The fleet of this host, the waiting for one, or the end of the last one. */
export interface MembershipStateView {
  membership: MembershipView | null;
  /** Until when a hub may add this host with the token of `longshore join --listen`. */
  waitsUntil: string | null;
  /** The last membership, if the hub has ended it. */
  ended: EndedMembership | null;
}

type ViewDeps = KeyDeps & Pick<Deps, "config" | "fleet">;

/** @param silentMs Time since the last message of the open link; `undefined` without one. */
export async function viewMembershipState(
  deps: ViewDeps,
  silentMs: number | undefined = deps.fleet.hub.link?.silentMs,
): Promise<MembershipStateView> {
  const { db, fleet: { listening, membership }, now } = deps;
  const isWaiting = !membership && listening && listening.expiresAt > now().toISOString();
  return {
    membership: await viewMembership(deps, silentMs),
    waitsUntil: isWaiting ? listening.expiresAt : null,
    ended: selectEndedMembership(db) ?? null,
  };
}

async function viewMembership(
  deps: ViewDeps,
  silentMs: number | undefined,
): Promise<MembershipView | null> {
  const { config, db, fleet: { hub } } = deps;
  const membership = selectMembership(db);
  if (!membership) return null;
  const { hubName, address, name, labels, isPending, joinedAt } = membership;
  const link = selectHubLinkState(db);
  const { state } = stateOf({ isPending: false, leftAt: null, lastSeenAt: link.since }, silentMs);
  const [hubKey] = knownHubKeys(deps, membership);
  return {
    hub: hubName,
    hubFingerprint: await fingerprintOf(toBytes(hubKey!)),
    address: address || hub.address || null,
    dials: address === "" ? "hub" : "host",
    ...{ name, labels, isPending },
    fingerprint: await fingerprintOf(toBytes(selectFleetKey(db, "link")!.publicKey)),
    state: state as MembershipView["state"],
    // A silent link, or one that a killed process has left open, is away since an unknown time.
    since: link.isOpen && state === "away" ? null : link.since,
    reason: link.reason,
    unknownSince: link.unknownSince,
    nextTryAt: hub.nextTryAt ?? null,
    allows: config.fleetAllow,
    runsPrograms: mayRunPrograms(config),
    joinedAt,
  };
}

type RecordDeps = Pick<Deps, "changes" | "db" | "fleet" | "now">;

/** Lets clients read the membership again. */
export const reportMembership = ({ changes }: Pick<Deps, "changes">): void =>
  changes.record(MEMBERSHIP_RESOURCE);

/**
 * Stores whether the link is open, unless this host has left the hub meanwhile.
 *
 * @param state.reason Why the last one has ended, or could not be opened.
 * @param state.isUnknown Whether the hub has refused all keys of this host as unknown; without it, the hub
 * has not said it.
 */
export function recordHubLink(
  deps: RecordDeps,
  hostId: string,
  { reason, isUnknown }: { reason: string | null; isUnknown?: boolean },
): void {
  const { db, fleet, now } = deps;
  const isOpen = fleet.hub.link !== undefined;
  reportMembership(deps);
  if (selectMembership(db)?.hostId !== hostId) return;
  const before = selectHubLinkState(db);
  const at = now().toISOString();
  const since = isOpen === before.isOpen ? before.since : at;
  const unknownSince = isUnknown === false ? null : before.unknownSince ?? (isUnknown ? at : null);
  const state = { isOpen, since, reason, unknownSince };
  // While a hub is away for long, each attempt fails for the same reason.
  if (JSON.stringify(state) !== JSON.stringify(before)) upsertHubLinkState(db, state);
}

/** Corrects the state after a start: a process that was killed has left its link open. */
export function beginHubLink(deps: RecordDeps): void {
  const hostId = selectMembership(deps.db)?.hostId;
  if (hostId === undefined || !selectHubLinkState(deps.db).isOpen) return reportMembership(deps);
  recordHubLink(deps, hostId, { reason: "the service was started" });
}
