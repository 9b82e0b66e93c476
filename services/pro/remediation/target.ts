/** The target container of a remediation rule. @module */

import type { RemediationRule } from "../../../db/pro/remediation_rules.ts";
import type { Container, Inventory } from "../../containers/inventory.ts";

/** A short or full ID; a shorter prefix could later match another container. */
const SHORT_ID = /^[0-9a-f]{12,64}$/;

/**
 * Finds the target of a rule by the given ID or name, or else by the container's last known name,
 * which a recreated container keeps.
 */
export function findTarget(
  inventory: Inventory,
  { action_target: ref, target_name }: Pick<RemediationRule, "action_target" | "target_name">,
): Container | undefined {
  const named = (name: string) => inventory.list().find((container) => container.name === name);
  const exact = inventory.get(ref) ?? named(ref);
  if (exact) return exact;
  const [first, second] = SHORT_ID.test(ref)
    ? inventory.list().filter(({ id }) => id.startsWith(ref))
    : [];
  if (first && !second) return first;
  return target_name === null ? undefined : named(target_name);
}

/**
 * The name that finds the target after it was recreated. It follows a rename of a container that was
 * given by its ID, except the temporary name during a rebuild.
 */
export function lastKnownName(
  { action_target: ref, target_name }: Pick<RemediationRule, "action_target" | "target_name">,
  target: Container | undefined,
): string | null {
  if (!target || target.name !== target.originalName) return target_name;
  const isGivenById = target.name !== ref && target.id.startsWith(ref);
  return isGivenById ? target.name : target_name ?? target.name;
}
