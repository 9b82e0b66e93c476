/** Requests that are left at this hub for hosts that are away. @module */

import { selectFleetHost, type StoredHost } from "../../../db/fleet_hosts.ts";
import {
  deleteFleetPending,
  insertFleetPending,
  type PendingState,
  selectAllFleetPending,
  selectFleetPending,
  selectOpenFleetPending,
  type StoredPending,
  updateOpenFleetPending,
} from "../../../db/fleet_pending.ts";
import { selectUser } from "../../../db/users.ts";
import type { Caller, UserRole } from "../../access/caller.ts";
import { scopeAtHost } from "../../access/host_scope.ts";
import { includesStack, isLimited } from "../../access/scope.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound, requireFound, tooMany } from "../../errors.ts";
import { parseDuration } from "../../updates/duration.ts";
import { visibleRow } from "../copies/lists.ts";
import { type HostViewer, visibleHosts } from "../hosts/visible.ts";
import { BODY_BYTES_MAX } from "./box.ts";
import { assertMayLeave, type Base, baseOf, findWork, type Work } from "./work.ts";

export { PENDING_STATES } from "../../../db/fleet_pending.ts";

/** Resource whose changes clients follow. */
export const PENDING_RESOURCE = "/api/fleet/pending";

/** Limits of requests without an end, of which no user and no host takes all. */
const OPEN_MAX = 200;
const OPEN_OF_USER_MAX = 100;
const OPEN_OF_HOST_MAX = 50;

/** Longest time that a request may wait, in minutes: 30 days. */
const WAIT_MAX_MINUTES = 30 * 24 * 60;

/** A request as the API returns it. Times are ISO 8601, UTC. */
export interface PendingView {
  id: string;
  hostId: string;
  /** Name of the host. */
  host: string;
  /** Name of the user who left it. */
  user: string;
  /** Method and path at the host. */
  request: string;
  state: PendingState;
  jobId: string | null;
  /** Why it was refused or has failed. */
  error: string | null;
  createdAt: string;
  expiresAt: string;
  exportedAt: string | null;
  endedAt: string | null;
}

type PendingDeps = Pick<Deps, "changes" | "db" | "fleet" | "now" | "secrets">;

/** A request for a host. */
export interface LeftRequest {
  method: string;
  /** Path and query at the host. */
  path: string;
  body: string;
  caller: Caller;
  /** How long it waits, e.g. `12h`. */
  wait: string;
}

/**
 * Stores a request for a host that is away.
 *
 * @throws {AppError} `invalid` for one that cannot be left; `forbidden`; `not_found`; `conflict` if it
 * is left already, or this hub does not know what the host had.
 */
export function leaveForHost(deps: PendingDeps, hostId: string, request: LeftRequest): PendingView {
  const { changes, db, now, secrets } = deps;
  const host = requireFound(selectFleetHost(db, hostId), "Host", hostId);
  assertOfFleet(host);
  const { method, path, body, caller } = request;
  const minutes = parseDuration(request.wait, {
    ...{ field: "query.later", unit: "m", min: 1, max: WAIT_MAX_MINUTES },
  });
  const work = findWork(method, path, body);
  assertMayLeave(caller, work);
  if (new TextEncoder().encode(body).length > BODY_BYTES_MAX) {
    throw new AppError("too_large", `body: is limited to ${BODY_BYTES_MAX} bytes for a later time`);
  }
  const base = readBase(deps, host, work, caller);
  const open = selectOpenFleetPending(db);
  assertRoom(open, host, caller);
  assertNotLeft(open, hostId, request);
  const at = now();
  const id = crypto.randomUUID();
  const pending: StoredPending = {
    ...{ id, hostId, path, base },
    method: method as StoredPending["method"],
    userId: caller.userId,
    userName: nameOf(deps, caller),
    apiToken: caller.apiToken ?? null,
    // Only users have roles that may leave something.
    role: caller.role as UserRole,
    body: secrets.seal(body, sealPurpose(id)),
    state: "pending",
    jobId: null,
    error: null,
    createdAt: at.toISOString(),
    expiresAt: new Date(at.getTime() + minutes * 60_000).toISOString(),
    exportedAt: null,
    endedAt: null,
  };
  insertFleetPending(db, pending);
  changes.record(PENDING_RESOURCE);
  return toView(host, pending);
}

