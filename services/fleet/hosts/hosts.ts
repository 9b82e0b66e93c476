/** The hosts of the fleet of this hub, as the API returns them. @module */

import { selectDataVersion } from "../../../db/data_version.ts";
import {
  deleteFleetHost,
  selectFleetHost,
  selectFleetHostByKey,
  selectFleetHosts,
  type StoredHost,
  updateFleetHost,
} from "../../../db/fleet_hosts.ts";
import { selectFleetInvite, updateFleetInvite, useFleetInvite } from "../../../db/fleet_invites.ts";
import { addressGroup } from "../../access/address_group.ts";
import { matchesAny } from "../../access/scope.ts";
import type { Deps } from "../../deps.ts";
import { AppError, requireFound } from "../../errors.ts";
import { emit, type EmitDeps } from "../../events/emit.ts";
import { fingerprintOf, toBytes } from "../enrolment/keys.ts";
import type { HostFigures } from "../copies/rows.ts";
import type { Control } from "../link/control.ts";
import { offerBlocks } from "../waves/hub_link.ts";
import { assertNameFree, makeHost, storeHost } from "./room.ts";
import { heardAt, type HostState, stateOf } from "./state.ts";
import { type HostViewer, requireVisibleHost, visibleHosts } from "./visible.ts";

/** Resource whose changes clients follow. */
export const HOSTS_RESOURCE = "/api/fleet/hosts";

/** A host as the API returns it. Times are ISO 8601, UTC. */
export interface HostView {
  id: string;
  name: string;
  labels: Record<string, string>;
  state: HostState;
  /** Since when it is away or has left. */
  since: string | null;
  machine: string;
  version: string;
  /** Version of its engine, and what it allows users of this hub at most; `null` if not known. */
  engine: string | null;
  allows: HostFigures["allows"];
  address: string;
  /** SHA-256 of its key, base64url. */
  fingerprint: string;
  /** Round trip and difference of its clock, in milliseconds; `null` without a link. */
  latencyMs: number | null;
  skewMs: number | null;
  joinedAt: string;
  lastSeenAt: string | null;
}

type HostDeps = Pick<Deps, "db" | "fleet" | "now">;

/** The hosts that the caller sees, by name. */
export function listHosts(deps: HostDeps, caller: HostViewer): Promise<HostView[]> {
  return Promise.all(visibleHosts(deps, caller).map((host) => toView(deps, host)));
}

/**
 * Tells whether the last connection of a host was from an address of a group. Anyone may cause the
 * question, so that the addresses are read once in a second.
 */
export function createKnownAddresses({ db, now }: Pick<Deps, "db" | "now">) {
  let second: number | undefined;
  let groups = new Set<string>();
  return (group: string): boolean => {
    const current = Math.floor(now().getTime() / 1_000);
    if (current !== second) {
      groups = new Set(selectFleetHosts(db).map(({ address }) => addressGroup(address)));
    }
    second = current;
    return groups.has(group);
  };
}

/**
 * @param ref Id or name.
 * @throws {AppError} `not_found`.
 */
export function getHost(deps: HostDeps, caller: HostViewer, ref: string): Promise<HostView> {
  return toView(deps, requireVisibleHost(deps, caller, ref));
}

/**
 * Renames a host or replaces its labels.
 *
 * @throws {AppError} `not_found`; `conflict` for a name in use, also by this server.
 */
export function changeHost(
  deps: HostDeps & Pick<Deps, "changes" | "config">,
  id: string,
  { name, labels }: { name?: string | undefined; labels?: Record<string, string> | undefined },
): Promise<HostView> {
  const host = requireHost(deps, id);
  if (name !== undefined) assertNameFree(deps, name, id);
  const changes = { name: name ?? host.name, labels: labels ?? host.labels };
  updateFleetHost(deps.db, id, changes);
  const open = deps.fleet.hosts.get(id);
  if (open && !open.isPending) open.link.tell({ type: "labels", ...changes });
  deps.changes.record(HOSTS_RESOURCE);
  return toView(deps, { ...host, ...changes });
}

/**
 * Accepts a host that waits, or the machine that connects next after two had the same key.
 *
 * @throws {AppError} `not_found`; `conflict` for a host that has left.
 */
export function acceptHost(
  deps: HostDeps & Pick<Deps, "changes" | "log">,
  id: string,
): Promise<HostView> {
  const host = requireHost(deps, id);
  if (host.leftAt !== null) {
    throw new AppError("conflict", `Host ${host.name} has left the fleet; invite it again`);
  }
  // Of a host that waits, the last challenge tells its copies apart.
  updateFleetHost(deps.db, id, { isPending: false, ...(!host.isPending && { challenge: 0 }) });
  applyToLinks(deps);
  deps.changes.record(HOSTS_RESOURCE);
  return toView(deps, { ...host, isPending: false });
}

