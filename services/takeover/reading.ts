/** Reads the files of candidates through containers that are never started. @module */

import { dirname, join } from "node:path";
import { EngineProtocolError } from "../../engine/errors.ts";
import { volumeList } from "../../engine/volumes.ts";
import { AppError, asAppError, messageFor } from "../errors.ts";
import { readSources } from "../compose/disk_sources.ts";
import { ENV_FILE } from "../compose/load/compose_file.ts";
import { type FileDeps, type HostFiles, withMountedFiles } from "../compose/project_files.ts";
import type { DiskPlace, StoredSources } from "../compose/validate.ts";
import type { Candidate } from "./candidates.ts";
import { unique } from "../unique.ts";

/** Name of the file in which managers keep the variables of a stack. */
const STACK_ENV = "stack.env";

/** The files of a candidate. */
export interface FoundFiles {
  candidate: Candidate;
  /** Ways to read the variables, the likeliest first; empty after an error. */
  variants: StoredSources[];
  /** Why the files cannot be used. */
  error?: string;
  /** Of the Compose file, in Unix milliseconds. */
  modifiedAt: number;
}

/**
 * Reads the candidates of all stacks, with one container for each directory or volume.
 *
 * @returns Those whose Compose file exists.
 */
export async function readCandidates(
  deps: FileDeps,
  candidates: readonly Candidate[],
  signal?: AbortSignal,
): Promise<FoundFiles[]> {
  const volumes = new Set((await volumeList(deps.engine)).map(({ Name }) => Name));
  const mounts = Map.groupBy(candidates, ({ mount, at }) => JSON.stringify([mount, at]));
  const found: FoundFiles[] = [];
  for (const group of mounts.values()) {
    const { mount, at } = group[0]!;
    signal?.throwIfAborted();
    // A request for a volume that does not exist would create it.
    if (mount.type === "volume" && !volumes.has(mount.source)) continue;
    try {
      await withMountedFiles(deps, { ...mount, at }, async (filesOf) => {
        for (const candidate of group) {
          found.push(...await readOne(deps, candidate, filesOf));
        }
      });
    } catch (error) {
      // The directory of a mount may be gone.
      if (!(error instanceof AppError)) throw error;
    }
  }
  return found;
}

async function readOne(
  deps: FileDeps,
  candidate: Candidate,
  filesOf: (directory: string) => Promise<HostFiles>,
): Promise<FoundFiles[]> {
  const [path = ""] = candidate.origin.configFiles;
  try {
    const files = await filesOf(dirname(path));
    if (await files.read(path) === undefined) return [];
    const modifiedAt = await files.modifiedAt(path) ?? 0;
    return [{ candidate, variants: await readVariants(deps, candidate, files), modifiedAt }];
  } catch (error) {
    return [{ candidate, variants: [], error: reasonOf(deps, path, error), modifiedAt: 0 }];
  }
}

/**
 * The reason why one stack cannot be read or planned; the others are not its fault.
 *
 * @throws What concerns all of them: the engine is away, or the service is busy.
 */
export function reasonOf({ log }: Pick<FileDeps, "log">, what: string, error: unknown): string {
  // A file that grows while it is read ends in a protocol error.
  const isOwn = error instanceof EngineProtocolError;
  if (!isOwn && asAppError(error)?.code === "unavailable") throw error;
  return messageFor(log, error, "takeover failed", { what });
}

/** With `stack.env` next to the Compose file, it may also be a file of one service only. */
async function readVariants(
  deps: FileDeps,
  candidate: Candidate,
  files: HostFiles,
): Promise<StoredSources[]> {
  const { directory, configFiles, envFiles } = candidate.origin;
  const around = unique([directory, dirname(configFiles[0]!)], (path) => path);
  const usual: string[] = [];
  for (const path of around.slice(1).map((each) => join(each, ENV_FILE))) {
    if (!envFiles.includes(path) && await files.read(path) !== undefined) usual.push(path);
  }
  const managed: string[] = [];
  for (const path of around.map((each) => join(each, STACK_ENV))) {
    if (!envFiles.includes(path) && await files.read(path) !== undefined) managed.push(path);
  }
  const ways = [[...usual, ...managed, ...envFiles]];
  if (managed.length > 0) ways.push([...usual, ...envFiles]);
  const variants: StoredSources[] = [];
  for (const envFiles of ways) {
    const place: DiskPlace = {
      directory,
      configFiles,
      ...(envFiles.length > 0 && { envFiles }),
    };
    variants.push(
      placed(candidate, await readSources(deps, files, place, { profiles: undefined })),
    );
  }
  return variants;
}

/** Sources that are not read again at each use are stored with the base of their paths. */
function placed(
  { isOnDisk, source }: Candidate,
  { place, ...sources }: StoredSources,
): StoredSources {
  return isOnDisk
    ? { ...sources, place, origin: source }
    : { ...sources, base: place, origin: source };
}
