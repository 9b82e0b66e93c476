/**
 * Archives of images (`docker save`, OCI image layout) from a snapshot, which others may have written. The
 * engine gives images the names that an archive says, also those of other images of the host. So an
 * archive is read and written again without names.
 *
 * @module
 */

import type { Entries, Entry } from "../backup/restic/entry.ts";
import { createSkipList, showPath, TreeError } from "../backup/volumes/limits.ts";
import { readTar } from "../backup/volumes/tar_reader.ts";
import { writeTar } from "../backup/volumes/tar_writer.ts";

/** An image has a few entries for each layer, and at most 127 layers. */
const ENTRIES_MAX = 10_000;

/** Largest list of an archive's images, in bytes. */
const LIST_BYTES_MAX = 1024 * 1024;

/** Name of a layer that is stored once: `docker save` links the others to it. */
const LAYER = /\/layer\.tar$/;

/** Lists of images, and what stays of them: Go reads `repotags` and `RepoTagſ` like `RepoTags`. */
const LISTS: Readonly<Record<string, (value: unknown) => unknown>> = {
  "manifest.json": (value) =>
    listOf(value).map((image) => ({ ...only(image, ["Config", "Layers"]), RepoTags: null })),
  "index.json": (value) => ({
    ...only(value, ["schemaVersion", "mediaType"]),
    manifests: listOf((value as { manifests?: unknown } | null)?.manifests)
      .map((each) => only(each, ["mediaType", "digest", "size", "platform"])),
  }),
};

/** Names of images in an older format. */
const NAMES = "repositories";

/**
 * @param archive Not compressed.
 * @param pass Passes its entries on, or fails.
 * @returns The archive without names of images.
 * @throws {TarError | TreeError} For what is not an archive of images.
 */
export function withoutImageNames(
  archive: AsyncIterable<Uint8Array>,
  pass: (entries: Entries) => Entries = (entries) => entries,
): AsyncGenerator<Uint8Array<ArrayBufferLike>> {
  const skipped = createSkipList();
  const entries = withoutNames(pass(readTar(archive, { root: "", skipped })));
  return writeTar(entries, { root: "", skipped, xattrs: /(?!)/, check: createArchiveCheck() });
}

async function* withoutNames(entries: Entries): Entries & AsyncGenerator<Entry> {
  for await (const entry of entries) {
    const { path } = entry;
    if (path === NAMES) continue;
    const kept = Object.hasOwn(LISTS, path) ? LISTS[path] : undefined;
    if (!kept) {
      yield entry;
      continue;
    }
    const bytes = new TextEncoder().encode(JSON.stringify(kept(await readList(entry))));
    yield { ...entry, size: bytes.length, content: pieceOf(bytes) };
  }
}

async function* pieceOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function readList({ path, type, hardLinkTo, size, content }: Entry): Promise<unknown> {
  if (type !== "file" || hardLinkTo !== undefined || size > LIST_BYTES_MAX) {
    throw new TreeError(`${showPath(path)} is not a list of images`);
  }
  const bytes = await new Blob(await Array.fromAsync(content!) as BlobPart[]).bytes();
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw new TreeError(`${showPath(path)} is not JSON`);
  }
}

function listOf(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new TreeError("The archive's list of images is not a list");
  return value;
}

const only = (value: unknown, keys: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(value ?? {}).filter(([key]) => keys.includes(key)),
  );

/**
 * Creates a function that is called with each entry before it is written.
 *
 * @throws {TreeError} The function: for one that would replace another one, also through a link.
 */
function createArchiveCheck(): (entry: Entry) => void {
  const directories = new Set<string>([""]);
  const others = new Set<string>();
  const addDirectories = (path: string) => {
    const names = path.split("/");
    for (let depth = 1; depth <= names.length; depth++) {
      const directory = names.slice(0, depth).join("/");
      if (others.has(directory)) throw new TreeError(`${showPath(directory)} occurs twice`);
      directories.add(directory);
    }
  };
  return ({ path, type, hardLinkTo }) => {
    if (directories.size + others.size > ENTRIES_MAX) {
      throw new TreeError(`The archive has more than ${ENTRIES_MAX} entries`);
    }
    if (type === "dir") return addDirectories(path);
    const isLink = type === "symlink" || hardLinkTo !== undefined;
    if (isLink && !LAYER.test(path)) throw new TreeError(`${showPath(path)} is a link`);
    addDirectories(path.slice(0, Math.max(path.lastIndexOf("/"), 0)));
    if (directories.has(path) || others.has(path)) {
      throw new TreeError(`${showPath(path)} occurs twice`);
    }
    others.add(path);
  };
}
