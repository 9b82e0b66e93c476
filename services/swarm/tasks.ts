/**
 * Detects containers that are tasks of a swarm service. Labels alone prove nothing, because any
 * container can have them.
 *
 * @module
 */

import type { Engine } from "../../engine/client.ts";
import { EngineError, EngineUnreachableError } from "../../engine/errors.ts";
import { taskList } from "../../engine/swarm.ts";
import { systemInfo } from "../../engine/system.ts";
import { TASK_ID_LABEL } from "./services.ts";

/**
 * Whether the engine's swarm manages a container. On a worker node, and when the engine does not
 * answer, a container with the label counts as a task.
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
    const tasks = await taskList(engine, { filters: { id: [labels[TASK_ID_LABEL]] } });
    return tasks.some(({ Status }) => Status.ContainerStatus?.ContainerID === id);
  } catch (error) {
    if (error instanceof EngineError || error instanceof EngineUnreachableError) return true;
    throw error;
  }
}
