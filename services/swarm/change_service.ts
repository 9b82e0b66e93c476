/** Requests to change a service; each starts a job. @module */

import { parseReference } from "../../engine/image_reference.ts";
import type { Service } from "../../engine/swarm.ts";
import { type Caller, includesRole, mayDo } from "../access/caller.ts";
import { isLimited } from "../access/scope.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { isSameRepository, parseImage } from "../images/reference.ts";
import { assertRegistryReach } from "../images/registries/access.ts";
import type { NamedJobKind } from "../jobs/kind.ts";
import { startJob } from "../jobs/runner.ts";
import type { JobView } from "../jobs/view.ts";
import { onManager } from "./access.ts";
import { assertNoneOwn } from "./own_service.ts";
import { findService } from "./reads.ts";
import {
  restartKind,
  scaleKind,
  type ServiceInput,
  serviceRollbackKind,
  serviceUpdateKind,
  type UpdateChoice,
} from "./service_jobs.ts";
import { hasEarlierVersion } from "./service_views.ts";
import { assertGrantsExist } from "./values.ts";
import { modeOf, STACK_LABEL } from "./services.ts";

/** @throws {AppError} As {@linkcode open}; `conflict` for a service that is not replicated. */
export async function scaleService(
  deps: Deps,
  caller: Caller,
  ref: string,
  replicas: number,
): Promise<JobView> {
  const service = await open(deps, caller, ref);
  const mode = modeOf(service);
  if (mode !== "replicated") {
    const what = mode === "job" ? "job" : "global service";
    throw new AppError("conflict", `${nameOf(service)} is a ${what} and cannot be scaled`);
  }
  return start(deps, caller, scaleKind, service, { replicas });
}

/** @throws {AppError} As {@linkcode open}. */
export async function restartService(deps: Deps, caller: Caller, ref: string): Promise<JobView> {
  return start(deps, caller, restartKind, await open(deps, caller, ref), {});
}

/**
 * @throws {AppError} As {@linkcode open}; `conflict` if Swarm has no earlier version, or it used a secret or
 * config that is gone.
 */
export async function rollBackService(deps: Deps, caller: Caller, ref: string): Promise<JobView> {
  const service = await open(deps, caller, ref);
  if (!hasEarlierVersion(service)) {
    throw new AppError("conflict", `Swarm has no earlier version of ${nameOf(service)}`);
  }
  await assertGrantsExist(deps, service.PreviousSpec!);
  return start(deps, caller, serviceRollbackKind, service, {});
}

/**
 * @throws {AppError} As {@linkcode open}; `invalid` for an invalid reference, and for a registry on
 * this host without an entry, unless the caller may add one; `forbidden` for another repository,
 * unless the caller is an admin.
 */
export async function updateService(
  deps: Deps,
  caller: Caller,
  ref: string,
  choice: UpdateChoice,
): Promise<JobView> {
  if (choice.image !== undefined) parseImage(choice.image);
  const service = await open(deps, caller, ref);
  const { image } = choice;
  if (image !== undefined) {
    assertRepository(caller, image, service);
    if (!mayDo(caller, "admin", "registries:write")) {
      await assertRegistryReach(deps, parseReference(image), "body.image");
    }
  }
  return start(deps, caller, serviceUpdateKind, service, { choice });
}

/**
 * Another program gets the environment, secrets and mounts of the service, on any node.
 *
 * @throws {AppError} `forbidden`
 */
function assertRepository({ role, scope }: Caller, image: string, { Spec }: Service): void {
  if (includesRole(role, "admin") && !isLimited(scope)) return;
  if (isSameRepository(image, Spec.TaskTemplate?.ContainerSpec?.Image ?? "")) return;
  throw new AppError(
    "forbidden",
    "body.image: the role admin, without an API token that is limited to stacks, is required for " +
      "another repository than that of the service; choose a tag or a digest of it",
  );
}

/**
 * @throws {AppError} `not_found`, also for a service outside of the caller's scope; `conflict` for the
 * service that Longshore itself runs in, and on an engine that does not manage a swarm.
 */
async function open(deps: Deps, caller: Caller, ref: string): Promise<Service> {
  const service = await onManager(deps, () => findService(deps, caller, ref));
  assertNoneOwn(deps, [service]);
  return service;
}

const nameOf = ({ ID, Spec }: Service) => Spec.Name ?? ID;

function start<Input extends ServiceInput>(
  deps: Deps,
  caller: Caller,
  kind: NamedJobKind<Input, unknown>,
  service: Service,
  input: Omit<Input, keyof ServiceInput>,
): JobView {
  const stack = service.Spec.Labels?.[STACK_LABEL] ?? null;
  return startJob(deps, kind, {
    target: nameOf(service),
    input: { id: service.ID, stack, ...input } as Input,
    caller,
  }).job;
}
