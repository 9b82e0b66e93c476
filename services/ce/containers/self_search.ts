/**
 * Finds the container that this service runs in where its surroundings do not give the id, e.g.
 * with host networking: a file with a random name is written, and the engine is asked which
 * container has it.
 *
 * @module
 */

import { containerHasPath } from "../../../engine/container_archive.ts";
import { containerList } from "../../../engine/containers.ts";
import { EngineError } from "../../../engine/errors.ts";
import type { Deps } from "../../deps.ts";

type SearchDeps = Pick<Deps, "config" | "engine" | "log" | "self">;

/** Containers that are asked for the marker at a time. */
const PARALLEL = 4;

/** A path of the image comes first: a volume can be mounted by other containers as well. */
const markerFolders = ({ dataDir }: Deps["config"]) => ["/", "/var/tmp", "/tmp", dataDir];

/**
 * Stores the own container's id in `deps.self`, unless it is known or the service does not run in
 * a container. Logs a warning where it cannot be found.
 *
 * @throws {EngineUnreachableError}
 */
export async function findOwnContainer(deps: SearchDeps, signal?: AbortSignal): Promise<void> {
  const { self, log } = deps;
  if (!self.isContainerized || self.id !== null) return;
  const running = await containerList(deps.engine, { signal });
  self.id = idOfHostname(self.hostname, running.map(({ Id }) => Id));
  for (const folder of markerFolders(deps.config)) {
    if (self.id !== null) break;
    self.id = await searchMarker(deps, folder, running.map(({ Id }) => Id), signal);
  }
  if (self.id === null && !self.isReported) {
    self.isReported = true;
    log.warn("own container not found; it is not protected from actions through this service", {
      hint: "mount the host's /proc and set PROC_PATH",
    });
  }
}

/** The engine's default host name is the beginning of the id. */
function idOfHostname(hostname: string | null, ids: readonly string[]): string | null {
  if (hostname === null || !/^[0-9a-f]{12}$/.test(hostname)) return null;
  return ids.find((id) => id.startsWith(hostname)) ?? null;
}

/** @returns The only container with the marker; `null` where there is none, or several. */
async function searchMarker(
  { engine }: SearchDeps,
  folder: string,
  ids: readonly string[],
  signal: AbortSignal | undefined,
): Promise<string | null> {
  const marker = writeMarker(folder);
  if (marker === undefined) return null;
  try {
    const found: string[] = [];
    const waiting = [...ids];
    const askNext = async () => {
      for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
        if (await hasMarker(engine, id, marker, signal)) found.push(id);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, askNext));
    return found.length === 1 ? found[0]! : null;
  } finally {
    Deno.removeSync(marker);
  }
}

/** One that the engine cannot look into, e.g. because it is being removed, is not this one. */
async function hasMarker(
  engine: Deps["engine"],
  id: string,
  marker: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  try {
    return await containerHasPath(engine, id, marker, { signal });
  } catch (error) {
    if (error instanceof EngineError) return false;
    throw error;
  }
}

/** @returns Its path; `undefined` where the folder cannot be written. */
function writeMarker(folder: string): string | undefined {
  try {
    const path = `${Deno.realPathSync(folder)}/.longshore-${crypto.randomUUID()}`
      .replace(/^\/\//, "/");
    Deno.writeTextFileSync(path, "", { createNew: true, mode: 0o600 });
    return path;
  } catch {
    return undefined;
  }
}
