/**
 * Single directories and files of a volume, read from its directory on the host. No running container
 * may write to it meanwhile: one could replace a directory by a symbolic link that leads out of the
 * volume.
 *
 * @module
 */

import { AppError } from "../../errors.ts";
import type { ByteString, EntryType } from "../restic/entry.ts";
import { bytesOf } from "../restic/entry_directory.ts";
import { type OpenFile, shortened, startIn } from "./content.ts";
import { REPLACEMENT } from "./directory.ts";
import { createListing, type ListedFile, type Listing, notDirectory } from "./listing.ts";
import { showPath } from "./limits.ts";
import { isUtf8, textOf } from "./shell_path.ts";

const CHUNK_BYTES = 256 * 1024;

/**
 * Lists a directory.
 *
 * @param root Directory of the volume.
 * @returns `undefined` for names that the runtime cannot use.
 * @throws {AppError} `not_found`; `conflict` for a path behind a symbolic link.
 */
export async function listDirectly(root: string, path: ByteString): Promise<Listing | undefined> {
  if (!isUtf8(path)) return undefined;
  const info = await findReal(root, path);
  if (!info.isDirectory) throw notDirectory(path);
  const directory = hostPath(root, path);
  const listing = createListing();
  for await (const { name } of Deno.readDir(directory)) {
    if (name.includes(REPLACEMENT)) return undefined;
    const found = await ifThere(Deno.lstat(`${directory}/${name}`));
    if (found) listing.files.push(toListed(bytesOf(name), found));
    if (listing.isFull()) return listing.end(false);
  }
  return listing.end(true);
}

/**
 * Opens a regular file.
 *
 * @param from First byte; a negative one counts from the end.
 * @returns `undefined` for a name that the runtime cannot use.
 * @throws {AppError} As `listDirectly()`, and `conflict` for what is not a regular file.
 */
export async function openDirectly(
  root: string,
  path: ByteString,
  from: number,
): Promise<OpenFile | undefined> {
  if (!isUtf8(path)) return undefined;
  const listed = await findReal(root, path);
  const notFile = new AppError("conflict", `Path ${showPath(path)} is not a regular file`);
  if (!listed.isFile) throw notFile;
  const file = await Deno.open(hostPath(root, path));
  try {
    const info = await file.stat();
    // The name may lead to something else by now.
    if (!info.isFile || info.ino !== listed.ino || info.dev !== listed.dev) throw notFile;
    const start = startIn(info.size, from);
    if (start > 0) await file.seek(start, Deno.SeekMode.Start);
    let isOpen = true;
    const close = () => {
      if (isOpen) file.close();
      isOpen = false;
    };
    const name = path.slice(path.lastIndexOf("/") + 1);
    const content = contentOf(file, path, info.size - start);
    return { info: toListed(name, info), start, content, close };
  } catch (error) {
    file.close();
    throw error;
  }
}

async function* contentOf(
  file: Deno.FsFile,
  path: ByteString,
  size: number,
): AsyncGenerator<Uint8Array, void> {
  for (let left = size; left > 0;) {
    const piece = new Uint8Array(Math.min(left, CHUNK_BYTES));
    const read = await file.read(piece);
    if (read === null) throw shortened(path);
    left -= read;
    yield piece.subarray(0, read);
  }
}

const hostPath = (root: string, path: ByteString) => path === "" ? root : `${root}/${textOf(path)}`;

/** @throws {AppError} `not_found`; `conflict` if a symbolic link is on the way. */
async function findReal(root: string, path: ByteString): Promise<Deno.FileInfo> {
  const names = path === "" ? [] : textOf(path).split("/");
  let at = root;
  let info = await Deno.lstat(at);
  for (const name of names) {
    if (info.isSymlink) {
      throw new AppError(
        "conflict",
        `Path ${showPath(path)} is behind a symbolic link; use its real path`,
      );
    }
    at += `/${name}`;
    const found = info.isDirectory ? await ifThere(Deno.lstat(at)) : undefined;
    if (!found) throw new AppError("not_found", `Path ${showPath(path)} does not exist`);
    info = found;
  }
  return info;
}

async function ifThere<Found>(finding: Promise<Found>): Promise<Found | undefined> {
  try {
    return await finding;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

function typeOf(info: Deno.FileInfo): EntryType {
  if (info.isDirectory) return "dir";
  if (info.isSymlink) return "symlink";
  if (info.isSocket) return "socket";
  if (info.isFifo) return "fifo";
  if (info.isBlockDevice) return "dev";
  return info.isCharDevice ? "chardev" : "file";
}

const toListed = (name: ByteString, info: Deno.FileInfo): ListedFile => ({
  name,
  type: typeOf(info),
  mode: (info.mode ?? 0) & 0o7777,
  uid: info.uid ?? 0,
  gid: info.gid ?? 0,
  size: info.isFile ? info.size : 0,
  mtime: BigInt(info.mtime?.getTime() ?? 0) * 1_000_000n,
});
