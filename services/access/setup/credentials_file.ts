/** The file with the credentials of the first start, which only the service's user can read. @module */

import { join } from "node:path";
import { isThere, removeIfThere, writePrivateFile } from "../../secrets/private_file.ts";

/** The setup code, or what the first start created, until the setup or the operator removes it. */
export const CREDENTIALS_FILE = "initial-credentials";

/** @returns The path. */
export function writeCredentials(dataDir: string, text: string): string {
  const path = pathIn(dataDir);
  writePrivateFile(path, text);
  return path;
}

/** The path of the file, if there is one. */
export function findCredentials(dataDir: string): string | undefined {
  const path = pathIn(dataDir);
  return isThere(path) ? path : undefined;
}

export const removeCredentials = (dataDir: string): void => removeIfThere(pathIn(dataDir));

const pathIn = (dataDir: string) => join(dataDir, CREDENTIALS_FILE);
