/** The service that Longshore itself runs in, which it leaves alone. @module */

import type { Service } from "../../engine/swarm.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { SERVICE_ID_LABEL } from "./services.ts";

/** @throws {AppError} `conflict` if one of the services is Longshore's own. */
export function assertNoneOwn(
  { inventory }: Pick<Deps, "inventory">,
  services: Iterable<Service>,
): void {
  const id = inventory.list().find(({ self }) => self)?.labels[SERVICE_ID_LABEL];
  for (const { ID, Spec } of services) {
    if (ID !== id) continue;
    throw new AppError(
      "conflict",
      `Longshore itself runs in ${Spec.Name ?? ID}; use docker service on a manager`,
    );
  }
}
