/**
 * The service's own data, which no request for files reaches: it has the keys of stored secrets, and
 * everything that checks of accounts and the audit log rely on.
 *
 * @module
 */

import { resolve } from "node:path";
import { isInside } from "../text/paths.ts";
import type { Container } from "../containers/inventory.ts";
import { currentContainers, type ReadDeps } from "../containers/reads.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";

/** The data directory: a volume, or a directory of the host. */
type OwnData = { volume: string } | { directory: string };

/** Finds the mount of `DATA_DIR` if the service runs in a container. */
export async function findOwnData(deps: ReadDeps & Pick<Deps, "config">): Promise<OwnData> {
  const dataDir = resolve(deps.config.dataDir);
  const own = (await currentContainers(deps)).find(({ self }) => self);
  const mounts = (own?.details.mounts ?? [])
    .filter(({ destination }) => isInside(dataDir, destination))
    .sort((a, b) => b.destination.length - a.destination.length);
  const [mount] = mounts;
  if (!mount) return { directory: dataDir };
  if (mount.type === "volume" && mount.name !== null) return { volume: mount.name };
  return { directory: mount.source + dataDir.slice(mount.destination.length) };
}

/** Paths of a container at which it has the data mounted. */
export const pathsOfData = ({ details }: Container, data: OwnData): string[] =>
  details.mounts.flatMap(({ type, name, source, destination }) => {
    if ("volume" in data) return type === "volume" && name === data.volume ? [destination] : [];
    if (type !== "bind") return [];
    if (isInside(source, data.directory)) return [destination];
    return isInside(data.directory, source)
      ? [destination + data.directory.slice(source.length)]
      : [];
  });

/**
 * @param path Absolute, as `data` is.
 * @param data Paths of the data.
 * @param access A change of a directory around the data would change it, too.
 * @throws {AppError} `forbidden`
 */
export function assertNotData(
  path: string,
  data: readonly string[],
  access: "read" | "change",
): void {
  const isOwn = data.some((each) =>
    isInside(path, each) || (access === "change" && isInside(each, path))
  );
  if (isOwn) throw ownData(path);
}

export const ownData = (what: string) =>
  new AppError("forbidden", `${what} has the service's own data, which is not available as files`);
