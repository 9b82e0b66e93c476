/**
 * Starting, stopping and restarting the services of a swarm stack. A swarm has no stopped
 * containers: stopping is scaling to zero, with the number of replicas kept in a label of the
 * service, from which starting takes it again.
 *
 * @module
 */

import { EngineError } from "../../../engine/errors.ts";
import {
  type Service,
  serviceInspect,
  type ServiceSpec,
  serviceUpdate,
  taskList,
} from "../../../engine/swarm.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { ContainerAction } from "../containers/actions.ts";
import { modeOf, replicasOf } from "./swarm.ts";

/** Label of a stopped service: the replicas that it had. */
const REPLICAS_LABEL = "longshore.replicas";

/** How long an action waits for the tasks to follow, in milliseconds. */
const FOLLOW_MS = 30_000;

/** How often it looks, in milliseconds. */
const LOOK_MS = 200;

/** Tries of an update when somebody else changes the service at the same time. */
const TRIES_MAX = 5;

/**
 * Acts on one service and waits for its tasks to follow, except for a restart: the swarm then
 * replaces the tasks at the pace of the service's own update settings.
 *
 * @returns `changed` false when it was in the wanted state.
 * @throws {AppError} `conflict` for a global service or a job that shall stop, and when the tasks
 * do not follow in time.
 */
export async function actOnService(
  { engine }: Pick<Deps, "engine">,
  id: string,
  action: ContainerAction,
): Promise<{ changed: boolean }> {
  const wanted = await updateService(engine, id, action);
  if (wanted === undefined) return { changed: false };
  if (wanted !== "restarted") await followed(engine, id, wanted);
  return { changed: true };
}

/**
 * The specification that does `action`, or `undefined` where nothing is to do.
 *
 * @throws {AppError} `conflict` for what cannot be scaled.
 */
export function specFor(service: Service, action: ContainerAction): ServiceSpec | undefined {
  const mode = modeOf(service);
  const replicas = replicasOf(service);
  if (mode !== "replicated") {
    if (action === "start") return undefined;
    if (action === "restart") return forced(service.Spec);
    throw new AppError(
      "conflict",
      `${service.Spec.Name ?? service.ID} is a ${
        mode === "job" ? "job" : "global service"
      } and cannot be scaled to zero`,
    );
  }
  if (action === "stop") return replicas === 0 ? undefined : stopped(service.Spec, replicas);
  if (replicas === 0) return started(service.Spec);
  return action === "restart" ? forced(service.Spec) : undefined;
}

function stopped(spec: ServiceSpec, replicas: number): ServiceSpec {
  return {
    ...spec,
    Labels: { ...spec.Labels, [REPLICAS_LABEL]: String(replicas) },
    Mode: { Replicated: { Replicas: 0 } },
  };
}

function started(spec: ServiceSpec): ServiceSpec {
  const { [REPLICAS_LABEL]: kept = "", ...labels } = spec.Labels ?? {};
  const replicas = /^[1-9]\d{0,5}$/.test(kept) ? Number(kept) : 1;
  return { ...spec, Labels: labels, Mode: { Replicated: { Replicas: replicas } } };
}

function forced(spec: ServiceSpec): ServiceSpec {
  const { TaskTemplate } = spec;
  return {
    ...spec,
    TaskTemplate: { ...TaskTemplate, ForceUpdate: (TaskTemplate?.ForceUpdate ?? 0) + 1 },
  };
}

/** @returns How many tasks shall run now, `"restarted"`, or `undefined` where nothing was to do. */
async function updateService(
  engine: Deps["engine"],
  id: string,
  action: ContainerAction,
): Promise<number | "restarted" | undefined> {
  for (let tries = 1;; tries++) {
    const service = await serviceInspect(engine, id);
    const spec = specFor(service, action);
    if (!spec) return undefined;
    try {
      await serviceUpdate(engine, id, service.Version.Index, spec);
      const replicas = spec.Mode?.Replicated?.Replicas;
      return replicas === undefined || replicas === replicasOf(service) ? "restarted" : replicas;
    } catch (error) {
      if (!isOutOfSequence(error) || tries === TRIES_MAX) throw error;
    }
  }
}

function isOutOfSequence(error: unknown): boolean {
  return error instanceof EngineError && /out of sequence/i.test(error.message);
}

/** @throws {AppError} `conflict` when not as many tasks run in time, with the swarm's reason. */
async function followed(engine: Deps["engine"], id: string, wanted: number): Promise<void> {
  const deadline = performance.now() + FOLLOW_MS;
  for (;;) {
    const tasks = await taskList(engine, { filters: { service: [id] } });
    const running = tasks.filter(({ Status }) => Status.State === "running").length;
    if (wanted === 0 ? running === 0 : running >= wanted) return;
    if (performance.now() > deadline) {
      const reason = tasks.find(({ Status }) => Status.Err)?.Status.Err;
      throw new AppError(
        "conflict",
        `${running} instead of ${wanted} tasks run after ${FOLLOW_MS / 1000} s` +
          (reason === undefined ? "" : `: ${reason}`),
      );
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
