/**
 * Commands of root work in `DATA_DIR` as its owner. The service's user can create links in its
 * directory, and root would follow them to any file of the host.
 *
 * @module
 */

import { nodeProcess } from "../services/builtins.ts";
import { CommandError } from "./program.ts";

/**
 * Gives this process the permissions of the owner of `DATA_DIR`, if it runs as root and the owner is
 * another user. Applies to the whole process until the result is disposed.
 *
 * @throws {CommandError} If the owner cannot be trusted, or the identity cannot be changed.
 */
export function actAsOwner(dataDir: string): Disposable {
  const process = nodeProcess();
  // A caller may already have changed it.
  const owner = process.geteuid?.() === 0 ? ownerOf(dataDir) : undefined;
  if (!owner || owner.uid === 0) return { [Symbol.dispose]() {} };
  const become = (uid: number, gid: number) => {
    // Only root may change the group.
    process.seteuid!(0);
    process.setegid!(gid);
    process.seteuid!(uid);
  };
  try {
    become(owner.uid, owner.gid);
  } catch (error) {
    throw new CommandError(
      `DATA_DIR=${dataDir} belongs to user ${owner.uid}, and this process cannot switch to that user: ` +
        `${(error as Error).message}; run the command as that user`,
      { cause: error },
    );
  }
  return { [Symbol.dispose]: () => become(0, 0) };
}

/** @returns `undefined` if there is no such directory. */
function ownerOf(dataDir: string): { uid: number; gid: number } | undefined {
  try {
    const link = Deno.lstatSync(dataDir);
    const { uid, gid } = Deno.statSync(dataDir);
    if (link.isSymlink && link.uid !== 0 && link.uid !== uid) {
      throw new CommandError(`DATA_DIR=${dataDir} is a symbolic link of user ${link.uid}`);
    }
    return uid === null || gid === null ? undefined : { uid, gid };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
