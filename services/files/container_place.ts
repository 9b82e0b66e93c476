/** The files of a running container, which its own shell and programs list, read and change. @module */

import { volumeList } from "../../engine/volumes.ts";
import { openContent } from "../backup/volumes/content.ts";
import { listDirectory } from "../backup/volumes/listing.ts";
import { textOf } from "../backup/volumes/shell_path.ts";
import { assertRunning } from "../containers/containers.ts";
import { type ReadDeps, resolveContainer } from "../containers/reads.ts";
import { reserveContainer } from "../containers/reserve.ts";
import type { Deps } from "../deps.ts";
import { containerShell } from "./container_shell.ts";
import { assertNotData, findOwnData, ownData, pathsOfData } from "../backup/volumes/own_data.ts";
import { FILE_OPERATION, type Place } from "./place.ts";

type PlaceDeps = ReadDeps & Pick<Deps, "config" | "reservations">;

/**
 * @throws {AppError} `not_found`; `conflict` if it is not running; `forbidden` for the service's own
 * container.
 */
export async function containerPlace(deps: PlaceDeps, ref: string): Promise<Place> {
  const container = await resolveContainer(deps, ref);
  const { id, name, self } = container;
  if (self) throw ownData(`Container ${name}`);
  assertRunning(container);
  const volumes = await volumeList(deps.engine);
  const data = await pathsOfData(container, await findOwnData(deps), volumes);
  const shell = containerShell(deps, container);
  return {
    ...{ id: `container ${id}`, name, runningContainers: [name] },
    containers: [container],
    assertAllowed: (path, access) => assertNotData(`/${textOf(path)}`, data, access),
    list: (path, signal) => listDirectory(shell, path, signal),
    open: (path, from, signal) => openContent(shell, path, { from, signal }),
    shell: () => Promise.resolve(shell),
    reserve: () => reserveContainer(deps, container, "written", FILE_OPERATION),
  };
}
