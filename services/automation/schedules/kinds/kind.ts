/** The interface of a kind of schedule: all that the service says, checks and does about it. @module */

import type { Schedule, ScheduleOptions } from "../../../../db/schedules.ts";
import type { Scope } from "../../../access/scope.ts";
import type { AuditActor } from "../../../access/audit/audit.ts";
import type { Container } from "../../../containers/inventory.ts";
import type { Deps } from "../../../deps.ts";
import type { StackDeps } from "../../../stacks/stacks.ts";

/** Settings that only some kinds have, in the order in which forms show them. */
export const FIELDS = [
  "containerId",
  "containerName",
  "stack",
  "volumes",
  "target",
  "mode",
  "includeSharedUsers",
  "keep",
  "prune",
  "maxUnusedPercent",
] as const;
export type Field = (typeof FIELDS)[number];

/** Parts of a schedule that say what it does. */
export type Plan = Pick<
  Schedule,
  "kind" | "action" | "containerId" | "containerName" | "stack" | "options"
>;

/** Something that the schedules of a kind do. */
export interface ScheduleAction {
  /** Stored as the action of schedules and runs. */
  id: string;
  /** E.g. `Restart`. */
  title: string;
  description: string;
  /** Required to enable such a schedule, besides that for schedules. */
  permission: `${string}:${string}`;
}

/** Why a run did not succeed. */
export interface Problem {
  status: "failure" | "skipped";
  error: string;
  /** Job that failed and whose events report it. */
  jobId?: string;
}

/** How a run ended: `undefined` if it succeeded; `unfinished` if its job continues after a restart. */
export type Outcome = Problem | "unfinished" | undefined;

/** A run as its kind sees it. */
export interface Run {
  /** Holder of the jobs that it starts. */
  actor: AuditActor;
  /** Stores the job that it has started. */
  begun(jobId: string): void;
  /** Stores the container that it acts on. */
  found(container: Pick<Container, "id" | "name">): void;
  /** Runs that use the same thing take turns. */
  inTurn<Result>(thing: string, work: () => Promise<Result>): Promise<Result>;
}

export interface CheckOptions {
  /** Whether the container, stack or volumes may be missing. */
  allowMissing: boolean;
  /** The schedule before a change. */
  before?: Plan | undefined;
}

export type CheckDeps = StackDeps & Pick<Deps, "now">;

export interface ScheduleKind {
  id: string;
  /** For choices, e.g. `Stack action`. */
  title: string;
  description: string;
  /** The first one is the default. */
  actions: readonly ScheduleAction[];
  /** Whether each of its fields is required. */
  fields: Readonly<Partial<Record<Field, "required" | "optional">>>;
  /** Permissions that the settings require besides that of the action. */
  permissions?(options: ScheduleOptions): ScheduleAction["permission"][];
  /** Whether only admins who log in may enable such a schedule, whatever permissions others have. */
  needsLogin?: true;
  /** @throws {AppError} `invalid`; `forbidden` for the service's own container. */
  check?(deps: CheckDeps, plan: Plan, options: CheckOptions): Promise<void> | void;
  /** The object that it acts on, in words. */
  subject(deps: Pick<Deps, "db">, plan: Plan): string;
  /** Whether the scope of an API token that is limited to stacks or containers includes it. */
  isInScope(
    deps: Pick<Deps, "inventory">,
    scope: Scope,
    plan: Pick<Plan, "containerId" | "containerName" | "stack">,
  ): boolean;
  /** Identifies its backup among the last ones: only a backup can be overdue. */
  backupSubject?(plan: Plan): string;
  /** Whether its runs do nothing but wait for jobs. */
  isJob?: true;
  /** @throws {AppError} If it failed, unless it returns how. */
  run(deps: Deps, schedule: Plan, run: Run): Promise<Outcome>;
}
