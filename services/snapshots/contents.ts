/** Contents of a snapshot of a stack or of volumes, and the containers that write to them. @module */

import type { Deps } from "../deps.ts";
import { volumeList } from "../../engine/volumes.ts";
import { isInside } from "../text/paths.ts";
import { directoryPart, type Part, volumePart } from "../backup/trees/part.ts";
import { assertNotOwn, type OwnDataCheck, ownDataCheck } from "../backup/volumes/own_data.ts";
import { isConcerned, usersOf, type VolumeUser } from "../backup/volumes/users.ts";
import type { Container } from "../containers/inventory.ts";
import type { ReadDeps } from "../containers/reads.ts";
import { AppError } from "../errors.ts";
import { unique } from "../unique.ts";
import { findStack } from "../stacks/stacks.ts";

/** A container that uses a part. */
interface PartUser extends VolumeUser {
  /** Path of the part in the snapshot. */
  part: string;
}

export interface Contents {
  /** `null` for single volumes. */
  stack: string | null;
  /** The containers of the stack, or those that use the volumes. */
  containers: Container[];
  parts: Part[];
  /** The containers that use one of the parts. */
  users: PartUser[];
  /** Those of them that are outside of the stack. */
  shared: PartUser[];
  /**
   * Volumes and directories of the host that the snapshot does not have: those with the service's own
   * data, and directories that are not below `STACK_ROOTS`.
   */
  leftOut: string[];
}

type ContentsDeps = ReadDeps & Pick<Deps, "config" | "db" | "swarm">;

/**
 * The volumes of a compose project and its directories below `STACK_ROOTS`.
 *
 * @throws {AppError} `not_found`; `conflict` for a Swarm stack, whose volumes are on many hosts.
 */
export async function contentsOfStack(deps: ContentsDeps, name: string): Promise<Contents> {
  const { kind, services } = await findStack(deps, name);
  if (kind === "swarm") {
    throw new AppError(
      "conflict",
      `Stack ${name} is managed by Swarm; choose volumes of this host`,
    );
  }
  const containers = services.flatMap((service) => service.containers);
  const isOwn = await ownDataCheck(deps);
  const { parts, leftOut } = await partsOf(containers, deps.config.stackRoots, isOwn);
  const own = new Set(containers.map(({ id }) => id));
  const users = await usersOfParts(deps, parts);
  const shared = users.filter(({ container }) => !own.has(container.id));
  return { stack: name, containers, parts, users, shared, leftOut };
}

/**
 * Volumes with the containers that use them. Whether they exist is found out when they are read.
 *
 * @throws {AppError} `forbidden` for the volume with the service's own data.
 */
export async function contentsOfVolumes(
  deps: ContentsDeps,
  names: readonly string[],
): Promise<Contents> {
  const parts = [...new Set(names)].map(volumePart);
  await assertNotOwn(deps, parts);
  const users = await usersOfParts(deps, parts);
  const containers = distinct(users.map(({ container }) => container));
  return { stack: null, containers, parts, users, shared: [], leftOut: [] };
}

/** Those that are concerned, also by a mount of the directory of a volume. */
async function usersOfParts(deps: ContentsDeps, parts: readonly Part[]): Promise<PartUser[]> {
  const volumes = new Map((await volumeList(deps.engine)).map((each) => [each.Name, each]));
  const users: PartUser[] = [];
  for (const { path, mount } of parts) {
    const volume = mount.type === "volume" ? volumes.get(mount.source) : undefined;
    const found = await usersOf(deps, mount, volume?.Mountpoint);
    users.push(...found.filter(isConcerned).map((user) => ({ ...user, part: path })));
  }
  return users;
}

/** The volumes and directories that a snapshot of containers has. */
export async function partsOf(
  containers: readonly Container[],
  roots: readonly string[],
  isOwn: OwnDataCheck,
): Promise<Pick<Contents, "parts" | "leftOut">> {
  const mounts = containers.flatMap(({ details }) => details.mounts);
  const names = new Set(mounts.flatMap(({ type, name }) => type === "volume" ? name ?? [] : []));
  const volumes = [...names].sort();
  const binds = [...new Set(mounts.flatMap(({ type, source }) => type === "bind" ? source : []))];
  const keptOf = async (type: "bind" | "volume", sources: readonly string[]) => {
    const found = sources.map(async (source) => await isOwn({ type, source }) ? [] : [source]);
    return (await Promise.all(found)).flat();
  };
  const keptVolumes = await keptOf("volume", volumes);
  const below = binds.filter((source) => roots.some((root) => isInside(source, root)));
  const kept = await keptOf("bind", below);
  // A directory in another one is read with it.
  const outer = kept.filter((source) =>
    !kept.some((other) => other !== source && isInside(source, other))
  );
  return {
    parts: [
      ...keptVolumes.map(volumePart),
      ...outer.sort().map(directoryPart),
    ],
    leftOut: [
      ...volumes.filter((name) => !keptVolumes.includes(name)),
      ...binds.filter((source) => !kept.includes(source)).sort(),
    ],
  };
}

/** The containers of the stack, and others that use what the snapshot has. */
export const stoppedFor = ({ containers, shared }: Contents): Container[] =>
  distinct([...containers, ...shared.map(({ container }) => container)]);

/** The containers that may write to what the snapshot has. */
export const writersOf = ({ users }: Contents): Container[] =>
  distinct(users.filter(({ isReadOnly }) => !isReadOnly).map(({ container }) => container));

const distinct = (containers: readonly Container[]): Container[] =>
  unique(containers, ({ id }) => id);
