/**
 * The first steps of a deploy: getting the images, and deciding what is done to which container.
 *
 * @module
 */

import type { ContainerInspect } from "../../../engine/containers.ts";
import { ifThere } from "../../../engine/errors.ts";
import { fullImageId } from "../../../engine/image_id.ts";
import { nameReference } from "../../../engine/image_reference.ts";
import { imageInspect } from "../../../engine/images.ts";
import { systemInfo } from "../../../engine/system.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { withOwnPolicy } from "../../containers/left_stopped.ts";
import { asContainer, listAll } from "../../containers/reads.ts";
import { hideValues } from "../../containers/secret_values.ts";
import { pullImage } from "../../images/pull.ts";
import type { PullPolicy } from "../../images/pull_policy.ts";
import type { Identity } from "../../containers/reservations.ts";
import { isUp, nameOf } from "../../updates/recreate/replace.ts";
import { inspectIfThere, type Member, memberOf } from "../../updates/run/members.ts";
import type { Service } from "../load/resolve.ts";
import { startOrderOf } from "../plan/start_order.ts";
import { assertInside } from "../plan/boundary.ts";
import { type Dependents, dependentsOfPlan } from "../plan/dependents.ts";
import type { PlanOptions } from "../plan/options.ts";
import type { PlannedChange } from "../plan/change.ts";
import { planProject } from "../plan/plan.ts";
import { numberOf, replicasOf } from "../plan/replicas.ts";
import { observe } from "../plan/observe.ts";
import type { Observed } from "../plan/observed.ts";
import { findImage, imageKey, platformConflicts } from "../plan/platform.ts";
import type { LoadedStack } from "../plan/stored.ts";
import { containerNameOf } from "./container.ts";
import { planDeployUndone } from "./data.ts";
import { filesOf } from "./files.ts";
import { replacedNetworks } from "./networks.ts";
import type { DeployJob, NamedImage, PlannedDeploy, ServiceWork } from "./job.ts";

export const optionsOf = (
  { recreate, removeOrphans, services }: DeployJob["input"],
): PlanOptions => ({ recreate, removeOrphans, services: services ?? undefined });

/** Finds the images on this host that the references of the project name. */
export async function nameImages(
  { engine }: Pick<Deps, "engine">,
  { project }: Pick<LoadedStack, "project">,
): Promise<NamedImage[]> {
  const references = new Set(Object.values(project.services).map(({ image }) => image));
  const named: NamedImage[] = [];
  for (const reference of references) {
    const image = await ifThere(imageInspect(engine, nameReference(reference)));
    named.push({ reference, imageId: image ? fullImageId(image.Id) : null });
  }
  return named;
}

/**
 * Pulls what the policies require, for the platform of each service.
 *
 * @throws {AppError} With the registry's refusal; `conflict` if the engine cannot keep all images.
 */
export async function pullImages(
  deps: Deps,
  { input, progress, signal }: DeployJob,
  { project }: LoadedStack,
): Promise<void> {
  const info = await systemInfo(deps.engine);
  const [conflict] = platformConflicts(project, info);
  if (conflict !== undefined) throw new AppError("conflict", conflict);
  const byImage = Map.groupBy(Object.values(project.services), imageKey);
  for (const users of byImage.values()) {
    const [service] = users as [Service];
    const policies = users.map((each) => input.pull ?? policyOf(each));
    const isWanted = policies.includes("always") ||
      (policies.includes("missing") && !await findImage(deps.engine, service, info));
    if (!isWanted) continue;
    const { image, platform = null } = service;
    await pullImage(deps, { input: { image, platform }, progress, signal });
  }
}

function policyOf({ pull_policy: policy }: Service): PullPolicy {
  return policy === "always" || policy === "never" ? policy : "missing";
}

/**
 * Compares the project with the engine, as the plan of the API does, and assigns each change to
 * containers.
 *
 * @throws {AppError} `conflict` for a missing external part or image, and if Longshore's own
 * container would be replaced.
 */
