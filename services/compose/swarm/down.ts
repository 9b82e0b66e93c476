/** Removes a Swarm stack, as `docker stack rm` does: services, networks, secrets and configs. @module */

import { EngineError, ifThere } from "../../../engine/errors.ts";
import { type Network, networkList, networkRemove } from "../../../engine/networks.ts";
import { serviceList, serviceRemove, type Task, taskList } from "../../../engine/swarm.ts";
import type { Deps } from "../../deps.ts";
import type { JobRun } from "../../jobs/kind.ts";
import { sleep } from "../../waiting.ts";
import { STACK_LABEL } from "../../swarm/services.ts";
import { OPERATIONS, type ValueKind } from "../../swarm/values.ts";
import type { SwarmDownResult } from "./input.ts";

/** Poll interval of tasks and networks, in milliseconds. */
const POLL_MS = 500;

/** Longest wait for tasks to end, in milliseconds. Those of a node that is down never do. */
const TASKS_MS = 60_000;

/** Longest wait for a network that tasks have just left, in milliseconds. */
const NETWORK_MS = 30_000;

export async function removeSwarmStack(
  deps: Deps,
  job: JobRun<object>,
): Promise<SwarmDownResult> {
  const { engine } = deps;
  const filters = { label: [`${STACK_LABEL}=${job.target}`] };
  const removed = await job.step("services", async () => {
    const services = await serviceList(engine, { filters });
    for (const { ID } of services) await ifThere(serviceRemove(engine, ID));
    return services.map(({ ID, Spec }) => ({ id: ID, name: Spec.Name ?? ID }));
  });
  await job.step("tasks", () => awaitEnd(deps, job, removed.map(({ id }) => id)));
  const networks = await job.step("networks", async () => {
    const found = await networkList(engine, { filters });
    for (const network of found) await removeNetwork(deps, job, network);
    return found.map(({ Name }) => Name);
  });
  const [secrets, configs] = await job.step("values", async () => [
    await removeValues(deps, "secret", filters),
    await removeValues(deps, "config", filters),
  ]);
  return {
    services: removed.map(({ name }) => name),
    networks,
    secrets: secrets!,
    configs: configs!,
  };
}

/** Networks can be removed when no task uses them any more. */
async function awaitEnd(
  { engine }: Deps,
  { signal }: Pick<JobRun, "signal">,
  services: readonly string[],
): Promise<null> {
  const deadline = performance.now() + TASKS_MS;
  while (services.length > 0 && performance.now() < deadline) {
    // The engine refuses a filter by a service that was removed.
    const tasks = await taskList(engine, { signal });
    const isLeft = ({ ServiceID, Status }: Task) =>
      Status.State === "running" && services.includes(ServiceID);
    if (!tasks.some(isLeft)) break;
    await sleep(POLL_MS, signal);
    signal.throwIfAborted();
  }
  return null;
}

async function removeNetwork(
  { engine }: Deps,
  { signal }: Pick<JobRun, "signal">,
  network: Network,
): Promise<void> {
  const deadline = performance.now() + NETWORK_MS;
  for (;;) {
    try {
      await ifThere(networkRemove(engine, network));
      return;
    } catch (error) {
      if (!(error instanceof EngineError) || performance.now() > deadline) throw error;
    }
    await sleep(POLL_MS, signal);
    signal.throwIfAborted();
  }
}

async function removeValues(
  { engine }: Deps,
  kind: ValueKind,
  filters: Record<string, string[]>,
): Promise<string[]> {
  const { list, remove } = OPERATIONS[kind];
  const found = await list(engine, { filters });
  for (const { ID } of found) await ifThere(remove(engine, ID));
  return found.map(({ Spec }) => Spec.Name);
}
