/**
 * Entries of a volume, read through the engine: as its archive, from a container that is never started,
 * or with `tar` in a helper container.
 *
 * @module
 */

import { containerArchiveStream, containerStat } from "../../../engine/container_archive.ts";
import { type MountSource, removeHelper } from "../../containers/helper_container.ts";
import { AppError } from "../../errors.ts";
import type { ByteString, Entries, Entry } from "../restic/entry.ts";
import { findHelperImage, type HelperImage } from "./helper_image.ts";
import { streamProgram } from "./helper_program.ts";
import { showPath, type SkipList } from "./limits.ts";
import { createVolumeHelper, newRoot, type VolumeDeps } from "./mounted.ts";
import { type ProgramEnd, programError } from "./program_output.ts";
import { DECODE, encodePath, isUtf8, textOf } from "./shell_path.ts";
import { readTar } from "./tar_reader.ts";

/** Directory to read. */
export interface Reading {
  source: MountSource;
  /** Directory in the volume; empty for all of it. Its own entry comes first. */
  path: ByteString;
  /** Images that may have the programs of a helper container. */
  images: readonly string[];
  skipped: SkipList;
  signal: AbortSignal;
}

/** Exit code of the script for a `tar` that is not GNU's. */
const NOT_GNU = 96;

/**
 * Reads a volume. Podman's archives have no owners, so that it needs an image with `tar`; with Docker,
 * GNU's of `HELPER_IMAGE` is used, because it reads extended attributes.
 */
export async function* readThroughEngine(
  deps: VolumeDeps,
  reading: Reading,
): Entries & AsyncGenerator<Entry> {
  const isPodman = deps.engine.kind === "podman";
  if (isPodman || deps.config.helperImage !== null) {
    const image = await findHelperImage(deps, reading.images, reading.signal);
    const canRead = () => isPodman || !image.lacksGnuTar;
    if (canRead()) yield* readByTar(deps, reading, { image, requiresGnu: !isPodman });
    if (canRead()) return;
  }
  yield* readArchive(deps, reading);
}

/**
 * Reads a volume, or a directory of it, as the engine's archive. Podman's has no owners.
 *
 * @throws {AppError} `conflict` for a path that is not there.
 */
export async function* readArchive(
  deps: VolumeDeps,
  { source, path, skipped, signal }: Reading,
): AsyncGenerator<Entry> {
  const { id, root } = await createVolumeHelper(deps, source, { isReadOnly: true, signal });
  try {
    if (path !== "") await assertReal(deps, id, root, path, signal);
    const at = path === "" ? root : `${root}/${textOf(path)}`;
    const response = await containerArchiveStream(deps.engine, id, { path: `/${at}`, signal });
    if (!response) throw new AppError("conflict", `${source.source} changed meanwhile; try again`);
    const base = path === "" ? root : path.slice(path.lastIndexOf("/") + 1);
    yield* below(
      path,
      readTar(response.body, { root: base, skipped: skippedBelow(path, skipped) }),
    );
  } finally {
    await removeHelper(deps, id);
  }
}

/** The engine follows links on the way. */
async function assertReal(
  { engine }: VolumeDeps,
  id: string,
  root: string,
  path: ByteString,
  signal: AbortSignal,
): Promise<void> {
  if (!isUtf8(path)) {
    throw new AppError("conflict", `Path ${showPath(path)} is not UTF-8, which archives need`);
  }
  let at = `/${root}`;
  for (const name of textOf(path).split("/")) {
    at += `/${name}`;
    const found = await containerStat(engine, id, { path: at, signal });
    if (!found) throw new AppError("not_found", `Path ${showPath(path)} does not exist`);
    if (found.linkTarget === "") continue;
    throw new AppError(
      "conflict",
      `Path ${showPath(path)} is behind a symbolic link; use its real path`,
    );
  }
}

/** Reads nothing, and says so in `image`, without GNU's `tar` if that is required. */
async function* readByTar(
  deps: VolumeDeps,
  { source, path, skipped, signal }: Reading,
  { image, requiresGnu }: { image: HelperImage; requiresGnu: boolean },
): AsyncGenerator<Entry> {
  const root = newRoot();
  const script = `${DECODE} decode "$1"
if [ -d "$root" ]; then cd -- "./$path"; what=.; else cd /; what=\${root#/}; fi
version=$("$2" --version 2> /dev/null) || [ "$?" -lt 126 ] || exit 1
case $version in
*GNU*) exec "$2" --format=posix --pax-option=delete=atime,delete=ctime --sort=name --numeric-owner \\
  --xattrs --xattrs-include='*' -cf - "$what" ;;
esac
${requiresGnu ? `exit ${NOT_GNU}` : 'exec "$2" -cf - "$what"'}`;
  const output = streamProgram(deps, {
    ...{ image, source, root, script, signal },
    isReadOnly: true,
    args: [encodePath(path), image.tar],
  });
  const chunks = async function* () {
    const end = yield* output;
    if (end.exitCode !== NOT_GNU) return reportErrors(source, end, skipped);
    image.lacksGnuTar = true;
    yield new Uint8Array(EMPTY_ARCHIVE_BYTES);
  };
  yield* below(path, readTar(chunks(), { root, skipped: skippedBelow(path, skipped) }));
}

/** Tar archive without files: two blocks of zeros. */
const EMPTY_ARCHIVE_BYTES = 1024;

/** Messages about entries that are not in the archive, and about files that may be inconsistent. */
const TOLERATED: readonly [RegExp, string][] = [
  [/^\S*tar: (?:\.\/)?(.*): socket ignored$/, "is a socket"],
  [/^\S*tar: (?:\.\/)?(.*): file changed as we read it$/, "changed while it was read"],
  [
    /^\S*tar: (?:\.\/)?(.*): File shrank by \d+ bytes; padding with zeros$/,
    "changed while it was read",
  ],
  [/^\S*tar: (?:\.\/)?(.*): File removed before we read it$/, "vanished while it was read"],
];

/** @throws {AppError} If `tar` failed. */
function reportErrors(source: MountSource, end: ProgramEnd, skipped: SkipList): void {
  const lines = end.errors.split("\n").filter((line) => line !== "");
  const unknown = lines.filter((line) => {
    for (const [pattern, reason] of TOLERATED) {
      const found = pattern.exec(line);
      if (found) return skipped.add(found[1]!, reason) as undefined;
    }
    return true;
  });
  const isTolerated = end.exitCode === 0 || (end.exitCode === 1 && unknown.length === 0);
  if (isTolerated) return;
  throw programError(`${source.source} could not be read`, {
    ...end,
    errors: unknown.join("\n"),
  });
}

/** Entries with the paths that they have in the whole volume. */
async function* below(path: ByteString, entries: AsyncIterable<Entry>): AsyncGenerator<Entry> {
  if (path === "") return yield* entries;
  const join = (each: ByteString) => each === "" ? path : `${path}/${each}`;
  for await (const entry of entries) {
    entry.path = join(entry.path);
    if (entry.hardLinkTo !== undefined) entry.hardLinkTo = join(entry.hardLinkTo);
    yield entry;
  }
}

const skippedBelow = (path: ByteString, skipped: SkipList): SkipList => ({
  ...skipped,
  add: (each, reason) => skipped.add(path === "" ? each : `${path}/${each}`, reason),
});
