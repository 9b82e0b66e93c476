/**
 * Which containers are tasks of a Swarm service. Their labels prove nothing, since they can be set
 * on any container.
 *
 * @module
 */

import type { Engine } from "../../../engine/client.ts";
import { EngineError, EngineUnreachableError } from "../../../engine/errors.ts";
import { taskList } from "../../../engine/swarm.ts";
import { systemInfo } from "../../../engine/system.ts";

const TASK_ID_LABEL = "com.docker.swarm.task.id";

/**
 * Whether the engine's Swarm manages a container. On a node that is not a manager, and where the
 * engine does not answer, a labelled container counts as a task, so that it is left alone.
 */
export async function isSwarmTask(
  engine: Engine,
  { id, labels }: { id: string; labels: Record<string, string> },
): Promise<boolean> {
  if (labels[TASK_ID_LABEL] === undefined) return false;
  try {
    const { Swarm } = await systemInfo(engine);
    if (Swarm?.LocalNodeState !== "active") return false;
    if (!Swarm.ControlAvailable) return true;
    const tasks = await taskList(engine);
    return tasks.some(({ Status }) => Status.ContainerStatus?.ContainerID === id);
  } catch (error) {
    if (error instanceof EngineError || error instanceof EngineUnreachableError) return true;
    throw error;
  }
}
