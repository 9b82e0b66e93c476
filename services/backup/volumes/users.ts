/** Containers that use a volume, and how large volumes are. @module */

import { findVolume } from "../../../engine/volumes.ts";
import { currentContainers, isUp, type ReadDeps } from "../../containers/reads.ts";
import type { Container } from "../../containers/inventory.ts";
import type { MountSource } from "../../containers/helper_container.ts";
import type { Deps } from "../../deps.ts";
import { isInside } from "../../text/paths.ts";
import { unique } from "../../unique.ts";

/** A container that has a volume, a directory of it or one that it is in mounted. */
export interface VolumeUser {
  container: Container;
  isReadOnly: boolean;
  /** Whether it has a directory around the volume mounted only, e.g. that of all volumes. */
  isAround: boolean;
  /** Whether it runs and is not paused, so that it may write at any moment. */
  isRunning: boolean;
}

/**
 * All users of a volume or a directory of the host, in any state and of any stack.
 *
 * @param mountpoint Directory of a volume on the host, by which bind mounts of it are found, too.
 */
export async function usersOf(
  deps: ReadDeps,
  { type, source }: MountSource,
  mountpoint?: string,
): Promise<VolumeUser[]> {
  const directory = type === "bind" ? source : mountpoint;
  return (await currentContainers(deps)).flatMap((container): VolumeUser[] => {
    const { volumes, details: { mounts }, state } = container;
    const found = mounts.filter((mount) =>
      (type === "volume" && mount.name === source) ||
      (directory !== undefined && mount.type === "bind" && overlap(mount.source, directory))
    );
    // The mounts of a container that the engine does not describe are not known.
    const isListed = type === "volume" && volumes.includes(source);
    if (found.length === 0 && !isListed) return [];
    return [{
      container,
      isReadOnly: found.length > 0 && found.every(({ readOnly }) => readOnly),
      isAround: found.length > 0 && found.every((mount) => isAround(mount, directory)),
      isRunning: isUp(container) && state !== "paused",
    }];
  });
}

/**
 * Whether it matters to a user that a volume is stored or replaced. It does not to one that reads all volumes
 * or the whole host, e.g. to measure them, and to Longshore, which sees those that it manages.
 */
export const isConcerned = ({ container, isAround, isReadOnly }: VolumeUser): boolean =>
  !(isAround && (isReadOnly || container.self));

/** A user of one of several volumes or directories. */
interface SourceUser extends VolumeUser {
  source: string;
}

/** The users of several volumes or directories that are {@linkcode isConcerned concerned}. */
export async function usersOfAll(
  deps: ReadDeps,
  sources: readonly MountSource[],
): Promise<SourceUser[]> {
  const all: SourceUser[] = [];
  for (const mount of sources) {
    const volume = mount.type === "volume"
      ? await findVolume(deps.engine, mount.source)
      : undefined;
    const users = await usersOf(deps, mount, volume?.Mountpoint);
    all.push(...users.filter(isConcerned).map((user) => ({ ...user, source: mount.source })));
  }
  return all;
}

/** The containers among them. */
export async function containersUsing(
  deps: ReadDeps,
  sources: readonly MountSource[],
): Promise<Container[]> {
  const users = await usersOfAll(deps, sources);
  return unique(users.map(({ container }) => container), ({ id }) => id);
}

/** Whether one directory is in the other, or the same. */
function overlap(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => path.endsWith("/") ? path : `${path}/`);
  return a!.startsWith(b!) || b!.startsWith(a!);
}

/** Whether a mount is a directory of the host that has another one in it. */
const isAround = (
  { type, source }: { type: string; source: string },
  directory: string | undefined,
): boolean =>
  type === "bind" && directory !== undefined && source !== directory && isInside(directory, source);

/**
 * Sizes of volumes in bytes, as the engine computes them; without those that it does not know. It may
 * take minutes, so the last answer is used if it takes longer than `waitMs`.
 */
export async function sizesOf(
  { diskUsage }: Pick<Deps, "diskUsage">,
  { waitMs }: { waitMs: number },
): Promise<Map<string, number>> {
  const items = (await diskUsage.read(waitMs))?.usage.volumes.items ?? [];
  return new Map(items.filter(({ size }) => size >= 0).map(({ name, size }) => [name, size]));
}
