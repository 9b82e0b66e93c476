/** Files for one user only: keys, licenses, backups, credentials. @module */

import { dirname } from "node:path";
import { nodeFs } from "../builtins.ts";

/** Only the owner may read and write. */
export const PRIVATE_MODE = 0o600;

/**
 * Writes a file under a temporary name, syncs it to the disk and renames it: after a crash there is
 * either the former file or the complete new one. A link at `path` is replaced, not followed. The
 * file gets the owner of its directory, so that the service can read what root wrote.
 */
export function writePrivateFile(path: string, text: string): void {
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    writeNewFile(temporary, text);
    Deno.renameSync(temporary, path);
  } catch (error) {
    removeIfThere(temporary);
    throw error;
  }
  syncDirectory(dirname(path));
}

/**
 * Creates a file that belongs to the owner of its directory. All steps use the open file, because
 * the owner of the directory could replace a path with a link between two steps.
 *
 * @throws {Error} With code `EEXIST` if the name exists, also as a link.
 */
export function writeNewFile(path: string, text: string): void {
  const { openSync, writeSync, fsyncSync, fchownSync, fstatSync, closeSync } = nodeFs();
  const { uid, gid } = Deno.statSync(dirname(path));
  const file = openSync(path, "wx", PRIVATE_MODE);
  try {
    const bytes = new TextEncoder().encode(text);
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
    const now = fstatSync(file);
    // Only root can change the owner.
    const isForeign = uid !== null && gid !== null && (now.uid !== uid || now.gid !== gid);
    if (isForeign && Deno.uid() === 0) fchownSync(file, uid, gid);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Opens a file that must be a regular one: if another user can write to the directory, a link could
 * lead root to any file of the host.
 *
 * @throws {Error} For a link or a directory, with a reason that continues "cannot be used: ".
 */
export function openRegularFile(path: string, options: Deno.OpenOptions = {}): Deno.FsFile {
  const named = Deno.lstatSync(path);
  if (named.isSymlink) throw new Error("it is a symbolic link; put the file itself in its place");
  if (!named.isFile) throw new Error("it is not a regular file");
  const file = Deno.openSync(path, { read: true, ...options });
  const opened = file.statSync();
  if (opened.dev === named.dev && opened.ino === named.ino) return file;
  file.close();
  throw new Error("it was replaced while it was opened");
}

/**
 * Reads a regular file.
 *
 * @throws {Error} Like {@linkcode openRegularFile}, and for more than `maxBytes`.
 */
export function readRegularFile(path: string, maxBytes = 64 * 1024): string {
  using file = openRegularFile(path);
  const bytes = new Uint8Array(maxBytes + 1);
  let length = 0;
  for (let read; (read = file.readSync(bytes.subarray(length)));) length += read;
  if (length > maxBytes) throw new Error("it is too large");
  return new TextDecoder().decode(bytes.subarray(0, length));
}

/** Syncs a directory to the disk, after an entry was added, renamed or removed. */
export function syncDirectory(path: string): void {
  using directory = Deno.openSync(path, { read: true });
  directory.syncSync();
}

/** Whether the path exists, also as a dangling link. */
export function isThere(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

export function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
