/** A volume, a container or the directory of a stack, whose files are listed, read and changed. @module */

import type { ByteString } from "../backup/restic/entry.ts";
import type { OpenFile } from "../backup/volumes/content.ts";
import type { Listing } from "../backup/volumes/listing.ts";
import type { Shell } from "../backup/volumes/shell.ts";
import type { Container } from "../containers/inventory.ts";
import type { Operation } from "../containers/reservations.ts";

export interface Place {
  /** Identity among all places, e.g. `/volumes/shop_data`. */
  id: string;
  /** For the audit log, e.g. `shop_data`. */
  name: string;
  /** Those that use the files: the engine's messages may have secret values of them. */
  containers: readonly Pick<Container, "id">[];
  /** Names of running containers that may change the files at any moment. */
  runningContainers: string[];
  /**
   * @throws {AppError} `forbidden` for the service's own data, `conflict` for files that have an editor
   * of their own.
   */
  assertAllowed(path: ByteString, access: "read" | "change"): void;
  list(path: ByteString, signal: AbortSignal): Promise<Listing>;
  open(path: ByteString, from: number, signal: AbortSignal): Promise<OpenFile>;
  /** @throws {AppError} `conflict` without the programs for changes. */
  shell(signal: AbortSignal): Promise<Shell>;
  /** Keeps other actions away from the containers that use the files. */
  reserve(): Disposable;
}

/** Requests for files do not exclude each other. */
export const FILE_OPERATION: Operation = Symbol("files");
