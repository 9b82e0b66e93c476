/** Credentials that the first start creates, and how the operator gets them. @module */

import { join } from "node:path";
import { ensureApiKey } from "../services/access/sign_in/api_key.ts";
import { ensureFirstAdmin } from "../services/access/users/users.ts";
import type { Deps } from "../services/deps.ts";
import { AppError } from "../services/errors.ts";
import { isThere, writePrivateFile } from "../services/secrets/private_file.ts";
import { CREDENTIALS_FILE } from "./data_directory.ts";
import { CommandError, commandError, type Program } from "./program.ts";

/**
 * Creates the API key or the first admin, if there is none yet. The operator gets the credentials
 * before they are stored: if the start fails in between, the next one creates others.
 *
 * They are printed only on a terminal. Any other standard output ends up in a log, such as that of
 * the service's own container, which users who are not admins can read.
 *
 * @returns The path of the file that holds them, if they were written to one.
 * @throws {CommandError} If they can be neither printed nor written, or ADMIN_EMAIL is in use.
 */
export async function ensureCredentials(
  deps: Deps,
  program: Pick<Program, "terminal">,
): Promise<string | undefined> {
  const { config, log } = deps;
  const path = join(config.dataDir, CREDENTIALS_FILE);
  let written: string | undefined;
  const deliver = (lines: readonly string[]) => {
    try {
      // A container's terminal is logged too.
      if (program.terminal && deps.self.hostname === null) {
        program.terminal(`${lines.join("\n")}\n${ADVICE}\n\n`);
      } else {
        writePrivateFile(path, textOf(lines, deps.now()));
        written = path;
      }
    } catch (error) {
      throw commandError("The credentials cannot be shown, so none were created", error);
    }
  };
  if (config.authMode === "key") {
    await ensureApiKey(deps, (key) => deliver([`API key: ${key}`]));
  } else {
    await ensureFirstAdmin(
      deps,
      ({ email, password }) => deliver([`Email: ${email}`, `Password: ${password}`]),
    ).catch((error) => {
      if (!(error instanceof AppError)) throw error;
      throw new CommandError(
        `${error.message}, but is not an admin: set another ADMIN_EMAIL, or run ` +
          `longshore user role ${config.adminEmail} admin`,
        { cause: error },
      );
    });
  }
  if (written === undefined && isThere(path)) {
    log.warn("initial credentials file still exists; delete it", { path });
  }
  return written;
}

const ADVICE = "Save it now. It is not shown again, and it gives root access to this host.";

function textOf(lines: readonly string[], now: Date): string {
  return `Longshore created these credentials on ${now.toISOString()}. They give root access to
this host. Save them, then delete this file.

${lines.join("\n")}
`;
}
