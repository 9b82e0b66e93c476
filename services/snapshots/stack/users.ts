/** Containers that a restore of a stack stops. @module */

import { containersUsing } from "../../backup/volumes/users.ts";
import type { Container } from "../../containers/inventory.ts";
import { currentContainers, type ReadDeps } from "../../containers/reads.ts";
import { unique } from "../../unique.ts";
import { type PlannedParts, replacedParts } from "./job.ts";

/** The containers of a stack, and others that use what is replaced. */
export async function usersOfStack(
  deps: ReadDeps,
  name: string,
  parts: PlannedParts,
): Promise<Container[]> {
  const own = (await currentContainers(deps)).filter(({ composeProject }) =>
    composeProject === name
  );
  const others = await containersUsing(deps, replacedParts(parts).map(({ to }) => to.mount));
  return unique([...own, ...others], ({ id }) => id);
}
