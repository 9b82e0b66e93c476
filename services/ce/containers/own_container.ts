/**
 * What the service's own container may be asked for. Its environment and its log can hold
 * credentials of the service, so they are for admins, whatever a custom role grants.
 *
 * @module
 */

import { type Caller, includesRole } from "../../auth/caller.ts";
import { AppError } from "../../errors.ts";
import type { Container } from "../../state/inventory.ts";

/** @throws {AppError} `forbidden` for the own container, unless the caller has the role admin. */
export function assertMayInspect(
  { self, name }: Pick<Container, "self" | "name">,
  { role }: Pick<Caller, "role">,
): void {
  if (self && !includesRole(role, "admin")) {
    throw new AppError(
      "forbidden",
      `${name} is the service's own container; its details, its log and exec require the role admin`,
    );
  }
}
