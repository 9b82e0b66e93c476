/**
 * How people sign in: with the one API key, or with accounts.
 *
 * The environment decides where it says so. Otherwise what is stored decides: a key that was created
 * means key mode, and an admin without one users mode. A server with neither is not set up yet.
 *
 * @module
 */

import type { Database } from "../../../db/database.ts";
import { selectSetting } from "../../../db/settings.ts";
import { countAdmins } from "../../../db/users.ts";
import type { Config } from "../../config/config.ts";

export type Mode = "key" | "users";

/** Setting: identifies the current key; a configured key by its keyed hash. */
export const CURRENT_KEY = "api_key_in_force";

/** The variables that decide the mode. */
export type ModeConfig = Pick<Config, "authMode" | "apiKey" | "adminEmail">;

/** The mode; key mode while nothing is set up, so that no credentials are accepted. */
export function signInMode(db: Database, config: ModeConfig): Mode {
  return givenMode(config) ?? storedMode(db) ?? (config.adminEmail === null ? "key" : "users");
}

/** Whether neither the environment nor the data has a way to sign in. */
export function isSetupRequired(db: Database, config: ModeConfig): boolean {
  return givenMode(config) === undefined && config.adminEmail === null &&
    storedMode(db) === undefined;
}

/** The mode that the environment demands. */
export const givenMode = ({ authMode, apiKey }: ModeConfig): Mode | undefined =>
  authMode ?? (apiKey === null ? undefined : "key");

function storedMode(db: Database): Mode | undefined {
  if (selectSetting(db, CURRENT_KEY) !== undefined) return "key";
  return countAdmins(db) > 0 ? "users" : undefined;
}
