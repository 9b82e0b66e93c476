/**
 * New containers that take the place of old ones, created under temporary names, and copies of old
 * ones that could not return otherwise.
 *
 * @module
 */

import type { Engine } from "../../../engine/client.ts";
import type { ContainerInspect } from "../../../engine/containers.ts";
import { EngineError } from "../../../engine/errors.ts";
import { type ImageInspect, imageInspect, imageTag } from "../../../engine/images.ts";
import type { Deps } from "../../deps.ts";
import { asContainer, inspectContainer, type ReadDeps } from "../../containers/reads.ts";
import { withoutContainerValues } from "../../containers/secret_values.ts";
import { refersTo } from "../../containers/share_group.ts";
import { assertComplete } from "../../containers/unreadable.ts";
import { previousTag } from "../../images/previous_tag.ts";
import type { RecreateOptions, Recreation } from "../recreate/recreate.ts";
import { nameOf, planSameImage, prepareReplacement, removeAndWait } from "../recreate/replace.ts";
import { whileNamed } from "./image_name.ts";
import { type InterruptDeps, throwIfInterrupted } from "./interruption.ts";
import { inspectIfThere, type Member, type Pair, temporaryName } from "./members.ts";
import { planContainer } from "./plan.ts";

type CreateDeps = ReadDeps & InterruptDeps & Pick<Deps, "diskUsage" | "log">;

interface NewImage {
  reference: string;
  imageId: string;
  defaultRuntime: string | undefined;
}

/**
 * Creates the new container of each member under a temporary name, and gives the old image a name
 * that keeps it from being pruned. Old containers that cannot return are copied: those that the
 * engine removes when they stop, and those that depend on one. No old container is changed.
 *
 * @param members The target first, then its dependents in topological order.
 * @throws {AppError} With the engine's message; then no new container is left.
 */
export async function createReplacements(
  deps: CreateDeps,
  members: readonly Member[],
  image: NewImage,
): Promise<Pair[]> {
  return await createEach(deps, members, image, []);
}

/**
 * Creates the new container of each dependent of containers that were replaced before, with the same
 * image, as {@linkcode createReplacements} does.
 *
 * @param members In topological order.
 */
export async function createDependents(
  deps: CreateDeps,
  members: readonly Member[],
  { replaced, defaultRuntime }: Pick<NewImage, "defaultRuntime"> & { replaced: readonly Pair[] },
): Promise<Pair[]> {
  return await createEach(deps, members, { defaultRuntime }, replaced);
}

async function createEach(
  deps: CreateDeps,
  members: readonly Member[],
  image: NewImage | Pick<NewImage, "defaultRuntime">,
  replaced: readonly Pair[],
): Promise<Pair[]> {
  const known: { pair: Pair; old: ContainerInspect }[] = [];
  for (const pair of replaced) {
    const old = await inspectIfThere(deps.engine, pair.oldId);
    if (old) known.push({ pair, old });
  }
  const pairs: Pair[] = [];
  const successorsBy = (old: ContainerInspect, id: (pair: Pair) => string | undefined) =>
    successorsOf(deps, old, known.map((each) => each.old), known.map(({ pair }) => id(pair)));
  const { defaultRuntime } = image;
  try {
    for (const member of members) {
      const old = await inspectContainer(deps, member.oldId);
      const successors = successorsBy(old, ({ newId }) => newId);
      const newId = known.length === 0 && "reference" in image
        ? await create(deps, { old, member, role: "new" }, await planTarget(deps, old, image))
        : await createSame(deps, { old, member, role: "new" }, { defaultRuntime, successors });
      const pair: Pair = { ...member, newId };
      pairs.push(pair);
      const copies = successorsBy(old, ({ copyId }) => copyId);
      if ((member.ran && old.HostConfig.AutoRemove) || copies.size > 0) {
        pair.copyId = await createSame(deps, { old, member, role: "copy" }, {
          defaultRuntime,
          successors: copies,
        });
      }
      known.push({ pair, old });
    }
    return pairs;
  } catch (error) {
    const failure = await throwIfInterrupted(deps, error);
    await discard(deps, pairs);
    await discard(deps, copiesOf(pairs));
    throw failure;
  }
}

