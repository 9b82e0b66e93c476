/**
 * The commands of the program, by name.
 *
 * @module
 */

import { backup, BACKUP_USAGE } from "./backup.ts";
import { showConfig } from "./config.ts";
import { healthcheck } from "./healthcheck.ts";
import { help } from "./help.ts";
import { license, LICENSE_USAGE } from "./license.ts";
import { openapi } from "./openapi.ts";
import type { Program } from "./program.ts";
import { restore, RESTORE_USAGE } from "./restore.ts";
import { serve } from "./serve.ts";
import { user, USER_USAGE } from "./user.ts";
import { version } from "./version.ts";

export interface Command {
  /** One line for `longshore help`. */
  summary: string;
  /** How it is called and what it does, for `COMMAND --help`; without it, it takes no arguments. */
  usage?: string;
  /** @returns The exit status. */
  run: (program: Program) => number | Promise<number>;
}

export const COMMANDS: Readonly<Record<string, Command>> = {
  serve: { summary: "Run the service (also without any command)", run: serve },
  config: { summary: "Show every variable with its value, default and meaning", run: showConfig },
  healthcheck: { summary: "Ask the running service whether it is ready", run: healthcheck },
  backup: { summary: "Write everything into one file", usage: BACKUP_USAGE, run: backup },
  restore: { summary: "Put a backup in place", usage: RESTORE_USAGE, run: restore },
  user: { summary: "Add, list, change or remove accounts", usage: USER_USAGE, run: user },
  license: { summary: "Show or install the license", usage: LICENSE_USAGE, run: license },
  openapi: { summary: "Print the API document (OpenAPI 3.1, JSON)", run: openapi },
  version: { summary: "Print the version", run: version },
  help: {
    summary: "Show this, or how a command is used",
    usage: "longshore help [COMMAND]",
    run: (program) => help(program, COMMANDS),
  },
};
