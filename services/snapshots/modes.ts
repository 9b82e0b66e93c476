/** How the containers of a stack are kept from writing while a snapshot reads their volumes. @module */

import type { Container } from "../containers/inventory.ts";
import { shown } from "../backup/restic/repository_error.ts";
import { AppError } from "../errors.ts";
import { type Hooks, hooksOf } from "./hooks.ts";

/**
 * From the strictest to the loosest:
 * - `stop`: the containers are stopped in reverse order of their dependencies, and started after it.
 * - `pause`: their processes are frozen, so that the files are as after a power failure of one moment.
 * - `hooks`: commands in the containers prepare them, and databases are dumped beside their files.
 * - `live`: nothing; the files may be of different moments.
 */
export const MODES = ["stop", "pause", "hooks", "live"] as const;
export type Mode = (typeof MODES)[number];

/** A container with this label decides the mode of its stack; `off` leaves the stack out of schedules. */
export const MODE_LABEL = "longshore.backup";

const LABEL_VALUES: readonly string[] = [...MODES, "off"];

/** A container with the labels of its image; `undefined` if they are unknown. */
export type Labelled = Pick<Container, "image" | "labels"> & {
  imageLabels: Readonly<Record<string, string>> | undefined;
};

/**
 * The mode that the labels of the containers ask for, the strictest if they differ, else that of the
 * setting. Without both it is `hooks` if each container that writes is recognized or has hooks of its
 * own, otherwise `stop`. Labels that come from an image count only where they are stricter: who publishes
 * an image must not decide that its files may be of different moments.
 *
 * @param writers The containers that use one of the volumes for writing.
 * @param setting Of the stack.
 * @throws {AppError} `conflict` for another value, such as a misspelled `off`.
 */
export function defaultMode(
  writers: readonly (Labelled & Pick<Container, "name">)[],
  setting?: Mode,
): Mode {
  const own = writers.map((each) => ({ ...each, labels: ownLabels(each) }));
  for (const { name, labels: { [MODE_LABEL]: value = "" } } of own) {
    if (value === "" || LABEL_VALUES.includes(value)) continue;
    throw new AppError(
      "conflict",
      `Container ${name} has the label ${MODE_LABEL}=${shown(value)}; it must be one of ` +
        LABEL_VALUES.join(", "),
    );
  }
  const chosen = strictest(own) ?? setting ??
    (own.every((each) => hooksOf(each) !== undefined) ? "hooks" : "stop");
  const asked = strictest(writers) ?? chosen;
  return MODES.indexOf(asked) < MODES.indexOf(chosen) ? asked : chosen;
}

/**
 * The hooks of a container. Those of its image's labels count only where it would have none: they must
 * not take the place of a database's dump.
 */
export const ownHooksOf = (container: Labelled): Hooks | undefined =>
  hooksOf({ ...container, labels: ownLabels(container) }) ?? hooksOf(container);

/** Whether a label of the container itself, not of its image, leaves it out. */
export const isExcluded = (container: Labelled): boolean =>
  ownLabels(container)[MODE_LABEL] === "off";

function strictest(containers: readonly Pick<Labelled, "labels">[]): Mode | undefined {
  const values = containers.map(({ labels }) => labels[MODE_LABEL]);
  return MODES.find((mode) => values.includes(mode));
}

/** A label with the value that the image has comes from there; all may, if those are unknown. */
const ownLabels = ({ labels, imageLabels }: Labelled): Record<string, string> =>
  imageLabels === undefined ? {} : Object.fromEntries(
    Object.entries(labels).filter(([name, value]) => imageLabels[name] !== value),
  );
