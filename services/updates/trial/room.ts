/** Room that copies of data need on the engine's disk. @module */

import { systemInfo } from "../../../engine/system.ts";
import type { Deps } from "../../deps.ts";
import type { Entries, Entry } from "../../backup/restic/entry.ts";
import { AppError } from "../../errors.ts";
import { byteText } from "../../text/bytes.ts";
import { freeBytes } from "../run/survey.ts";

/** Part of the copies that must stay free besides. */
const MARGIN = 1.1;

/** Bytes of files between two looks at the room. */
const LOOK_BYTES = 256 * 1024 ** 2;

/** @returns Bytes that are free on the engine's disk; `undefined` where it cannot be seen. */
export async function engineRoom(engine: Deps["engine"]): Promise<number | undefined> {
  const { DockerRootDir: root } = await systemInfo(engine);
  return root === undefined ? undefined : await freeBytes(root);
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
  const free = await engineRoom(engine);
  if (bytes === undefined || free === undefined || free >= bytes * MARGIN) return;
  throw new AppError(
    "conflict",
    `${subject} ${byteText(bytes)}, and the engine's disk has ${byteText(free)} left`,
  );
}

/**
 * Passes entries on as long as there is room for them: the sizes of directories, and of some volumes, are
 * not known before.
 *
 * @throws {AppError} As {@linkcode assertRoomForCopies}.
 */
export async function* whileThereIsRoom(
  deps: Pick<Deps, "engine">,
  entries: Entries,
  subject?: string,
): Entries & AsyncGenerator<Entry> {
  let bytes = 0;
  for await (const entry of entries) {
    bytes += entry.size;
    if (bytes >= LOOK_BYTES) {
      await assertRoomForCopies(deps, bytes, subject);
      bytes = 0;
    }
    yield entry;
  }
}
