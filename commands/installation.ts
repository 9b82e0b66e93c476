/**
 * The installation that a command works on: where its data is, and how its service is configured.
 *
 * @module
 */

import { join } from "node:path";
import { type Config, type Env, readConfig } from "../services/config/config.ts";
import { isThere } from "../services/secrets/private_file.ts";
import { STATE_FILE } from "./data_directory.ts";
import { CommandError, type Program } from "./program.ts";
import { findRunningService, type GivenSecret, type RunningService } from "./running_service.ts";

/** Data directory of the packaged service (see `deploy/longshore.service`). */
const SYSTEM_DATA_DIR = "/var/lib/longshore";

const LOCAL_DATA_DIR = "./data";

interface Installation {
  config: Config;
  /** The running service, if there is one. */
  running: RunningService | undefined;
}

/**
 * Returns the configuration of a command. What the environment does not set is taken from the
 * installation: the data directory of the packaged service, and settings of the running service.
 */
export function findInstallation({ env, surroundings }: Program): Installation {
  const given = readConfig(env, surroundings);
  const dataDir = isDataDirGiven(env) ? given.dataDir : defaultDataDir();
  const running = findRunningService(dataDir);
  const own = Object.entries(env).filter(([, text]) => text?.trim());
  const config = readConfig({ ...running?.variables, ...Object.fromEntries(own) }, surroundings);
  const authMode = config.authMode ?? running?.authMode ?? null;
  return { config: { ...config, dataDir, authMode }, running };
}

/** Returns `./data`, or the packaged service's directory if only that one exists. */
export function defaultDataDir(local = LOCAL_DATA_DIR, system = SYSTEM_DATA_DIR): string {
  return !isThere(local) && isThere(system) ? system : local;
}

/**
 * Makes sure that a command does not use a default directory by mistake.
 *
 * @throws {CommandError} If `DATA_DIR` is not set and the default has no installation.
 */
export function assertIsMeant({ dataDir }: Config, { env }: Program): void {
  if (isDataDirGiven(env) || isThere(join(dataDir, STATE_FILE))) return;
  throw new CommandError(
    `No data directory found at ${LOCAL_DATA_DIR} or ${SYSTEM_DATA_DIR}: set DATA_DIR, or give ` +
      "the service's --env-file",
  );
}

/**
 * Makes sure that a secret in the running service's environment is also set for the command.
 *
 * @throws {CommandError} If it is not.
 */
export function assertSameSecret({ config, running }: Installation, name: GivenSecret): void {
  const value = name === "API_KEY" ? config.apiKey : config.licenseKey;
  if (value !== null || !running?.given.includes(name)) return;
  throw new CommandError(
    `The running service (process ${running.pid}) has ${name} in its environment: ` +
      `set ${name} here too, or give the service's --env-file`,
  );
}

function isDataDirGiven(env: Env): boolean {
  return Boolean(env.DATA_DIR?.trim() || env.STATE_DIRECTORY?.trim());
}
