/**
 * The service's own data, which no request for files and no snapshot reaches: it has the keys of stored
 * secrets, and everything that checks of accounts and the audit log rely on.
 *
 * @module
 */

import { join, relative, resolve } from "node:path";
import { type Volume, volumeList } from "../../../engine/volumes.ts";
import { isInside } from "../../text/paths.ts";
import type { Container } from "../../containers/inventory.ts";
import { currentContainers, type ReadDeps } from "../../containers/reads.ts";
import type { Deps } from "../../deps.ts";
import type { MountSource } from "../../containers/helper_container.ts";
import { AppError } from "../../errors.ts";

/** The data directory. */
interface OwnData {
  /** Name of the volume that it is in; `null` for a directory of the host. */
  volume: string | null;
  /** Its absolute paths on the host, also in a volume: other containers may mount what is around. */
  directories: string[];
}

/** Finds the mount of `DATA_DIR` if the service runs in a container. */
export async function findOwnData(deps: ReadDeps & Pick<Deps, "config">): Promise<OwnData> {
  const dataDir = resolve(deps.config.dataDir);
  const own = (await currentContainers(deps)).find(({ self }) => self);
  const mounts = (own?.details.mounts ?? [])
    .filter(({ destination }) => isInside(dataDir, destination))
    .sort((a, b) => b.destination.length - a.destination.length);
  const [mount] = mounts;
  if (!mount) return { volume: null, directories: await withRealPaths([dataDir]) };
  const isVolume = mount.type === "volume";
  const volumes = isVolume ? await volumeList(deps.engine) : [];
  const below = relative(mount.destination, dataDir);
  return {
    volume: isVolume ? mount.name : null,
    directories: directoriesOf(mount, volumes).map((each) => join(each, below)),
  };
}

/**
 * Directories, and those that they are behind symbolic links, as far as this process sees them. In a
 * container, it does not see those of the host (`docs/snapshots.md`).
 */
export const withRealPaths = async (directories: readonly string[]): Promise<string[]> => {
  const real = directories.map((each) => Deno.realPath(each).catch(() => each));
  return [...new Set([...directories, ...await Promise.all(real)])];
};

/**
 * Paths of a container at which it has the data mounted.
 *
 * @param volumes All of the engine.
 */
export async function pathsOfData(
  { details }: Container,
  data: OwnData,
  volumes: readonly Volume[],
): Promise<string[]> {
  const paths = details.mounts.map(async (mount) => {
    const { destination, name } = mount;
    if (name !== null && name === data.volume) return [destination];
    return (await withRealPaths(directoriesOf(mount, volumes))).flatMap((source) =>
      data.directories.flatMap((directory) => {
        if (isInside(source, directory)) return [destination];
        return isInside(directory, source) ? [join(destination, relative(source, directory))] : [];
      })
    );
  });
  return [...new Set((await Promise.all(paths)).flat())];
}

type Mount = Container["details"]["mounts"][number];

const directoriesOf = ({ source, name }: Mount, volumes: readonly Volume[]): string[] => {
  const volume = name === null ? undefined : volumes.find(({ Name }) => Name === name);
  return absolute(source, ...volume ? directoriesOfVolume(volume) : []);
};

/** Directories of the host that a volume has: its own, and one that it mounts. */
export const directoriesOfVolume = ({ Mountpoint, Options }: Volume): string[] =>
  absolute(Mountpoint, Options?.["device"]);

const absolute = (...paths: (string | undefined)[]): string[] => [
  ...new Set(paths.flatMap((path) => path?.startsWith("/") ? resolve(path) : [])),
];

/**
 * @param path Absolute, as `data` is.
 * @param data Paths of the data.
 * @param access A change of a directory around the data would change it, too.
 * @throws {AppError} `forbidden`
 */
export function assertNotData(
  path: string,
  data: readonly string[],
  access: Access,
): void {
  if (isOwn(path, data, access)) throw ownData(path);
}

export type Access = "read" | "change";

const isOwn = (path: string, data: readonly string[], access: Access): boolean =>
  data.some((each) => isInside(path, each) || (access === "change" && isInside(each, path)));

export type OwnDataCheck = (
  mount: MountSource,
  path?: string,
  access?: Access,
) => Promise<boolean>;

/** @returns Whether a volume or a directory of the host has the data, or a path in it with `read`. */
export async function ownDataCheck(
  deps: ReadDeps & Pick<Deps, "config">,
): Promise<OwnDataCheck> {
  const data = await findOwnData(deps);
  const volumes = await volumeList(deps.engine);
  return async ({ type, source }, path = "", access = "change") => {
    if (type === "volume" && source === data.volume) return true;
    const directories = type === "bind"
      ? [source]
      : volumes.filter(({ Name }) => Name === source).flatMap(directoriesOfVolume);
    return (await withRealPaths(directories)).some((each) =>
      isOwn(join(each, path), data.directories, access)
    );
  };
}

export const ownData = (what: string) =>
  new AppError("forbidden", `${what} has the service's own data, which is not available as files`);

/** @throws {AppError} `forbidden` for a part of a snapshot or a restore with the data. */
export async function assertNotOwn(
  deps: ReadDeps & Pick<Deps, "config">,
  parts: readonly { path: string; mount: MountSource }[],
): Promise<void> {
  const isOwnMount = await ownDataCheck(deps);
  for (const { path, mount } of parts) {
    if (!await isOwnMount(mount)) continue;
    throw new AppError(
      "forbidden",
      `${path} has the service's own data, which only its own backup has (longshore backup)`,
    );
  }
}
