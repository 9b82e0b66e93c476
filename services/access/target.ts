/** Targets of rules and windows: the host, or some containers. @module */

import type { Target } from "../../db/target.ts";
import { matchesAny, type ScopedContainer, stackOf } from "./scope.ts";

export type { Target };

/** Whether a target has a container. The host has none of its own. */
export function targetHas(target: Target, container: ScopedContainer): boolean {
  if (target.kind === "host") return false;
  const { containers, stacks, labels = {} } = target;
  const stack = stackOf(container);
  return (containers === undefined || matchesAny(containers, container.name)) &&
    (stacks === undefined || (stack !== null && matchesAny(stacks, stack))) &&
    Object.entries(labels).every(([name, value]) =>
      Object.hasOwn(container.labels, name) && matchesAny([value], container.labels[name]!)
    );
}
