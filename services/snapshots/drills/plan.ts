/** Plans a drill: its containers, and where the snapshot has what they mount. @module */

import { systemInfo } from "../../../engine/system.ts";
import type { ByteString } from "../../backup/restic/entry.ts";
import type { Repository } from "../../backup/restic/repository.ts";
import type { Snapshot } from "../../backup/restic/snapshot.ts";
import { findEntry } from "../../backup/trees/find_entry.ts";
import { directoryPart, restoredPart, volumePart } from "../../backup/trees/part.ts";
import { isInside } from "../../text/paths.ts";
import type { MountSource } from "../../containers/helper_container.ts";
import { parseDependsOn } from "../../containers/order.ts";
import type { Deps } from "../../deps.ts";
import { AppError, requireFound } from "../../errors.ts";
import { DEPENDS_ON_LABEL } from "../../stacks/groups.ts";
import { keyOf, planMember, sourcesOf, type TrialMember } from "../../updates/trial/members.ts";
import { findDescribed } from "../described_images.ts";
import type { DescribedContainer, StackDescription } from "../description.ts";

/** Most containers of a drill. */
const CONTAINERS_MAX = 100;

/**
 * Containers that ran when the snapshot was made, and those that others wait for.
 *
 * @throws {AppError} `conflict` if there are none, or too many.
 */
export function chosenContainers({ containers }: StackDescription): DescribedContainer[] {
  const needed = new Set(
    containers.flatMap(({ inspect: { Config } }) =>
      parseDependsOn(Config.Labels?.[DEPENDS_ON_LABEL]).map(({ service }) => service)
    ),
  );
  const chosen = containers.filter(({ ran, service }) =>
    ran !== false || (service !== null && needed.has(service))
  );
  if (chosen.length === 0) {
    throw new AppError("conflict", "The snapshot has no containers that ran");
  }
  if (chosen.length <= CONTAINERS_MAX) return chosen;
  throw new AppError("conflict", `The snapshot has more than ${CONTAINERS_MAX} containers`);
}

/** @throws {AppError} `not_found` for an image that was removed meanwhile. */
export async function planMembers(
  deps: Pick<Deps, "engine">,
  containers: readonly DescribedContainer[],
): Promise<TrialMember[]> {
  const { apiVersion } = deps.engine;
  const { DefaultRuntime: defaultRuntime } = await systemInfo(deps.engine);
  return await Promise.all(containers.map(async (described) => {
    const { inspect, name, service, id = "" } = described;
    const image = requireFound(await findDescribed(deps, described), "Image", described.image);
    return planMember({ ...inspect, name, service, id }, { own: image, image }, {
      apiVersion,
      defaultRuntime,
    });
  }));
}

/** Data of the containers in a snapshot. */
export interface DrillData {
  /** Volumes and directories with their paths in the snapshot. */
  directories: { source: MountSource; from: ByteString }[];
  /** Files of the host that are mounted one by one, with their paths in the snapshot, by key. */
  files: Map<string, ByteString>;
  /** Files and directories of the host that the snapshot does not have. */
  leftOut: string[];
}

/** @throws {AppError} `conflict` for a volume that the snapshot does not have. */
export async function findData(
  repository: Repository,
  snapshot: Snapshot,
  members: readonly TrialMember[],
  signal: AbortSignal,
): Promise<DrillData> {
  const data: DrillData = { directories: [], files: new Map(), leftOut: [] };
  for (const source of sourcesOf(members)) {
    const isVolume = source.type === "volume";
    const part = isVolume ? volumePart(source.source) : directoryPart(source.source);
    const { from, to: { path } } = restoredPart(part);
    // The tree also has the directories around what was backed up.
    const isStored = snapshot.paths.some((each) => isInside(path, each));
    const type = isStored
      ? (await findEntry(repository, snapshot.id, from, signal))?.type
      : undefined;
    if (type === "dir") data.directories.push({ source, from });
    else if (type === "file" && !isVolume) data.files.set(keyOf(source), from);
    else if (!isVolume) data.leftOut.push(source.source);
    else throw new AppError("conflict", `The snapshot does not have volume ${source.source}`);
  }
  return data;
}
