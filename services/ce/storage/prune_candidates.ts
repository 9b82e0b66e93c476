/**
 * What a prune may remove: containers that ended, and what no remaining container uses. A dry run
 * and the real run share these lists, so that one announces what the other removes.
 *
 * @module
 */

import { containerInspect, containerRemove } from "../../../engine/containers.ts";
import { EngineError } from "../../../engine/errors.ts";
import { imageInspect, imageList, imageRemove, type ImageSummary } from "../../../engine/images.ts";
import { type Network, networkList, networkRemove } from "../../../engine/networks.ts";
import { volumeList, volumeRemove } from "../../../engine/volumes.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { Container } from "../../state/inventory.ts";
import { engineTime } from "../../state/engine_time.ts";
import type { Identity } from "../../state/reservations.ts";
import type { ReadDeps } from "../containers/reads.ts";
import { currentDiskUsage, type UsageDeps } from "./disk_usage.ts";
import { readMark } from "../rebuild/marks.ts";

/** One object that a prune removes. */
export interface PrunedItem {
  id: string;
  name: string;
  /** Bytes; `null` where the engine does not know. */
  size: number | null;
}

export interface Candidate extends PrunedItem {
  /** Fails with 403, 404 or 409 where it is in use or gone by now. */
  remove(): Promise<unknown>;
}

export interface PruneScope {
  /** ISO 8601, UTC: what was created or ended later is kept. `undefined` keeps nothing. */
  before: string | undefined;
  /** The containers that are left; what they use is kept. */
  remaining: readonly Container[];
  /** Also images that have a tag. */
  unusedImages: boolean;
}

export type PruneDeps = ReadDeps & UsageDeps & Pick<Deps, "reservations">;

/** Networks that the engine makes for itself. */
const OWN_NETWORKS = new Set(["bridge", "host", "none", "ingress", "docker_gwbridge", "podman"]);

/** Cache records that the engine keeps in a prune of what is not in use. */
const KEPT_CACHE_TYPES = new Set(["internal", "frontend"]);

/** Containers that do not run, apart from those with an action in progress. */
export async function unusedContainers(
  deps: PruneDeps,
  { before, remaining }: PruneScope,
): Promise<Candidate[]> {
  const ended = remaining.filter((container) =>
    isOver(container) && isOld(before, container.createdAt, container.finishedAt) &&
    findAction(deps, container) === undefined
  );
  const candidates: Candidate[] = [];
  for (const { id, name } of ended) {
    const inspect = await unlessGone(containerInspect(deps.engine, id, { size: true }));
    if (!inspect) continue;
    candidates.push({
      id,
      name,
      size: Math.max(0, inspect.SizeRw ?? 0),
      remove: () => removeContainer(deps, id),
    });
  }
  return candidates;
}

/**
 * Networks to which no container is attached, not even one that does not run: it could not be
 * started again. Networks of a swarm are kept.
 *
 * @throws {AppError} `conflict` during an action, whose container may be detached for a moment.
 */
export async function unusedNetworks(
  deps: PruneDeps,
  { before, remaining }: PruneScope,
): Promise<Candidate[]> {
  for (const container of remaining) {
    const action = findAction(deps, container);
    if (action) throw new AppError("conflict", `Networks are kept while ${action}`);
  }
  const used = new Set(
    remaining.flatMap(({ attachments }) =>
      attachments.map(({ networkId, network }) => networkId || network)
    ),
  );
  const isUnused = ({ Id, Name, Scope, Ingress, ConfigOnly, Created }: Network) =>
    Scope === "local" && !Ingress && ConfigOnly !== true && !OWN_NETWORKS.has(Name) &&
    !used.has(Id) && !used.has(Name) && isOld(before, engineTime(Created));
  return (await networkList(deps.engine)).filter(isUnused).map(({ Id, Name }) => ({
    id: Id,
    name: Name,
    size: 0,
    remove: () => networkRemove(deps.engine, Id),
  }));
}

/** Volumes of the local driver that no container mounts, named ones too. */
export async function unusedVolumes(
  deps: PruneDeps,
  { before, remaining }: PruneScope,
): Promise<Candidate[]> {
  const used = new Set(remaining.flatMap(({ volumes }) => volumes));
  const unused = (await volumeList(deps.engine)).filter(({ Name, Driver, CreatedAt }) =>
    Driver === "local" && !used.has(Name) && isOld(before, engineTime(CreatedAt))
  );
  if (unused.length === 0) return [];
  const items = (await currentDiskUsage(deps))?.volumes.items ?? [];
  const sizes = new Map(items.map(({ name, size }) => [name, size]));
  return unused.map(({ Name }) => {
    const size = sizes.get(Name) ?? -1;
    return {
      id: Name,
      name: Name,
      size: size < 0 ? null : size,
      remove: () => volumeRemove(deps.engine, Name),
    };
  });
}

