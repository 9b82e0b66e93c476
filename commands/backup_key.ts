/**
 * `longshore backup-key show`: the password of a target's repository, beside a running service or
 * without one.
 *
 * @module
 */

import type { StateDatabase } from "../db/database.ts";
import { selectBackupTargets, type StoredTarget } from "../db/backup_targets.ts";
import { openSecrets } from "../services/backup/targets/credentials.ts";
import type { Config } from "../services/config/config.ts";
import { AppError, KeyFileError } from "../services/errors.ts";
import { silentLog } from "../services/log.ts";
import { loadSecrets } from "../services/secrets/secrets.ts";
import { parseArguments, subcommand } from "./arguments.ts";
import { recordCommand } from "./console.ts";
import { assertIsMeant, findInstallation } from "./installation.ts";
import { CommandError, EXIT, type Program } from "./program.ts";
import { withStateBeside } from "./state_database.ts";

export async function backupKey(program: Program): Promise<number> {
  const { program: rest } = subcommand("backup-key", program, ["show"]);
  const { options } = parseArguments("backup-key show", rest, [], { target: "value" });
  const { config } = findInstallation(program);
  assertIsMeant(config, program);
  await withStateBeside(config.dataDir, async (db) => {
    const target = findTarget(db, options.target);
    const password = readPassword(config, target);
    await recordCommand(program, { db, now: () => new Date() }, "backup-key show", target.name);
    program.note(`${target.name}: ${target.location}`);
    program.print(password);
  });
  return EXIT.ok;
}

/** @param name Default: the default target, or the only one. */
function findTarget(db: StateDatabase, name: string | undefined): StoredTarget {
  const targets = selectBackupTargets(db);
  const names = targets.map((target) => target.name).join(", ");
  if (targets.length === 0) throw new CommandError("There are no backup targets");
  const found = name === undefined
    ? targets.find(({ isDefault }) => isDefault) ?? (targets.length === 1 ? targets[0] : undefined)
    : targets.find((target) => target.name === name);
  if (found) return found;
  throw new CommandError(
    name === undefined
      ? `No backup target is the default: name one with --target: ${names}`
      : `No backup target has the name ${name}; there are: ${names}`,
  );
}

function readPassword(config: Config, target: StoredTarget): string {
  try {
    return openSecrets(loadSecrets(config, silentLog), target).password;
  } catch (error) {
    if (error instanceof KeyFileError) throw new CommandError(error.message, { cause: error });
    if (!(error instanceof AppError)) throw error;
    throw new CommandError(
      `${error.message}. If the service has SECRET_KEY in its environment, set it here too, or ` +
        "give the service's --env-file",
      { cause: error },
    );
  }
}
