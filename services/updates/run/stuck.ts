/** Ends of a rollback that cannot put the old containers back. @module */

import type { Deps } from "../../deps.ts";
import { errorFields } from "../../log.ts";
import { throwIfInterrupted } from "./interruption.ts";
import type { Pair } from "./members.ts";
import { discard } from "./replacements.ts";
import { hasOldOne, leaveNewOnes, nameOldOnes, putNewInPlace } from "./swap.ts";

/** Lets the new containers run, or where they cannot, leaves the old ones as they are. */
export async function keepLiving(deps: Deps, pairs: readonly Pair[]): Promise<string> {
  const target = pairs[0]!;
  try {
    await putNewInPlace(deps, pairs);
    return target.newId;
  } catch (error) {
    await throwIfInterrupted(deps, error);
    deps.log.error("neither container of an update can run", {
      container: target.name,
      ...errorFields(error),
    });
    return await leaveStopped(deps, pairs);
  }
}

/**
 * Gives the old containers their names, and removes the new ones. One whose old one is gone stays,
 * stopped: nothing else has its configuration and its anonymous volumes.
 */
export async function leaveStopped(deps: Deps, pairs: readonly Pair[]): Promise<string> {
  await nameOldOnes(deps, pairs).catch((error) => throwIfInterrupted(deps, error));
  const lone: Pair[] = [];
  for (const pair of pairs) if (!await hasOldOne(deps, pair)) lone.push(pair);
  await discard(deps, pairs.filter((pair) => !lone.includes(pair)));
  await leaveNewOnes(deps, lone).catch((error) => throwIfInterrupted(deps, error));
  const target = pairs[0]!;
  return lone.includes(target) ? target.newId : target.oldId;
}