/** Requests for hosts that the caller sees, the oldest first; those that have ended for a week. */
export function listPending({ db }: Pick<Deps, "db">, viewer: HostViewer): PendingView[] {
  const hosts = new Map(visibleHosts({ db }, viewer).map((host) => [host.id, host]));
  return selectAllFleetPending(db).flatMap((each) => {
    const host = hosts.get(each.hostId);
    return host ? toView(host, each) : [];
  });
}

/** Forgets a request. The host continues what it has begun. @throws {AppError} `not_found`. */
export function removePending({ db, changes }: Pick<Deps, "db" | "changes">, id: string): string {
  const { hostId } = requireFound(selectFleetPending(db, id), "Request", id);
  deleteFleetPending(db, id);
  changes.record(PENDING_RESOURCE);
  return selectFleetHost(db, hostId)!.name;
}

/** Stores the end of a request. */
export function endPending(
  { changes, db, now }: Pick<Deps, "changes" | "db" | "now">,
  id: string,
  result: Pick<StoredPending, "state"> & Partial<Pick<StoredPending, "error" | "jobId">>,
): void {
  updateOpenFleetPending(db, id, { ...result, body: null, endedAt: now().toISOString() });
  changes.record(PENDING_RESOURCE);
}

export const sealPurpose = (id: string) => `fleet pending ${id}`;

function assertOfFleet({ name, isPending, leftAt }: StoredHost): void {
  if (leftAt !== null) throw new AppError("conflict", `Host ${name} has left the fleet`);
  if (isPending) throw new AppError("conflict", `Accept host ${name} first`);
}

/** Containers as the caller could see them; `null` without a copy, where the request says it itself. */
function readBase(deps: PendingDeps, host: StoredHost, work: Work, caller: Caller): Base | null {
  const copy = deps.fleet.copies.get(host.id);
  const scope = scopeAtHost(caller);
  const rows = [...copy?.asOf.containers ? copy.lists.containers.values() : []];
  const visible = rows.filter((row) => visibleRow(scope, "containers", row));
  if (work.type === "stack" && !includesStack(scope, work.name)) {
    throw notFound("Stack", work.name);
  }
  if (copy?.asOf.containers) {
    return requireFound(baseOf(work, visible), "Container", work.name);
  }
  if (work.hasVersion && !isLimited(scope)) return null;
  throw new AppError(
    "conflict",
    `This server does not know what host ${host.name} had; a deploy with expectedVersion can be left`,
  );
}

function assertRoom(
  open: readonly StoredPending[],
  { id, name }: StoredHost,
  { userId }: Caller,
): void {
  if (open.length >= OPEN_MAX) throw tooMany("requests for hosts that are away", OPEN_MAX);
  if (open.filter((each) => each.userId === userId).length >= OPEN_OF_USER_MAX) {
    throw tooMany("requests of one user for hosts that are away", OPEN_OF_USER_MAX);
  }
  if (open.filter((each) => each.hostId === id).length >= OPEN_OF_HOST_MAX) {
    throw tooMany(`requests for host ${name}`, OPEN_OF_HOST_MAX);
  }
}

/** The same request twice would be refused by the host, because the first one changes its base. */
function assertNotLeft(
  open: readonly StoredPending[],
  hostId: string,
  { method, path }: LeftRequest,
): void {
  const same = open.find((each) =>
    each.hostId === hostId && each.method === method && each.path === path &&
    path !== "/api/stacks"
  );
  if (same) {
    throw new AppError("conflict", `The host has this request already; delete ${same.id} first`);
  }
}

function nameOf({ db }: PendingDeps, { userId, apiToken }: Caller): string {
  const owner = selectUser(db, userId)?.email ?? "API key";
  return apiToken ? `${owner} (${apiToken.name})` : owner;
}

function toView({ name }: StoredHost, { method, path, ...stored }: StoredPending): PendingView {
  const { id, hostId, state, jobId, error, createdAt, expiresAt, exportedAt, endedAt } = stored;
  return {
    ...{ id, hostId, host: name, user: stored.userName, request: `${method} ${path}` },
    ...{ state, jobId, error, createdAt, expiresAt, exportedAt, endedAt },
  };
}
