/**
 * Files that are nobody else's business: keys, licenses, backups.
 *
 * @module
 */

import { dirname } from "node:path";

/** For this user alone. */
export const PRIVATE_MODE = 0o600;

/**
 * Writes a file under a temporary name, has it on the disk, and only then gives it its name: a
 * crash leaves either the former file or the whole new one. The file belongs to whom its directory
 * belongs to, so that the service can read what root put there for it.
 */
export function writePrivateFile(path: string, text: string): void {
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    {
      using file = Deno.openSync(temporary, { write: true, createNew: true, mode: PRIVATE_MODE });
      const bytes = new TextEncoder().encode(text);
      for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
      file.syncSync();
    }
    giveToOwner(temporary, dirname(path));
    Deno.renameSync(temporary, path);
  } catch (error) {
    removeIfThere(temporary);
    throw error;
  }
  syncDirectory(dirname(path));
}

/** Gives a file to the owner of a directory, where this user may. */
export function giveToOwner(path: string, directory: string): void {
  const { uid, gid } = Deno.statSync(directory);
  const now = Deno.lstatSync(path);
  if (uid === null || (now.uid === uid && now.gid === gid)) return;
  try {
    Deno.chownSync(path, uid, gid);
  } catch (error) {
    // Only root gives files away; whoever else wrote it keeps it.
    if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
  }
}

/** Has the names in a directory on the disk, after one was added, moved or removed. */
export function syncDirectory(path: string): void {
  using directory = Deno.openSync(path, { read: true });
  directory.syncSync();
}

/** Whether there is anything by that name, also a link that leads nowhere. */
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
