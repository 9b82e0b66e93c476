/** Alert metrics of the states of containers. @module */

import type { Container } from "../../containers/inventory.ts";
import type { Deps } from "../../deps.ts";
import { metric } from "./kind.ts";

export const containerStates = [
  metric("container_not_running", {
    target: "containers",
    description:
      "1 or 0; a finished task (exit code 0, restart policy no or none) counts as running",
    group: "Containers",
    words: "not running",
    title: "Container is not running",
    states: ["is not running", "is running"],
    stateOf: "container",
    read: (_, container) => Number(isStopped(container)),
    recommended: [{
      id: "container-not-running",
      description: "A container has not been running for five minutes.",
      name: "Container not running",
      threshold: 1,
      durationSeconds: 300,
    }],
  }),
  metric("container_unhealthy", {
    target: "containers",
    description: "1 or 0; by the health check of the container",
    group: "Containers",
    words: "unhealthy",
    title: "Container is unhealthy",
    states: ["is unhealthy", "is no longer unhealthy"],
    stateOf: "container",
    read: (_, { health }) => Number(health === "unhealthy"),
    recommended: [{
      id: "container-unhealthy",
      description: "The health check of a container has failed for five minutes.",
      name: "Container unhealthy",
      threshold: 1,
      durationSeconds: 300,
    }],
  }),
  metric("container_stopped", {
    target: "host",
    description: "Number of containers that are not running, without finished tasks (exit code " +
      "0, restart policy no or none)",
    group: "Containers",
    words: "number of stopped containers",
    title: "Stopped containers",
    name: "The number of stopped containers",
    verb: "is",
    operator: ">=",
    stateOf: "container",
    read: ({ inventory }) =>
      inventory.live
        ? { value: stoppedContainers({ inventory }).length }
        : { reason: "The engine is unreachable" },
    counted: stoppedContainers,
  }),
];

/** Names of the containers that are not running, except finished tasks. */
export function stoppedContainers({ inventory }: Pick<Deps, "inventory">): string[] {
  return inventory.list().filter(isStopped).map(({ name }) => name).sort();
}

/** Whether a container is not running although it should be. */
const isStopped = (container: Container): boolean =>
  container.state !== "running" && !isFinishedTask(container);

/** Whether a container exited with code 0 and has the restart policy `no`, or none. */
const isFinishedTask = ({ state, exitCode, details }: Container): boolean =>
  state === "exited" && exitCode === 0 && ["no", ""].includes(details.restartPolicy.name);
