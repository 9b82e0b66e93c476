/**
 * Entries of a volume's directory on the host. No running container may write to it meanwhile: one
 * could replace a directory by a symbolic link that leads out of the volume.
 *
 * @module
 */

import type { ByteString, Entries, Entry } from "../restic/entry.ts";
import { bytesOf } from "../restic/entry_directory.ts";
import type { SkipList } from "./limits.ts";

/** Parallel calls of the system for one directory. */
const PARALLEL = 64;

const CHUNK_BYTES = 1024 * 1024;

/** Stands for bytes that are not UTF-8, in names that the runtime gives. */
export const REPLACEMENT = "\ufffd";

const NS_PER_MS = 1_000_000n;

/** A directory of the host. */
export interface HostDirectory {
  /** Absolute path. */
  path: string;
  skipped: SkipList;
  /**
   * Reads what is below a directory by other means: the runtime cannot open names that are not
   * UTF-8.
   *
   * @param path Relative; empty for the root.
   */
  readElsewhere(path: ByteString): Entries;
  signal: AbortSignal;
}

/**
 * Walks through a directory, in byte order of the names. Files have the identity by which unchanged
 * ones are recognized. Entries of other file systems, and what vanishes meanwhile, are skipped; a file that changes
 * while it is read has the size that it had, and is listed as skipped, too.
 *
 * @throws {Deno.errors.NotFound} If it does not exist.
 */
export async function* readDirectory(directory: HostDirectory): Entries & AsyncGenerator<Entry> {
  const info = await Deno.lstat(directory.path);
  if (!info.isDirectory) throw new Deno.errors.NotADirectory(directory.path);
  yield { path: "", type: "dir", ...ownerOf(info) };
  yield* walk({ directory, device: info.dev, links: new Map() }, "", directory.path);
}

interface Walk {
  directory: HostDirectory;
  device: number;
  /** Paths of the files that have several names, by inode. */
  links: Map<number, ByteString>;
}

/** A name in a directory. */
interface Found {
  name: string;
  bytes: ByteString;
  info: Deno.FileInfo;
  linkTarget: string | undefined;
}

async function* walk(state: Walk, path: ByteString, hostPath: string): AsyncGenerator<Entry> {
  const { directory: { skipped, readElsewhere, signal } } = state;
  const found = await list(state, path, hostPath);
  if (found === undefined) {
    for await (const entry of readElsewhere(path)) if (entry.path !== path) yield entry;
    return;
  }
  for (const { name, bytes, info, linkTarget } of found) {
    signal.throwIfAborted();
    const below = path === "" ? bytes : `${path}/${bytes}`;
    const special = specialType(info);
    if (special !== undefined) skipped.add(below, special);
    else if (info.dev !== state.device) skipped.add(below, "is on another file system");
    else if (info.isDirectory) {
      yield { path: below, type: "dir", ...ownerOf(info) };
      yield* walk(state, below, `${hostPath}/${name}`);
    } else if (linkTarget !== undefined) {
      yield { path: below, type: "symlink", ...ownerOf(info), linkTarget: bytesOf(linkTarget) };
    } else yield* readFile(state, below, `${hostPath}/${name}`, info);
  }
}

/** @returns `undefined` if a name or the target of a link is not UTF-8. */
async function list(
  { directory: { skipped } }: Walk,
  path: ByteString,
  hostPath: string,
): Promise<Found[] | undefined> {
  const names: string[] = [];
  try {
    for await (const { name } of Deno.readDir(hostPath)) names.push(name);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound) || path === "") throw error;
    skipped.add(path, "vanished while it was read");
    return [];
  }
  const found: Found[] = [];
  for (let at = 0; at < names.length; at += PARALLEL) {
    const read = await Promise.all(
      names.slice(at, at + PARALLEL).map(async (name) => {
        try {
          const info = await Deno.lstat(`${hostPath}/${name}`);
          const linkTarget = info.isSymlink
            ? await Deno.readLink(`${hostPath}/${name}`)
            : undefined;
          return { name, bytes: bytesOf(name), info, linkTarget };
        } catch (error) {
          if (error instanceof Deno.errors.NotFound) return name;
          throw error;
        }
      }),
    );
    for (const each of read) {
      const isUnknown = typeof each === "string"
        ? each.includes(REPLACEMENT)
        : each.linkTarget?.includes(REPLACEMENT);
      if (isUnknown) return undefined;
      if (typeof each !== "string") found.push(each);
      else skipped.add(path === "" ? bytesOf(each) : `${path}/${bytesOf(each)}`, VANISHED);
    }
  }
  return found.sort((a, b) => a.bytes < b.bytes ? -1 : 1);
}

const VANISHED = "vanished while it was read";
const CHANGED = "changed while it was read";

function specialType({ isSocket, isFifo, isBlockDevice, isCharDevice }: Deno.FileInfo) {
  if (isSocket) return "is a socket";
  if (isFifo) return "is a FIFO";
  return isBlockDevice || isCharDevice ? "is a device node" : undefined;
}

async function* readFile(
  { directory: { skipped, signal }, links }: Walk,
  path: ByteString,
  hostPath: string,
  listed: Deno.FileInfo,
): AsyncGenerator<Entry> {
  const inode = listed.ino ?? 0;
  const earlier = (listed.nlink ?? 1) > 1 ? links.get(inode) : undefined;
  if (earlier !== undefined) {
    yield { path, type: "file", ...ownerOf(listed), hardLinkTo: earlier };
    return;
  }
  let opened: Deno.FsFile;
  try {
    opened = await Deno.open(hostPath);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return skipped.add(path, VANISHED);
  }
  using file = opened;
  const info = await file.stat();
  // The name may lead to something else by now.
  if (info.ino !== listed.ino || info.dev !== listed.dev || !info.isFile) {
    return skipped.add(path, CHANGED);
  }
  if ((info.nlink ?? 1) > 1) links.set(inode, path);
  yield {
    path,
    type: "file",
    ...ownerOf(info),
    size: info.size,
    inode: BigInt(inode),
    ctime: timeOf(info.ctime),
    content: contentOf(file, info, () => skipped.add(path, CHANGED), signal),
  };
}

/** Reads as many bytes as the file had: zeros stand for a part that is gone. */
async function* contentOf(
  file: Deno.FsFile,
  { size, mtime }: Deno.FileInfo,
  reportChange: () => void,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let left = size;
  while (left > 0) {
    signal.throwIfAborted();
    const piece = new Uint8Array(Math.min(left, CHUNK_BYTES));
    const read = await file.read(piece);
    if (read === null) break;
    left -= read;
    yield piece.subarray(0, read);
  }
  const after = await file.stat();
  if (left > 0 || after.size !== size || after.mtime?.getTime() !== mtime?.getTime()) {
    reportChange();
  }
  for (; left > 0; left -= Math.min(left, CHUNK_BYTES)) {
    yield new Uint8Array(Math.min(left, CHUNK_BYTES));
  }
}

const ownerOf = ({ mode, uid, gid, mtime }: Deno.FileInfo) => ({
  mode: (mode ?? 0) & 0o7777,
  uid: uid ?? 0,
  gid: gid ?? 0,
  mtime: timeOf(mtime),
  size: 0,
});

const timeOf = (time: Date | null): bigint => BigInt(time?.getTime() ?? 0) * NS_PER_MS;
