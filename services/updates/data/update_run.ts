/** The steps that bring data back, for the update of one container. @module */

import type { Deps } from "../../deps.ts";
import type { Planned, UpdateJob } from "../run/job.ts";
import type { Pair } from "../run/members.ts";
import { isAnyOldUp, oldOnesOf, stopNewOnes, stopOldOnes } from "../run/swap.ts";
import type { DataRun } from "./steps.ts";

/** @param pairs Empty before the new containers are created. */
export function dataRunOf(
  deps: Deps,
  job: UpdateJob,
  { undone, members }: Planned,
  pairs: readonly Pair[] = [],
): DataRun {
  const { input: { name, reference, replaced = [] } } = job;
  return {
    job,
    undone,
    replaced: members.map(({ oldId }) => oldId),
    notes: {
      update: `before the update of ${name} to ${reference}`,
      undo: `written by ${name} before it went back`,
    },
    hasStarted: () => job.hasBegun("swap"),
    own: () =>
      Promise.resolve([...pairs.flatMap((pair) => [...oldOnesOf(pair), pair.newId]), ...replaced]),
    stopOld: () => stopOldOnes(deps, pairs),
    stopNew: () => stopNewOnes(deps, pairs),
    isAnyOldUp: () => isAnyOldUp(deps, pairs),
  };
}
