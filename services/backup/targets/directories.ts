/**
 * Directories that targets may be in. An admin's token must not be able to write into the service's
 * own data or into files of others. Nothing here blocks the event loop: a network share may hang.
 *
 * @module
 */

import { basename, dirname, join, resolve } from "node:path";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { systemReason } from "../../text/system_reason.ts";

/** Directory of targets in `DATA_DIR`. */
export const SNAPSHOTS_DIRECTORY = "snapshots";

/** Entries of a directory beside a repository that a file system makes. */
const OF_FILE_SYSTEM = new Set(["lost+found"]);

/** Errors that stay as long as the path; others, such as that of a share whose server is away, do not. */
const OF_PATH = new Set(["EACCES", "ELOOP", "ENAMETOOLONG", "ENOENT", "ENOTDIR", "EPERM"]);

/**
 * Checks a directory by its real path, which links on the way lead to.
 *
 * @returns The real path.
 * @throws {AppError} `conflict` for a directory outside of the allowed ones, for one with files that
 * are not a repository's, and for a path that cannot be used; `bad_gateway` if its disk cannot be read.
 */
export async function checkDirectory(
  { config }: Pick<Deps, "config">,
  path: string,
): Promise<string> {
  const problem = (text: string) => new AppError("conflict", `Directory ${path} ${text}`);
  try {
    const dataDir = await realPath(resolve(config.dataDir));
    const snapshots = await realPath(join(resolve(config.dataDir), SNAPSHOTS_DIRECTORY));
    const roots = await Promise.all(config.backupDirs.map(realPath));
    const real = await realPath(path);
    const isAllowed = isWithin(real, snapshots) ||
      roots.some((root) => isWithin(real, root)) &&
        !isWithin(real, dataDir) && !isWithin(dataDir, real);
    if (!isAllowed) {
      throw problem(
        `must be below DATA_DIR/${SNAPSHOTS_DIRECTORY} or one of BACKUP_DIRS; ` +
          "an operator can add its directory to BACKUP_DIRS",
      );
    }
    if (!await isUsable(real)) throw problem("has other files; choose an empty or a new directory");
    return real;
  } catch (error) {
    if (error instanceof AppError) throw error;
    const reason = `cannot be used: ${systemReason(error)}`;
    if (OF_PATH.has((error as { code?: string }).code ?? "")) throw problem(reason);
    throw new AppError("bad_gateway", `Directory ${path} ${reason}`);
  }
}

const isWithin = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(`${directory}/`);

/** The real path of what exists, with the rest that does not. */
async function realPath(path: string): Promise<string> {
  return path === "/" || await isThere(path)
    ? await Deno.realPath(path)
    : join(await realPath(dirname(path)), basename(path));
}

/** A repository, an empty directory, or one that does not exist yet. */
async function isUsable(path: string): Promise<boolean> {
  if (!await isThere(path)) return true;
  const names = (await Array.fromAsync(Deno.readDir(path))).map(({ name }) => name);
  return names.includes("config") || names.every((name) => OF_FILE_SYSTEM.has(name));
}

/** Whether the path exists, also as a dangling link. */
async function isThere(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
