/** Data of a stack, and the order in which its containers return to it. @module */

import type { Deps } from "../../deps.ts";
import { bringBack, type DataState, mayBeChanged } from "../data/steps.ts";
import { PUT_BACK } from "../data/step_names.ts";
import { dataRunOf } from "../data/update_run.ts";
import { endOfRollback } from "./finish.ts";
import type { Planned, UpdateJob } from "./job.ts";
import type { Pair } from "./members.ts";
import { stopNewOnes } from "./swap.ts";

/** A container that goes back. */
export interface Returning {
  member: UpdateJob;
  planned: Planned;
  pairs: Pair[];
}

/** Order in which containers return, and their data. */
interface Return {
  ordered: readonly Returning[];
  stateOf(member: UpdateJob): DataState | undefined;
  isStackBack: boolean;
}

/**
 * Brings the data of all containers back before the first old one starts, because a container may write
 * to the data of another one through it. Without such data, they return in reverse order.
 */
export async function bringAllBack(deps: Deps, returning: readonly Returning[]): Promise<Return> {
  const runs = returning.toReversed().map(({ member, planned, pairs }) => ({
    member,
    pairs,
    run: dataRunOf(deps, member, planned, pairs),
  }));
  if (!runs.some(({ run }) => mayBeChanged(run))) {
    return { ordered: returning.toReversed(), stateOf: () => undefined, isStackBack: false };
  }
  const states = new Map<UpdateJob, DataState>();
  const open = runs.filter(({ member }) => !endOfRollback(member));
  for (const { pairs } of open) await stopNewOnes(deps, pairs);
  for (const { member, run } of open) states.set(member, await bringBack(deps, run));
  const all = [...states.values()];
  const stuck = all.find((each) => each.has === "new");
  return {
    ordered: stuck ? returning : inOrder(returning),
    isStackBack: runs.some(({ run }) => run.job.resultOf(PUT_BACK) !== undefined) ||
      all.some(({ has }) => has === "part"),
    stateOf(member) {
      const own = states.get(member);
      // The new ones stay together if the data that they wrote stays.
      return stuck && own?.data === null ? { ...stuck, data: null } : own;
    },
  };
}

/**
 * In the order of the update, but before that, the ones that the update of an earlier container has
 * replaced, too: what it replaced returns with that one.
 */
function inOrder(returning: readonly Returning[]): Returning[] {
  const created = new Set(returning.flatMap(({ pairs }) => pairs.map(({ newId }) => newId)));
  const isAgain = ({ oldId }: Pair) => created.has(oldId);
  const [again, once] = [true, false].map((isIt) =>
    returning.filter(({ pairs }) => pairs.some(isAgain) === isIt)
  );
  const stopped = again!.map((each) => ({
    ...each,
    pairs: each.pairs.map((pair) => isAgain(pair) ? { ...pair, ran: false } : pair),
  }));
  return [...stopped.toReversed(), ...once!];
}
