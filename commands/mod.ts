/**
 * The commands of the program, by name.
 *
 * @module
 */

import { showConfig } from "./config.ts";
import { healthcheck } from "./healthcheck.ts";
import { help } from "./help.ts";
import { openapi } from "./openapi.ts";
import type { Program } from "./program.ts";
import { serve } from "./serve.ts";
import { version } from "./version.ts";

export interface Command {
  /** One line for `longshore help`. */
  summary: string;
  /** @returns The exit status. */
  run: (program: Program) => number | Promise<number>;
}

export const COMMANDS: Readonly<Record<string, Command>> = {
  serve: { summary: "Run the service (also without any command)", run: serve },
  config: { summary: "Show every variable with its value, default and meaning", run: showConfig },
  healthcheck: { summary: "Ask the running service whether it is ready", run: healthcheck },
  openapi: { summary: "Print the API document (OpenAPI 3.1, JSON)", run: openapi },
  version: { summary: "Print the version", run: version },
  help: { summary: "Show this", run: (program) => help(program, COMMANDS) },
};
