/**
 * The setup of a new server: a client with the setup code creates the first account or the API key.
 * A server with a key can change to accounts later.
 *
 * @module
 */

import { updateApiTokensOwner } from "../../../db/api_tokens.ts";
import { updatePushTokensOwner } from "../../../db/push_tokens.ts";
import { updateUserDetails } from "../../../db/users.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { KEY_USER } from "../accounts.ts";
import type { Client } from "../client.ts";
import { assertAcceptablePassword } from "../passwords/passwords.ts";
import { createApiKey, forgetApiKey } from "../sign_in/api_key.ts";
import { revokeFamiliesOfUser } from "../sign_in/families.ts";
import { givenMode, isSetupRequired } from "../sign_in/mode.ts";
import { type Admit, startSession, type TokenPair } from "../sign_in/sessions.ts";
import { assertEmail, findUser, storeUser, type User } from "../users/users.ts";
import { removeCredentials } from "./credentials_file.ts";

/** The first account, which gets the role admin. */
export interface FirstAccount {
  name?: string | null | undefined;
  email: string;
  password: string;
}

/** A first account, or the API key. */
export type SetupChoice = { account: FirstAccount } | { key: true };

type AccountDeps = Pick<Deps, "accounts" | "config" | "db" | "log" | "now" | "passwords">;

/**
 * Sets up the server and signs the client in.
 *
 * @returns With `key`, if it was created; it is shown this once.
 * @throws {AppError} `conflict` for a server that is set up, and while another client sets it up;
 * `unauthorized` for a wrong or ended code; `invalid` for an email or password against the rules.
 * @throws {ThrottledError} After too many failures from the address.
 */
export async function setUp(
  deps: AccountDeps & Parameters<typeof startSession>[0] & Pick<Deps, "setupCode" | "throttle">,
  { code, ...choice }: SetupChoice & { code: string },
  client: Client,
  admit: Admit,
  pageHash: string | null = null,
): Promise<TokenPair & { key?: string }> {
  assertRequired(deps);
  if ("account" in choice) assertAcceptable(choice.account);
  const attempt = deps.throttle.begin(client.address);
  using _code = deps.setupCode.take(code);
  attempt.succeeded();
  admit(KEY_USER);
  const { userId, ...created } = await applySetup(deps, choice);
  deps.log.info("set up", { userId, address: client.address });
  return { ...await startSession(deps, userId, client, { pageHash }), ...created };
}

/**
 * Creates what the operator chose, without a code: for commands on the host.
 *
 * @returns The user who can sign in now, and the key if one was created.
 * @throws {AppError} As {@linkcode setUp}.
 */
export async function applySetup(
  deps: AccountDeps,
  choice: SetupChoice,
): Promise<{ userId: string; key?: string }> {
  assertRequired(deps);
  if ("account" in choice) {
    assertAcceptable(choice.account);
    const { id: userId } = await createFirstAccount(deps, choice.account, assertRequired);
    return { userId };
  }
  let key = "";
  await createApiKey(deps, (created) => key = created);
  removeCredentials(deps.config.dataDir);
  return { userId: KEY_USER, key };
}

/**
 * Changes from key mode to accounts: the key and its sessions end, and its API tokens and devices
 * belong to the first account from then on.
 *
 * @throws {AppError} `conflict` in users mode, and while the environment demands key mode; `invalid`
 * for an email or password against the rules.
 */
export async function changeToUsersMode(deps: AccountDeps, account: FirstAccount): Promise<User> {
  assertAcceptable(account);
  assertMayChange(deps);
  return await createFirstAccount(deps, account, assertMayChange);
}

/** Stores the account, together with the end of the key if there is one. */
async function createFirstAccount(
  deps: AccountDeps,
  { name = null, email, password }: FirstAccount,
  assertStill: (deps: AccountDeps) => void,
): Promise<User> {
  const { accounts, db } = deps;
  const passwordHash = await deps.passwords.hash(password);
  // Another client may have been faster.
  assertStill(deps);
  let id = "";
  revokeFamiliesOfUser(deps, KEY_USER, {
    change: () => {
      ({ id } = storeUser(deps, { email, passwordHash, role: "admin" }));
      updateUserDetails(db, id, { name });
      forgetApiKey(db);
      updateApiTokensOwner(db, KEY_USER, id);
      updatePushTokensOwner(db, KEY_USER, id);
    },
  });
  accounts.reread();
  // The code or the key in it has ended.
  removeCredentials(deps.config.dataDir);
  return findUser(db, id);
}

function assertRequired({ config, db }: Pick<Deps, "config" | "db">): void {
  if (isSetupRequired(db, config)) return;
  throw new AppError("conflict", "This server is set up already; sign in");
}

function assertMayChange({ accounts, config }: Pick<Deps, "accounts" | "config">): void {
  if (accounts.mode === "users") throw new AppError("conflict", "Users mode is on already");
  if (givenMode(config) === undefined) return;
  const name = config.authMode === null ? "API_KEY" : "AUTH_MODE";
  throw new AppError(
    "conflict",
    `${name} demands key mode: remove it from the environment and restart the service`,
  );
}

function assertAcceptable({ email, password }: FirstAccount): void {
  assertEmail(email);
  assertAcceptablePassword(password);
}
