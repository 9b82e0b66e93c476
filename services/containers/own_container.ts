/**
 * Restricts the service's own container. Its environment and log may contain credentials of the
 * service, so they require the role admin, regardless of custom roles.
 *
 * @module
 */

import { type Caller, includesRole } from "../access/caller.ts";
import { AppError } from "../errors.ts";
import type { Container } from "./inventory.ts";
import type { Activity } from "./reservations.ts";
import { dependentsOf } from "./share_group.ts";

/** @throws {AppError} `forbidden` for the own container, unless the caller is an admin. */
export function assertMayInspect(
  { self, name }: Pick<Container, "self" | "name">,
  { role }: Pick<Caller, "role">,
): void {
  if (self && !includesRole(role, "admin")) {
    throw new AppError(
      "forbidden",
      `${name} is the service's own container; its details, logs and exec require the role admin`,
    );
  }
}

/**
 * Protects the own container and, if `all` is given, every container whose network or other namespace
 * it shares: without that one, no client could reach the service to undo the action.
 *
 * @param all All containers.
 * @throws {AppError} `conflict`
 */
export function assertNotOwn(
  container: Container,
  activity: Activity,
  all: readonly Container[] = [],
): void {
  const { name, self } = container;
  if (self) {
    throw new AppError(
      "conflict",
      `${name} is the service's own container and cannot be ${activity}`,
    );
  }
  const own = dependentsOf(container, all).find((dependent) => dependent.self);
  if (own) {
    throw new AppError(
      "conflict",
      `${name} cannot be ${activity}: the service's own container ${own.name} depends on it`,
    );
  }
}
