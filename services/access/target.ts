/** Targets of rules and windows: the host, or some containers. @module */

import type { StacksTarget, Target } from "../../db/target.ts";
import { matchesAny, type ScopedContainer, stackOf } from "./scope.ts";

export type { Target };

/** Whether a target has a container. The host and stacks as a whole have none of their own. */
export function targetHas(target: Target | StacksTarget, container: ScopedContainer): boolean {
  if (target.kind !== "containers") return false;
  const { containers, stacks, labels = {} } = target;
  const stack = stackOf(container);
  return (containers === undefined || matchesAny(containers, container.name)) &&
    (stacks === undefined || (stack !== null && matchesAny(stacks, stack))) &&
    Object.entries(labels).every(([name, value]) =>
      Object.hasOwn(container.labels, name) && matchesAny([value], container.labels[name]!)
    );
}

/** Whether a target has a stack as a whole. */
export const targetHasStack = (target: Target | StacksTarget, stack: string): boolean =>
  target.kind === "stacks" && (target.stacks === undefined || matchesAny(target.stacks, stack));
