/**
 * Directories that targets may be in. An admin's token must not be able to write into the service's
 * own data or into files of others.
 *
 * @module
 */

import { basename, dirname, join, resolve } from "node:path";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { isThere } from "../../secrets/private_file.ts";
import { systemReason } from "../../text/system_reason.ts";

/** Directory of targets in `DATA_DIR`. */
export const SNAPSHOTS_DIRECTORY = "snapshots";

/** Entries of a directory beside a repository that a file system makes. */
const OF_FILE_SYSTEM = new Set(["lost+found"]);

/**
 * Checks a directory by its real path, which links on the way lead to.
 *
 * @returns The real path.
 * @throws {AppError} `invalid` for a directory outside of the allowed ones, and for one with files
 * that are not a repository's.
 */
export function checkDirectory({ config }: Pick<Deps, "config">, path: string): string {
  const problem = (text: string) => new AppError("invalid", `body.location: ${text}`);
  try {
    const dataDir = realPath(resolve(config.dataDir));
    const snapshots = realPath(join(resolve(config.dataDir), SNAPSHOTS_DIRECTORY));
    const real = realPath(path);
    const isAllowed = isWithin(real, snapshots) ||
      config.backupDirs.some((root) => isWithin(real, realPath(root))) &&
        !isWithin(real, dataDir) && !isWithin(dataDir, real);
    if (!isAllowed) {
      throw problem(
        `must be below DATA_DIR/${SNAPSHOTS_DIRECTORY} or one of BACKUP_DIRS; ` +
          "an operator can add its directory to BACKUP_DIRS",
      );
    }
    if (!isUsable(real)) throw problem("has other files; choose an empty or a new directory");
    return real;
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw problem(`cannot be used: ${systemReason(error)}`);
  }
}

const isWithin = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(`${directory}/`);

/** The real path of what exists, with the rest that does not. */
function realPath(path: string): string {
  return isThere(path) || path === "/"
    ? Deno.realPathSync(path)
    : join(realPath(dirname(path)), basename(path));
}

/** A repository, an empty directory, or one that does not exist yet. */
function isUsable(path: string): boolean {
  if (!isThere(path)) return true;
  const names = [...Deno.readDirSync(path)].map(({ name }) => name);
  return names.includes("config") || names.every((name) => OF_FILE_SYSTEM.has(name));
}
