/**
 * The identity with which commands work in `DATA_DIR`.
 *
 * The service's user can put links into its own directory. A command of root that follows one
 * would change any file of the host, so root takes the identity of the directory's owner.
 *
 * @module
 */

import { nodeProcess } from "../services/builtins.ts";
import { CommandError } from "./program.ts";

/**
 * Gives this process the rights of the owner of `DATA_DIR`, where it runs as root and the owner is
 * another user. Holds for the whole process, until the result is disposed of.
 *
 * @throws {CommandError} When the owner cannot be trusted or taken over.
 */
export function actAsOwner(dataDir: string): Disposable {
  const process = nodeProcess();
  // A caller may have taken it already.
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
      `DATA_DIR=${dataDir} belongs to user ${owner.uid}, whose rights this process cannot take: ` +
        `${(error as Error).message}; run the command as that user`,
      { cause: error },
    );
  }
  return { [Symbol.dispose]: () => become(0, 0) };
}

/** @returns `undefined` where there is no such directory. */
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
