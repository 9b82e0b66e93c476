/** Alert metrics of a swarm: missing tasks of its services, and nodes that are down. @module */

import { EngineError, EngineUnreachableError } from "../../../engine/errors.ts";
import { listNodes } from "../../swarm/nodes.ts";
import { listServices } from "../../swarm/reads.ts";
import type { Reading } from "../memory.ts";
import { metric, ROUND_MS, type SourceDeps, unsupported } from "./kind.ts";

const shared = { target: "host", group: "Swarm", threshold: 0 } as const;

export const swarmMetrics = [
  metric("service_replicas_missing", {
    ...shared,
    description: "Tasks of the swarm's services that should run and do not",
    words: "missing tasks",
    name: "The number of missing tasks",
    verb: "is",
    slow: { everyMs: 3 * ROUND_MS, read: (deps) => ofSwarm(deps, readMissing) },
    recommended: [{
      id: "service-replicas-missing",
      description: "Tasks of a service of the swarm do not run.",
      name: "Service tasks missing",
      threshold: 0,
      durationSeconds: 120,
    }],
  }),
  metric("nodes_down", {
    ...shared,
    description: "Nodes of the swarm that do not answer",
    words: "nodes down",
    name: "The number of nodes that are down",
    verb: "is",
    slow: { everyMs: 3 * ROUND_MS, read: (deps) => ofSwarm(deps, readNodesDown) },
    recommended: [{
      id: "nodes-down",
      description: "A node of the swarm does not answer.",
      name: "Node down",
      threshold: 0,
      durationSeconds: 60,
      severity: "critical",
    }],
  }),
];

async function readMissing(deps: SourceDeps): Promise<Reading> {
  const missing = (await listServices(deps, {}))
    .filter(({ mode }) => mode !== "job")
    .map(({ name, desired, running }) => ({ name, count: Math.max(0, desired - running) }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count);
  const value = missing.reduce((sum, { count }) => sum + count, 0);
  return { value, ...(missing[0] && { about: missing[0].name }) };
}

async function readNodesDown(deps: SourceDeps): Promise<Reading> {
  return { value: (await listNodes(deps)).filter(({ state }) => state !== "ready").length };
}

async function ofSwarm(
  deps: SourceDeps,
  read: (deps: SourceDeps) => Promise<Reading>,
): Promise<Reading> {
  try {
    if (!await deps.swarm.isActive()) return unsupported("The engine does not manage a swarm");
    return await read(deps);
  } catch (error) {
    if (error instanceof EngineUnreachableError || error instanceof EngineError) {
      return { reason: "The swarm cannot be read" };
    }
    throw error;
  }
}
