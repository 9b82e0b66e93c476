/**
 * Reserving a container with everything that an action on it affects.
 *
 * @module
 */

import type { Deps } from "../../deps.ts";
import type { Container } from "../../state/inventory.ts";
import type { Activity, Identity, Operation, Reservation } from "../../state/reservations.ts";
import { readMark } from "../rebuild/marks.ts";
import { shareGroup } from "./share_group.ts";

/**
 * Reserves a container and all that share namespaces with it until the result is disposed of.
 *
 * @throws {AppError} `conflict` naming the action under way.
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

/** During a rebuild both containers have names of their own; they count as the one they stand for. */
export function identityOf({ id, name }: Identity): Identity {
  return { id, name: readMark(name)?.name ?? name };
}
