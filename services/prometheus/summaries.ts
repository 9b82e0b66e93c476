/** Numbers of containers and stacks by state. @module */

import { type Container, CONTAINER_STATES } from "../containers/inventory.ts";
import { STACK_STATUSES, summarizeStacks } from "../stacks/stacks.ts";
import { by, type Family, metric } from "./family.ts";

const HEALTHS = ["none", "starting", "healthy", "unhealthy"] as const;

export function summaryFamilies(containers: readonly Container[]): Family[] {
  return [
    metric(
      "longshore_containers",
      "Containers by state",
      by("state", countsOf(CONTAINER_STATES, containers.map(({ state }) => state))),
    ),
    metric(
      "longshore_containers_by_health",
      "Containers by health check result",
      by("health", countsOf(HEALTHS, containers.map(({ health }) => health ?? "none"))),
    ),
    metric(
      "longshore_stacks",
      "Stacks by status",
      by("status", countsOf(STACK_STATUSES, summarizeStacks(containers).map((one) => one.status))),
    ),
  ];
}

/** Includes names that do not occur, with a count of 0. */
function countsOf<Name extends string>(names: readonly Name[], found: readonly Name[]) {
  const counts = Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
  for (const name of found) counts[name]++;
  return counts;
}
