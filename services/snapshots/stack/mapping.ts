/** Assigns what a snapshot has of a stack to the volumes and directories of the restored one. Pure. @module */

import { bytesOf } from "../../backup/restic/entry_directory.ts";
import type { AnonymousVolume } from "../../compose/deploy/job.ts";
import { LABEL } from "../../compose/labels.ts";
import { isInside } from "../../text/paths.ts";
import type { Project } from "../../compose/load/resolve.ts";
import { moved } from "../../compose/restored_sources.ts";
import { ANONYMOUS } from "../../compose/plan/mounts.ts";
import type { DescribedContainer, StackDescription } from "../description.ts";
import type { PlannedPath, PlannedVolume } from "./job.ts";

/** A stack as it was, and as it is restored. */
export interface Restored {
  description: StackDescription;
  /** The project under the name that it had. */
  before: Project;
  /** The project under its new name. */
  after: Project;
  /** Directories of the sources, if they are on disk. */
  moves: { from: string; to: string } | null;
}

/** Names of existing things, and new names. */
export interface Existing {
  volumes: ReadonlySet<string>;
  /** Volume at a path of a container of the stack; `undefined` without one. */
  findAnonymous(place: Omit<AnonymousVolume, "volume">): string | undefined;
  /** A name like those that the engine gives to anonymous volumes. */
  newName(): string;
}

interface MappedVolumes {
  volumes: PlannedVolume[];
  anonymousVolumes: AnonymousVolume[];
  /** Names of volumes that the sources do not use. */
  unused: string[];
}

/** Volumes of the sources keep their key; anonymous ones their container and their path in it. */
export function mapVolumes(
  { description: { volumes, containers }, before, after }: Restored,
  existing: Existing,
): MappedVolumes {
  const mapped: MappedVolumes = { volumes: [], anonymousVolumes: [], unused: [] };
  for (const { name: described } of volumes) {
    const add = (name: string, key: string | null) =>
      mapped.volumes.push({
        from: bytesOf(`volumes/${described}`),
        described,
        name,
        key,
        isNew: !existing.volumes.has(name),
      });
    const key = Object.keys(before.volumes).find((each) =>
      before.volumes[each]!.name === described
    );
    if (key !== undefined && after.volumes[key]) {
      add(after.volumes[key].name, key);
      continue;
    }
    const [place, ...others] = ANONYMOUS.test(described)
      ? containers.flatMap((container) => placesOf(container, described))
      : [];
    if (!place || !Object.hasOwn(after.services, place.service)) {
      mapped.unused.push(described);
      continue;
    }
    const known = existing.findAnonymous(place);
    const volume = known ?? existing.newName();
    add(volume, null);
    if (known === undefined) {
      mapped.anonymousVolumes.push(...[place, ...others].map((each) => ({ ...each, volume })));
    }
  }
  return mapped;
}

function placesOf(
  { service, inspect: { Config, Mounts } }: DescribedContainer,
  volume: string,
): Omit<AnonymousVolume, "volume">[] {
  if (service === null) return [];
  const number = Number(Config.Labels?.[LABEL.containerNumber] ?? 1);
  return (Mounts ?? []).filter(({ Type, Name }) => Type === "volume" && Name === volume)
    .map(({ Destination }) => ({ service, number, path: Destination }));
}

/**
 * Directories of the host keep their path; those in the directory of the sources move with it.
 *
 * @param paths Of the snapshot, e.g. `/directories/opt/stacks/shop/data`.
 * @returns The directories, and those that the sources do not use.
 */
export function mapDirectories(
  { after, moves }: Restored,
  paths: readonly string[],
): { directories: Omit<PlannedPath, "isNew">[]; unused: string[] } {
  const sources = bindSources(after);
  const isUsed = (path: string) =>
    sources.some((source) => isInside(source, path) || isInside(path, source));
  const directories: Omit<PlannedPath, "isNew">[] = [];
  const unused: string[] = [];
  for (const each of paths.filter((path) => path.startsWith("/directories/"))) {
    const original = each.slice("/directories".length);
    const path = moves ? moved(original, moves.from, moves.to) : original;
    if (isUsed(path)) directories.push({ from: bytesOf(each.slice(1)), path });
    else unused.push(original);
  }
  return { directories, unused };
}

/** Mounted directories of the host that the snapshot does not have. */
export const missingDirectories = (
  after: Project,
  directories: readonly Pick<PlannedPath, "path">[],
): string[] =>
  [...new Set(bindSources(after))]
    .filter((source) => !directories.some(({ path }) => isInside(source, path)));

const bindSources = ({ services }: Project): string[] =>
  Object.values(services).flatMap(({ volumes = [] }) =>
    volumes.flatMap(({ type, source }) => type === "bind" && source ? [source] : [])
  );
