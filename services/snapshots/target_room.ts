/** Room at a target that a snapshot needs. @module */

import { AppError } from "../errors.ts";
import { byteText } from "../text/bytes.ts";

/**
 * @param options.what What may be added, and `advice` against it.
 * @throws {AppError} `conflict` if the target has less room than may be added.
 */
export function assertRoom(
  { added, room }: { added: number | null; room: number | null },
  place: string,
  { what = "the backup", advice = "choose another target" }: { what?: string; advice?: string } =
    {},
): void {
  if (added === null || room === null || added <= room) return;
  throw new AppError(
    "conflict",
    `Target ${place} has ${byteText(room)} left, and ${what} may need ${byteText(added)}; ` +
      `free room there, or ${advice}`,
  );
}
