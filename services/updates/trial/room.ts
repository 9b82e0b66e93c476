/** Room on the engine's disk. @module */

import { type EngineInfo, systemInfo } from "../../../engine/system.ts";
import { nodeFs } from "../../builtins.ts";
import type { Deps } from "../../deps.ts";
import type { Entries, Entry } from "../../backup/restic/entry.ts";
import { AppError } from "../../errors.ts";
import { byteText } from "../../text/bytes.ts";

/** Part of the copies that must stay free besides. */
const MARGIN = 1.1;

/** Bytes of files between two looks at the room. */
const LOOK_BYTES = 256 * 1024 ** 2;

/** @returns Bytes that are free on the engine's disk; `undefined` where it cannot be seen, e.g. from a container. */
export const engineRoom = async (engine: Deps["engine"]): Promise<number | undefined> =>
  await roomOf(await systemInfo(engine));

/** As {@linkcode engineRoom}. */
export async function roomOf({ DockerRootDir: root }: EngineInfo): Promise<number | undefined> {
  if (root === undefined) return undefined;
  try {
    const { bavail, bsize } = await nodeFs().promises.statfs(root);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

/**
 * @param needed Bytes; like `free`, `undefined` or `null` if unknown.
 * @param subject Begins the message, e.g. `The copies need`.
 * @throws {AppError} `conflict` if both are known and the room does not suffice.
 */
export function assertEngineRoom(
  needed: number | undefined | null,
  free: number | undefined | null,
  subject: string,
): void {
  if (needed == null || free == null || needed <= free) return;
  throw new AppError(
    "conflict",
    `${subject} ${byteText(needed)}, and the engine's disk has ${
      byteText(free)
    } left; free room there`,
  );
}

/**
 * @param bytes Of the copies; `undefined` if unknown.
 * @param subject Begins the message.
 * @throws {AppError} `conflict` without enough room, where the disk can be seen.
 */
export async function assertRoomForCopies(
  { engine }: Pick<Deps, "engine">,
  bytes: number | undefined,
  subject = "The copies need",
): Promise<void> {
  assertEngineRoom(bytes && bytes * MARGIN, await engineRoom(engine), subject);
}

/**
 * Passes entries on as long as there is room for them: the sizes of directories, and of some volumes, are
 * not known before.
 *
 * @throws {AppError} `conflict` before the file that has too little, where the disk can be seen.
 */
export async function* whileThereIsRoom(
  deps: Pick<Deps, "engine">,
  entries: Entries,
  subject = "The copies need",
): Entries & AsyncGenerator<Entry> {
  let bytes = 0;
  for await (const entry of entries) {
    if (entry.hardLinkTo === undefined) bytes += entry.size;
    if (bytes >= LOOK_BYTES) {
      assertEngineRoom(bytes, await engineRoom(deps.engine), subject);
      bytes = 0;
    }
    yield entry;
  }
}
