/**
 * `longshore user add|list|passwd|role|remove|login-link|mfa-reset`: the accounts of users mode. A running service notices
 * changes within a second.
 *
 * @module
 */

import type { StateDatabase } from "../db/database.ts";
import { resetFactors } from "../services/access/factors/factors.ts";
import { createAccounts } from "../services/access/accounts.ts";
import { storedTrialStart } from "../services/access/license/licenses.ts";
import { createPasswords } from "../services/access/passwords/passwords.ts";
import { setPassword } from "../services/access/users/passwords.ts";
import {
  createUser,
  listUsers,
  removeUser,
  setUserRole,
  type User,
} from "../services/access/users/users.ts";
import { createLoginLink, LOGIN_LINK_MINUTES } from "../services/access/sign_in/login_link.ts";
import { isShutOut } from "../services/access/sign_in/external_users.ts";
import { isSetupRequired, signInMode } from "../services/access/sign_in/mode.ts";
import type { Config } from "../services/config/config.ts";
import { AppError, LimitError } from "../services/errors.ts";
import { createLicense } from "../services/access/license/license.ts";
import { loadLicense } from "../services/access/license/source.ts";
import { silentLog } from "../services/log.ts";
import { parseArguments, parseRole, subcommand } from "./arguments.ts";
import { CONSOLE, recordCommand, requireUser } from "./console.ts";
import { assertIsMeant, findInstallation } from "./installation.ts";
import { newPassword, printMade } from "./password_input.ts";
import { CommandError, EXIT, type Program } from "./program.ts";
import type { RunningService } from "./running_service.ts";
import { withStateBeside } from "./state_database.ts";
import { printTable } from "./table.ts";

type Accounts = Awaited<ReturnType<typeof openAccounts>>;

export async function user(program: Program): Promise<number> {
  const { name, program: rest } = subcommand("user", program, [
    "add",
    "list",
    "passwd",
    "role",
    "remove",
    "login-link",
    "mfa-reset",
  ]);
  // Arguments are parsed before anything is opened.
  const works = {
    ...{ add, list, passwd, role, remove },
    ...{ "login-link": loginLink, "mfa-reset": mfaReset },
  };
  const work = works[name](rest);
  const { config, running } = findInstallation(program);
  assertIsMeant(config, program);
  try {
    await work(config, running);
  } catch (error) {
    throw error instanceof AppError
      ? new CommandError(sentenceOf(error, running), { cause: error })
      : error;
  }
  await withStateBeside(config.dataDir, (db) => noteUnused(program, db, config));
  return EXIT.ok;
}

/** Says so while accounts have no use. */
function noteUnused({ note }: Program, db: StateDatabase, config: Config): void {
  if (isSetupRequired(db, config)) {
    note("This server is not set up yet; see: longshore setup --help");
  } else if (signInMode(db, config) === "key") {
    note("This server is in key mode: accounts are not used until it changes to users mode.");
  }
}

type Work = (config: Config, running: RunningService | undefined) => Promise<void>;

function add(program: Program): Work {
  const { values: [email], options } = parseArguments("user add", program, ["EMAIL"], {
    role: "value",
    generate: "flag",
  });
  const role = parseRole("--role", options.role ?? "viewer");
  return async (config) => {
    const { password, made } = await newPassword(program, options.generate);
    await withAccounts(config, async (accounts) => {
      const user = await createUser(accounts, CONSOLE, { email, password, role });
      await record(program, accounts, "add", user);
    });
    program.print(`${email} was added with the role ${role}.`);
    if (made) printMade(program, password);
  };
}

function list(program: Program): Work {
  parseArguments("user list", program, [], {});
  return async (config) => {
    const users = await withAccounts(config, (accounts) => listUsers(accounts));
    printTable(program, [
      ["EMAIL", "ROLE", "CREATED", "LAST LOGIN"],
      ...users.map(({ email, role, isSuspended, createdAt, lastLoginAt }) => [
        email,
        isSuspended ? `${role} (suspended)` : role,
        createdAt,
        lastLoginAt ?? "never",
      ]),
    ]);
  };
}

