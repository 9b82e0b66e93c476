/**
 * Finds the container that this service runs in if the environment does not reveal its id, e.g. with
 * host networking: logs a random text and asks the engine which container has it in its log. A file
 * instead would endanger the volumes of other containers, see `engine/container_archive.ts`.
 *
 * @module
 */

import { containerLogs } from "../../engine/container_logs.ts";
import { containerList, type ContainerSummary } from "../../engine/containers.ts";
import { EngineError } from "../../engine/errors.ts";
import type { Deps } from "../deps.ts";
import { sleep } from "../waiting.ts";

type SearchDeps = Pick<Deps, "engine" | "log" | "now" | "self">;

/** Parallel requests for logs. */
const PARALLEL = 4;

/** Searched part of each log: its last lines, and characters. */
const LINES_MAX = 100;
const TEXT_MAX = 1024 * 1024;

/** Pauses before the attempts, in milliseconds: the engine stores a line a moment later. */
const PAUSES_MS = [0, 100, 300];

/**
 * Stores the id of the service's container in `deps.self`, unless it is known or the service does
 * not run in a container. Logs a warning if the container is not found, and does not search again.
 * A start must not wait for it, because it reads the logs of many containers.
 *
 * @returns Whether the id has been found now.
 * @throws {EngineUnreachableError}
 */
export async function findOwnContainer(deps: SearchDeps, signal?: AbortSignal): Promise<boolean> {
  const { engine, self, log } = deps;
  if (!self.isContainerized || self.isReported || self.id !== null) return false;
  const containers = await containerList(engine, { signal });
  self.id = idOfHostname(self.hostname, containers.map(({ Id }) => Id)) ??
    await searchLogs(deps, containers, signal);
  if (self.id === null) {
    self.isReported = true;
    log.warn("own container not found; it is not protected from actions through this service", {
      hint: "unless the engine is on another host, mount the host's /proc and set PROC_PATH",
    });
  }
  return self.id !== null;
}

/** The engine's default host name is the first 12 digits of the id. */
function idOfHostname(hostname: string | null, ids: readonly string[]): string | null {
  if (hostname === null || !/^[0-9a-f]{12}$/.test(hostname)) return null;
  return ids.find((id) => id.startsWith(hostname)) ?? null;
}

/** @returns The only container that logged what this process logs; `null` if there is none or several. */
async function searchLogs(
  { engine, log, now }: SearchDeps,
  containers: readonly ContainerSummary[],
  signal: AbortSignal | undefined,
): Promise<string | null> {
  const marker = crypto.randomUUID();
  const since = Math.floor(now().getTime() / 1000) - 1;
  log.always("looking for the own container in the logs of all containers", { marker });
  // With any other network the host name is usually the id.
  const isHost = ({ HostConfig }: ContainerSummary) => HostConfig?.NetworkMode === "host";
  const groups = [containers.filter(isHost), containers.filter((each) => !isHost(each))];
  for (const pauseMs of PAUSES_MS) {
    await sleep(pauseMs, signal);
    for (const group of groups) {
      const found: string[] = [];
      const waiting = group.values();
      const readNext = async () => {
        for (const { Id } of waiting) {
          signal?.throwIfAborted();
          if (await hasLogged(engine, Id, { marker, since, signal })) found.push(Id);
        }
      };
      await Promise.all(Array.from({ length: PARALLEL }, readNext));
      if (found.length > 0) return found.length === 1 ? found[0]! : null;
    }
  }
  return null;
}

/** False also if the log cannot be read, e.g. because the container is being removed. */
async function hasLogged(
  engine: Deps["engine"],
  id: string,
  { marker, since, signal }: { marker: string; since: number; signal: AbortSignal | undefined },
): Promise<boolean> {
  let text = "";
  try {
    // Read as that of a terminal, whether it is one or not: the text of a line is the same.
    const pieces = await containerLogs(engine, id, { tail: LINES_MAX, since, tty: true, signal });
    const decoder = new TextDecoder();
    for await (const { bytes } of pieces) {
      text += decoder.decode(bytes, { stream: true });
      if (text.length > TEXT_MAX) break;
    }
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
  }
  return text.includes(marker);
}
