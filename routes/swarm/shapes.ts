/** Shapes that the endpoints of the swarm share. @module */

import * as z from "zod";
import { ENGINE_FAILURES, Timestamp } from "../contract/shapes.ts";

/** Only the engine's characters for ids and names are allowed. */
const Ref = z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,254}$/, {
  error: "must be an id or a name",
});

export const RefParams = z.object({
  id: Ref.meta({ description: "Id, unambiguous prefix of an id, or name" }),
});

/** Failures of every operation on a swarm. */
export const SWARM_FAILURES = {
  409: "The engine does not manage a swarm; the error has the addresses of the managers. Or the " +
    "swarm has no leader",
  ...ENGINE_FAILURES,
};

const TaskNode = z.object({ id: z.string(), hostname: z.string() });

export const Task = z.object({
  id: z.string(),
  service: z.object({ id: z.string(), name: z.string().meta({ example: "shop_web" }) }),
  slot: z.int().nullable().meta({ description: "From 1; null for a global service" }),
  node: TaskNode.nullable().meta({ description: "null until a node is chosen" }),
  state: z.string().meta({
    description: "Of the engine: new, pending, assigned, accepted, preparing, ready, starting, " +
      "running, complete, shutdown, failed, rejected, remove or orphaned",
    example: "running",
  }),
  desiredState: z.string().meta({ example: "running" }),
  message: z.string(),
  error: z.string().nullable(),
  exitCode: z.int().nullable(),
  image: z.string().meta({ example: "nginx:1.27" }),
  digest: z.string().nullable(),
  containerId: z.string().nullable(),
  createdAt: Timestamp.nullable(),
  changedAt: Timestamp.nullable().meta({ description: "By the node's clock" }),
  replacement: z.object({
    id: z.string(),
    node: TaskNode.nullable(),
    state: z.string(),
  }).nullable().meta({
    description: "The task that took its slot, e.g. on another node; null for a current task",
  }),
}).meta({ id: "SwarmTask" });

export const TaskList = z.object({ tasks: z.array(Task) }).meta({ id: "SwarmTaskList" });

export const Failure = Task.pick({ id: true, slot: true, node: true, state: true, exitCode: true })
  .extend({ error: z.string(), at: Timestamp.nullable() });