/** Images that no container uses: those without a tag, and with `unusedImages` all of them. */
export async function unusedImages(
  deps: PruneDeps,
  { before, remaining, unusedImages }: PruneScope,
): Promise<Candidate[]> {
  const { engine } = deps;
  const used = new Set(remaining.map(({ imageId }) => bareId(imageId)));
  const candidates: Candidate[] = [];
  for (const image of await imageList(engine, { sharedSize: true })) {
    const tags = namesIn(image.RepoTags);
    if (used.has(bareId(image.Id)) || (tags.length > 0 && !unusedImages)) continue;
    // A pull or a tag of the last hour is newer than the image itself.
    const inspect = await unlessGone(imageInspect(engine, image.Id));
    const taggedAt = engineTime(inspect?.Metadata?.LastTagTime);
    if (!inspect || !isOld(before, engineTime(image.Created), taggedAt)) continue;
    const names = tags.length > 0 ? tags : namesIn(image.RepoDigests);
    candidates.push({
      id: image.Id.includes(":") ? image.Id : `sha256:${image.Id}`,
      name: names[0] ?? image.Id,
      size: ownSize(image),
      // By name: the engine refuses the id of an image that has several.
      remove: async () => {
        for (const ref of names.length > 0 ? names : [image.Id]) await imageRemove(engine, ref);
      },
    });
  }
  return candidates;
}

/**
 * Records of the build cache that are not in use. The engine itself decides when it prunes.
 *
 * @throws {AppError} `unavailable` while the engine is computing its disk usage.
 */
export async function unusedCache(
  deps: PruneDeps,
  { before }: Pick<PruneScope, "before">,
): Promise<PrunedItem[]> {
  const usage = await currentDiskUsage(deps);
  if (!usage) throw new AppError("unavailable", "The engine is still computing its disk usage");
  return usage.buildCache.items
    .filter(({ type, inUse, shared, lastUsedAt }) =>
      !inUse && !shared && !KEPT_CACHE_TYPES.has(type) && isOld(before, engineTime(lastUsedAt))
    )
    .map(({ id, size }) => ({ id, name: id, size }));
}

const isOver = ({ state, self }: Container) =>
  !self && (state === "created" || state === "exited" || state === "dead");

/** Whether all known times are before the limit; without a known time it counts as new. */
function isOld(before: string | undefined, ...times: (string | null)[]): boolean {
  if (before === undefined) return true;
  const known = times.filter((time) => time !== null);
  return known.length > 0 && known.every((time) => time < before);
}

/** The action in progress on a container, also a rebuild that was interrupted; as a clause. */
function findAction({ reservations }: PruneDeps, container: Identity): string | undefined {
  const { name } = container;
  const interrupted = readMark(name) && `the rebuild of ${name} is unfinished`;
  return reservations.find(container) ?? interrupted;
}

/** Asks again just before: a rebuild or a start may have begun since the list was made. */
async function removeContainer(deps: PruneDeps, id: string): Promise<void> {
  const { engine, inventory, reservations } = deps;
  const container = { id, name: (await containerInspect(engine, id)).Name.replace(/^\//, "") };
  const action = findAction(deps, container);
  if (action) throw new EngineError(409, action);
  using _ = reservations.reserve(container, "removed");
  await containerRemove(engine, id);
  // The next read must not show it any more, however late the engine's event comes.
  inventory.remove(id, inventory.readNumber());
}

/** The bytes that removing it frees: layers that other images share stay. */
function ownSize({ Size, SharedSize = -1 }: ImageSummary): number {
  return Math.max(0, Size - Math.max(0, SharedSize));
}

/** Podman leaves the algorithm out. */
const bareId = (id: string) => id.replace(/^sha256:/, "");

/** The engine writes `<none>:<none>` for no name at all. */
const namesIn = (names: readonly string[] | null) =>
  (names ?? []).filter((name) => !name.includes("<none>"));

async function unlessGone<T>(asking: Promise<T>): Promise<T | undefined> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof EngineError && error.status === 404) return undefined;
    throw error;
  }
}
