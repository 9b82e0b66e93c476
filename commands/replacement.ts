/**
 * Replaces the present files with restored ones: all of them or none, even if the process is
 * interrupted.
 *
 * The plan is stored first. Then it is carried out by this process or by the next one that opens the
 * directory, which recognizes the finished steps by the files that exist.
 *
 * @module
 */

import { basename, join } from "node:path";
import {
  isThere,
  readRegularFile,
  removeIfThere,
  syncDirectory,
  writePrivateFile,
} from "../services/secrets/private_file.ts";

/** The stored plan. While it exists, the replacement is not finished. */
export const PLAN_FILE = "restore.json";

/** A replacement. All names are of entries of the directory itself. */
export interface Plan {
  /** The directory with the new files. */
  staged: string;
  /** The directory for the present files. */
  replaced: string;
  names: string[];
  /** Files that are moved away, with or without a new one. */
  retired: string[];
}

/** One step; tests can make it fail. */
type Rename = (from: string, to: string) => void;

/** Replaces the files, and removes the staging directory. */
export function replaceFiles(directory: string, plan: Plan, rename: Rename = Deno.renameSync) {
  Deno.mkdirSync(join(directory, plan.replaced), { mode: 0o700 });
  writePrivateFile(join(directory, PLAN_FILE), JSON.stringify(plan));
  carryOut(directory, plan, rename);
}

/**
 * Finishes an interrupted replacement, if there is one.
 *
 * @returns Whether there was one.
 */
export function finishReplacement(directory: string, rename: Rename = Deno.renameSync): boolean {
  const plan = readPlan(directory);
  if (plan) carryOut(directory, plan, rename);
  return plan !== undefined;
}

/** Whether a replacement is running or was interrupted. */
export function isPlanned(directory: string): boolean {
  return isThere(join(directory, PLAN_FILE));
}

function carryOut(directory: string, plan: Plan, rename: Rename): void {
  const { staged, replaced, names, retired } = plan;
  for (const name of [...retired, ...names]) {
    const source = join(directory, staged, name);
    const isNew = names.includes(name);
    // A new file that is no longer in the staging directory is already in place.
    if (isNew && !isThere(source)) continue;
    if (isThere(join(directory, name))) {
      rename(join(directory, name), join(directory, replaced, name));
    }
    if (isNew) rename(source, join(directory, name));
  }
  syncDirectory(join(directory, replaced));
  syncDirectory(directory);
  removeIfThere(join(directory, PLAN_FILE));
  syncDirectory(directory);
  removeIfThere(join(directory, staged));
}

/** @throws {Error} If it is not readable. */
function readPlan(directory: string): Plan | undefined {
  let text: string;
  try {
    text = readRegularFile(join(directory, PLAN_FILE));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
  const plan = JSON.parse(text) as Plan;
  const names = [plan.staged, plan.replaced, ...plan.names, ...plan.retired];
  // A forged plan must not reach files outside of the directory.
  if (names.every((name) => name !== "" && name !== ".." && basename(name) === name)) return plan;
  throw new Error(`${PLAN_FILE} names files outside of the directory`);
}
