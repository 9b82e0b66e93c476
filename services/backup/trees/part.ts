/** Parts of a snapshot's tree: volumes and directories of the host. @module */

import type { MountSource } from "../../containers/helper_container.ts";
import { directoryIdentity, volumeIdentity } from "../../containers/reservations.ts";
import type { ByteString } from "../restic/entry.ts";
import { bytesOf } from "../restic/entry_directory.ts";
import { TarError } from "../tar.ts";
import { TreeError } from "../volumes/limits.ts";

/** A volume, or a directory or file of the host. */
export interface Part {
  /** In the snapshot, e.g. `/volumes/shop_data` or `/directories/opt/stacks/shop/data`. */
  path: string;
  mount: MountSource;
}

/** Volume, directory or file that gets what a snapshot has. */
export interface RestoredPart {
  /** Directory or file in the snapshot, without the leading slash. */
  from: ByteString;
  to: Part;
}

export const volumePart = (source: string): Part => ({
  path: volumeIdentity(source).id,
  mount: { type: "volume", source },
});

/** @param source Absolute path of a directory or file of the host. */
export const directoryPart = (source: string): Part => ({
  path: directoryIdentity(source).id,
  mount: { type: "bind", source },
});

/** Restores a part from a snapshot to where it was. */
export const restoredPart = (to: Part): RestoredPart => ({ from: bytesOf(to.path.slice(1)), to });

/** @returns The error, which names the part if it is about an entry of it. */
export function namedError({ path }: Part, error: unknown): unknown {
  const isOfEntry = error instanceof TreeError || error instanceof TarError;
  if (!isOfEntry) return error;
  const Kind = error instanceof TreeError ? TreeError : TarError;
  return new Kind(`${path}: ${error.message}`, { cause: error });
}
