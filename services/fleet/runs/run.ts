/** Shapes of runs: the same action on several hosts, as one job. @module */

import type { UserRole } from "../../access/caller.ts";
import type { PruneKind } from "../../images/prune.ts";
import type { JobRun } from "../../jobs/kind.ts";

/** Least role and permission of each action, at this hub and at the hosts. */
export const RUN_ACTIONS = {
  "prune": { role: "admin", permission: "system:prune" },
  "update-check": { role: "operator", permission: "containers:update" },
  "update": { role: "operator", permission: "stacks:update" },
  "deploy": { role: "admin", permission: "stacks:write" },
} as const;

export type RunAction = keyof typeof RUN_ACTIONS;

/** A host of a run, as it was named at its start. */
export interface RunHost {
  id: string;
  name: string;
  /** Permissions that custom roles gave the user at this host. */
  permissions: readonly string[];
}

/** Stored with the job. */
export interface RunInput {
  action: RunAction;
  /** The body of the request to a host: options of a prune or an update. */
  options: Record<string, unknown>;
  /** The stack of an update or a deploy. */
  stack: string | null;
  /** Version of this hub's sources that a deploy sends. */
  version: number | null;
  hosts: readonly RunHost[];
  /** Role of the user at the start, which later changes do not widen. */
  role: UserRole;
}

/**
 * - `refused`: the host or the rights of the user do not allow it
 * - `away`: the host could not be reached, and nothing was begun, or its job goes on there
 */
export const HOST_OUTCOMES = ["done", "failed", "refused", "away", "cancelled"] as const;

/** The outcome at a host. */
export interface HostOutcome {
  state: (typeof HOST_OUTCOMES)[number];
  /** First line of the error; `null` if it is done. */
  reason: string | null;
  /** Id of the job at the host; `null` if it started none. */
  jobId: string | null;
  /** Of a prune that was done, also if it failed in part: what was removed and freed. */
  pruned?: Record<PruneKind, number> & { freedBytes: number };
}

/** The result of a run. */
export interface RunResult {
  action: RunAction;
  /** The stack of an update or a deploy. */
  stack: string | null;
  hosts: (HostOutcome & { id: string; name: string })[];
}

export type FleetRun = JobRun<RunInput>;