export async function planDeploy(
  deps: Deps,
  { input }: DeployJob,
  stack: LoadedStack,
): Promise<PlannedDeploy> {
  const { project } = stack;
  // A dependent that was created a moment ago may not be in the snapshot yet.
  await listAll(deps);
  const observed = await observe(deps, stack);
  if (input.isConfined) assertInside(stack, observed);
  assertNamed(stack, input, observed);
  const { changes, warnings, refusals } = planProject(project, observed, optionsOf(input));
  if (refusals.length > 0) throw new AppError("conflict", refusals.join("; "));
  const keysOf = (kind: PlannedChange["kind"], wanted: PlannedChange["action"]) =>
    changes.filter(({ kind: each, action }) => each === kind && action === wanted)
      .map(({ name }) => name);

  const services: ServiceWork[] = [];
  const removed: PlannedDeploy["removed"] = [];
  const byKey = new Map(
    changes.filter(({ kind }) => kind === "service").map((change) => [change.name, change]),
  );
  for (const key of [...startOrderOf(stack.project), ...byKey.keys()]) {
    const change = byKey.get(key);
    if (!change) continue;
    byKey.delete(key);
    const { action } = change;
    if (action === "none") continue;
    const { kept, superfluous, missing, stopped } = replicasOf(project, key, observed.containers);
    const replaced: ServiceWork["replaced"] = [];
    if (action === "recreate") {
      for (const each of kept) {
        assertNotOwn(deps, each, key);
        const member = await memberOf(each);
        const name = deps.inventory.temporary.originalOf({ id: each.Id, name: member.name });
        replaced.push({ ...member, name, number: numberOf(each) });
      }
    }
    for (const each of superfluous) {
      assertNotOwn(deps, each, key);
      removed.push({ ...await memberOf(each), key });
    }
    if (!Object.hasOwn(project.services, key)) continue;
    if (missing.length > 0 || replaced.length > 0) {
      assertCreatable(stack, key, observed.imageIds);
    }
    const started = action === "recreate"
      ? []
      : stopped.map((each) => ({ id: each.Id, name: nameOf(each) }));
    if (replaced.length + missing.length + started.length > 0) {
      services.push({ key, replaced, created: missing, started });
    }
  }
  return {
    changes: changes.map(({ kind, name, action }) => ({ kind, name, action })),
    warnings: [...stack.warnings, ...warnings].map((text) => hideValues(text, stack.secretValues)),
    networks: keysOf("network", "create"),
    replacedNetworks: await replacedNetworks(
      deps,
      project,
      keysOf("network", "recreate"),
      observed,
    ),
    volumes: keysOf("volume", "create"),
    services,
    removed,
    dependents: await dependentMembers(deps, input, dependentsOfPlan(changes, project, observed)),
    existing: observed.containers.map(({ Id }) => Id),
    untouched: untouchedOf(observed.containers, [
      ...removed,
      ...services.flatMap(({ replaced }) => replaced),
    ]),
    undone: await planDeployUndone(deps, input, project, observed, changes),
  };
}

/** @throws {AppError} `conflict` if something has given a reference another image meanwhile. */
function assertNamed(
  { project: { services } }: LoadedStack,
  { images = [] }: DeployJob["input"],
  { imageIds }: Observed,
): void {
  for (const { image, platform } of Object.values(services)) {
    const wanted = images.find(({ reference }) => reference === image)?.imageId ?? null;
    // An engine may show the image of one platform under an id of its own.
    if (wanted === null || platform !== undefined || imageIds.get(image) === wanted) continue;
    throw new AppError("conflict", `${image} does not name the image any more that it has to`);
  }
}

function untouchedOf(
  containers: readonly ContainerInspect[],
  changed: readonly Member[],
): Identity[] {
  return containers.filter((each) => isUp(each) && !changed.some(({ oldId }) => oldId === each.Id))
    .map((each) => ({ id: each.Id, name: nameOf(each) }));
}

/** The containers that a deploy replaces, creates, starts or removes. */
export const changedContainers = (
  { project }: Pick<LoadedStack, "project">,
  { services, removed, dependents = [] }: PlannedDeploy,
): Identity[] => [
  ...[...removed, ...dependents, ...services.flatMap(({ replaced }) => replaced)]
    .map(({ oldId: id, name }) => ({ id, name })),
  ...services.flatMap(({ key, created, started }) => [
    ...started,
    ...created.map((number) => ({ id: "", name: containerNameOf(project, key, number) })),
  ]),
];

/** @throws {AppError} `conflict` for one that is not reserved, or is this service itself. */
async function dependentMembers(
  { db, engine }: Deps,
  { affected }: DeployJob["input"],
  { recreated }: Dependents,
): Promise<Member[]> {
  const members: Member[] = [];
  for (const { id, name, self } of recreated) {
    if (self) {
      throw new AppError("conflict", `Longshore itself uses a namespace of the stack's containers`);
    }
    if (!affected.some((each) => each.id === id || each.name === name)) {
      throw new AppError("conflict", `A container that depends on the stack was created meanwhile`);
    }
    const container = await inspectIfThere(engine, id);
    if (container) members.push(await memberOf(withOwnPolicy(db, container)));
  }
  return members;
}

function assertCreatable(
  { project, contents }: LoadedStack,
  key: string,
  imageIds: ReadonlyMap<string, string>,
): void {
  const service = project.services[key]!;
  const image = imageKey(service);
  if (!imageIds.has(image)) {
    throw new AppError("conflict", `Image ${image} of ${key} does not exist and is not pulled`);
  }
  if (service.read_only && filesOf(project, key, contents).length > 0) {
    const text = `${key} has read_only, so that configs and secrets cannot be copied into it`;
    throw new AppError("conflict", text);
  }
}

function assertNotOwn(deps: Deps, container: Parameters<typeof asContainer>[1], key: string): void {
  if (!asContainer(deps, container).self) return;
  throw new AppError(
    "conflict",
    `${key} is Longshore itself and cannot be replaced by its own deploy; update it with Compose`,
  );
}
