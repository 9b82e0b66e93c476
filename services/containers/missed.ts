/**
 * Containers without events: Podman sends no event that is larger than 1 MiB with the container's
 * labels, and says nothing about it.
 *
 * @module
 */

import { containerList, type ContainerSummary } from "../../engine/containers.ts";
import type { Deps } from "../deps.ts";
import { isHelper } from "./helpers.ts";

/** Interval between two comparisons, in milliseconds. A list takes Podman 0.5 ms for each container. */
const INTERVAL_MS = 60_000;

interface MissedCheck {
  /** Compares the engine's list with the known containers, once a minute and only on Podman. */
  check(signal: AbortSignal): Promise<boolean>;
  /** Accepts what still differs after everything was read again. */
  accept(): void;
}

export function createMissedCheck(
  { engine, inventory, now }: Pick<Deps, "engine" | "inventory" | "now">,
): MissedCheck {
  let checkedAt = -Infinity;
  let listed: ContainerSummary[] = [];
  let accepted = "";
  /** Ids of containers that were created, removed, started or stopped. */
  const differing = () => {
    const unseen = new Set(inventory.list().map(({ id }) => id));
    const changed = listed.filter((each) => {
      const known = inventory.get(each.Id);
      unseen.delete(each.Id);
      if (!known) {
        return !isHelper(each.Labels, each.Names[0], { isNew: each.State === "created" });
      }
      return (known.state === "running") !== (each.State === "running");
    });
    return [...changed.map(({ Id }) => Id), ...unseen].sort().join();
  };
  return {
    async check(signal) {
      if (engine.kind !== "podman" || now().getTime() - checkedAt < INTERVAL_MS) return false;
      checkedAt = now().getTime();
      listed = await containerList(engine, { all: true, signal });
      return differing() !== accepted;
    },
    accept() {
      accepted = differing();
      listed = [];
    },
  };
}
