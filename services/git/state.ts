/**
 * The states of a stack that follows a repository, and what the automation does in each.
 *
 * - `waiting`: no commit has become a version yet.
 * - `refused`: the newest commit could not become a version.
 * - `orphaned`: the repository does not have the Compose file any more.
 * - `drift`: a person has changed the sources here.
 * - `rewritten`: a commit did not continue the history, and no person has deployed since.
 * - `failed`: the deploy of the newest version failed.
 * - `behind`: the newest version is not deployed.
 * - `current`: it is deployed.
 *
 * @module
 */

import type { GitStack } from "../../db/git_stacks.ts";

export const STACK_STATES = [
  "waiting",
  "refused",
  "orphaned",
  "drift",
  "rewritten",
  "failed",
  "behind",
  "current",
] as const;
export type StackState = (typeof STACK_STATES)[number];

/** @param current The current version of the stack's sources; `undefined` without sources. */
export function stateOf(row: GitStack, current: number | undefined): StackState {
  if (row.isOrphaned) return "orphaned";
  if (row.version !== null && current !== row.version) return "drift";
  if (row.problem !== null) return "refused";
  if (row.version === null) return "waiting";
  if (row.version === row.deployedVersion) return "current";
  if (row.isRewritten) return "rewritten";
  return row.version === row.failedVersion ? "failed" : "behind";
}

/** Facts about a stack at the moment. */
export interface Circumstances {
  state: StackState;
  /** Whether a window for changes is open. */
  isOpen: boolean;
  /** Whether a job of the stack has not ended, or the service is paused for maintenance. */
  isBusy: boolean;
}

/** The next step of the automation. */
export function nextStep(
  { deploy, version, plannedVersion }: Pick<GitStack, "deploy" | "version" | "plannedVersion">,
  { state, isOpen, isBusy }: Circumstances,
): "deploy" | "plan" | "none" {
  if (state !== "behind" || isBusy) return "none";
  if (deploy === "plan") return version === plannedVersion ? "none" : "plan";
  return deploy === "auto" && isOpen ? "deploy" : "none";
}
