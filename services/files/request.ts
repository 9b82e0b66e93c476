/** Parts of all requests for files: their place and path. @module */

import type { ByteString } from "../backup/restic/entry.ts";
import { assertPath, TreeError } from "../backup/volumes/limits.ts";
import { withoutValuesOf } from "../backup/volumes/secret_values.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { decodePath } from "../snapshots/file_path.ts";
import type { Place } from "./place.ts";

export type FileDeps = Pick<Deps, "engine" | "limiters">;

/** Finds the place of a request. */
export type FindPlace = (signal: AbortSignal) => Promise<Place>;

/**
 * Bytes of a path of a request.
 *
 * @throws {AppError} `invalid`
 */
export function parsePath(path: string): ByteString {
  const bytes = decodePath(path).slice(1);
  try {
    if (bytes !== "") assertPath(bytes);
  } catch (error) {
    if (!(error instanceof TreeError)) throw error;
    throw new AppError("invalid", error.message, { cause: error });
  }
  return bytes;
}

/** Does something in a place. Messages of engines and programs are shown without secret values. */
export const within = <Result>(
  { engine }: Pick<Deps, "engine">,
  place: Place,
  work: () => Promise<Result>,
) => withoutValuesOf(engine, place.containers, work);
