/**
 * Changes of a volume that archives cannot express, and listings that would need a whole archive. A
 * helper container makes them. Paths are relative; symbolic links in them are not followed.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import type { MountSource } from "../../containers/helper_container.ts";
import { AppError } from "../../errors.ts";
import type { ByteString, EntryType } from "../restic/entry.ts";
import type { HelperImage } from "./helper_image.ts";
import { type ProgramEnd, programError, runProgram, streamProgram } from "./helper_program.ts";
import { parentOf, showPath } from "./limits.ts";
import type { VolumeDeps } from "./mounted.ts";
import { DECODE, encodePath } from "./shell_path.ts";

/** A volume with the image for its helper containers, see `findHelperImage()`. */
export interface VolumeTarget {
  source: MountSource;
  image: HelperImage;
  signal: AbortSignal;
}

/** Exit codes of the scripts. */
const BEHIND_LINK = 93;
const NOT_FOUND = 94;
const EXISTS = 95;

/** Limits of a listing. */
const LISTED_MAX = 5000;
const LISTING_MS = 2000;

/**
 * `decode` undoes `encodePath()` into `$path`; `enter` goes to a directory and fails if a symbolic link
 * led there.
 */
const FUNCTIONS = `
line='
'
${DECODE}
enter() {
  decode "$1"
  cd -P -- "$root/$path" 2> /dev/null || exit ${NOT_FOUND}
  here=$(pwd -P; echo x)
  [ "$here" = "$root\${path:+/$path}\${line}x" ] || exit ${BEHIND_LINK}
}
exists() { [ -e "$1" ] || [ -L "$1" ]; }
`;

/**
 * Deletes everything in a volume. Its own owner and mode stay. After a failure a part is deleted.
 *
 * @throws {AppError} `conflict` with the reason, e.g. a file that is immutable.
 */
export async function emptyVolume(deps: VolumeDeps, target: VolumeTarget): Promise<void> {
  const script = "find . -mindepth 1 -maxdepth 1 -exec rm -rf -- {} +";
  const end = await runProgram(deps, { ...target, isReadOnly: false, script });
  if (end.exitCode !== 0) throw programError(`${target.source.source} could not be emptied`, end);
}

/** An entry of a directory. */
export interface ListedFile {
  name: ByteString;
  type: EntryType;
  mode: number;
  uid: number;
  gid: number;
  /** Bytes; of files only, else 0. */
  size: number;
  /** Nanoseconds since 1970, in whole seconds. */
  mtime: bigint;
}

/** A listed directory. */
export interface Listing {
  /** By name, in byte order. */
  files: ListedFile[];
  /** Whether these are all: a listing stops at 5,000 entries or after 2 s. */
  isComplete: boolean;
}

/**
 * Lists a directory of a volume.
 *
 * @param path Empty for the root.
 * @throws {AppError} `not_found`; `conflict` for a path behind a symbolic link.
 */
export async function listDirectory(
  deps: VolumeDeps,
  target: VolumeTarget,
  path: ByteString,
): Promise<Listing> {
  // No name has a slash, so that one ends it whatever the name contains.
  const script = `${FUNCTIONS} enter "$1"
find . -mindepth 1 -maxdepth 1 -exec stat -c '%f %s %Y %u %g %n/' -- {} + || :`;
  const program = { ...target, isReadOnly: true, script, args: [encodePath(path)] };
  const output = streamProgram(deps, program);
  const files: ListedFile[] = [];
  let rest = "";
  let deadline: number | undefined;
  try {
    for (;;) {
      const { done, value } = await output.next();
      if (done) {
        if (value.exitCode !== 0) throw failureOf(path, value);
        return { files: sorted(files), isComplete: true };
      }
      deadline ??= performance.now() + LISTING_MS;
      rest = readLines(rest + Buffer.from(value).toString("latin1"), files);
      if (files.length > LISTED_MAX || performance.now() > deadline) {
        return { files: sorted(files.slice(0, LISTED_MAX)), isComplete: false };
      }
    }
  } finally {
    await output.return(undefined as never);
  }
}