/** Origin of a new container: the old one, as it is now and as it was before the update. */
interface Origin {
  old: ContainerInspect;
  member: Member;
  role: "new" | "copy";
}

async function create(
  deps: CreateDeps,
  { old, member, role }: Origin,
  plan: Recreation,
): Promise<string> {
  try {
    return await prepareReplacement(deps, plan, {
      name: member.name,
      temporaryName: temporaryName(member, role),
    });
  } catch (error) {
    throw await withoutContainerValues(deps.engine, old, error);
  }
}

/** Creates a container from the image that the old one has, by the reference that it has. */
async function createSame(
  deps: CreateDeps,
  { old, member, role }: Origin,
  options: Pick<RecreateOptions, "defaultRuntime" | "successors">,
): Promise<string> {
  const reference = old.Config.Image || old.Image;
  return await whileNamed(deps, { reference, imageId: old.Image }, async (reference) => {
    const plan = await planSameImage(deps, old, options);
    return await create(deps, { old, member, role }, {
      ...plan,
      create: { ...plan.create, Image: reference },
    });
  });
}

async function planTarget(
  { engine }: CreateDeps,
  old: ContainerInspect,
  { reference, imageId, defaultRuntime }: NewImage,
) {
  const newImage = await imageInspect(engine, imageId);
  assertComplete(old, `Container ${nameOf(old)}`);
  assertComplete(newImage, `Image ${reference}`);
  const oldImage = await tagPrevious(engine, old, newImage);
  assertComplete(oldImage ?? {}, `The image of ${nameOf(old)}`);
  return planContainer(old, {
    oldImage,
    newImage,
    reference,
    apiVersion: engine.apiVersion,
    defaultRuntime,
  }).recreation;
}

/** Names the image that the container runs, unless the new one runs it, too. */
async function tagPrevious(
  engine: Engine,
  old: ContainerInspect,
  newImage: ImageInspect,
): Promise<ImageInspect | undefined> {
  try {
    const image = await imageInspect(engine, old.Image);
    if (image.Id === newImage.Id) return image;
    await imageTag(engine, image.Id, previousTag(nameOf(old), image.Id));
    return image;
  } catch (error) {
    if (error instanceof EngineError && error.status === 404) return undefined;
    throw error;
  }
}

/** The containers that an old one's references to containers lead to, if these replace `olds`. */
function successorsOf(
  deps: CreateDeps,
  old: ContainerInspect,
  olds: readonly ContainerInspect[],
  ids: readonly (string | undefined)[],
): Map<string, string> {
  const { shares, links } = asContainer(deps, old);
  return new Map([...shares, ...links].flatMap((ref) => {
    const id = ids[olds.findIndex((each) => refersTo(ref, asContainer(deps, each)))];
    return id === undefined ? [] : [[ref, id] as const];
  }));
}

/** The copies in the place of the new containers. */
const copiesOf = (pairs: readonly Pair[]): Pair[] =>
  pairs.flatMap(({ copyId, ...pair }) => copyId === undefined ? [] : [{ ...pair, newId: copyId }]);

/**
 * Removes new containers that are not in place.
 *
 * @returns A sentence for each that could not be removed.
 */
export async function discard(
  deps: InterruptDeps & Pick<Deps, "log">,
  pairs: readonly Pair[],
): Promise<string[]> {
  const problems: string[] = [];
  for (const { name, newId } of pairs.toReversed()) {
    try {
      await removeAndWait(deps.engine, newId, { volumes: true });
    } catch (error) {
      deps.log.error("failed to remove the new container of an update", {
        container: name,
        id: newId,
        error: `${error}`,
      });
      await throwIfInterrupted(deps, error);
      problems.push(`the new container of ${name} (${newId.slice(0, 12)}) could not be removed`);
    }
  }
  return problems;
}
