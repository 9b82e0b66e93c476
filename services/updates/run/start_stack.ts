/** Starts updates of stacks. @module */

import type { Scope } from "../../access/scope.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { Container } from "../../containers/inventory.ts";
import { currentContainers } from "../../containers/reads.ts";
import { assertDependentsInScope, dependsOn } from "../../containers/share_group.ts";
import { affectedBy, identityOf } from "../../containers/reserve.ts";
import { dataChoice, groupOf, prepareUndo, type UndoGroup, updatedOf } from "../data/plan.ts";
import type { DataChoice } from "../labels.ts";
import { startJob } from "../../jobs/runner.ts";
import type { JobView } from "../../jobs/view.ts";
import type { PullPolicy } from "../../images/pull_policy.ts";
import { startOrder } from "../../containers/order.ts";
import type { Stack } from "../../stacks/groups.ts";
import { findStack } from "../../stacks/stacks.ts";
import type { StackUpdateInput } from "./job.ts";
import { rehearsalChoice, type RehearsalRequest } from "../rehearsal/choice.ts";
import { rehearsalObstacles } from "../rehearsal/preview.ts";
import { assertNoObstacle } from "./prepare.ts";
import { stackUpdateKind } from "./stack_kind.ts";
import type { Actor } from "./start.ts";
import { type Survey, surveyUpdate } from "./survey.ts";

export interface StackUpdateRequest extends RehearsalRequest {
  name: string;
  /** Whether the first failure takes back what was updated before. */
  atomic: boolean;
  pull: PullPolicy;
  /** As with a container; for each of them. */
  stableSeconds?: number | undefined;
  verifyTimeoutSeconds?: number | undefined;
  force?: boolean | undefined;
  data?: DataChoice | undefined;
  /** Whether no person has requested it now. */
  isAutomatic?: boolean | undefined;
  actor: Actor;
}

/**
 * Starts the update of all containers of a compose project as one job, in the order in which they
 * depend on each other. The service's own container is left out.
 *
 * @throws {AppError} `not_found`; `forbidden` if containers outside of the actor's scope depend on
 * one of them; `conflict` while another action is in progress, and for a Swarm stack.
 */
export async function startStackUpdate(
  deps: Deps,
  {
    name,
    atomic,
    pull,
    stableSeconds,
    verifyTimeoutSeconds,
    force = false,
    data,
    isAutomatic,
    actor,
    ...request
  }: StackUpdateRequest,
): Promise<JobView> {
  const containers = await updatedContainers(deps, name, actor.scope);
  const all = await currentContainers(deps);
  const rehearsal = await rehearsalChoice(deps, request, containers);
  const undo = rehearsal === "only" ? {} : await undoOf(deps, containers, { data, force });
  const names = containers.map((each) => each.name);
  assertNoObstacle(await rehearsalObstacles(deps, rehearsal, names, actor.scope), false);
  return startJob(deps, stackUpdateKind, {
    target: name,
    input: {
      containers: names,
      affected: containers.flatMap((each) => [identityOf(each), ...affectedBy(each, all)]),
      atomic,
      pull,
      stableSeconds: stableSeconds ?? null,
      verifyTimeoutSeconds: verifyTimeoutSeconds ?? null,
      force,
      isAutomatic,
      ...undo,
      rehearsal,
    },
    caller: actor,
  }).job;
}

/**
 * The containers of a stack that an update replaces, in their order.
 *
 * @throws {AppError} As {@linkcode startStackUpdate}.
 */
export async function updatedContainers(
  deps: Deps,
  name: string,
  scope: Scope | undefined,
): Promise<Container[]> {
  const stack = await findStack(deps, name, undefined);
  if (stack.kind === "swarm") {
    throw new AppError("conflict", `Stack ${name} is managed by Swarm, which updates its services`);
  }
  const containers = inOrder(stack).filter(({ self }) => !self);
  if (containers.length === 0) {
    throw new AppError("conflict", `Stack ${name} has no containers that can be updated`);
  }
  const all = await currentContainers(deps);
  for (const each of containers) assertDependentsInScope(scope, each, all);
  return containers;
}

/**
 * Each container's data is kept for itself, when it is stopped.
 *
 * @throws {AppError} `conflict` with everything for which data could not be brought back.
 */
async function undoOf(
  deps: Deps,
  containers: readonly Container[],
  { data, force }: { data: DataChoice | undefined; force: boolean },
): Promise<Pick<StackUpdateInput, "targetId" | "place" | "undone">> {
  if (data === "keep") return {};
  const groups = undoneGroups(deps, await surveyAll(deps, containers), data);
  const undo = await prepareUndo(deps, [...groups.values()], { force });
  if (!undo) return {};
  const undone = [...groups].filter(([, { volumes }]) => volumes.length > 0);
  return { ...undo, undone: undone.map(([name]) => name) };
}

export const surveyAll = async (
  deps: Deps,
  containers: readonly Container[],
): Promise<Survey[]> => {
  const surveys: Survey[] = [];
  for (const { id } of containers) surveys.push(await surveyUpdate(deps, id));
  return surveys;
};

/** Data of each container that returns if it fails, by its name. */
export function undoneGroups(
  deps: Deps,
  surveys: readonly Survey[],
  data: DataChoice | undefined,
): Map<string, UndoGroup> {
  const undone = surveys.filter((survey) => dataChoice(deps, survey, data) === "undo");
  return new Map(
    undone.map((survey) => [survey.container.name, groupOf(updatedOf(deps, survey))]),
  );
}

/** Containers behind those that they depend on: by `depends_on`, shared namespaces and links. */
function inOrder({ services }: Stack): Container[] {
  const members = services.flatMap(({ name, containers, dependencies }) =>
    containers.map((container) => ({ service: name, container, dependencies }))
  );
  const byName = new Map(members.map((member) => [member.container.name, member.container]));
  const levels = startOrder(
    new Map(members.map(({ container, dependencies }) => [
      container.name,
      members.filter((other) =>
        dependencies.some(({ service }) => service === other.service) ||
        (other.container.id !== container.id && dependsOn(container, other.container))
      ).map((other) => other.container.name),
    ])),
  );
  return levels.flat().map((name) => byName.get(name)!);
}
