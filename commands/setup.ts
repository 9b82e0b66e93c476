/** `longshore setup`: the first account or the API key of a new server, without a browser. @module */

import { createAccounts } from "../services/access/accounts.ts";
import { createPasswords } from "../services/access/passwords/passwords.ts";
import { applySetup, type SetupChoice } from "../services/access/setup/setup.ts";
import { AppError } from "../services/errors.ts";
import { silentLog } from "../services/log.ts";
import { parseArguments } from "./arguments.ts";
import { recordCommand } from "./console.ts";
import { assertIsMeant, findInstallation } from "./installation.ts";
import { newPassword, printMade } from "./password_input.ts";
import { CommandError, EXIT, type Program, UsageError } from "./program.ts";
import { withStateBeside } from "./state_database.ts";

const now = () => new Date();

export async function setup(program: Program): Promise<number> {
  const { options } = parseArguments("setup", program, [], {
    email: "value",
    name: "value",
    generate: "flag",
    key: "flag",
  });
  const { email, name } = options;
  if ((email === undefined) !== Boolean(options.key)) {
    throw new UsageError("setup needs either --email EMAIL or --key");
  }
  const { config } = findInstallation(program);
  assertIsMeant(config, program);
  const { password, made } = email === undefined
    ? { password: "", made: false }
    : await newPassword(program, options.generate);
  const choice: SetupChoice = email === undefined
    ? { key: true }
    : { account: { email, password, name } };
  const key = await withStateBeside(config.dataDir, async (db) => {
    const deps = {
      config,
      db,
      accounts: createAccounts(db, config, now),
      passwords: createPasswords(),
      log: silentLog,
      now,
    };
    const { key } = await applySetup(deps, choice).catch((error) => {
      throw error instanceof AppError ? new CommandError(error.message, { cause: error }) : error;
    });
    await recordCommand(program, { db, now }, "setup", email);
    return key;
  });
  if (key === undefined) {
    program.print(`${email} was added with the role admin.`);
    if (made) printMade(program, password);
  } else {
    program.print(`API key: ${key}`);
    program.note("Save it now. It is not shown again, and it gives root access to this host.");
  }
  return EXIT.ok;
}
