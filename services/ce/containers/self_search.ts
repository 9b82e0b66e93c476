/**
 * Finds the container that this service runs in if the environment does not reveal its id, e.g. with
 * host networking: writes a file with a random name and asks the engine which container has it.
 *
 * @module
 */

import { containerHasPath } from "../../../engine/container_archive.ts";
import { containerList } from "../../../engine/containers.ts";
import { EngineError } from "../../../engine/errors.ts";
import type { Deps } from "../../deps.ts";

type SearchDeps = Pick<Deps, "config" | "engine" | "log" | "self">;

/** Parallel requests for the marker file. */
const PARALLEL = 4;

/** A path in the image comes first, because other containers may mount the same volume. */
const markerFolders = ({ dataDir }: Deps["config"]) => ["/", "/var/tmp", "/tmp", dataDir];

/**
 * Stores the id of the service's container in `deps.self`, unless it is known or the service does
 * not run in a container. Logs a warning if the container is not found.
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

/** The engine's default host name is the first 12 digits of the id. */
function idOfHostname(hostname: string | null, ids: readonly string[]): string | null {
  if (hostname === null || !/^[0-9a-f]{12}$/.test(hostname)) return null;
  return ids.find((id) => id.startsWith(hostname)) ?? null;
}

/** @returns The only container with the marker; `null` if there is none or several. */
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

/** False also if the engine cannot read the container, e.g. because it is being removed. */
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

/** @returns Its path; `undefined` if the folder is not writable. */
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
