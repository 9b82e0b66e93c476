/** Schedules that act on a container. @module */

import { EngineUnreachableError } from "../../../../engine/errors.ts";
import { includesContainer } from "../../../access/scope.ts";
import {
  actOnContainer,
  assertNotSelf,
  type ContainerAction,
} from "../../../containers/actions.ts";
import type { Container } from "../../../containers/inventory.ts";
import { type ReadDeps, resolveContainer } from "../../../containers/reads.ts";
import type { Deps } from "../../../deps.ts";
import { AppError } from "../../../errors.ts";
import { assertThere } from "./checks.ts";
import { endOf } from "./job_end.ts";
import type { Outcome, Plan, Run, ScheduleAction, ScheduleKind } from "./kind.ts";

const action = (
  id: ContainerAction | "update",
  words: Pick<ScheduleAction, "title" | "description">,
): ScheduleAction => ({ id, ...words, permission: `containers:${id}` });

/** For messages: the service's own container cannot be `restarted`. It may be started. */
const PARTICIPLES: Record<string, string> = {
  restart: "restarted",
  stop: "stopped",
  update: "updated",
};

export const containerKind: ScheduleKind = {
  id: "container",
  title: "Container action",
  description: "Acts on a container",
  actions: [
    action("restart", {
      title: "Restart",
      description: "Restarts the container, or starts it",
    }),
    action("start", { title: "Start", description: "Starts the container if it does not run" }),
    action("stop", { title: "Stop", description: "Stops the container if it runs" }),
    action("update", {
      title: "Update",
      description: "Asks the registry, and updates the container if it has a newer image",
    }),
  ],
  fields: { containerId: "required", containerName: "required" },
  async check(deps, plan, { allowMissing, before }) {
    await assertNotOwn(deps, plan);
    const { containerId, containerName } = plan;
    const isOther = containerId !== before?.containerId || containerName !== before.containerName;
    if (!isOther || allowMissing) return;
    const names = containerId === containerName
      ? containerName
      : `${containerId} (${containerName})`;
    await assertThere("containerId", `Container ${names}`, () => findTarget(deps, plan));
  },
  subject: (_, { containerName }) => containerName!,
  isInScope({ inventory }, scope, { containerId, containerName }) {
    const referred = inventory.listFollowed().filter(({ id, name }) =>
      name === containerName || name === containerId || id.startsWith(containerId!)
    );
    return referred.length > 0 && referred.every((each) => includesContainer(scope, each));
  },
  async run(deps, plan, run) {
    const container = await findTarget(deps, plan);
    run.found(container);
    if (plan.action === "update") return await update(deps, container, run);
    await actOnContainer(deps, container.id, plan.action as ContainerAction);
    return undefined;
  },
};

async function update(deps: Deps, container: Container, run: Run): Promise<Outcome> {
  const { startUpdateNow } = await import("../../../updates/automatic/scheduled.ts");
  const { NotReachedError } = await import("../../../updates/run/allowed.ts");
  try {
    const job = await startUpdateNow(deps, container, run.actor);
    return job && await endOf(deps, job, run);
  } catch (error) {
    if (error instanceof NotReachedError) return { status: "skipped", error: error.message };
    throw error;
  }
}

/**
 * Finds the container of a schedule by id, or by name because a recreated container keeps it.
 *
 * @throws {AppError} `not_found` if neither exists.
 * @throws {EngineUnreachableError}
 */
async function findTarget(
  deps: ReadDeps,
  { containerId, containerName }: Pick<Plan, "containerId" | "containerName">,
): Promise<Container> {
  const byId = await findContainer(deps, containerId!);
  if (byId) return byId;
  const byName = await findContainer(deps, containerName!);
  // A name may also be the beginning of another container's id.
  if (byName?.name === containerName) return byName;
  throw new AppError("not_found", `Container ${containerName} no longer exists`);
}

async function findContainer(deps: ReadDeps, ref: string): Promise<Container | undefined> {
  try {
    return await resolveContainer(deps, ref);
  } catch (error) {
    if (error instanceof AppError && error.code === "not_found") return undefined;
    throw error;
  }
}

/**
 * Checks id and name separately, because the name is used if the id no longer exists. A missing
 * container and an unreachable engine are accepted, because each run checks again.
 */
async function assertNotOwn(
  deps: ReadDeps,
  { containerId, containerName, action }: Plan,
): Promise<void> {
  const participle = PARTICIPLES[action];
  if (participle === undefined) return;
  for (const ref of [containerId!, containerName!]) {
    try {
      const container = await findContainer(deps, ref);
      if (container) assertNotSelf(container, participle);
    } catch (error) {
      if (!(error instanceof EngineUnreachableError)) throw error;
    }
  }
}
