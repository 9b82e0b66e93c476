/** The setup code or the credentials of the first start, and how the operator gets them. @module */

import { ensureApiKey } from "../services/access/sign_in/api_key.ts";
import { isSetupRequired } from "../services/access/sign_in/mode.ts";
import { SETUP_CODE_MINUTES } from "../services/access/setup/code.ts";
import { findCredentials, writeCredentials } from "../services/access/setup/credentials_file.ts";
import { ensureFirstAdmin } from "../services/access/users/users.ts";
import type { Deps } from "../services/deps.ts";
import { AppError } from "../services/errors.ts";
import { CommandError, commandError, type Program } from "./program.ts";

/**
 * Creates the API key or the first admin that the environment asks for, if there is none yet. Without
 * such variables a new server gets a setup code.
 *
 * The operator gets credentials before they are stored: if the start fails in between, the next one
 * creates others. They are printed only on a terminal. Any other standard output ends up in a log,
 * such as that of the service's own container, which users who are not admins can read.
 *
 * @returns The path of the file that holds them, if they were written to one.
 * @throws {CommandError} If they can be neither printed nor written, or ADMIN_EMAIL is in use.
 */
export async function ensureCredentials(
  deps: Deps,
  program: Pick<Program, "terminal">,
): Promise<string | undefined> {
  const { accounts, config, db, log } = deps;
  if (isSetupRequired(db, config)) {
    return orNone(() => writeCredentials(config.dataDir, setupText(deps)));
  }

  let written: string | undefined;
  const deliver = (lines: readonly string[]) => {
    const { terminal } = program;
    written = orNone(() => {
      // A container's terminal is logged too.
      if (!terminal || deps.self.hostname !== null) {
        return writeCredentials(config.dataDir, textOf(lines, deps.now()));
      }
      terminal(`${lines.join("\n")}\n${ADVICE}\n\n`);
    });
  };
  if (accounts.mode === "key") {
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
  const path = findCredentials(config.dataDir);
  if (written === undefined && path !== undefined) {
    log.warn("initial credentials file still exists; delete it", { path });
  }
  return written;
}

/** @throws {CommandError} If the credentials cannot be shown. */
function orNone<T>(show: () => T): T {
  try {
    return show();
  } catch (error) {
    throw commandError("The credentials cannot be shown, so none were created", error);
  }
}

const ADVICE = "Save it now. It is not shown again, and it gives root access to this host.";

function textOf(lines: readonly string[], now: Date): string {
  return `Longshore created these credentials on ${now.toISOString()}. They give root access to
this host. Save them, then delete this file.

${lines.join("\n")}
`;
}

function setupText({ now, setupCode }: Deps): string {
  return `Longshore is not set up yet. It started at ${now().toISOString()} with this code, which is
valid for ${SETUP_CODE_MINUTES} minutes and for one setup. The next start creates another.

Setup code: ${setupCode.text}
`;
}
