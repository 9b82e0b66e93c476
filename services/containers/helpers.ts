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

/** The last names that this process gave. */
const given = new Set<string>();
const GIVEN_MAX = 1_000;

/** Name of a new one. */
export function helperName(): string {
  const name = `longshore-helper-${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`;
  adoptHelper(name);
  return name;
}

/** Lets the engine's events not speak of a container of an earlier process that is removed now. */
export function adoptHelper(name: string | undefined): void {
  if (name === undefined) return;
  if (given.size >= GIVEN_MAX) given.delete(given.values().next().value!);
  given.add(name.replace(/^\//, ""));
}

type Labels = Readonly<Record<string, string>> | null | undefined;

/** Whether it looks like one of them: an image cannot set a name, but others can. */
export const looksLikeHelper = (labels: Labels, name: string | undefined): boolean =>
  labels?.[HELPER_LABEL] !== undefined && NAME.test(name ?? "");

/**
 * Whether it is one of them. Others may choose the label and the name, too: once their containers
 * run, they are not hidden.
 *
 * @param options.isNew Whether it was never started, as those of another process mostly are.
 */
export const isHelper = (
  labels: Labels,
  name: string | undefined,
  { isNew }: { isNew: boolean },
): boolean => looksLikeHelper(labels, name) && (isNew || given.has(name!.replace(/^\//, "")));

/** Removes those that a crash of this service or of the engine left; others of the engine stay. */
export async function removeLeftHelpers(deps: HelperDeps, signal?: AbortSignal): Promise<void> {
  const { engine, log, now, server } = deps;
  const listed = await containerList(engine, {
    all: true,
    filters: { label: [HELPER_LABEL] },
    signal,
  });
  for (const { Id, Created, Labels, Names } of listed) {
    if (!looksLikeHelper(Labels, Names?.[0])) continue;
    const mark = Labels?.[HELPER_LABEL] ?? "";
    const ageMax = mark.endsWith(LONG) ? LONG_AGE_MAX_S : AGE_MAX_S;
    const isOwn = [false, true].some((isLong) => mark === helperMark(deps, isLong));
    const isInUse = isOwn && now().getTime() / 1000 - Created < ageMax;
    if (!mark.startsWith(`${server.id}/`) || isInUse) continue;
    adoptHelper(Names?.[0]);
    // Podman would also remove the mounted volume if it was created without a name.
    await ifThere(containerRemove(engine, Id, { force: true, volumes: false, signal }));
    log.info("left helper container removed", { id: Id });
  }
}
