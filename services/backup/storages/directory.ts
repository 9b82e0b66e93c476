/**
 * A repository in a directory of this host, in the layout that restic calls `default`:
 * `config`, `keys/`, `locks/`, `snapshots/`, `index/`, and `data/` with a directory for each two
 * first digits.
 *
 * @module
 */

import { basename, join, relative } from "node:path";
import { nodeFs } from "../../builtins.ts";
import { isInside } from "../../text/paths.ts";
import { systemReason } from "../../text/system_reason.ts";
import {
  type ByteRange,
  type FileKind,
  type Storage,
  StorageError,
  type StorageReason,
  type StoredFile,
} from "../restic/storage.ts";
import { FILE_MAX } from "./requests.ts";

/** Files that are being written. A crash can leave them behind. */
const TEMPORARY = ".longshore-";

/** Age at which a temporary file is removed. */
const TEMPORARY_MS = 24 * 60 * 60_000;

const NAME = /^[0-9a-f]{64}$/;

const FILE_MODE = 0o400;
const DIRECTORY_MODE = 0o700;

/**
 * Others may own the directory, e.g. a share: links that lead out of it are not followed, and only regular
 * files are read.
 *
 * @param root Absolute path. It is created by the first write.
 * @param now Time by which old temporary files are removed.
 */
export function createDirectoryStorage(
  root: string,
  { now }: { now: () => Date },
): Required<Pick<Storage, "room">> & Storage {
  return {
    async *list(kind, signal) {
      if (kind === "config") {
        const file = await statOf(join(root, "config"));
        if (file !== undefined) yield { name: "config", size: file.size };
        return;
      }
      const top = join(root, kind);
      for (const directory of kind === "data" ? await directoriesIn(root, top) : [top]) {
        yield* listDirectory(root, directory, now, signal);
      }
    },
    read: (kind, name, signal, range) =>
      attempt(
        `read ${kind} ${name.slice(0, 8)}`,
        signal,
        async () => await readFile(await pathOf(root, kind, name), range),
      ),
    write: (kind, name, bytes, signal) =>
      attempt(
        `write ${kind} ${name.slice(0, 8)}`,
        signal,
        async () => await writeFile(await pathOf(root, kind, name), bytes),
      ),
    remove: (kind, name, signal) =>
      attempt(`remove ${kind} ${name.slice(0, 8)}`, signal, async () => {
        await Deno.remove(await pathOf(root, kind, name)).catch(ignoreNotFound);
      }),
    room: (signal) =>
      attempt("read the free space of the directory", signal, async () => {
        const { bavail, bsize } = await nodeFs().promises.statfs(await existingParent(root));
        return bavail * bsize;
      }),
  };
}

async function pathOf(root: string, kind: FileKind, name: string): Promise<string> {
  if (kind === "config") return join(root, "config");
  if (!NAME.test(name)) throw new StorageError("not_found", "The name of a file is not an ID");
  const directory = kind === "data" ? join(root, kind, name.slice(0, 2)) : join(root, kind);
  await assertInside(root, directory);
  return join(directory, name);
}

/** @throws {StorageError} `damaged` for a directory behind a link that leads out of the root. */
async function assertInside(root: string, directory: string): Promise<void> {
  const real = await Deno.realPath(await existingParent(directory));
  if (isInside(real, await Deno.realPath(await existingParent(root)))) return;
  throw new StorageError(
    "damaged",
    `${relative(root, directory)} is a link that leads out of the repository; ` +
      "mount the directory there instead, or make it the location",
  );
}

/** Runs an operation on files, whose failures get a reason. */
async function attempt<T>(
  action: string,
  signal: AbortSignal,
  run: () => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  try {
    return await run();
  } catch (error) {
    if (error instanceof StorageError) throw error;
    const message = `Cannot ${action}: ${systemReason(error)}`;
    throw new StorageError(classify(error), message, { cause: error });
  }
}

function classify(error: unknown): StorageReason {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (error instanceof Deno.errors.NotFound) return "not_found";
  if (code === "ENOSPC" || code === "EDQUOT") return "full";
  if (error instanceof Deno.errors.PermissionDenied || code === "EROFS") return "forbidden";
  return "failed";
}

