/**
 * Starts, stops and restarts services of swarm stacks. Stopping a service scales it to zero and
 * stores the number of replicas in a label of the service; starting restores it.
 *
 * @module
 */

import { findReference } from "../../engine/image_reference.ts";
import type { RegistryAuth } from "../../engine/registry_auth.ts";
import {
  type Service,
  serviceInspect,
  type ServiceSpec,
  serviceUpdate,
  taskList,
} from "../../engine/swarm.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { sleep } from "../waiting.ts";
import type { ContainerAction } from "../containers/actions.ts";
import { credentialsFor, type RegistryAccessDeps } from "../images/registries/access.ts";
import { retryOutOfSequence } from "./sequence.ts";
import { modeOf, replicasOf } from "./services.ts";

export type SwarmDeps = Pick<Deps, "engine"> & RegistryAccessDeps;

/** Label of a stopped service: its previous number of replicas. */
const REPLICAS_LABEL = "longshore.replicas";

/** Longest wait of an action for the tasks to start or stop, in milliseconds. */
const CONVERGENCE_MS = 30_000;

/** Poll interval of the tasks, in milliseconds. */
const POLL_MS = 200;

/**
 * Acts on one service and waits until its tasks have started or stopped. A restart does not wait:
 * the swarm replaces the tasks according to the update settings of the service.
 *
 * @returns `changed` is false if the service was in the desired state already.
 * @throws {AppError} `conflict` when stopping a global service or a job, and when the tasks do not
 * start or stop in time.
 */
export async function actOnService(
  deps: SwarmDeps,
  id: string,
  action: ContainerAction,
): Promise<{ changed: boolean }> {
  const { engine } = deps;
  const desired = await updateService(deps, id, action);
  if (desired === undefined) return { changed: false };
  if (desired !== "restarted") await waitForTasks(engine, id, desired);
  return { changed: true };
}

/**
 * The specification of the service after `action`, or `undefined` if nothing changes.
 *
 * @throws {AppError} `conflict` for a service that cannot be scaled.
 */
export function specFor(service: Service, action: ContainerAction): ServiceSpec | undefined {
  const mode = modeOf(service);
  const replicas = replicasOf(service);
  if (mode !== "replicated") {
    if (action === "start") return undefined;
    if (action === "restart") return withForcedUpdate(service.Spec);
    throw new AppError(
      "conflict",
      `${service.Spec.Name ?? service.ID} is a ${
        mode === "job" ? "job" : "global service"
      } and cannot be scaled to zero`,
    );
  }
  if (action === "stop") return replicas === 0 ? undefined : scaledToZero(service.Spec, replicas);
  if (replicas === 0) return scaledUp(service.Spec);
  return action === "restart" ? withForcedUpdate(service.Spec) : undefined;
}

function scaledToZero(spec: ServiceSpec, replicas: number): ServiceSpec {
  return {
    ...spec,
    Labels: { ...spec.Labels, [REPLICAS_LABEL]: String(replicas) },
    Mode: { Replicated: { Replicas: 0 } },
  };
}

function scaledUp(spec: ServiceSpec): ServiceSpec {
  const stored = spec.Labels?.[REPLICAS_LABEL] ?? "";
  return withReplicas(spec, /^[1-9]\d{0,5}$/.test(stored) ? Number(stored) : 1);
}

/** The specification of a replicated service with another number of replicas. */
export function withReplicas(spec: ServiceSpec, replicas: number): ServiceSpec {
  const { [REPLICAS_LABEL]: _, ...labels } = spec.Labels ?? {};
  return { ...spec, Labels: labels, Mode: { Replicated: { Replicas: replicas } } };
}

/** The specification with which the swarm replaces every task. */
export function withForcedUpdate(spec: ServiceSpec): ServiceSpec {
  const { TaskTemplate } = spec;
  return {
    ...spec,
    TaskTemplate: { ...TaskTemplate, ForceUpdate: (TaskTemplate?.ForceUpdate ?? 0) + 1 },
  };
}

/** @returns The desired number of tasks, `"restarted"`, or `undefined` if nothing changed. */
function updateService(
  deps: SwarmDeps,
  id: string,
  action: ContainerAction,
): Promise<number | "restarted" | undefined> {
  const { engine } = deps;
  return retryOutOfSequence(async () => {
    const service = await serviceInspect(engine, id);
    const spec = specFor(service, action);
    if (!spec) return undefined;
    const auth = action === "stop" ? undefined : authFor(deps, spec);
    await serviceUpdate(engine, id, service.Version.Index, spec, { auth });
    const replicas = spec.Mode?.Replicated?.Replicas;
    return replicas === undefined || replicas === replicasOf(service) ? "restarted" : replicas;
  });
}

/** Credentials for the nodes, which may have to pull the image again. */
export function authFor(deps: SwarmDeps, { TaskTemplate }: ServiceSpec): RegistryAuth | undefined {
  const image = findReference(TaskTemplate?.ContainerSpec?.Image ?? "");
  return image && credentialsFor(deps, image);
}

/** @throws {AppError} `conflict` with the swarm's reason, if it takes too long. */
async function waitForTasks(engine: Deps["engine"], id: string, desired: number): Promise<void> {
  const deadline = performance.now() + CONVERGENCE_MS;
  for (;;) {
    const tasks = await taskList(engine, { filters: { service: [id] } });
    const running = tasks.filter(({ Status }) => Status.State === "running").length;
    if (desired === 0 ? running === 0 : running >= desired) return;
    if (performance.now() > deadline) {
      const reason = tasks.find(({ Status }) => Status.Err)?.Status.Err;
      throw new AppError(
        "conflict",
        `${running} of ${desired} tasks are running after ${CONVERGENCE_MS / 1000} s` +
          (reason === undefined ? "" : `: ${reason}`),
      );
    }
    await sleep(POLL_MS);
  }
}
