/**
 * Objects that a prune may remove: stopped containers, and objects that no remaining container
 * uses. A dry run uses the same lists.
 *
 * @module
 */

import { containerInspect, containerRemove } from "../../engine/containers.ts";
import { EngineError } from "../../engine/errors.ts";
import { fullImageId } from "../../engine/image_id.ts";
import { imageInspect, imageList, imageRemove, type ImageSummary } from "../../engine/images.ts";
import {
  type Network,
  networkList,
  networkRemove,
  PREDEFINED_NETWORKS,
} from "../../engine/networks.ts";
import { volumeList, volumeRemove } from "../../engine/volumes.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import type { Container } from "../containers/inventory.ts";
import { engineTime } from "../containers/engine_time.ts";
import { type Identity, volumeIdentity } from "../containers/reservations.ts";
import type { ReadDeps } from "../containers/reads.ts";
import { imageNames } from "./images.ts";
import { ifReadable } from "../containers/unreadable.ts";
import { isPreviousTag } from "./previous_tag.ts";

/** An object that a prune removes. */
export interface PrunedItem {
  id: string;
  name: string;
  /** Bytes; `null` if unknown. */
  size: number | null;
}

export interface Candidate extends PrunedItem {
  /** @throws {EngineError} 403, 404 or 409 if it is in use or no longer exists. */
  remove(): Promise<unknown>;
}

export interface PruneScope {
  /** ISO 8601, UTC: newer objects are kept. `undefined` removes objects of any age. */
  before: string | undefined;
  /** The remaining containers; the objects that they use are kept. */
  remaining: readonly Container[];
  /** Includes tagged images. */
  unusedImages: boolean;
}

export type PruneDeps = ReadDeps & Pick<Deps, "diskUsage" | "now" | "reservations">;

/** Cache records that the engine's own prune keeps. */
const KEPT_CACHE_TYPES = new Set(["internal", "frontend"]);

