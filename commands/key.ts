/**
 * `longshore key new`: a new API key for key mode, beside a running service or without one.
 *
 * @module
 */

import { createAccounts } from "../services/access/accounts.ts";
import { createApiKey } from "../services/access/sign_in/api_key.ts";
import { removeCredentials } from "../services/access/setup/credentials_file.ts";
import { parseArguments, subcommand } from "./arguments.ts";
import { recordCommand } from "./console.ts";
import { assertIsMeant, findInstallation } from "./installation.ts";
import { CommandError, EXIT, type Program } from "./program.ts";
import { withStateBeside } from "./state_database.ts";

const now = () => new Date();

export async function key(program: Program): Promise<number> {
  const { program: rest } = subcommand("key", program, ["new"]);
  parseArguments("key new", rest, [], {});
  const { config, running } = findInstallation(program);
  if (config.apiKey !== null || running?.given.includes("API_KEY")) {
    throw new CommandError(
      "The API key is set by API_KEY; change that variable and restart the service",
    );
  }
  assertIsMeant(config, program);
  await withStateBeside(config.dataDir, async (db) => {
    const deps = { db, accounts: createAccounts(db, config, now), now };
    if (deps.accounts.mode !== "key") {
      throw new CommandError("Users mode is on and has no API key; see: user --help");
    }
    await createApiKey(deps, (key) => program.print(`API key: ${key}`));
    // The key in it is no longer valid.
    removeCredentials(config.dataDir);
    await recordCommand(program, { db, now }, "key new");
  });
  program.note("Save it now. It is not shown again, and it gives root access to this host.");
  program.note("The former key is no longer accepted, and its sessions were revoked.");
  return EXIT.ok;
}
