/** Volumes and the containers that mount them. @module */

import { EngineError } from "../../engine/errors.ts";
import {
  findVolume,
  type Volume as EngineVolume,
  volumeCreate,
  volumeList,
  volumeRemove,
} from "../../engine/volumes.ts";
import type { Deps } from "../deps.ts";
import { AppError, InputError, notFound } from "../errors.ts";
import { engineTime } from "../containers/engine_time.ts";
import type { ReadDeps } from "../containers/reads.ts";
import { volumeIdentity } from "../containers/reservations.ts";
import { currentContainers } from "../containers/containers.ts";
import { creationError } from "../containers/networks.ts";
import { findForbiddenOption, isLocalDriver } from "../compose/load/local_volume.ts";
import { volumeSizes } from "./disk_usage.ts";
import { shownLabels } from "../containers/shown_labels.ts";
import { warningOf } from "../containers/unreadable.ts";

interface Volume {
  name: string;
  driver: string;
  /** Path on the host. */
  mountpoint: string;
  /** `local` or `global`. */
  scope: string;
  /** ISO 8601, UTC; `null` if the driver does not report it. */
  createdAt: string | null;
  labels: Record<string, string>;
  /** Bytes; `null` if unknown. */
  size: number | null;
  /** Names of the containers that mount it, in any state. */
  containers: string[];
  /** Why it was not read in full; `null` for nearly all. */
  warning: string | null;
}

/**
 * Volumes by name; for an API token with a scope, those that its containers mount. Sizes come from
 * the last disk breakdown; the list does not compute them.
 */
export async function listVolumes(
  deps: ReadDeps & Pick<Deps, "diskUsage" | "now">,
): Promise<Volume[]> {
  const [volumes, users] = await Promise.all([volumeList(deps.engine), usersByVolume(deps)]);
  const sizes = volumeSizes(deps);
  return volumes.map((volume) => ({
    ...toVolume(volume),
    size: sizes.get(volume.Name) ?? null,
    containers: users.get(volume.Name) ?? [],
  })).filter(({ containers }) => !deps.inventory.scope || containers.length > 0)
    .sort((a, b) => a.name < b.name ? -1 : 1);
}

function toVolume(volume: EngineVolume): Volume {
  const { Name, Driver, Mountpoint, Scope, CreatedAt, Labels } = volume;
  return {
    name: Name,
    driver: Driver,
    mountpoint: Mountpoint,
    scope: Scope,
    createdAt: engineTime(CreatedAt),
    labels: shownLabels(Labels ?? {}),
    size: null,
    containers: [],
    warning: warningOf(volume),
  };
}

interface NewVolume {
  name: string;
  /** E.g. `local`. */
  driver: string;
  /** May contain passwords, e.g. of a network share; never listed. */
  options: Record<string, string>;
  labels: Record<string, string>;
}

/**
 * Creates a volume. The engine itself would return an existing one, whatever its options.
 *
 * @throws {AppError} `invalid` for a driver that the engine does not have, options that the driver
 * refuses, and a mount of the host that `BIND_ALLOW` does not allow; `conflict` for a name in use, and whatever else the engine refuses.
 */
export async function createVolume(
  { config: { bindAllow }, engine, diskUsage }: Pick<Deps, "config" | "diskUsage" | "engine">,
  { name, driver, options, labels }: NewVolume,
): Promise<Volume> {
  if (bindAllow && isLocalDriver(driver)) {
    const found = findForbiddenOption(options, bindAllow);
    if (found) {
      throw new InputError([{ path: `body.options.${found.option}`, message: found.problem }]);
    }
  }
  if (await findVolume(engine, name)) {
    throw new AppError("conflict", `Volume ${name} already exists`);
  }
  try {
    const created = await volumeCreate(engine, {
      body: { Name: name, Driver: driver, DriverOpts: options, Labels: labels },
    });
    diskUsage.invalidate();
    return toVolume(created);
  } catch (error) {
    throw error instanceof EngineError ? creationError(error, driver) : error;
  }
}

/**
 * Removes a volume with its data.
 *
 * @throws {AppError} `not_found`; `conflict` if a container uses it, running or not, and while an
 * action is in progress, e.g. a restore.
 */
export async function removeVolume(
  deps: ReadDeps & Pick<Deps, "diskUsage" | "reservations">,
  name: string,
): Promise<{ ok: true; name: string }> {
  using _ = deps.reservations.reserve(volumeIdentity(name), "removed");
  try {
    await volumeRemove(deps.engine, name);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    if (error.status === 404) throw notFound("Volume", name);
    if (error.status === 409) throw await inUseError(deps, name, error);
    throw error;
  }
  deps.diskUsage.invalidate();
  return { ok: true, name };
}

/** The engine's message has only container ids; this one has names. */
async function inUseError(deps: ReadDeps, name: string, cause: EngineError): Promise<AppError> {
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