async function* listDirectory(
  root: string,
  directory: string,
  now: () => Date,
  signal: AbortSignal,
): AsyncGenerator<StoredFile> {
  for (const { name, isFile } of await entriesIn(root, directory)) {
    signal.throwIfAborted();
    if (!isFile) continue;
    const path = join(directory, name);
    const file = await statOf(path);
    if (file === undefined) continue;
    if (!name.startsWith(TEMPORARY)) yield { name, size: file.size };
    else if (now().getTime() - (file.mtime?.getTime() ?? 0) > TEMPORARY_MS) {
      await Deno.remove(path).catch(() => {});
    }
  }
}

/** Entries of a directory; none if it does not exist. */
function entriesIn(root: string, directory: string): Promise<Deno.DirEntry[]> {
  return attempt("list the directory", new AbortController().signal, async () => {
    await assertInside(root, directory);
    return await Array.fromAsync(Deno.readDir(directory)).catch((error) => {
      ignoreNotFound(error);
      return [];
    });
  });
}

const directoriesIn = async (root: string, top: string): Promise<string[]> =>
  (await entriesIn(root, top)).filter(({ name }) => /^[0-9a-f]{2}$/.test(name))
    .map(({ name }) => join(top, name));

async function statOf(path: string): Promise<Deno.FileInfo | undefined> {
  return await Deno.lstat(path).catch((error) => {
    ignoreNotFound(error);
    return undefined;
  });
}

function ignoreNotFound(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}

async function readFile(path: string, range: ByteRange | undefined): Promise<Uint8Array> {
  // A FIFO would block a thread for ever, and a device has no end.
  if (!(await Deno.lstat(path)).isFile) throw damagedFile(path, "is not a regular file");
  using file = await Deno.open(path);
  const { offset, length } = range ?? { offset: 0, length: (await file.stat()).size };
  if (length > FILE_MAX) throw damagedFile(path, `has more than ${FILE_MAX} bytes`);
  await file.seek(offset, Deno.SeekMode.Start);
  const bytes = new Uint8Array(length);
  for (let at = 0; at < bytes.length;) {
    const count = await file.read(bytes.subarray(at));
    if (count === null) throw damagedFile(path, "is too short");
    at += count;
  }
  return bytes;
}

const damagedFile = (path: string, problem: string) =>
  new StorageError("damaged", `File ${basename(path).slice(0, 8)} of the repository ${problem}`);

/** The file appears under its name when it is on the disk. */
async function writeFile(path: string, bytes: Uint8Array): Promise<void> {
  const directory = join(path, "..");
  const isNew = await statOf(directory) === undefined;
  await Deno.mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
  if (isNew) await syncDirectory(join(directory, ".."));
  const temporary = join(directory, `${TEMPORARY}${crypto.randomUUID()}`);
  try {
    await writeSynced(temporary, bytes);
    await linkAs(temporary, path, bytes);
  } finally {
    await Deno.remove(temporary).catch(() => {});
  }
  await syncDirectory(directory);
}

async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  using file = await Deno.open(path, { write: true, createNew: true, mode: FILE_MODE });
  for (let offset = 0; offset < bytes.length;) {
    offset += await file.write(bytes.subarray(offset));
  }
  await file.syncData();
}

/** Never replaces a file: another process may have created it. */
async function linkAs(temporary: string, path: string, bytes: Uint8Array): Promise<void> {
  try {
    await Deno.link(temporary, path);
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return await assertSame(path, bytes);
    // Some filesystems have no hard links.
    if (await statOf(path) !== undefined) return await assertSame(path, bytes);
    await Deno.rename(temporary, path);
  }
}

async function assertSame(path: string, bytes: Uint8Array): Promise<void> {
  const stored = await readFile(path, undefined);
  if (stored.length === bytes.length && stored.every((byte, i) => byte === bytes[i])) return;
  throw new StorageError("exists", "A file of this name with other content exists");
}

/** New names are on the disk as well afterwards. */
async function syncDirectory(directory: string): Promise<void> {
  using file = await Deno.open(directory);
  await file.sync();
}

/** The directory, or the nearest one above that exists. */
async function existingParent(path: string): Promise<string> {
  for (let directory = path;; directory = join(directory, "..")) {
    if (directory === "/" || await statOf(directory) !== undefined) return directory;
  }
}
