/**
 * Scripts that work on files where these are: in a helper container that has a volume mounted, or in
 * a container itself. Paths are relative; symbolic links in them are not followed.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { AppError } from "../../errors.ts";
import type { ByteString } from "../restic/entry.ts";
import type { HelperImage } from "./helper_image.ts";
import { type HelperMounts, streamProgram } from "./helper_program.ts";
import { parentOf, showPath } from "./limits.ts";
import type { VolumeDeps } from "./mounted.ts";
import { type ProgramEnd, programError } from "./program_output.ts";
import { DECODE, encodePath } from "./shell_path.ts";

/** A script of POSIX's shell, which runs with `set -eu`. `$root` is the directory with the files. */
export interface Script {
  text: string;
  /** `$1` and so on. */
  args?: readonly string[];
  isReadOnly: boolean;
  /** Its standard input. A stream that fails ends the input; the error is that of the script. */
  input?: ReadableStream<Uint8Array> | undefined;
  signal: AbortSignal;
}

/** Runs scripts in one place. */
export interface Shell {
  /**
   * Passes on the output. A caller that stops reading ends the script.
   *
   * @returns How it ended, as the last value of the generator.
   */
  run(script: Script): AsyncGenerator<Uint8Array, ProgramEnd>;
  /** For messages, e.g. `volume shop_data`. */
  place: string;
}

/** The shell of a volume, or of a directory of the host. */
export const helperShell = (
  deps: VolumeDeps,
  { image, ...mounts }: HelperMounts & { image: HelperImage },
): Shell => ({
  run: ({ text, ...script }) => streamProgram(deps, { image, ...mounts, ...script, script: text }),
  place: mounts.source.source,
});

/** Longest output of a script that says little, in bytes. */
const OUTPUT_MAX = 4096;

/**
 * Runs a script with little output.
 *
 * @throws {AppError} `conflict` for more output than any script has.
 */
export async function runScript(
  shell: Shell,
  script: Script,
): Promise<ProgramEnd & { output: string }> {
  const running = shell.run(script);
  let output = "";
  try {
    for (;;) {
      const { done, value } = await running.next();
      if (done) return { ...value, output };
      output += Buffer.from(value).toString("latin1");
      if (output.length > OUTPUT_MAX) throw unexpected(shell);
    }
  } finally {
    await running.return(undefined as never);
  }
}

/** The error of a hostile container, or one with other programs. */
export const unexpected = ({ place }: Shell) =>
  new AppError("conflict", `The programs in ${place} do not answer as expected`);

/** Exit codes of the scripts. */
export const EXIT = {
  isIncomplete: 91,
  lacksProgram: 92,
  isBehindLink: 93,
  isMissing: 94,
  exists: 95,
  isNotFile: 97,
  hasChanged: 98,
  isNotNew: 99,
} as const;

/**
 * `decode` undoes `encodePath()` into `$path`; `enter` goes to a directory and fails if a symbolic link
 * led there, `find_file` to that of a file, which `$name` then names.
 */
export const FUNCTIONS = `
line='
'
${DECODE}
enter() {
  decode "$1"
  cd -P -- "$root/$path" 2> /dev/null || exit ${EXIT.isMissing}
  want=$root\${path:+/$path}
  here=$(pwd -P; echo x)
  [ "$here" = "\${want:-/}\${line}x" ] || exit ${EXIT.isBehindLink}
}
exists() { [ -e "$1" ] || [ -L "$1" ]; }
is_file() { [ -f "$1" ] && [ ! -L "$1" ]; }
find_file() { enter "$1"; decode "$2"; name=./$path; }
`;

/** Directory and name of a path, as arguments. */
export function pairOf(path: ByteString): [directory: string, name: string] {
  if (path === "") throw new AppError("invalid", "The root directory cannot be changed so");
  const directory = parentOf(path);
  return [
    encodePath(directory),
    encodePath(path.slice(directory === "" ? 0 : directory.length + 1)),
  ];
}

/** The error of a script that failed. */
export function failureOf({ place }: Shell, path: ByteString, end: ProgramEnd): AppError {
  const shown = showPath(path);
  switch (end.exitCode) {
    case EXIT.isMissing:
      return new AppError("not_found", `Path ${shown} does not exist in ${place}`);
    case EXIT.isBehindLink:
      return new AppError("conflict", `Path ${shown} is behind a symbolic link; use its real path`);
    case EXIT.exists:
      return new AppError("conflict", `Path ${shown} already exists`);
    case EXIT.isNotFile:
      return new AppError("conflict", `Path ${shown} is not a regular file`);
    case EXIT.hasChanged:
      return new AppError("precondition_failed", `Path ${shown} was changed meanwhile`);
    case EXIT.isNotNew:
      return new AppError("precondition_failed", `Path ${shown} already exists`);
    case EXIT.isIncomplete:
      return new AppError("conflict", `Path ${shown} was not written: the content was incomplete`);
  }
  return programError(`Path ${shown} could not be used`, end);
}
