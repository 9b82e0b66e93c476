/**
 * Restricts the service's own container. Its environment and log may contain credentials of the
 * service, so they require the role admin, regardless of custom roles.
 *
 * @module
 */

import { type Caller, includesRole } from "../../auth/caller.ts";
import { AppError } from "../../errors.ts";
import type { Container } from "../../state/inventory.ts";

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
