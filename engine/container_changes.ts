/** Files of a container that differ from its image. @module */

import type { Engine } from "./client.ts";
import { segment } from "./path.ts";
import { type Signal, withMargin } from "./query.ts";

/** One entry of `GET /containers/{id}/changes`. */
export interface FileChange {
  /** Absolute. */
  Path: string;
  /** 0 modified, 1 added, 2 deleted. */
  Kind: number;
}

/** Longest response, in bytes: about 100 000 files. */
const BODY_MAX = 16 * 1024 * 1024;

/**
 * Files and folders in the container's own layer, without volumes. A container with many of them
 * takes the engine seconds.
 *
 * @throws {EngineError} 404 if the container does not exist.
 */
export async function containerChanges(
  engine: Engine,
  id: string,
  { signal }: Signal = {},
): Promise<FileChange[]> {
  const changes = await engine.json<FileChange[] | null>(
    "GET",
    `/containers/${segment("container", id)}/changes`,
    { signal, long: true, headTimeoutMs: withMargin(60), bodyMax: BODY_MAX },
  );
  return changes ?? [];
}
