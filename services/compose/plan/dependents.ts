/**
 * Containers that a deploy affects although they are not its own: those that share a namespace of
 * containers that it replaces or removes, or are linked to them. Pure.
 *
 * @module
 */

import type { ContainerInspect } from "../../../engine/containers.ts";
import type { Container } from "../../containers/inventory.ts";
import { dependentsOfAny } from "../../containers/share_group.ts";
import type { Project } from "../load/resolve.ts";
import { replicasOf } from "./replicas.ts";

export interface Dependents {
  /** Those that are recreated behind the containers that they depend on, in topological order. */
  recreated: Container[];
  /** Those that depend on a container that is removed, and stay as they are. */
  cutOff: Container[];
}

/**
 * @param changes Those of the plan of the project.
 * @param observed.all All containers of the engine.
 */
export function dependentsOfPlan(
  changes: readonly { kind: string; name: string; action: string }[],
  project: Project,
  { containers, all = [] }: {
    containers: readonly ContainerInspect[];
    all?: readonly Container[];
  },
): Dependents {
  const replaced = new Set<string>();
  const removed = new Set<string>();
  for (const { kind, name, action } of changes) {
    if (kind !== "service" || action === "none") continue;
    const { kept, superfluous } = replicasOf(project, name, containers);
    if (action === "recreate") { for (const { Id } of kept) replaced.add(Id); }
    for (const { Id } of superfluous) removed.add(Id);
  }
  const outsideOf = (ids: ReadonlySet<string>) =>
    dependentsOfAny(all.filter(({ id }) => ids.has(id)), all)
      .filter(({ id }) => !replaced.has(id) && !removed.has(id));
  const cutOff = outsideOf(removed);
  return {
    recreated: outsideOf(replaced).filter((each) => !cutOff.includes(each)),
    cutOff,
  };
}

export const dependentWarnings = ({ recreated, cutOff }: Dependents): string[] => [
  ...recreated.map(({ name }) =>
    `${name} uses a namespace or a link of a container that is replaced, and is recreated with it`
  ),
  ...cutOffWarnings(cutOff),
];

export const cutOffWarnings = (cutOff: readonly Pick<Container, "name">[]): string[] =>
  cutOff.map(({ name }) =>
    `${name} uses a namespace or a link of a container that is removed, and loses it`
  );
