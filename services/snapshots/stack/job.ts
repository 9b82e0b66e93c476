/** The job that restores a whole stack: its request and its result. @module */

import type { ByteString } from "../../backup/restic/entry.ts";
import { directoryPart, type RestoredPart, volumePart } from "../../backup/trees/part.ts";
import type { WrittenParts } from "../../backup/trees/write.ts";
import type { AnonymousVolume } from "../../compose/deploy/job.ts";
import type { JobRun } from "../../jobs/kind.ts";
import type { ReplacementInput } from "../replacement.ts";

/** Volume of a snapshot. */
export interface PlannedVolume {
  /** Directory in the snapshot. */
  from: ByteString;
  /** Name that it had, by which it is described. */
  described: string;
  /** Name that it gets. */
  name: string;
  /** Key in the Compose file; `null` for an anonymous one. */
  key: string | null;
  /** Whether it does not exist, so that it is created. */
  isNew: boolean;
}

/** Directory or file of the host. */
export interface PlannedPath {
  /** In the snapshot. */
  from: ByteString;
  path: string;
  isNew: boolean;
}

/** Parts that are restored before any container starts. */
export interface PlannedParts {
  volumes: PlannedVolume[];
  /** New volumes in place of the anonymous ones. */
  anonymousVolumes: AnonymousVolume[];
  directories: PlannedPath[];
  /** Names of external networks that are created. */
  networks: string[];
}

export interface StackRestoreInput extends PlannedParts, ReplacementInput {
  /** Id of the snapshot. */
  snapshot: string;
  /** When it was made; ISO 8601, UTC. Missing in jobs of earlier versions, as the size. */
  madeAt?: string;
  /** Of its files, in bytes. */
  size?: number;
  /** Name of the stack in the snapshot. */
  stack: string;
  to: "new" | "replace";
  /** Outermost directories and files of the host that the job creates. */
  created: string[];
  /** The user, as the author of the sources. */
  userId: string;
  /** How long the containers must stay up; `null` for the default. */
  stableSeconds: number | null;
  warnings: string[];
}

export interface StackRestoreResult extends WrittenParts {
  /** Names of volumes, and directories. */
  restored: string[];
  /** Snapshot of what was replaced; `null` for a new stack. */
  kept: string | null;
  /** Name of the target with the snapshots. */
  target: string;
  /** How long containers of before were stopped, in milliseconds. */
  downtimeMs: number;
  /** Of the sources. */
  version: number;
  warnings: string[];
}

export type StackRestoreJob = JobRun<StackRestoreInput>;

/** Volumes and directories as parts to write. */
export const partsOf = (
  { volumes, directories }: Pick<PlannedParts, "directories" | "volumes">,
): RestoredPart[] => [
  ...volumes.map(({ from, name }) => ({ from, to: volumePart(name) })),
  ...directories.map(({ from, path }) => ({ from, to: directoryPart(path) })),
];

/** Parts that exist and are replaced. */
export const replacedParts = ({ volumes, directories }: PlannedParts): RestoredPart[] =>
  partsOf({
    volumes: volumes.filter(({ isNew }) => !isNew),
    directories: directories.filter(({ isNew }) => !isNew),
  });

/** Step of the deploy that the restore ends with. */
export const deployStep = (name: string): string => `deploy ${name}`;