/** Containers that are not running, except those with an action in progress. */
export async function unusedContainers(
  deps: PruneDeps,
  { before, remaining }: PruneScope,
): Promise<Candidate[]> {
  const stopped = remaining.filter((container) =>
    isRemovable(container) && isOld(before, container.createdAt, container.finishedAt) &&
    findAction(deps, container) === undefined
  );
  const candidates: Candidate[] = [];
  for (const { id, name } of stopped) {
    const inspect = await ifReadable(
      deps.engine,
      containerInspect(deps.engine, id, { size: true }),
    );
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
 * Networks to which no container is attached. Stopped containers count, because they could not be
 * started without the network. Networks of a swarm are kept.
 *
 * @throws {AppError} `conflict` during an action, which may detach its container temporarily.
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
    Scope === "local" && !Ingress && ConfigOnly !== true && !PREDEFINED_NETWORKS.has(Name) &&
    !used.has(Id) && !used.has(Name) && isOld(before, engineTime(Created));
  return (await networkList(deps.engine)).filter(isUnused).map((network) => ({
    id: network.Id,
    name: network.Name,
    size: 0,
    remove: () => networkRemove(deps.engine, network),
  }));
}

/**
 * Volumes of the local driver that no container mounts, including named volumes, except those with an
 * action in progress: a restore writes to volumes that have no container yet.
 */
export async function unusedVolumes(
  deps: PruneDeps,
  { before, remaining }: PruneScope,
): Promise<Candidate[]> {
  const used = new Set(remaining.flatMap(({ volumes }) => volumes));
  const unused = (await volumeList(deps.engine)).filter(({ Name, Driver, CreatedAt }) =>
    Driver === "local" && !used.has(Name) && isOld(before, engineTime(CreatedAt)) &&
    deps.reservations.find(volumeIdentity(Name)) === undefined
  );
  if (unused.length === 0) return [];
  const items = (await deps.diskUsage.read())?.usage.volumes.items ?? [];
  const sizes = new Map(items.map(({ name, size }) => [name, size]));
  return unused.map(({ Name }) => {
    const size = sizes.get(Name) ?? -1;
    return {
      id: Name,
      name: Name,
      size: size < 0 ? null : size,
      remove: () => removeVolume(deps, Name),
    };
  });
}

/**
 * Images that no container uses: untagged ones, and all with `unusedImages`, except those that are
 * kept for a rollback.
 */
export async function unusedImages(
  deps: PruneDeps,
  { before, remaining, unusedImages }: PruneScope,
): Promise<Candidate[]> {
  const { engine } = deps;
  const used = new Set(remaining.map(({ imageId }) => fullImageId(imageId)));
  const candidates: Candidate[] = [];
  const images = await imageList(engine, { sharedSize: true });
  // Newest first, because an image is refused while others are based on it.
  images.sort((a, b) => b.Created - a.Created || (a.Id < b.Id ? -1 : 1));
  for (const image of images) {
    const tags = imageNames(image.RepoTags).sort();
    if (used.has(fullImageId(image.Id)) || (tags.length > 0 && !unusedImages)) continue;
    if (tags.some(isPreviousTag)) continue;
    // An old image may have been pulled or tagged recently.
    const inspect = await ifReadable(engine, imageInspect(engine, image.Id));
    const taggedAt = engineTime(inspect?.Metadata?.LastTagTime);
    if (!inspect || !isOld(before, engineTime(image.Created), taggedAt)) continue;
    const names = tags.length > 0 ? tags : imageNames(image.RepoDigests);
    candidates.push({
      id: fullImageId(image.Id),
      name: names[0] ?? image.Id,
      size: uniqueSize(image),
      // By name: the engine refuses the id of an image with several names.
      remove: async () => {
        for (const ref of names.length > 0 ? names : [image.Id]) await imageRemove(engine, ref);
      },
    });
  }
  return candidates;
}

/**
 * Records of the build cache that are not in use. For a dry run only: the engine's prune makes its
 * own selection.
 *
 * @throws {AppError} `unavailable` if the engine does not compute its disk usage in time.
 */
export async function unusedCache(
  deps: PruneDeps,
  { before }: Pick<PruneScope, "before">,
): Promise<PrunedItem[]> {
  const snapshot = await deps.diskUsage.read();
  if (!snapshot) throw new AppError("unavailable", "The engine is still computing its disk usage");
  return snapshot.usage.buildCache.items
    .filter(({ type, inUse, shared, lastUsedAt }) =>
      !inUse && !shared && !KEPT_CACHE_TYPES.has(type) && isOld(before, engineTime(lastUsedAt))
    )
    .map(({ id, size }) => ({ id, name: id, size }));
}

const isRemovable = ({ state, self }: Container) =>
  !self && (state === "created" || state === "exited" || state === "dead");

/** Whether all known times are before the limit. Without a known time the object counts as new. */
function isOld(before: string | undefined, ...times: (string | null)[]): boolean {
  if (before === undefined) return true;
  const known = times.filter((time) => time !== null);
  return known.length > 0 && known.every((time) => time < before);
}

/** Describes the action in progress on a container, or an interrupted rebuild, as a clause. */
function findAction(
  { inventory, reservations }: PruneDeps,
  container: Identity,
): string | undefined {
  const { id, name } = container;
  const action = reservations.find(container);
  if (action !== undefined) return action;
  const original = inventory.temporary.originalOf({ id, name });
  return original === name ? undefined : `the rebuild of ${original} is unfinished`;
}

/** Checks again before removing: a rebuild or a start may have begun in the meantime. */
async function removeContainer(deps: PruneDeps, id: string): Promise<void> {
  const { engine, inventory, reservations } = deps;
  const container = { id, name: (await containerInspect(engine, id)).Name.replace(/^\//, "") };
  const action = findAction(deps, container);
  if (action) throw new EngineError(409, action);
  using _ = reservations.reserve(container, "removed");
  await containerRemove(engine, id);
  // The engine's event may be late, but the next read must not show the container.
  inventory.remove(id, inventory.readNumber());
}

/** Checks again before removing, as {@linkcode removeContainer}. */
async function removeVolume({ engine, reservations }: PruneDeps, name: string): Promise<void> {
  const volume = volumeIdentity(name);
  const action = reservations.find(volume);
  if (action !== undefined) throw new EngineError(409, action);
  using _ = reservations.reserve(volume, "removed");
  await volumeRemove(engine, name);
}

/** The bytes that a removal frees; layers that are shared with other images stay. */
function uniqueSize({ Size, SharedSize = -1 }: ImageSummary): number {
  return Math.max(0, Size - Math.max(0, SharedSize));
}
