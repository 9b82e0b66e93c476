/** Names of the tasks and nodes of a service in its log. @module */

import type { Service } from "../../../engine/swarm.ts";
import type { Deps } from "../../deps.ts";
import { namedTasks, type TaskName } from "../../swarm/reads.ts";
import { detectLevel, type LogLevel } from "../follow/level.ts";
import type { ServiceEntry } from "./entries.ts";

export interface ServiceLogLine {
  /** RFC 3339 with nanoseconds. */
  timestamp: string;
  stream: "stdout" | "stderr";
  /** With the number of the replica, e.g. `shop_web.2`, or the node of a global service. */
  task: string;
  taskId: string;
  /** Host name. */
  node: string;
  message: string;
  level: LogLevel | null;
}

/** Returns the function that names a line's task. It reads the tasks again for an unknown one. */
export function createNamer(
  { engine }: Pick<Deps, "engine">,
  service: Service,
): (entry: ServiceEntry) => Promise<ServiceLogLine> {
  const known = new Map<string, TaskName>();
  return async ({ stamp, stream, taskId, nodeId, text }) => {
    if (!known.has(taskId)) {
      for (const task of await namedTasks({ engine }, service)) known.set(task.id, task);
      if (!known.has(taskId)) known.set(taskId, { id: taskId, name: taskId, node: nodeId });
    }
    const { name, node } = known.get(taskId)!;
    return {
      timestamp: stamp.text,
      stream,
      task: name,
      taskId,
      node,
      message: text,
      level: detectLevel(text),
    };
  };
}
