/** Changes of services, as jobs: scale, restart, rollback, update. @module */

import { distributionInspect } from "../../engine/distribution.ts";
import { EngineError } from "../../engine/errors.ts";
import { findReference } from "../../engine/image_reference.ts";
import type { ServiceSpec } from "../../engine/swarm.ts";
import type { Deps } from "../deps.ts";
import type { JobRun, NamedJobKind } from "../jobs/kind.ts";
import { authFor, withForcedUpdate, withReplicas } from "./actions.ts";
import { changeService } from "./change_steps.ts";
import type { ServiceResult } from "./converge.ts";
import { modeOf } from "./services.ts";

/** Settings of an update; those that are missing stay. */
export interface UpdateChoice {
  /** Default: the current reference, at its newest digest. */
  image?: string | undefined;
  parallelism?: number | undefined;
  delaySeconds?: number | undefined;
  monitorSeconds?: number | undefined;
  order?: "stop-first" | "start-first" | undefined;
}

/** Input of all kinds. */
export interface ServiceInput {
  /** Id of the service, because another one may get its name. */
  id: string;
  stack: string | null;
}

const SHARED = {
  outlivesEngine: true,
  group: "Swarm",
  targetType: "service",
  permission: "swarm:write",
  isListed: true,
  steps: {
    read: "Read the service",
    change: "Change the service",
    wait: "Wait until the tasks run",
  },
  stackOf: ({ stack }: ServiceInput) => stack,
} as const;

/** Continues after a restart, because the swarm works on. */
function serviceKind<Input extends ServiceInput>(
  words: Pick<NamedJobKind, "id" | "title" | "running" | "role">,
  change: (deps: Deps, spec: ServiceSpec, input: Input) => ServiceSpec | Promise<ServiceSpec>,
  options: { rollback?: "previous" } = {},
): NamedJobKind<Input, ServiceResult> {
  const run = (deps: Deps, job: JobRun<Input>) =>
    changeService(deps, job, job.input.id, (spec) => change(deps, spec, job.input), options);
  return {
    ...SHARED,
    ...words,
    run,
    recover: run,
    reserve: (deps, { target, input: { id } }) =>
      deps.reservations.reserve({ id, name: target }, "updated"),
  };
}

export const scaleKind = serviceKind<ServiceInput & { replicas: number }>({
  id: "swarm.scale",
  title: "Scale",
  running: "Scaling {target}",
  role: "operator",
}, (_, spec, { replicas }) => withReplicas(spec, replicas));

export const restartKind = serviceKind<ServiceInput>({
  id: "swarm.restart",
  title: "Restart",
  running: "Restarting {target}",
  role: "operator",
}, (_, spec) => withForcedUpdate(spec));

export const serviceRollbackKind = serviceKind<ServiceInput>(
  {
    id: "swarm.rollback",
    title: "Rollback",
    running: "Rolling {target} back",
    role: "operator",
  },
  (_, spec) => spec,
  { rollback: "previous" },
);

export const serviceUpdateKind = serviceKind<ServiceInput & { choice: UpdateChoice }>({
  id: "swarm.update",
  title: "Update",
  running: "Updating {target}",
  role: "admin",
}, async (deps, spec, { choice }) => withChoice(spec, choice, await pinned(deps, spec, choice)));

/**
 * Settings with which the swarm returns to the earlier version if new tasks fail. A job stays as it is,
 * because Swarm refuses any update settings of one.
 */
export function withRollback(spec: ServiceSpec): ServiceSpec {
  if (modeOf({ Spec: spec }) === "job") return spec;
  // Settings without a parallelism replace all tasks at once, unlike none at all.
  const UpdateConfig = { Parallelism: 1, ...spec.UpdateConfig, FailureAction: "rollback" };
  return { ...spec, UpdateConfig };
}

function withChoice(spec: ServiceSpec, choice: UpdateChoice, image: string): ServiceSpec {
  const { parallelism, delaySeconds, monitorSeconds, order } = choice;
  const { UpdateConfig, ...changed } = withRollback({
    ...spec,
    TaskTemplate: {
      ...spec.TaskTemplate,
      ContainerSpec: { ...spec.TaskTemplate?.ContainerSpec, Image: image },
    },
  });
  if (modeOf({ Spec: spec }) === "job") return changed;
  return {
    ...changed,
    UpdateConfig: {
      ...UpdateConfig,
      ...(parallelism !== undefined && { Parallelism: parallelism }),
      ...(delaySeconds !== undefined && { Delay: delaySeconds * 1e9 }),
      ...(monitorSeconds !== undefined && { Monitor: monitorSeconds * 1e9 }),
      ...(order !== undefined && { Order: order }),
    },
  };
}

/**
 * The reference with its digest, so that every node runs the same image. Without a digest if the
 * registry cannot be asked, as for an image that was only loaded.
 */
async function pinned(
  deps: Deps,
  { TaskTemplate }: ServiceSpec,
  { image }: UpdateChoice,
): Promise<string> {
  const current = TaskTemplate?.ContainerSpec?.Image ?? "";
  return await resolveImage(deps, image ?? withoutDigest(current));
}

/** The reference by its tag; one that has only a digest stays pinned. */
function withoutDigest(image: string): string {
  const [name = ""] = image.split("@");
  return name.lastIndexOf(":") > name.lastIndexOf("/") ? name : image;
}

/** See {@linkcode pinned}. @param image As a user writes it. */
export async function resolveImage(deps: Deps, image: string): Promise<string> {
  if (image.includes("@") || !findReference(image)) return image;
  try {
    const auth = authFor(deps, { TaskTemplate: { ContainerSpec: { Image: image } } });
    const { Descriptor } = await distributionInspect(deps.engine, image, { auth });
    return Descriptor?.digest ? `${image}@${Descriptor.digest}` : image;
  } catch (error) {
    if (error instanceof EngineError) return image;
    throw error;
  }
}
