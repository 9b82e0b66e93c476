/**
 * Paths on the host. A relative path is relative to the directory of the file that has it.
 *
 * @module
 */

import { isInside } from "../../text/paths.ts";
import { isAbsolute, join, normalize } from "node:path";
import { parsed, text } from "./scalars.ts";
import type { Reader } from "./reader.ts";
import { fail, quote, type Scope, warn } from "./scope.ts";
import { trimEnd } from "../../text/trim_end.ts";

/** `C:\data`, which the engine on Windows takes. */
const WINDOWS_PATH = /^[A-Za-z]:[\\/]|^\\\\/;

/** Whether the source of a short mount is a path, not the name of a volume. */
export const isPath = (source: string) => /^[./~]/.test(source) || WINDOWS_PATH.test(source);

/** Whether the engine takes it as the path of a mount in a container. */
export const isAbsolutePath = (path: string) => isAbsolute(path) || WINDOWS_PATH.test(path);

/** Without slashes at the end; the root stays. */
export const trimSlash = (path: string) => path.slice(0, 1) + trimEnd(path.slice(1), "/");

/**
 * Returns the path on the host; without a directory of the project, the path relative to it, with a
 * leading `./`.
 *
 * @throws {Error} For a path in a home directory.
 */
export function resolvePath(path: string, { base }: Pick<Scope, "base">): string {
  if (path.startsWith("~")) {
    throw new Error(
      "must not begin with ~: the service has no home directory; write the full path",
    );
  }
  if (WINDOWS_PATH.test(path)) return path;
  const resolved = trimSlash(normalize(isAbsolute(path) ? path : join(base, path)));
  return /^(?:\/|\.\.?(?:\/|$))/.test(resolved) ? resolved : `./${resolved}`;
}

/**
 * Reports a path of the host that cannot be mounted: it stays relative, because the project has no
 * directory, or it is not in the allowed directories.
 */
export function checkMounted(path: string, where: string, scope: Scope): void {
  if (!isAbsolutePath(path)) {
    const report = scope.refusesRelative ? fail : warn;
    report(
      scope,
      where,
      `mounts ${quote(path)}, but the stack has no directory for relative paths`,
    );
  } else if (scope.bindAllow && !scope.bindAllow.some((allowed) => isInside(path, allowed))) {
    fail(scope, where, `mounts ${quote(path)} of the host, which BIND_ALLOW does not allow`);
  }
}

/** A path on the host, e.g. of an env file. */
export const hostPath: Reader<string> = (node, path, scope) =>
  parsed((value) => resolvePath(value, scope), text)(node, path, scope);

/** A path in the container, with options behind a colon; the image's own if it is empty. */
export const containerPath: Reader<string> = parsed((path) => {
  if (path === "" || isAbsolutePath(path)) return path;
  throw new Error("must be an absolute path");
});
