/**
 * Finds the container that this service runs in if the environment does not reveal its id, e.g. with
 * host networking: logs a random text and asks the engine which container has it in its log. A file
 * instead would endanger the volumes of other containers, see `engine/container_archive.ts`.
 *
 * @module
 */

import { containerList } from "../../../engine/containers.ts";
import { EngineError } from "../../../engine/errors.ts";
import type { Deps } from "../../deps.ts";
import { sleep } from "../../lifecycle.ts";
import { readLastLines } from "../updates/run/evidence.ts";

type SearchDeps = Pick<Deps, "engine" | "log" | "self">;

/** Parallel requests for logs. */
const PARALLEL = 4;

/** Lines of each log that are searched. */
const LINES_MAX = 100;

/** Pauses before the attempts, in milliseconds: the engine stores a line a moment later. */
const PAUSES_MS = [0, 100, 300];

/**
 * Stores the id of the service's container in `deps.self`, unless it is known or the service does
 * not run in a container. Logs a warning if the container is not found.
 *
 * @throws {EngineUnreachableError}
 */
export async function findOwnContainer(deps: SearchDeps, signal?: AbortSignal): Promise<void> {
  const { engine, self, log } = deps;
  if (!self.isContainerized || self.id !== null) return;
  const ids = (await containerList(engine, { signal })).map(({ Id }) => Id);
  self.id = idOfHostname(self.hostname, ids) ?? await searchLogs(deps, ids, signal);
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

/** @returns The only container that logged what this process logs; `null` if there is none or several. */
async function searchLogs(
  { engine, log }: SearchDeps,
  ids: readonly string[],
  signal: AbortSignal | undefined,
): Promise<string | null> {
  const marker = crypto.randomUUID();
  log.info("looking for the own container in the logs of all containers", { marker });
  for (const pauseMs of PAUSES_MS) {
    await sleep(pauseMs, signal);
    const found: string[] = [];
    const waiting = [...ids];
    const readNext = async () => {
      for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
        signal?.throwIfAborted();
        if (await hasLogged(engine, id, marker)) found.push(id);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, readNext));
    if (found.length > 0) return found.length === 1 ? found[0]! : null;
  }
  return null;
}

/** False also if the log cannot be read, e.g. because the container is being removed. */
async function hasLogged(engine: Deps["engine"], id: string, text: string): Promise<boolean> {
  try {
    const lines = await readLastLines(engine, id, { tail: LINES_MAX });
    return lines.some((line) => line.includes(text));
  } catch (error) {
    if (error instanceof EngineError) return false;
    throw error;
  }
}
