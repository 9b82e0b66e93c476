/**
 * Containers that Longshore creates for a moment to read and write files of the host and of volumes.
 * They are not part of the inventory.
 *
 * @module
 */

import { containerList, containerRemove } from "../../engine/containers.ts";
import { EngineError, ifThere } from "../../engine/errors.ts";
import type { Deps } from "../deps.ts";

/** Marks them; the value is that of the process. */
export const HELPER_LABEL = "longshore.helper";

/** Image of those that are never started. It has no files. Podman gives local images no other prefix. */
export const EMPTY_IMAGE = "localhost/longshore-empty:1";

const NAME = /^\/?longshore-helper-[0-9a-f]{12}$/;

type HelperDeps = Pick<Deps, "engine" | "log" | "server" | "startedAt">;

/** Identifies this process and its installation. */
export const helperMark = ({ server, startedAt }: Pick<Deps, "server" | "startedAt">): string =>
  `${server.id}/${startedAt.getTime()}`;

/** The last names that this process gave. */
const given = new Set<string>();
const GIVEN_MAX = 1_000;

/** Names of those that work of this process uses. */
const used = new Set<string>();

/** Name of a new one, which is in use until {@linkcode releaseHelper}. */
export function helperName(): string {
  const name = `longshore-helper-${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`;
  adoptHelper(name);
  used.add(name);
  return name;
}

/** Ends the use of a name. The next list of containers removes one that is still there. */
export const releaseHelper = (name: string | undefined): void =>
  void used.delete(name?.replace(/^\//, "") ?? "");

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

/**
 * Removes those that a crash of this service or of the engine left, and what could not be removed while
 * the engine was away; others of the engine stay. One that the engine does not remove yet (its device is
 * busy) is tried again with the next list.
 *
 * @throws {EngineUnreachableError} `EngineError` if containers cannot be listed.
 */
export async function removeLeftHelpers(deps: HelperDeps, signal?: AbortSignal): Promise<void> {
  const { engine, log, server } = deps;
  const listed = await containerList(engine, {
    all: true,
    filters: { label: [HELPER_LABEL] },
    signal,
  });
  for (const { Id, Labels, Names } of listed) {
    if (!looksLikeHelper(Labels, Names?.[0])) continue;
    const mark = Labels?.[HELPER_LABEL] ?? "";
    const isInUse = mark === helperMark(deps) && used.has(Names![0]!.replace(/^\//, ""));
    if (!mark.startsWith(`${server.id}/`) || isInUse) continue;
    const name = Names![0]!.replace(/^\//, "");
    const wasTried = given.has(name);
    adoptHelper(name);
    try {
      // Podman would also remove the mounted volume if it was created without a name.
      await ifThere(containerRemove(engine, Id, { force: true, volumes: false, signal }));
      log.info("left helper container removed", { id: Id });
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      if (!wasTried) {
        log.warn("left helper container not removed", { id: Id, error: error.message });
      }
    }
  }
}
