/**
 * `longshore token create|list|revoke`: API tokens, beside a running service or without one. A
 * running service accepts a new token at once and refuses a revoked one within a second.
 *
 * @module
 */

import type { StateDatabase } from "../db/database.ts";
import { selectUsers } from "../db/users.ts";
import { createAccounts, KEY_USER } from "../services/access/accounts.ts";
import { permissionName, PERMISSIONS } from "../services/access/permissions.ts";
import {
  type ApiTokenSettings,
  type ApiTokenView,
  createApiToken,
  isHostLabel,
  isPattern,
  listApiTokens,
  revokeApiToken,
} from "../services/access/api_tokens/tokens.ts";
import type { Config } from "../services/config/config.ts";
import { AppError } from "../services/errors.ts";
import { parseArguments, parseRole, subcommand } from "./arguments.ts";
import { CONSOLE, recordCommand, requireUser } from "./console.ts";
import { assertIsMeant, findInstallation } from "./installation.ts";
import { CommandError, EXIT, type Program, UsageError } from "./program.ts";
import { withStateBeside } from "./state_database.ts";
import { printTable } from "./table.ts";

type Deps = ReturnType<typeof depsOf>;
type Work = (deps: Deps) => void | Promise<void>;

const DAY_MS = 24 * 60 * 60 * 1000;

/** Limit of `--days`: ten years. */
const DAYS_MAX = 3_650;

export async function token(program: Program): Promise<number> {
  const { name, program: rest } = subcommand("token", program, ["create", "list", "revoke"]);
  // Arguments are parsed before anything is opened.
  const work = { create, list, revoke }[name](rest);
  const { config } = findInstallation(program);
  assertIsMeant(config, program);
  try {
    await withStateBeside(config.dataDir, async (db) => await work(depsOf(config, db)));
  } catch (error) {
    if (error instanceof AppError) throw new CommandError(error.message, { cause: error });
    throw error;
  }
  return EXIT.ok;
}

const now = () => new Date();

function depsOf(config: Config, db: StateDatabase) {
  return { config, db, accounts: createAccounts(db, config, now), now };
}

function create(program: Program): Work {
  const { values: [name], options } = parseArguments("token create", program, ["NAME"], {
    role: "value",
    user: "value",
    permissions: "value",
    stacks: "value",
    containers: "value",
    hosts: "value",
    "host-labels": "value",
    days: "value",
  });
  const settings: ApiTokenSettings = {
    name,
    role: parseRole("--role", options.role ?? "viewer"),
    permissions: namesOf("permissions", options.permissions, isPermission),
    stacks: namesOf("stacks", options.stacks, isPattern),
    containers: namesOf("containers", options.containers, isPattern),
    hosts: namesOf("hosts", options.hosts, isPattern),
    hostLabels: namesOf("host-labels", options["host-labels"], isHostLabel),
    expiresAt: expiryOf(options.days),
  };
  if (!/^[^\p{Cc}]{1,100}$/u.test(name) || !name.trim()) {
    throw new UsageError("NAME must be one line of at most 100 characters");
  }
  return async (deps) => {
    const { token, ...created } = createApiToken(deps, ownerOf(deps, options.user), settings);
    await record(program, deps, "create", created);
    program.print(token);
    program.note("Save it now. It is not shown again.");
  };
}

function list(program: Program): Work {
  parseArguments("token list", program, [], {});
  return (deps) => {
    const emails = new Map(selectUsers(deps.db).map(({ id, email }) => [id, email]));
    const tokens = listApiTokens(deps, CONSOLE, { all: true });
    printTable(program, [
      ["ID", "NAME", "OWNER", "ROLE", "LIMITS", "EXPIRES", "LAST USED"],
      ...tokens.map((token) => [
        token.id,
        token.name,
        emails.get(token.userId) ?? token.userId,
        token.isSuspended ? `${token.role} (suspended)` : token.role,
        limitsOf(token),
        token.expiresAt ?? "never",
        token.lastUsedAt ?? "never",
      ]),
    ]);
  };
}

function revoke(program: Program): Work {
  const { values: [ref] } = parseArguments("token revoke", program, ["NAME"], {});
  return async (deps) => {
    const revoked = revokeApiToken(deps, CONSOLE, idOf(deps, ref));
    await record(program, deps, "revoke", revoked);
    program.print(`${revoked.name} was revoked.`);
  };
}

/**
 * The id of a token, from its id or its name.
 *
 * @throws {CommandError} If several tokens have the name.
 */
function idOf(deps: Deps, ref: string): string {
  const tokens = listApiTokens(deps, CONSOLE, { all: true });
  if (tokens.some(({ id }) => id === ref)) return ref;
  const named = tokens.filter(({ name }) => name === ref);
  if (named.length > 1) {
    throw new CommandError(
      `${named.length} API tokens have the name ${ref}: use an ID from \`longshore token list\``,
    );
  }
  return named[0]?.id ?? ref;
}

function record(
  program: Program,
  deps: Deps,
  action: string,
  { id, name }: Pick<ApiTokenView, "id" | "name">,
): Promise<void> {
  return recordCommand(program, deps, `token ${action}`, name, [name, id]);
}

/** In key mode tokens belong to the installation, in users mode to the named or only account. */
function ownerOf({ accounts, db }: Deps, email: string | undefined) {
  if (accounts.mode === "key") {
    if (email === undefined) return { userId: KEY_USER, role: "admin" as const };
    throw new CommandError("Users mode is off: leave out --user");
  }
  const [only, ...others] = selectUsers(db);
  if (email === undefined && (!only || others.length > 0)) {
    throw new CommandError("There are several accounts: --user EMAIL is required");
  }
  const { id: userId, role } = email === undefined ? only! : requireUser(db, email);
  return { userId, role };
}

function limitsOf({ permissions, stacks, containers, hosts, hostLabels }: ApiTokenView): string {
  const parts = [
    permissions && `permissions=${permissions}`,
    stacks && `stacks=${stacks}`,
    containers && `containers=${containers}`,
    hosts && `hosts=${hosts}`,
    hostLabels && `host-labels=${hostLabels}`,
  ];
  return parts.filter(Boolean).join(" ") || "none";
}

/** @throws {UsageError} For an invalid name. */
function namesOf(
  option: string,
  text: string | undefined,
  isValid: (name: string) => boolean,
): string[] | null {
  if (text === undefined) return null;
  const names = text.split(",").map((name) => name.trim());
  const wrong = names.find((name) => !isValid(name));
  if (wrong !== undefined) throw new UsageError(`--${option} has an invalid name: ${wrong}`);
  return names;
}

const KNOWN = new Set(PERMISSIONS.map(permissionName));
const isPermission = (name: string) => KNOWN.has(name);

/** @throws {UsageError} If it is not a number of days. */
function expiryOf(days: string | undefined): string | null {
  if (days === undefined) return null;
  const count = /^\d+$/.test(days) ? Number(days) : 0;
  if (count < 1 || count > DAYS_MAX) {
    throw new UsageError(`--days must be a number from 1 to ${DAYS_MAX}, not ${days}`);
  }
  return new Date(now().getTime() + count * DAY_MS).toISOString();
}
