/**
 * Candidates for the files of a stack: directories and volumes in which the paths of its labels may be.
 * Pure.
 *
 * @module
 */

import { dirname } from "node:path";
import type { MountSource } from "../containers/helper_container.ts";
import { isInside } from "../text/paths.ts";
import type { SourceOrigin } from "../compose/origin.ts";
import type { Container } from "../containers/inventory.ts";
import { movedOrigin, type Origin } from "./origins.ts";
import { unique } from "../unique.ts";

/** A place to look for the files of a stack. */
export interface Candidate {
  source: SourceOrigin;
  origin: Origin;
  /** Directory or volume that is read. */
  mount: MountSource;
  /** Path of the mount for the paths of the origin. */
  at: string;
  /** Whether edits can be written there: below STACK_ROOTS, and relative paths refer to it. */
  isOnDisk: boolean;
}

/** Candidates of a stack that are read. */
const CANDIDATES_MAX = 16;

/** A place that a user has chosen; a path of the host may be anywhere. */
export type ChosenSource = SourceOrigin;

/**
 * The candidates of a stack: the path on the host first, then mounts of containers, also stopped ones,
 * with the longest destination first.
 *
 * @param containers All of the engine, without the one of this service.
 */
export function candidatesOf(
  origins: readonly Origin[],
  { containers, stackRoots, chosen }: {
    containers: readonly Container[];
    stackRoots: readonly string[];
    chosen?: ChosenSource | undefined;
  },
): Candidate[] {
  const found = origins.flatMap((origin) => [
    ...onHost(origin, stackRoots),
    ...inMounts(origin, containers),
  ]);
  const candidates = unique(found, keyOf).slice(0, CANDIDATES_MAX);
  if (!chosen) return candidates;
  const { kind, path, through } = chosen;
  const matching = candidates.filter(({ source }) =>
    source.kind === kind && source.path === path &&
    (through === undefined || source.through === through)
  );
  if (matching.length > 0 || kind !== "host" || path === null) return matching;
  return origins.slice(0, 1).map((origin) => onChosenPath(movedOrigin(origin, path)));
}

/** The same files, whatever the container through which they were found. */
function keyOf({ mount, at, origin }: Candidate): string {
  const { directory, configFiles, envFiles } = origin;
  const path = configFiles[0]!.slice(at.length);
  const file = mount.type === "bind" ? mount.source + path : JSON.stringify([mount.source, path]);
  return JSON.stringify([file, directory, configFiles, envFiles]);
}

function onHost(origin: Origin, stackRoots: readonly string[]): Candidate[] {
  const { directory, configFiles: [path = ""] } = origin;
  const root = stackRoots.find((each) => isBelow(path, each));
  if (root === undefined) return [];
  return [{
    source: { kind: "host", path },
    origin,
    mount: { type: "bind", source: root },
    at: root,
    isOnDisk: isBelow(directory, root) && isInside(path, directory),
  }];
}

/** Edits are stored here: only files below STACK_ROOTS are written. */
const onChosenPath = (origin: Origin): Candidate => ({
  source: { kind: "host", path: origin.configFiles[0]! },
  origin,
  mount: { type: "bind", source: dirname(origin.configFiles[0]!) },
  at: dirname(origin.configFiles[0]!),
  isOnDisk: false,
});

function inMounts(origin: Origin, containers: readonly Container[]): Candidate[] {
  const { configFiles: [path = ""] } = origin;
  const found = containers.flatMap(({ name, state, details }) =>
    details.mounts.flatMap((mount) => {
      const source = sourceOf(mount);
      if (!source || !isBelow(path, mount.destination)) return [];
      return [{
        through: name,
        at: mount.destination,
        mount: source,
        isRunning: state === "running",
      }];
    })
  );
  const order = found.toSorted((a, b) =>
    b.at.length - a.at.length || Number(b.isRunning) - Number(a.isRunning)
  );
  return order.map(({ through, at, mount }) => ({
    source: { kind: "mount", path, through },
    origin,
    mount,
    at,
    isOnDisk: false,
  }));
}

const isBelow = (path: string, directory: string) =>
  path !== directory && directory !== "/" && isInside(path, directory);

/** The whole host is not what a manager keeps its stacks in. */
function sourceOf(
  { type, name, source }: Container["details"]["mounts"][number],
): MountSource | undefined {
  if (type === "volume" && name) return { type, source: name };
  return type === "bind" && source !== "/" ? { type, source } : undefined;
}
