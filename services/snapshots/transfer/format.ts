/**
 * The archive by which a snapshot goes to another host: a tar (POSIX with extended headers) of
 * `snapshot.json`, which describes it, and its tree in `tree/`. No key of a repository is in it: the
 * other host stores the tree in a repository of its own. Pure.
 *
 * @module
 */

import type { Entries, Entry } from "../../backup/restic/entry.ts";
import { bytesOf, entriesBelow } from "../../backup/restic/entry_directory.ts";
import { shapeOf } from "../../backup/restic/json_shape.ts";
import type { Snapshot } from "../../backup/restic/snapshot.ts";
import { TarError } from "../../backup/tar.ts";
import { createTreeCheck } from "../../backup/volumes/tree_check.ts";
import { isInside } from "../../text/paths.ts";
import { OWN_PATH } from "../own/content.ts";

/** Facts about a snapshot that its tree does not have. */
export type Description = Pick<Snapshot, "hostname" | "id" | "paths" | "tags" | "time">;

export const ARCHIVE_TYPE = "application/x-tar";

const DESCRIPTION = "snapshot.json";
const TREE = "tree";

/** Largest description, in bytes, and limits of its lists. */
const BYTES_MAX = 1024 * 1024;
const PATHS_MAX = 1_000;
const PATH_MAX = 8_192;
const TAGS_MAX = 100;
const TAG_MAX = 1_000;

const encoder = new TextEncoder();

/** Entries of the archive. */
export async function* archived(
  { id, time, hostname, paths, tags }: Description,
  tree: Entries,
): Entries & AsyncGenerator<Entry> {
  const bytes = encoder.encode(JSON.stringify({ id, time, hostname, paths, tags }));
  const common = { uid: 0, gid: 0, mtime: 0n };
  yield {
    ...common,
    path: DESCRIPTION,
    type: "file",
    mode: 0o600,
    size: bytes.length,
    content: (async function* () {
      yield await Promise.resolve(bytes);
    })(),
  };
  yield { ...common, path: TREE, type: "dir", mode: 0o700, size: 0 };
  yield* entriesBelow(TREE, tree);
}

/** Facts that the sender has told before. */
export interface Announced {
  /** Id of the snapshot, or the beginning of it. */
  snapshot: string;
  /** Most bytes of all files; `null` if unknown. */
  size: number | null;
}

/**
 * Reads the description, and leaves the entries of the tree.
 *
 * @throws {TarError} `RepositoryError` For an archive of another form. The entries of the tree: also
 * `TreeError`, for what could not be restored.
 */
export async function openArchived(
  entries: AsyncGenerator<Entry>,
  { snapshot, size }: Announced,
): Promise<{ description: Description; tree: Entries }> {
  const { value: first } = await entries.next();
  if (first?.path !== DESCRIPTION || !first.content) {
    throw new TarError(`the archive does not begin with ${DESCRIPTION}`);
  }
  if (first.size > BYTES_MAX) {
    throw new TarError(`${DESCRIPTION} is larger than ${BYTES_MAX} bytes`);
  }
  const text = await new Response(ReadableStream.from(first.content)).text();
  const description = readDescription(text);
  if (!description.id.startsWith(snapshot)) {
    throw new TarError(`the archive is not of snapshot ${snapshot}`);
  }
  return { description, tree: treeIn(entries, { paths: description.paths, size }) };
}

/** Paths that a restore reads by their names: a tree that lacks one is not what is described. */
const READ_BY_NAME = /^\/(?:directories|stacks|volumes)\//;

async function* treeIn(
  entries: Entries,
  { paths, size }: Pick<Announced, "size"> & Pick<Description, "paths">,
): Entries & AsyncGenerator<Entry> {
  const check = createTreeCheck();
  const missing = new Set(paths.filter((path) => READ_BY_NAME.test(path)).map(bytesOf));
  let bytes = 0;
  const inTree = (path: string) => {
    if (path.startsWith(`${TREE}/`)) return path.slice(TREE.length + 1);
    throw new TarError(`the archive has more than ${DESCRIPTION} and ${TREE}`);
  };
  for await (const entry of entries) {
    if (entry.path === TREE) continue;
    const { hardLinkTo } = entry;
    const found = {
      ...entry,
      path: inTree(entry.path),
      ...(hardLinkTo !== undefined && { hardLinkTo: inTree(hardLinkTo) }),
    };
    check(found);
    assertNotOwnBackup([`/${found.path}`]);
    missing.delete(`/${found.path}`);
    if (entry.content) bytes += entry.size;
    if (size !== null && bytes > size) {
      throw new TarError(`the archive has more than the ${size} bytes that it was said to have`);
    }
    yield found;
  }
  if (missing.size > 0) throw new TarError(`the archive lacks a path of ${DESCRIPTION}`);
}

function readDescription(text: string): Description {
  const shape = shapeOf(DESCRIPTION);
  const fields = shape.object(parsed(text), "the file");
  const texts = (field: "paths" | "tags", max: number, length: number) => {
    const list = shape.array(fields[field], field).map((each) => shape.text(each, field));
    if (list.length <= max && list.every((each) => each.length <= length)) return list;
    throw new TarError(`${field} of ${DESCRIPTION} are more, or longer, than a snapshot has`);
  };
  const paths = texts("paths", PATHS_MAX, PATH_MAX);
  if (!paths.every((path) => path.startsWith("/"))) {
    throw new TarError(`${DESCRIPTION} has a path that is not absolute`);
  }
  assertNotOwnBackup(paths);
  return {
    id: shape.id(fields.id, "id"),
    time: shape.text(fields.time, "time").slice(0, TAG_MAX),
    hostname: shape.text(fields.hostname, "hostname").slice(0, TAG_MAX),
    paths,
    tags: texts("tags", TAGS_MAX, TAG_MAX),
  };
}

/** It would be the newest of this host, whose keys and accounts a restore brings back. */
function assertNotOwnBackup(paths: readonly string[]): void {
  if (!paths.some((path) => isInside(path, OWN_PATH))) return;
  throw new TarError("the archive has a backup of Longshore itself, which no other host sends");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TarError(`${DESCRIPTION} is not JSON`);
  }
}
