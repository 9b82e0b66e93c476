/**
 * Paths on the host. A relative path is relative to the directory of the file that has it.
 *
 * @module
 */

import { isAbsolute, join, normalize } from "node:path";
import { parsed, type Reader, text } from "./readers.ts";
import { fail, type Scope, warn } from "./scope.ts";

/** `C:\data`, which the engine on Windows takes. */
const WINDOWS_PATH = /^[A-Za-z]:[\\/]|^\\\\/;

/** Whether the source of a short mount is a path, not the name of a volume. */
export const isPath = (source: string) => /^[./~]/.test(source) || WINDOWS_PATH.test(source);

/** Whether the engine takes it as the path of a mount in a container. */
export const isAbsolutePath = (path: string) => isAbsolute(path) || WINDOWS_PATH.test(path);

/** Without slashes at the end; the root stays. */
export const trimSlash = (path: string) => path.replace(/(?<=.)\/+$/, "");

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

/** Reports a path that stays relative, because the project has no directory. */
export function reportRelative(path: string, where: string, scope: Scope): void {
  if (isAbsolutePath(path)) return;
  const report = scope.refusesRelative ? fail : warn;
  report(scope, where, "is relative to a directory, which the stack does not have");
}

/** A path on the host, e.g. of an env file. */
export const hostPath: Reader<string> = (node, path, scope) =>
  parsed((value) => resolvePath(value, scope), text)(node, path, scope);
