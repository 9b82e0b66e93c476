/**
 * Volumes, with the containers that mount them.
 *
 * @module
 */

import { EngineError } from "../../../engine/errors.ts";
import { volumeList, volumeRemove } from "../../../engine/volumes.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound } from "../../errors.ts";
import { engineTime } from "../../state/engine_time.ts";
import type { ReadDeps } from "../containers/reads.ts";
import { currentContainers } from "../containers/containers.ts";
import { forgetDiskUsage, knownVolumeSizes } from "./disk_usage.ts";

export interface Volume {
  name: string;
  driver: string;
  /** On the host. */
  mountpoint: string;
  /** `local` or `global`. */
  scope: string;
  /** ISO 8601, UTC; some drivers do not tell. */
  createdAt: string | null;
  labels: Record<string, string>;
  /** Bytes; `null` where it is not known. */
  size: number | null;
  /** Names of the containers that mount it, in whatever state. */
  containers: string[];
}

/** Volumes by name. Sizes are those of the last disk breakdown; nothing is computed for the list. */
export async function listVolumes(deps: ReadDeps & Pick<Deps, "now">): Promise<Volume[]> {
  const [volumes, users] = await Promise.all([volumeList(deps.engine), usersByVolume(deps)]);
  const sizes = knownVolumeSizes(deps);
  return volumes.map(({ Name, Driver, Mountpoint, Scope, CreatedAt, Labels }) => ({
    name: Name,
    driver: Driver,
    mountpoint: Mountpoint,
    scope: Scope,
    createdAt: engineTime(CreatedAt),
    labels: Labels ?? {},
    size: sizes.get(Name) ?? null,
    containers: users.get(Name) ?? [],
  })).sort((a, b) => a.name < b.name ? -1 : 1);
}

/**
 * Removes a volume with its data.
 *
 * @throws {AppError} `not_found`; `conflict` when a container uses it, running or not.
 */
export async function removeVolume(
  deps: ReadDeps,
  name: string,
): Promise<{ ok: true; name: string }> {
  try {
    await volumeRemove(deps.engine, name);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    if (error.status === 404) throw notFound("Volume", name);
    if (error.status === 409) throw await inUse(deps, name, error);
    throw error;
  }
  forgetDiskUsage(deps);
  return { ok: true, name };
}

/** The engine names the containers by id only. */
async function inUse(deps: ReadDeps, name: string, cause: EngineError): Promise<AppError> {
  const users = (await usersByVolume(deps)).get(name);
  const message = users ? `Volume ${name} is in use by ${users.join(", ")}` : cause.message;
  return new AppError("conflict", message, { cause });
}

async function usersByVolume(deps: ReadDeps): Promise<Map<string, string[]>> {
  const users = new Map<string, string[]>();
  for (const { name, volumes } of await currentContainers(deps)) {
    for (const volume of new Set(volumes)) users.set(volume, [...users.get(volume) ?? [], name]);
  }
  for (const names of users.values()) names.sort();
  return users;
}
