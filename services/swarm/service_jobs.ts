/** Changes of services, as jobs: scale, restart, rollback, update. @module */

import { distributionInspect } from "../../engine/distribution.ts";
import { EngineError } from "../../engine/errors.ts";
import { findReference } from "../../engine/image_reference.ts";
import { type Service, serviceInspect, type ServiceSpec, serviceUpdate } from "../../engine/swarm.ts";
import { sha256 } from "../builtins.ts";
import type { Deps } from "../deps.ts";
import type { JobRun, NamedJobKind } from "../jobs/kind.ts";
import { authFor, withForcedUpdate, withReplicas } from "./actions.ts";
import { converge, type ServiceResult } from "./converge.ts";
import { retryOutOfSequence } from "./sequence.ts";

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

type Change<Input> = (
  deps: Deps,
  service: Service,
  input: Input,
) => ServiceSpec | Promise<ServiceSpec>;

const SHARED = {
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
  change: Change<Input>,
  options: { rollback?: "previous" } = {},
): NamedJobKind<Input, ServiceResult> {
  const run = (deps: Deps, job: JobRun<Input>) => changeService(deps, job, change, options);
  return { ...SHARED, ...words, run, recover: run };
}

export const scaleKind = serviceKind<ServiceInput & { replicas: number }>({
  id: "service.scale",
  title: "Scale",
  running: "Scaling {target}",
  role: "operator",
}, (_, { Spec }, { replicas }) => withReplicas(Spec, replicas));

export const restartKind = serviceKind<ServiceInput>({
  id: "service.restart",
  title: "Restart",
  running: "Restarting {target}",
  role: "operator",
}, (_, { Spec }) => withForcedUpdate(Spec));

export const serviceRollbackKind = serviceKind<ServiceInput>({
  id: "service.rollback",
  title: "Rollback",
  running: "Rolling {target} back",
  role: "operator",
}, (_, { Spec }) => Spec, { rollback: "previous" });

export const serviceUpdateKind = serviceKind<ServiceInput & { choice: UpdateChoice }>({
  id: "service.update",
  title: "Update",
  running: "Updating {target}",
  role: "admin",
}, async (deps, { Spec }, { choice }) => withChoice(Spec, choice, await pinned(deps, Spec, choice)));

async function changeService<Input extends ServiceInput>(
  deps: Deps,
  job: JobRun<Input>,
  change: Change<Input>,
  { rollback }: { rollback?: "previous" },
): Promise<ServiceResult> {
  const { engine } = deps;
  const { input: { id } } = job;
  const before = await job.step("read", async () => {
    const { Spec, UpdateStatus } = await serviceInspect(engine, id);
    return { spec: hashOf(Spec), startedAt: UpdateStatus?.StartedAt };
  });
  const isRepeated = job.hasBegun("change");
  await job.step("change", () =>
    retryOutOfSequence(async () => {
      const service = await serviceInspect(engine, id);
      // An earlier process has changed it before it could record that.
      if (isRepeated && hashOf(service.Spec) !== before.spec) return null;
      const spec = await change(deps, service, job.input);
      const auth = authFor(deps, spec);
      await serviceUpdate(engine, id, service.Version.Index, spec, { auth, rollback });
      return null;
    }));
  return await job.step("wait", () =>
    converge(deps, job, id, { StartedAt: before.startedAt }, {
      isRollback: rollback !== undefined,
    }));
}

const hashOf = (spec: ServiceSpec) => sha256(JSON.stringify(spec));

/** The swarm returns to the earlier version if new tasks fail. */
function withChoice(spec: ServiceSpec, choice: UpdateChoice, image: string): ServiceSpec {
  const { parallelism, delaySeconds, monitorSeconds, order } = choice;
  return {
    ...spec,
    TaskTemplate: {
      ...spec.TaskTemplate,
      ContainerSpec: { ...spec.TaskTemplate?.ContainerSpec, Image: image },
    },
    UpdateConfig: {
      ...spec.UpdateConfig,
      ...(parallelism !== undefined && { Parallelism: parallelism }),
      ...(delaySeconds !== undefined && { Delay: delaySeconds * 1e9 }),
      ...(monitorSeconds !== undefined && { Monitor: monitorSeconds * 1e9 }),
      ...(order !== undefined && { Order: order }),
      FailureAction: "rollback",
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
  const wanted = image ?? current.replace(/(?<=:[^/]+)@sha256:.*$/, "");
  return await resolveImage(deps, wanted);
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