/**
 * Removes a host from the fleet. It is told so if its link is open. Hosts that join with its invite
 * from now on wait for an admin, because the removed one still has it.
 *
 * @throws {AppError} `not_found`.
 */
export function removeHost(deps: HostDeps & Pick<Deps, "changes" | "log">, id: string): void {
  const { inviteId } = requireHost(deps, id);
  deleteFleetHost(deps.db, id);
  if (inviteId !== null) updateFleetInvite(deps.db, inviteId, { acceptsAtOnce: false });
  applyToLinks(deps);
  deps.changes.record(HOSTS_RESOURCE);
}

/** Tells open links what was stored about their hosts, also by another process. */
export function applyToLinks(deps: Pick<Deps, "db" | "fleet" | "changes" | "log">): void {
  const { db, fleet, changes } = deps;
  fleet.refresh();
  for (const [id, open] of fleet.hosts) {
    const host = selectFleetHost(db, id);
    if (!host) {
      const reason = "The host was removed";
      open.link.part({ type: "refused", reason, isFinal: true }, reason);
      changes.record(HOSTS_RESOURCE);
    } else if (open.isPending && !host.isPending) {
      open.isPending = false;
      open.link.tell({ type: "accepted" });
      offerBlocks(deps, open);
      open.link.tell({ type: "labels", labels: host.labels, name: host.name });
      changes.record(HOSTS_RESOURCE);
    }
  }
}

/**
 * Applies what a command beside this process has changed. Without a change, which anyone may ask for, it
 * costs nothing.
 */
export function applyChangesOfOthers(deps: Parameters<typeof applyToLinks>[0]): () => void {
  let applied: number | undefined;
  return () => {
    const stored = selectDataVersion(deps.db);
    if (stored !== applied) applyToLinks(deps);
    applied = stored;
  };
}

/**
 * Stores the host that has proved an invite. The same machine may repeat it, because the answer may
 * have been lost.
 *
 * @param linkKey Base64url, as `hubKey`: the key of this hub that the host knows.
 * @throws {AppError} With the reason, for the member.
 */
export function enrolHost(
  deps: EmitDeps & HostDeps & Pick<Deps, "changes" | "config">,
  { inviteId, linkKey, hubKey, address, memberId, ...given }: {
    inviteId: string;
    linkKey: string;
    hubKey: string;
    address: string;
  } & Pick<Control<"enrol">, "name" | "version" | "machine" | "noteKey" | "memberId">,
): StoredHost {
  const { db, now } = deps;
  const at = now().toISOString();
  const known = selectFleetHostByKey(db, linkKey);
  const isKnown = known?.leftAt === null;
  if (isKnown && (known.inviteId === inviteId || known.id === memberId)) return known;
  if (memberId !== undefined) {
    throw new AppError(
      "forbidden",
      "It was removed there, or the hub was restored from a backup of before it joined",
    );
  }
  const invite = selectFleetInvite(db, inviteId);
  const name = invite?.name ?? given.name;
  if (invite?.pattern && !matchesAny([invite.pattern], name)) {
    throw new AppError("invalid", `The invite is for names like ${invite.pattern}; use --name`);
  }
  const host = makeHost(deps, known, {
    name,
    labels: invite?.labels ?? {},
    linkKey,
    noteKey: given.noteKey,
    machine: given.machine,
    version: given.version,
    address,
    inviteId,
    isPending: !invite?.acceptsAtOnce,
  });
  const data = {
    host: name,
    hostId: host.id,
    address,
    machine: given.machine,
    isPending: host.isPending,
  };
  emit(deps, "host.joined", data, () => {
    if (!useFleetInvite(db, inviteId, at)) {
      throw new AppError("forbidden", "The invite was used or has expired");
    }
    storeHost(deps, known, host, hubKey);
  });
  deps.changes.record(HOSTS_RESOURCE);
  return host;
}

function requireHost({ db }: Pick<Deps, "db">, id: string): StoredHost {
  return requireFound(selectFleetHost(db, id), "Host", id);
}

async function toView(deps: HostDeps, host: StoredHost): Promise<HostView> {
  const { fleet } = deps;
  const link = fleet.hosts.get(host.id)?.link;
  const clock = link?.clock;
  const { id, name, labels, machine, version, address, joinedAt, lastSeenAt } = host;
  const figures = fleet.copies.get(id)?.host;
  return {
    id,
    name,
    labels,
    ...stateOf(host, link?.silentMs),
    machine,
    version,
    engine: figures?.engine ?? null,
    allows: figures?.allows ?? null,
    address,
    fingerprint: await fingerprintOf(toBytes(host.linkKey)),
    latencyMs: clock ? Math.round(clock.roundTrip) : null,
    skewMs: clock ? Math.round(clock.offset) : null,
    joinedAt,
    lastSeenAt: link ? heardAt(deps, link) : lastSeenAt,
  };
}
