/**
 * The frame `overview` of the stream: numbers, and the containers and stacks that need attention. With
 * many containers it is a small part of the frame `containers`.
 *
 * @module
 */

import { selectCrashLooping } from "../../db/crash_loops.ts";
import type { Container } from "../containers/inventory.ts";
import type { Deps } from "../deps.ts";
import { summarizeStacks } from "../stacks/stacks.ts";
import { countContainers } from "./overview.ts";

/** Limit of the stacks in the frame. */
const STACKS_MAX = 8;

/** @param reported Names of containers with a firing alert. */
export function overviewFrame(
  { db }: Pick<Deps, "db">,
  containers: readonly Container[],
  reported: ReadonlySet<string | null>,
) {
  const looping = new Set(selectCrashLooping(db));
  const isRestarting = ({ id, state }: Container) => state === "restarting" || looping.has(id);
  const isIll = ({ state, health }: Container) =>
    state === "dead" || state === "running" && health === "unhealthy";
  const stacks = summarizeStacks(containers);
  const isDegraded = ({ status }: { status: string }) => status === "degraded";
  // A container that restarts counts once, so that the numbers of the states add up.
  const all = countContainers(containers);
  const others = containers.filter((each) => !isRestarting(each));
  return {
    containers: {
      ...countContainers(others),
      restarting: containers.length - others.length,
      unhealthy: all.unhealthy,
      total: all.total,
    },
    attention: containers
      .filter((each) => isRestarting(each) || isIll(each) || reported.has(each.name))
      .map(({ id, name, state, health, self }) => (
        { id, name, state, health, self, crashLooping: looping.has(id) }
      )),
    stacks: {
      total: stacks.length,
      first: [...stacks.filter(isDegraded), ...stacks.filter((each) => !isDegraded(each))]
        .slice(0, STACKS_MAX),
    },
  };
}
