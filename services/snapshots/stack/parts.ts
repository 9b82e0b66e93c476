/** Volumes and networks that a restore creates. A label says which job, so that no other is removed. @module */

import { ifThere } from "../../../engine/errors.ts";
import {
  findNetwork,
  networkCreate,
  networkList,
  networkRemove,
} from "../../../engine/networks.ts";
import { findVolume, volumeList, volumeRemove } from "../../../engine/volumes.ts";
import { createVolume, type NewVolume } from "../../backup/volumes/write.ts";
import { partLabels } from "../../compose/deploy/parts.ts";
import { LABEL } from "../../compose/labels.ts";
import { findForbiddenOption } from "../../compose/load/local_volume.ts";
import type { Project } from "../../compose/load/resolve.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { StackDescription } from "../description.ts";
import { JOB_LABEL } from "../restore/new_volumes.ts";
import type { PlannedParts, PlannedVolume, StackRestoreJob } from "./job.ts";

/**
 * Creates the new volumes, and external networks.
 *
 * @throws {AppError} `conflict` for a volume that exists, and for options that `BIND_ALLOW` does not allow.
 */
export async function createParts(
  deps: Pick<Deps, "config" | "engine">,
  { id, input: { volumes, networks }, signal }: StackRestoreJob,
  description: StackDescription,
  project: Project,
): Promise<void> {
  for (const planned of volumes.filter(({ isNew }) => isNew)) {
    const { name, driver, options, labels } = newVolume(deps, planned, description, project);
    const volume = { name, driver, options, labels: { ...labels, [JOB_LABEL]: id } };
    await createVolume(deps, volume, { signal });
  }
  for (const name of networks) {
    const body = description.networks.find(({ Name }) => Name === name);
    if (!body || await findNetwork(deps.engine, name)) continue;
    await networkCreate(deps.engine, {
      body: { ...body, Labels: { ...body.Labels, [JOB_LABEL]: id } },
    });
  }
}

/** Longest text of a warning. */
const TEXT_MAX = 200;

const shortened = (text: string): string =>
  text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text;

/**
 * Names what new volumes mount, and what new external networks are.
 *
 * @throws {AppError} `conflict` for options that `BIND_ALLOW` does not allow.
 */
export function partWarnings(
  deps: Pick<Deps, "config">,
  { volumes, networks }: Pick<PlannedParts, "networks" | "volumes">,
  description: StackDescription,
  project: Project,
): string[] {
  const mounts = volumes.filter(({ isNew }) => isNew).flatMap((planned) => {
    const { name, driver, options } = newVolume(deps, planned, description, project);
    const names = Object.keys(options ?? {});
    if (names.length === 0) return [];
    // The values of others may be passwords.
    const device = Object.entries(options ?? {}).find(([each]) => each.toLowerCase() === "device");
    const mounted = device ? `, and mounts ${device[1]}` : "";
    return `Volume ${name} has options of driver ${driver ?? "local"} (${
      names.join(", ")
    })${mounted}`;
  });
  const others = description.networks.filter(({ Name }) => networks.includes(Name))
    .flatMap(({ Name, Driver = "bridge", Options, IPAM }) => {
      const options = Object.entries({ ...IPAM?.Options, ...Options })
        .map(([option, value]) => `${option}=${value}`);
      const facts = [...IPAM?.Config.flatMap(({ Subnet }) => Subnet ?? []) ?? [], ...options];
      if (Driver === "bridge" && facts.length === 0) return [];
      return `Network ${Name} has driver ${[Driver, ...facts].join(", ")}`;
    });
  return [...mounts, ...others].map(shortened);
}

/** As the Compose file has it; external and anonymous ones as they were. */
function newVolume(
  { config: { bindAllow } }: Pick<Deps, "config">,
  { name, key, described }: PlannedVolume,
  { volumes }: StackDescription,
  project: Project,
): NewVolume {
  const wanted = key === null ? undefined : project.volumes[key];
  if (wanted && !wanted.external) {
    return {
      name,
      driver: wanted.driver,
      options: wanted.driver_opts,
      labels: { ...wanted.labels, ...partLabels(project, LABEL.volume, key!) },
    };
  }
  const { driver, options, labels } = volumes.find((each) => each.name === described)!;
  const forbidden = bindAllow && findForbiddenOption(options, bindAllow);
  if (forbidden) {
    throw new AppError("conflict", `Volume ${name}: ${forbidden.option} ${forbidden.problem}`);
  }
  return { name, driver, options, labels };
}

/**
 * The deploy would create a volume that is missing, without data.
 *
 * @throws {AppError} `conflict` for one that was removed or replaced since it was written.
 */
export async function assertParts(
  { engine }: Pick<Deps, "engine">,
  { id, input: { volumes } }: Pick<StackRestoreJob, "id" | "input">,
): Promise<void> {
  for (const { name, isNew } of volumes) {
    const found = await findVolume(engine, name);
    if (found && (!isNew || found.Labels?.[JOB_LABEL] === id)) continue;
    throw new AppError("conflict", `Volume ${name} was removed meanwhile, with what was restored`);
  }
}

/** Removes those that this job has created. */
export async function removeParts(
  { engine }: Pick<Deps, "engine">,
  { id }: Pick<StackRestoreJob, "id">,
): Promise<void> {
  const filters = { label: [`${JOB_LABEL}=${id}`] };
  for (const { Name } of await volumeList(engine, { filters })) {
    await ifThere(volumeRemove(engine, Name));
  }
  for (const network of await networkList(engine, { filters })) {
    await ifThere(networkRemove(engine, network));
  }
}
