/** Files that are carried between a hub and a host that joins. @module */

import { FILE_BYTES_MAX } from "../services/fleet/enrolment/files.ts";
import { readRegularFile, writeNewFile } from "../services/secrets/private_file.ts";
import { CommandError, commandError } from "./program.ts";

/** @throws {CommandError} */
export function readJoinFile(path: string): string {
  try {
    return readRegularFile(path, FILE_BYTES_MAX);
  } catch (error) {
    throw commandError(`${path} cannot be used`, error);
  }
}

/**
 * Writes a new file.
 *
 * @returns Its path.
 * @throws {CommandError} Also if the file exists.
 */
export function writeJoinFile(path: string, content: object): string {
  try {
    writeNewFile(path, JSON.stringify(content, null, 2) + "\n");
    return path;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") {
      throw new CommandError(`${path} exists already; remove it, or name another file`);
    }
    throw commandError(`${path} cannot be written`, error);
  }
}
