/**
 * Puts restored files in the place of the present ones: all of them or none, whatever ends the
 * process in between.
 *
 * What is to be done is written down first. From then on it will be done, by this process or by
 * the next one that opens the directory: each step can be told from the files that are there.
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
} from "../services/backup/private_file.ts";

/** Says what is to be done; while it is there, the directory is between two states. */
export const PLAN_FILE = "restore.json";

/** A replacement; all names are those of entries of the directory itself. */
export interface Plan {
  /** The directory with the new files. */
  staged: string;
  /** The directory that the present files go to. */
  replaced: string;
  /** The new files. */
  names: string[];
  /** Files that are moved away, whether there is a new one or not. */
  retired: string[];
}

/** A step of it, so that tests can have it fail. */
export type Rename = (from: string, to: string) => void;

/** Replaces the files, and removes the staging directory. */
export function replaceFiles(directory: string, plan: Plan, rename: Rename = Deno.renameSync) {
  Deno.mkdirSync(join(directory, plan.replaced), { mode: 0o700 });
  writePrivateFile(join(directory, PLAN_FILE), JSON.stringify(plan));
  carryOut(directory, plan, rename);
}

/**
 * Ends a replacement that was cut short, if there is one.
 *
 * @returns Whether there was.
 */
export function finishReplacement(directory: string, rename: Rename = Deno.renameSync): boolean {
  const plan = readPlan(directory);
  if (plan) carryOut(directory, plan, rename);
  return plan !== undefined;
}

/** Whether one is under way, or was cut short. */
export function isPlanned(directory: string): boolean {
  return isThere(join(directory, PLAN_FILE));
}

function carryOut(directory: string, plan: Plan, rename: Rename): void {
  const { staged, replaced, names, retired } = plan;
  for (const name of [...retired, ...names]) {
    const source = join(directory, staged, name);
    const isNew = names.includes(name);
    // A new file that is not in the staging directory any more is in its place already.
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

/** @throws {Error} With a sentence, when it is not readable. */
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
  // Nothing outside of the directory is touched, whoever wrote the plan.
  if (names.every((name) => name !== "" && name !== ".." && basename(name) === name)) return plan;
  throw new Error(`${PLAN_FILE} names files outside of the directory`);
}
