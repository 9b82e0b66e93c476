/**
 * Containers that Longshore creates for a moment to read and write files of the host and of volumes.
 * They are not part of the inventory.
 *
 * @module
 */

import { containerList, containerRemove } from "../../engine/containers.ts";
import { ifThere } from "../../engine/errors.ts";
import type { Deps } from "../deps.ts";

/** Marks them; the value is that of the process. */
export const HELPER_LABEL = "longshore.helper";

/** Image of those that are never started. It has no files. Podman gives local images no other prefix. */
export const EMPTY_IMAGE = "localhost/longshore-empty:1";

const NAME = /^\/?longshore-helper-[0-9a-f]{12}$/;

/** Ages after which a container of this process is a leftover, in seconds. */
const AGE_MAX_S = 600;
const LONG_AGE_MAX_S = 24 * 3600;

/** Ends the mark of one that reads or writes a whole volume. */
const LONG = "/long";

type HelperDeps = Pick<Deps, "engine" | "log" | "now" | "server" | "startedAt">;

/** Identifies this process and its installation. @param isLong Whether its work may take hours. */
export const helperMark = (
  { server, startedAt }: Pick<Deps, "server" | "startedAt">,
  isLong = false,
): string => `${server.id}/${startedAt.getTime()}${isLong ? LONG : ""}`;

/** Name of a new one. */
export const helperName = (): string =>
  `longshore-helper-${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`;

/**
 * Whether it is one of them. The label alone could be that of any image and hide its containers; an
 * image cannot set a name.
 */
export const isHelper = (
  labels: Readonly<Record<string, string>> | null | undefined,
  name: string | undefined,
): boolean => labels?.[HELPER_LABEL] !== undefined && NAME.test(name ?? "");

/** Removes those that a crash of this service or of the engine left; others of the engine stay. */
export async function removeLeftHelpers(deps: HelperDeps, signal?: AbortSignal): Promise<void> {
  const { engine, log, now, server } = deps;
  const listed = await containerList(engine, {
    all: true,
    filters: { label: [HELPER_LABEL] },
    signal,
  });
  for (const { Id, Created, Labels, Names } of listed) {
    if (!isHelper(Labels, Names?.[0])) continue;
    const mark = Labels?.[HELPER_LABEL] ?? "";
    const ageMax = mark.endsWith(LONG) ? LONG_AGE_MAX_S : AGE_MAX_S;
    const isOwn = [false, true].some((isLong) => mark === helperMark(deps, isLong));
    const isInUse = isOwn && now().getTime() / 1000 - Created < ageMax;
    if (!mark.startsWith(`${server.id}/`) || isInUse) continue;
    // Podman would also remove the mounted volume if it was created without a name.
    await ifThere(containerRemove(engine, Id, { force: true, volumes: false, signal }));
    log.info("left helper container removed", { id: Id });
  }
}
