/** Containers with one volume mounted that are never started. @module */

import { findVolume, type Volume } from "../../../engine/volumes.ts";
import { createHelper, type MountSource } from "../../containers/helper_container.ts";
import type { ReadDeps } from "../../containers/reads.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound } from "../../errors.ts";

export type VolumeDeps = ReadDeps & Pick<Deps, "config" | "log" | "server" | "startedAt">;

/** A container with one mount. */
export interface VolumeHelper {
  id: string;
  /** Name of the directory below `/` where it is mounted. No link in it can know it. */
  root: string;
}

/**
 * Creates the container through which a volume is read or written.
 *
 * @throws {AppError} `not_found` for a volume that does not exist; `conflict` for a directory that the
 * host does not have.
 */
export async function createVolumeHelper(
  deps: VolumeDeps,
  source: MountSource,
  { isReadOnly, signal }: { isReadOnly: boolean; signal: AbortSignal },
): Promise<VolumeHelper> {
  await assertSource(deps, source, signal);
  const root = newRoot();
  const mount = { ...source, target: `/${root}`, isReadOnly };
  const id = await createHelper(deps, [mount], { signal });
  if (id === undefined) throw missingDirectory(source);
  return { id, root };
}

export const newRoot = (): string => `longshore-${crypto.randomUUID()}`;

/**
 * The engine would create a missing volume.
 *
 * @returns The volume; `undefined` for a directory, which the engine checks itself.
 * @throws {AppError} `not_found`
 */
export async function assertSource(
  { engine }: Pick<Deps, "engine">,
  { type, source }: MountSource,
  signal: AbortSignal,
): Promise<Volume | undefined> {
  if (type === "bind") return undefined;
  const volume = await findVolume(engine, source, { signal });
  if (!volume) throw notFound("Volume", source);
  return volume;
}

export const missingDirectory = ({ source }: MountSource): AppError =>
  new AppError("conflict", `Directory ${source} does not exist on the host`);
