/**
 * Containers that Longshore creates for a moment to read and write files of the host. They are
 * never started, and not part of the inventory.
 *
 * @module
 */

import { containerList, containerRemove } from "../../engine/containers.ts";
import { ifThere } from "../../engine/errors.ts";
import type { Deps } from "../deps.ts";

/** Marks them; the value is that of the process. */
export const HELPER_LABEL = "longshore.helper";

/** Their image. It has no files. Podman gives local images no other prefix. */
export const HELPER_IMAGE = "localhost/longshore-empty:1";

/** Age after which a container of this process is a leftover, in seconds. */
const AGE_MAX_S = 600;

type HelperDeps = Pick<Deps, "engine" | "log" | "now" | "server" | "startedAt">;

/** Identifies this process and its installation. */
export const helperMark = ({ server, startedAt }: Pick<Deps, "server" | "startedAt">): string =>
  `${server.id}/${startedAt.getTime()}`;

/** Whether it is one of them: the label alone could be that of any image, and hide its containers. */
export const isHelper = (
  labels: Readonly<Record<string, string>> | null | undefined,
  image: string | undefined,
): boolean => labels?.[HELPER_LABEL] !== undefined && image === HELPER_IMAGE;

/** Removes those that a crash of this service or of the engine left; others of the engine stay. */
export async function removeLeftHelpers(deps: HelperDeps, signal?: AbortSignal): Promise<void> {
  const { engine, log, now, server } = deps;
  const listed = await containerList(engine, {
    all: true,
    filters: { label: [HELPER_LABEL] },
    signal,
  });
  for (const { Id, Created, Labels, Image } of listed) {
    if (!isHelper(Labels, Image)) continue;
    const mark = Labels?.[HELPER_LABEL] ?? "";
    const isInUse = mark === helperMark(deps) && now().getTime() / 1000 - Created < AGE_MAX_S;
    if (!mark.startsWith(`${server.id}/`) || isInUse) continue;
    await ifThere(containerRemove(engine, Id, { force: true, volumes: true, signal }));
    log.info("left helper container removed", { id: Id });
  }
}
