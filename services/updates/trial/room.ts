/** Room that copies of data need on the engine's disk. @module */

import { systemInfo } from "../../../engine/system.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { byteText } from "../../text/bytes.ts";
import { freeBytes } from "../run/survey.ts";

/** Part of the copies that must stay free besides. */
const MARGIN = 1.1;

/**
 * @param bytes Of the copies; `undefined` if unknown.
 * @throws {AppError} `conflict` without enough room, where the disk can be seen.
 */
export async function assertRoomForCopies(
  { engine }: Pick<Deps, "engine">,
  bytes: number | undefined,
): Promise<void> {
  const { DockerRootDir: root } = await systemInfo(engine);
  const free = root === undefined ? undefined : await freeBytes(root);
  if (bytes === undefined || free === undefined || free >= bytes * MARGIN) return;
  throw new AppError(
    "conflict",
    `The copies need ${byteText(bytes)}, and the engine's disk has ${byteText(free)} left`,
  );
}
