/** Every kind of schedule: what its runs do to a container. @module */

import { automaticActor } from "../../access/audit/audit.ts";
import { actOnContainer, type ContainerAction } from "../../containers/actions.ts";
import type { Container } from "../../containers/inventory.ts";
import type { Deps } from "../../deps.ts";

/** A run that failed. */
export interface Failure {
  error: string;
  /** The job that failed, which has events of its own. */
  jobId: string;
}

export interface ScheduleKind {
  /** Stored as the action of schedules and runs. */
  id: string;
  /** E.g. `Restart`. */
  title: string;
  description: string;
  /** For messages: the container is `restarted`. */
  participle: string;
  /** Required to enable a schedule, besides that for schedules. */
  permission: `containers:${string}`;
  /** The container of this service can have such a schedule. */
  mayBeOwn?: true;
  /** @throws {AppError} If it failed, unless it returns how. */
  run(deps: Deps, container: Container): Promise<Failure | undefined>;
}

/** An action on the container. */
const action = (
  id: ContainerAction,
  words: Pick<ScheduleKind, "description" | "participle" | "title" | "mayBeOwn">,
): ScheduleKind => ({
  ...words,
  id,
  permission: `containers:${id}`,
  async run(deps, container) {
    await actOnContainer(deps, container.id, id);
    return undefined;
  },
});

/** In the order in which they are offered. */
export const SCHEDULE_KINDS: readonly ScheduleKind[] = [
  action("restart", {
    title: "Restart",
    description: "Restarts the container, or starts it",
    participle: "restarted",
  }),
  action("start", {
    title: "Start",
    description: "Starts the container if it does not run",
    participle: "started",
    mayBeOwn: true,
  }),
  action("stop", {
    title: "Stop",
    description: "Stops the container if it runs",
    participle: "stopped",
  }),
  {
    id: "update",
    title: "Update",
    description: "Asks the registry, and updates the container if it has a newer image",
    participle: "updated",
    permission: "containers:update",
    async run(deps, container) {
      const { updateNow } = await import("../../updates/automatic/scheduled.ts");
      const job = await updateNow(deps, container, automaticActor("schedule"));
      if (!job || job.status === "succeeded") return undefined;
      return { error: job.error ?? "The update did not finish", jobId: job.id };
    },
  },
];

/** @throws For a kind of another version of the service, which cannot have opened this database. */
export function scheduleKind(id: string): ScheduleKind {
  const found = SCHEDULE_KINDS.find((each) => each.id === id);
  if (!found) throw new Error(`Unknown schedule kind ${id}`);
  return found;
}