const sorted = (files: ListedFile[]) => files.sort((a, b) => a.name < b.name ? -1 : 1);

/** Types by the bits of `st_mode`, from 12. */
const TYPES: Readonly<Record<number, EntryType>> = {
  0o01: "fifo",
  0o02: "chardev",
  0o04: "dir",
  0o06: "dev",
  0o10: "file",
  0o12: "symlink",
  0o14: "socket",
};

const LINE = /([0-9a-f]+) (\d+) (-?\d+) (\d+) (\d+) \.\/([^/]*)\/\n/gy;

/** @returns The text after the last whole line. */
function readLines(text: string, files: ListedFile[]): string {
  let end = 0;
  for (const found of text.matchAll(LINE)) {
    const [whole, mode = "", size, mtime = "", uid, gid, name = ""] = found;
    end = found.index + whole.length;
    const bits = parseInt(mode, 16);
    const type = TYPES[bits >> 12];
    if (type === undefined) continue;
    files.push({
      name,
      type,
      mode: bits & 0o7777,
      uid: Number(uid),
      gid: Number(gid),
      size: type === "file" ? Number(size) : 0,
      mtime: BigInt(mtime) * 1_000_000_000n,
    });
  }
  return text.slice(end);
}

/**
 * Deletes a file, or a directory with everything in it.
 *
 * @throws {AppError} `not_found`; `conflict` for a path behind a symbolic link, and with the reason of a
 * failure.
 */
export async function deletePath(
  deps: VolumeDeps,
  target: VolumeTarget,
  path: ByteString,
): Promise<void> {
  const script = `${FUNCTIONS} enter "$1"; decode "$2"; exists "./$path" || exit ${NOT_FOUND}
rm -rf -- "./$path"`;
  await change(deps, target, path, script, pairOf(path));
}

/**
 * Renames a file or directory, also into another directory of the volume.
 *
 * @throws {AppError} As `deletePath()`, and `conflict` if the new path exists.
 */
export async function renamePath(
  deps: VolumeDeps,
  target: VolumeTarget,
  { from, to }: { from: ByteString; to: ByteString },
): Promise<void> {
  const script = `${FUNCTIONS} enter "$1"; decode "$2"; exists "./$path" || exit ${NOT_FOUND}
decode "$1"; from=$root/$path; decode "$2"; from=$from/$path
enter "$3"; decode "$4"; exists "./$path" && exit ${EXISTS}
mv -- "$from" "./$path"`;
  await change(deps, target, to, script, [...pairOf(from), ...pairOf(to)]);
}

/**
 * Creates a directory in an existing one.
 *
 * @throws {AppError} As `renamePath()`.
 */
export async function makeDirectory(
  deps: VolumeDeps,
  target: VolumeTarget,
  path: ByteString,
): Promise<void> {
  const script = `${FUNCTIONS} enter "$1"; decode "$2"; exists "./$path" && exit ${EXISTS}
mkdir -- "./$path"`;
  await change(deps, target, path, script, pairOf(path));
}

async function change(
  deps: VolumeDeps,
  target: VolumeTarget,
  path: ByteString,
  script: string,
  args: string[],
): Promise<void> {
  const end = await runProgram(deps, { ...target, isReadOnly: false, script, args });
  if (end.exitCode !== 0) throw failureOf(path, end);
}

function failureOf(path: ByteString, end: ProgramEnd): AppError {
  const shown = showPath(path);
  switch (end.exitCode) {
    case NOT_FOUND:
      return new AppError("not_found", `Path ${shown} does not exist in the volume`);
    case BEHIND_LINK:
      return new AppError("conflict", `Path ${shown} is behind a symbolic link; use its real path`);
    case EXISTS:
      return new AppError("conflict", `Path ${shown} already exists`);
  }
  return programError(`Path ${shown} could not be used`, end);
}

/** Directory and name of a path. */
function pairOf(path: ByteString): [directory: string, name: string] {
  if (path === "") throw new AppError("invalid", "The root of a volume cannot be changed so");
  const directory = parentOf(path);
  return [
    encodePath(directory),
    encodePath(path.slice(directory === "" ? 0 : directory.length + 1)),
  ];
}
