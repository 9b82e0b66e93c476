/**
 * Labels with which Compose and Swarm mark the containers of a stack, without those that come from an
 * image: who publishes an image must not put the containers of others into a stack.
 *
 * Images built by Compose carry its project, service and version themselves. So all labels of a group
 * count once at least one of them is the container's own, i.e. missing in its image or different there.
 *
 * @module
 */

import type { Engine } from "../../engine/client.ts";
import type { ContainerInspect } from "../../engine/containers.ts";
import { EngineError } from "../../engine/errors.ts";
import { fullImageId } from "../../engine/image_id.ts";
import { imageInspect } from "../../engine/images.ts";
import { KEPT_LIMITS } from "../../engine/shortened_json.ts";
import { isUnreadable } from "./unreadable.ts";

type Labels = Readonly<Record<string, string>>;

interface Group {
  has(name: string): boolean;
  /** Set per container; decides where the labels of the image cannot be read. */
  perContainer: string;
}

const COMPOSE: Group = {
  has: (name) => name.startsWith("com.docker.compose."),
  perContainer: "com.docker.compose.config-hash",
};

const SWARM: Group = {
  has: (name) => name === "com.docker.stack.namespace" || name.startsWith("com.docker.swarm."),
  perContainer: "com.docker.swarm.task.id",
};

/** Most images whose labels are kept; images never change, so that an old entry stays true. */
const IMAGES_MAX = 4_096;

/** Labels of an image; some are cut or left out if it was not read in full. */
interface ImageLabels {
  labels: Labels;
  isCut: boolean;
}

interface Cache {
  known: Map<string, ImageLabels>;
  reads: Map<string, Promise<void>>;
}

const caches = new WeakMap<Engine, Cache>();

/**
 * The labels of a container without the Compose or Swarm labels that come from its image.
 *
 * @param imageLabels `undefined` if they are unknown, e.g. because the image was removed by force.
 * @param isCut Some of them are cut or left out, and may be those of the container.
 */
export function ownLabels<L extends Labels>(
  labels: L,
  { imageId, imageLabels, isCut = false }: {
    imageId: string;
    imageLabels: Labels | undefined;
    isCut?: boolean | undefined;
  },
): L {
  const isFromImage = (name: string, given: Labels) =>
    labels[name] === given[name] || isBeginning(labels[name]!, given[name]) ||
    (isCut && (given[name] === undefined || isBeginning(given[name], labels[name])));
  const foreign = [COMPOSE, SWARM].filter((group) => {
    const names = Object.keys(labels).filter(group.has);
    if (names.length === 0 || (group === COMPOSE && namesImage(labels, imageId))) return false;
    return imageLabels === undefined
      ? !names.includes(group.perContainer)
      : names.every((name) => isFromImage(name, imageLabels));
  });
  if (foreign.length === 0) return labels;
  return Object.fromEntries(
    Object.entries(labels).filter(([name]) => !foreign.some(({ has }) => has(name))),
  ) as L;
}

/** Whether a label is another one that was cut. */
const isBeginning = (cut: string, value: string | undefined): boolean =>
  cut.endsWith("…") && value !== undefined && value.startsWith(cut.slice(0, -1));

/** As {@linkcode ownLabels}, with what {@linkcode learnImage} read of the image. */
export function knownOwnLabels(
  engine: Engine,
  labels: Record<string, string> | null | undefined,
  image: string,
): Record<string, string> {
  const imageId = fullImageId(image);
  const known = caches.get(engine)?.known.get(imageId);
  return ownLabels(labels ?? {}, { imageId, imageLabels: known?.labels, isCut: known?.isCut });
}

/**
 * Reads the labels of a container's image once, if they decide whether it belongs to a stack.
 *
 * @throws {EngineUnreachableError}
 */
export async function learnImage(
  engine: Engine,
  labels: Record<string, string> | null | undefined,
  image: string,
): Promise<void> {
  const imageId = fullImageId(image);
  const isKnown = namesImage(labels ?? {}, imageId);
  const isOpen = (name: string) => SWARM.has(name) || (!isKnown && COMPOSE.has(name));
  if (!Object.keys(labels ?? {}).some(isOpen)) return;
  const cache = caches.get(engine) ?? { known: new Map(), reads: new Map() };
  caches.set(engine, cache);
  if (cache.known.has(imageId)) return;
  const read = cache.reads.get(imageId) ?? readImage(engine, cache, imageId);
  cache.reads.set(imageId, read);
  try {
    await read;
  } finally {
    cache.reads.delete(imageId);
  }
}

/** As {@linkcode learnImage}, for the engine's description of a container. */
export const learnImageOf = (engine: Engine, { Config, Image }: ContainerInspect): Promise<void> =>
  learnImage(engine, Config.Labels, Image);

async function readImage(engine: Engine, { known }: Cache, imageId: string): Promise<void> {
  try {
    const { Config, Truncated = false } = await imageInspect(engine, imageId, {
      limits: KEPT_LIMITS,
    });
    const entries = Object.entries(Config?.Labels ?? {});
    if (known.size >= IMAGES_MAX) known.delete(known.keys().next().value!);
    known.set(imageId, {
      labels: Object.fromEntries(
        entries.filter(([name]) => COMPOSE.has(name) || SWARM.has(name)),
      ),
      isCut: Truncated,
    });
  } catch (error) {
    // An image that was removed or is damaged must not hide all containers.
    if (!(error instanceof EngineError) && !await isUnreadable(engine, error)) throw error;
  }
}

/** No image can contain its own id, so that a container with it was made by Compose or Longshore. */
const namesImage = (labels: Labels, imageId: string): boolean =>
  fullImageId(labels["com.docker.compose.image"] ?? "") === imageId;
