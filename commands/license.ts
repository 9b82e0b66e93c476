/** `longshore license show|install FILE` @module */

import { join } from "node:path";
import { storedTrialStart, storeLicense } from "../services/access/license/licenses.ts";
import type { Config } from "../services/config/config.ts";
import { AppError } from "../services/errors.ts";
import {
  createLicense,
  type License,
  type LicenseGrant,
} from "../services/access/license/license.ts";
import { LICENSE_FILE, loadLicense } from "../services/access/license/source.ts";
import { LIMITED_RESOURCES, limitOf } from "../services/access/license/limits.ts";
import { silentLog } from "../services/log.ts";
import { isThere } from "../services/secrets/private_file.ts";
import { parseArguments, subcommand } from "./arguments.ts";
import { recordCommand } from "./console.ts";
import { STATE_FILE } from "./data_directory.ts";
import { actAsOwner } from "./data_owner.ts";
import { assertIsMeant, assertSameSecret, findInstallation } from "./installation.ts";
import { CommandError, commandError, EXIT, type Program } from "./program.ts";
import { assertThere, withStateBeside } from "./state_database.ts";

/** A license key is a few hundred bytes. */
const FILE_BYTES_MAX = 64 * 1024;

const now = () => new Date();

export async function license(program: Program): Promise<number> {
  const { name, program: rest } = subcommand("license", program, ["show", "install"]);
  return await { show, install }[name](rest);
}

async function show(program: Program): Promise<number> {
  parseArguments("license show", program, [], {});
  const installation = findInstallation(program);
  const { config } = installation;
  if (config.licenseKey === null && !isThere(licensePath(config))) {
    assertIsMeant(config, program);
    assertThere(join(config.dataDir, STATE_FILE), config.dataDir);
  }
  assertSameSecret(installation, "LICENSE_KEY");
  using _owner = actAsOwner(config.dataDir);
  const license = createLicense(now, await trialStart(config));
  await loadLicense(license, config, silentLog);
  for (const [name, value] of rowsOf(license, config)) {
    program.print(`${name.padEnd(9)}  ${value}`);
  }
  return EXIT.ok;
}

function rowsOf(license: License, config: Config): [name: string, value: string][] {
  const { edition, grant, expiresAt, graceUntil, problem, trial } = license;
  const limits = LIMITED_RESOURCES.map((resource) => {
    const limit = limitOf(license, resource);
    return `${resource} ${limit === Infinity ? "unlimited" : limit}`;
  });
  const rows: [string, string | null | undefined][] = [
    ["Edition", edition],
    ["Customer", grant?.customer],
    ["Expires", edition === "ce" ? null : expiresAt],
    ["Grace", graceUntil && `until ${graceUntil}, then the Community Edition`],
    ["Limits", limits.join(", ")],
    ["Trial", trial && `${trial.startedAt} to ${trial.endsAt}${trial.active ? ", in force" : ""}`],
    ["Source", grant && (config.licenseKey === null ? licensePath(config) : "LICENSE_KEY")],
    ["Problem", problem],
  ];
  return rows.filter((row): row is [string, string] => Boolean(row[1]));
}

async function install(program: Program): Promise<number> {
  const { values: [file] } = parseArguments("license install", program, ["FILE"], {});
  const installation = findInstallation(program);
  const { config } = installation;
  assertIsMeant(config, program);
  assertSameSecret(installation, "LICENSE_KEY");
  const key = await readKey(file, program.input);
  using _owner = actAsOwner(config.dataDir);
  const { edition, customer, expiresAt } = await keep(config, key);
  if (hasState(config)) {
    await withStateBeside(config.dataDir, async (db) => {
      await recordCommand(program, { db, now }, "license install", customer);
    });
  }
  program.print(`Installed: ${edition} for ${customer} until ${expiresAt.toISOString()}.`);
  program.note("A running service applies it within ten seconds.");
  return EXIT.ok;
}

/** @throws {CommandError} If the key is not accepted or cannot be stored. */
async function keep(config: Config, key: string): Promise<LicenseGrant> {
  try {
    return await storeLicense(config, now, key);
  } catch (error) {
    if (error instanceof AppError) throw new CommandError(error.message, { cause: error });
    throw commandError(`${licensePath(config)} cannot be written`, error);
  }
}

/** @throws {CommandError} If it cannot be read, or is too large for a license. */
async function readKey(file: string, input: Program["input"]): Promise<string> {
  try {
    using opened = file === "-" ? undefined : await Deno.open(file);
    const source = opened ?? input;
    const buffer = new Uint8Array(FILE_BYTES_MAX + 1);
    let length = 0;
    for (let read; (read = await source.read(buffer.subarray(length)));) length += read;
    if (length > FILE_BYTES_MAX) throw new Error("it is too large to be a license");
    return new TextDecoder().decode(buffer.subarray(0, length)).trim();
  } catch (error) {
    throw commandError(`${file === "-" ? "Standard input" : file} cannot be read`, error);
  }
}

/** Returns the start of the trial; there is none before the service's first start. */
async function trialStart(config: Config): Promise<Date | undefined> {
  return hasState(config) ? await withStateBeside(config.dataDir, storedTrialStart) : undefined;
}

/** Whether the service was started before. */
function hasState({ dataDir }: Config): boolean {
  try {
    Deno.statSync(join(dataDir, STATE_FILE));
    return true;
  } catch {
    return false;
  }
}

const licensePath = ({ dataDir }: Config) => join(dataDir, LICENSE_FILE);
