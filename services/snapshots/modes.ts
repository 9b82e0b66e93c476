/** How the containers of a stack are kept from writing while a snapshot reads their volumes. @module */

import type { Container } from "../containers/inventory.ts";
import { hooksOf } from "./hooks.ts";

/**
 * From the strictest to the loosest:
 * - `stop`: the containers are stopped in reverse order of their dependencies, and started after it.
 * - `pause`: their processes are frozen, so that the files are as after a power failure of one moment.
 * - `hooks`: commands in the containers prepare them, and databases are dumped beside their files.
 * - `live`: nothing; the files may be of different moments.
 */
export const MODES = ["stop", "pause", "hooks", "live"] as const;
export type Mode = (typeof MODES)[number];

/** A container with this label decides the mode of its stack. */
export const MODE_LABEL = "longshore.backup";

/**
 * The mode that the labels of the containers ask for, the strictest if they differ. Without one it is
 * `hooks` if each container that writes is recognized or has hooks of its own, otherwise `stop`.
 *
 * @param writers The containers that use one of the volumes for writing.
 */
export function defaultMode(writers: readonly Pick<Container, "image" | "labels">[]): Mode {
  const labels = writers.map(({ labels }) => labels[MODE_LABEL]);
  const named = MODES.find((mode) => labels.includes(mode));
  if (named) return named;
  return writers.every((each) => hooksOf(each) !== undefined) ? "hooks" : "stop";
}
