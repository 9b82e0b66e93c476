/** Starts runs on several hosts, and says beforehand where they will run. @module */

import { assertMayDo, type Caller, includesRole, type UserRole } from "../../access/caller.ts";
import { hasLabel } from "../../access/host_scope.ts";
import { includesStack, type ScopedHost } from "../../access/scope.ts";
import { randomText } from "../../builtins.ts";
import { findCurrent, openVersion, withoutSources } from "../../compose/versions.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { startJob } from "../../jobs/runner.ts";
import type { JobView } from "../../jobs/view.ts";
import { ROLE_MAX } from "../notes/caller.ts";
import { type HostState, stateOf } from "../hosts/state.ts";
import { requireVisibleHost, visibleHosts } from "../hosts/visible.ts";
import type { StoredHost } from "../../../db/fleet_hosts.ts";
import { fleetRunKind } from "./kind.ts";
import { RUN_ACTIONS, type RunAction, type RunInput } from "./run.ts";

/** Bytes of the random part of a target, which two unfinished runs must not share. */
const TARGET_BYTES = 6;

/** Hosts that were chosen, and what to do there. */
export interface RunRequest {
  action: RunAction;
  /** Ids or names; `undefined` with `labels`. */
  hosts?: readonly string[] | undefined;
  /** Labels, of which a host has one; `undefined` with `hosts`. */
  labels?: readonly string[] | undefined;
  /** The stack of an update or a deploy. */
  stack?: string | undefined;
  options: Record<string, unknown>;
}

/** A host of a planned run. */
export interface PlannedHost {
  id: string;
  name: string;
  state: HostState;
  /** Why nothing will be done there; `null` if it will be asked. */
  obstacle: string | null;
}

type StartDeps = Deps;

/** @throws {AppError} As {@linkcode startRun}. */
export function planRun(deps: StartDeps, caller: Caller, request: RunRequest): PlannedHost[] {
  assertAllowed(deps, caller, request);
  return chosenHosts(deps, caller, request).map((host) => {
    const { state } = stateOf(host, deps.fleet.hosts.get(host.id)?.link.silentMs);
    const isReachable = deps.passing.hub()?.link(host.id) !== undefined;
    const obstacle = isReachable ? rightsObstacle(deps, host, request) : state;
    return { id: host.id, name: host.name, state, obstacle };
  });
}

/** The setting of a host that is known to refuse the action to all users of this hub. */
function rightsObstacle(
  { fleet }: StartDeps,
  { id }: StoredHost,
  { action }: RunRequest,
): string | null {
  const allows = fleet.copies.get(id)?.host?.allows;
  const isAllowed = !allows || includesRole(ROLE_MAX[allows], RUN_ACTIONS[action].role);
  return isAllowed ? null : `FLEET_ALLOW=${allows}`;
}

/**
 * Starts a run as a job, whose result has an outcome for each host.
 *
 * @param grantedAt Permissions that custom roles give the caller at a host.
 * @throws {AppError} `not_found` for an unknown host, or a stack without sources here; `forbidden` for
 * an action that the caller may do on no host; `conflict` if no host has one of the labels, and for
 * sources that only this server can deploy.
 */
export function startRun(
  deps: StartDeps,
  caller: Caller,
  request: RunRequest,
  grantedAt: (host: ScopedHost) => readonly string[],
): JobView {
  assertAllowed(deps, caller, request);
  const { action, options, stack = null } = request;
  const hosts = chosenHosts(deps, caller, request);
  if (hosts.length === 0) throw new AppError("conflict", "No host has one of the labels");
  const input: RunInput = {
    action,
    options,
    stack,
    version: action === "deploy" ? findSources(deps, stack!) : null,
    hosts: hosts.map((host) => ({ id: host.id, name: host.name, permissions: grantedAt(host) })),
    role: caller.role as UserRole,
  };
  const target = `hosts ${randomText(TARGET_BYTES)}`;
  return startJob(deps, fleetRunKind, { target, input, caller }).job;
}

function assertAllowed(deps: StartDeps, caller: Caller, { action, stack }: RunRequest): void {
  const { role, permission } = RUN_ACTIONS[action];
  assertMayDo(caller, role, permission);
  if (action !== "deploy") return;
  // Its sources are this server's own.
  assertMayDo(caller, "operator", "stack_sources:read");
  if (!includesStack(caller.scope, stack!)) throw withoutSources(stack!);
  findSources(deps, stack!);
}

function chosenHosts(
  deps: StartDeps,
  caller: Caller,
  { hosts, labels = [] }: RunRequest,
): StoredHost[] {
  if (hosts) {
    const chosen = hosts.map((ref) => requireVisibleHost(deps, caller, ref));
    return [...new Map(chosen.map((host) => [host.id, host])).values()];
  }
  return visibleHosts(deps, caller).filter((host) =>
    host.leftAt === null && !host.isPending && labels.some((label) => hasLabel(host, label))
  );
}

/** The version of the sources that are sent. */
function findSources(deps: StartDeps, stack: string): number {
  const current = findCurrent(deps, stack);
  const { place, outside } = openVersion(deps, current).sources;
  if (place || outside) {
    throw new AppError(
      "conflict",
      `Stack ${stack} is on the disk of this server; store its sources`,
    );
  }
  return current.version;
}
