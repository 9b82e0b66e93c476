/** Changes of files that archives cannot express: emptying, deleting, renaming. @module */

import { AppError } from "../../errors.ts";
import type { ByteString } from "../restic/entry.ts";
import { showPath } from "./limits.ts";
import { programError } from "./program_output.ts";
import { EXIT, failureOf, FUNCTIONS, pairOf, runScript, type Shell } from "./shell.ts";

/**
 * Deletes everything in a volume. Its own owner and mode stay. After a failure a part is deleted.
 *
 * @throws {AppError} `conflict` with the reason, e.g. a file that is immutable.
 */
export async function emptyVolume(shell: Shell, signal: AbortSignal): Promise<void> {
  const text = "find . -mindepth 1 -maxdepth 1 -exec rm -rf -- {} +";
  const end = await runScript(shell, { text, isReadOnly: false, signal });
  if (end.exitCode !== 0) throw programError(`${shell.place} could not be emptied`, end);
}

/**
 * Deletes a file, or a directory with everything in it.
 *
 * @throws {AppError} `not_found`; `conflict` for a path behind a symbolic link, and with the reason of a
 * failure.
 */
export async function deletePath(
  shell: Shell,
  path: ByteString,
  signal: AbortSignal,
): Promise<void> {
  const text = `find_file "$1" "$2"; exists "$name" || exit ${EXIT.isMissing}
rm -rf -- "$name"`;
  await change(shell, path, text, pairOf(path), signal);
}

/**
 * Renames a file or directory, also into another directory.
 *
 * @throws {AppError} As `deletePath()`, and `conflict` if the new path exists.
 */
export async function renamePath(
  shell: Shell,
  { from, to }: { from: ByteString; to: ByteString },
  signal: AbortSignal,
): Promise<void> {
  const args = [...pairOf(from), ...pairOf(to)];
  if (to.startsWith(`${from}/`)) {
    throw new AppError("conflict", `Path ${showPath(from)} cannot be moved into itself`);
  }
  // The open directory stays the same one if its name is given to a link meanwhile.
  const text = `find_file "$1" "$2"; exists "$name" || exit ${EXIT.isMissing}
exec 3< .; from=/proc/self/fd/3/$path; echo found
find_file "$3" "$4"; exists "$name" && exit ${EXIT.exists}
mv -- "$from" "$name"`;
  const { output, ...end } = await runScript(shell, {
    text: FUNCTIONS + text,
    ...{ args, isReadOnly: false, signal },
  });
  if (end.exitCode !== 0) throw failureOf(shell, output === "" ? from : to, end);
}

/**
 * Creates a directory in an existing one.
 *
 * @throws {AppError} As `renamePath()`.
 */
export async function makeDirectory(
  shell: Shell,
  path: ByteString,
  signal: AbortSignal,
): Promise<void> {
  const text = `find_file "$1" "$2"; exists "$name" && exit ${EXIT.exists}
mkdir -- "$name"; chown -h "$(stat -c %u:%g .)" "$name"`;
  await change(shell, path, text, pairOf(path), signal);
}

async function change(
  shell: Shell,
  path: ByteString,
  script: string,
  args: string[],
  signal: AbortSignal,
): Promise<void> {
  const text = FUNCTIONS + script;
  const end = await runScript(shell, { text, args, isReadOnly: false, signal });
  if (end.exitCode !== 0) throw failureOf(shell, path, end);
}
