/** Reserves a container together with all containers that an action on it affects. @module */

import type { Deps } from "../deps.ts";
import type { Container } from "./inventory.ts";
import type { Activity, Identity, Operation, Reservation } from "./reservations.ts";
import { dependentsOf, shareGroup } from "./share_group.ts";

/**
 * Reserves a container and all that share namespaces with it until the result is disposed.
 *
 * @throws {AppError} `conflict` with the action in progress.
 */
export function reserveContainer(
  { inventory, reservations }: Pick<Deps, "inventory" | "reservations">,
  container: Container,
  activity: Activity,
  operation?: Operation,
): Reservation {
  return reservations.reserve(identityOf(container), activity, {
    affected: shareGroup(container, inventory.list()).map(identityOf),
    operation,
  });
}

/** Containers that a replacement replaces besides this one, and those that must run for it. */
export function affectedBy(container: Container, all: readonly Container[]): Identity[] {
  const dependents = dependentsOf(container, all);
  return [...dependents, ...[container, ...dependents].flatMap((each) => shareGroup(each, all))]
    .map(identityOf);
}

/** During a replacement the two containers have temporary names; both count as the original one. */
export const identityOf = (
  { id, originalName }: Pick<Container, "id" | "originalName">,
): Identity => ({ id, name: originalName });