function passwd(program: Program): Work {
  const { values: [email], options } = parseArguments("user passwd", program, ["EMAIL"], {
    generate: "flag",
  });
  return async (config) => {
    // A misspelled address fails before a password is typed.
    await withAccounts(config, (accounts) => requireUser(accounts.db, email));
    const { password, made } = await newPassword(program, options.generate);
    const { changed, isSuspended } = await withAccounts(config, async (accounts) => {
      const { id } = requireUser(accounts.db, email);
      const changed = await setPassword(accounts, id, password);
      await record(program, accounts, "passwd", changed);
      return { changed, isSuspended: isShutOut(accounts, id) };
    });
    program.print(`The password of ${changed.email} was changed; all sessions were revoked.`);
    if (made) printMade(program, password);
    if (isSuspended) noteSuspended(program, changed);
  };
}

/** Says how a user signs in again to whom an identity provider gives no role any more. */
const noteSuspended = ({ note }: Program, { email, role }: User): void =>
  note(
    `${email} is suspended: an identity provider gives no role any more. To end it, run ` +
      `longshore user role ${email} ${role}`,
  );

function role(program: Program): Work {
  const { values: [email, name] } = parseArguments("user role", program, ["EMAIL", "ROLE"], {});
  const role = parseRole("ROLE", name);
  return async (config) => {
    const changed = await withAccounts(config, async (accounts) => {
      const { id } = requireUser(accounts.db, email);
      const changed = setUserRole(accounts, CONSOLE, id, role);
      await record(program, accounts, "role", changed);
      return changed;
    });
    program.print(`${changed.email} has the role ${role}.`);
  };
}

function remove(program: Program): Work {
  const { values: [email] } = parseArguments("user remove", program, ["EMAIL"], {});
  return async (config) => {
    const gone = await withAccounts(config, async (accounts) => {
      const user = requireUser(accounts.db, email);
      removeUser(accounts, CONSOLE, user.id);
      await record(program, accounts, "remove", user);
      return user;
    });
    program.print(`${gone.email} was removed.`);
  };
}

/** Prints a link for one sign-in, for an operator whose other ways in do not work. */
function loginLink(program: Program): Work {
  const { values: [email] } = parseArguments("user login-link", program, ["EMAIL"], {});
  return async (config, running) => {
    const base = config.serviceBaseUrl ?? running?.address ?? "http://HOST:PORT";
    const secret = await withAccounts(config, async (accounts) => {
      const user = requireUser(accounts.db, email);
      const secret = createLoginLink(accounts, user.id);
      await record(program, accounts, "login-link", user);
      return secret;
    });
    program.print(`${base}/sign-in#link=${secret}`);
    program.note(`The link signs in ${email} once, within ${LOGIN_LINK_MINUTES} minutes.`);
  };
}

function mfaReset(program: Program): Work {
  const { values: [email] } = parseArguments("user mfa-reset", program, ["EMAIL"], {});
  return async (config) => {
    const user = await withAccounts(config, async (accounts) => {
      const user = requireUser(accounts.db, email);
      resetFactors(accounts, user);
      await record(program, accounts, "mfa-reset", user);
      return user;
    });
    program.print(`The second factors of ${user.email} were removed; all sessions were revoked.`);
  };
}

function withAccounts<T>(config: Config, work: (accounts: Accounts) => T | Promise<T>): Promise<T> {
  return withStateBeside(config.dataDir, async (db) => await work(await openAccounts(config, db)));
}

/** Creates the dependencies of the services. Accounts can be edited while users mode is off. */
async function openAccounts(config: Config, db: StateDatabase) {
  const now = () => new Date();
  const license = createLicense(now, storedTrialStart(db));
  await loadLicense(license, config, silentLog);
  const usersConfig = { ...config, authMode: "users" as const };
  return {
    config: usersConfig,
    db,
    accounts: createAccounts(db, usersConfig, now),
    passwords: createPasswords(),
    license,
    log: silentLog,
    now,
  };
}

function record(
  program: Program,
  accounts: Accounts,
  action: string,
  { id, email }: User,
): Promise<void> {
  return recordCommand(program, accounts, `user ${action}`, id, [email, id]);
}

function sentenceOf(error: AppError, running: RunningService | undefined): string {
  if (!(error instanceof LimitError)) return error.message;
  if (running && !running.given.includes("LICENSE_KEY")) return error.message;
  return `${error.message}. If the service has LICENSE_KEY in its environment, set it here too`;
}
