/** API tokens: long-lived bearer tokens for scripts, with fewer rights than their owner. @module */

import {
  type ApiToken,
  countApiTokensOfUser,
  deleteApiToken,
  insertApiToken,
  selectApiToken,
  selectApiTokens,
  selectApiTokensOfUser,
  updateApiTokenHash,
} from "../../../db/api_tokens.ts";
import { assertMayDo, type Caller, includesRole, mayDo } from "../caller.ts";
import { isOfHosts, type Scope } from "../scope.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound, tooMany } from "../../errors.ts";
import type { EmitDeps } from "../../events/emit.ts";
import { reportAccountChange } from "../users/changes.ts";
import { assertMayManageOwner } from "../users/users.ts";
import { hashApiToken, makeApiToken } from "./secret.ts";

/** Limit of tokens of an account. */
export const TOKENS_MAX = 50;

/** A token without its secret. */
export interface ApiTokenView extends Omit<ApiToken, "tokenHash"> {
  /** Whether it is refused because the identity provider gives its owner no role any more. */
  isSuspended: boolean;
}

/** A token with its secret, which is shown once. */
type IssuedApiToken = ApiTokenView & { token: string };

/** The settings of a new token. */
export interface ApiTokenSettings extends Omit<Scope, "ofRoles">, Pick<ApiToken, "name" | "role"> {
  /** ISO 8601; `null` for no expiry. */
  expiresAt: string | null;
}

const PATTERN = /^[\w.*-]{1,255}$/;

/** Whether a text is a pattern of names of stacks, containers or hosts. */
export const isPattern = (text: string): boolean => PATTERN.test(text);

const LABEL = /^[a-z][a-z0-9._-]{0,62}(=[^\p{Cc}]{0,63})?$/u;

/** Whether a text is a label of hosts, as `key` or `key=value`. */
export const isHostLabel = (text: string): boolean => LABEL.test(text);

type TokenDeps = Pick<Deps, "accounts" | "db" | "now">;

/**
 * The tokens of the caller, newest first.
 *
 * @param options.all Whether to include those of all other accounts.
 * @throws {AppError} `forbidden` for `all` without the permission to read users.
 */
export function listApiTokens(
  { accounts, db }: Pick<Deps, "accounts" | "db">,
  caller: Caller,
  { all }: { all: boolean },
): ApiTokenView[] {
  if (all) assertMayManageOthers(caller, "users:read");
  const tokens = all ? selectApiTokens(db) : selectApiTokensOfUser(db, caller.userId);
  return tokens.map((token) => toView(accounts, token));
}

/**
 * Creates a token of the caller.
 *
 * @throws {AppError} `forbidden` for a role above the caller's; `invalid` for an expiry in the past;
 * `conflict` when the limit is reached.
 */
export function createApiToken(
  { accounts, db, now }: TokenDeps,
  { userId, role }: Pick<Caller, "userId" | "role">,
  settings: ApiTokenSettings,
): IssuedApiToken {
  if (!includesRole(role, settings.role)) {
    throw new AppError("forbidden", `A token cannot have a role above your own (${role})`);
  }
  const { name, permissions, stacks, containers, hosts, hostLabels } = settings;
  const expiresAt = settings.expiresAt && new Date(settings.expiresAt).toISOString();
  const createdAt = now().toISOString();
  if (expiresAt !== null && expiresAt <= createdAt) {
    throw new AppError("invalid", "body.expiresAt: must be in the future");
  }
  if (countApiTokensOfUser(db, userId) >= TOKENS_MAX) throw tooMany("API tokens", TOKENS_MAX);
  const secret = makeApiToken();
  const token: ApiToken = {
    id: crypto.randomUUID(),
    userId,
    name,
    tokenHash: hashApiToken(secret),
    role: settings.role,
    permissions: permissions && [...new Set(permissions)],
    stacks: stacks && [...new Set(stacks)],
    containers: containers && [...new Set(containers)],
    hosts: hosts && [...new Set(hosts)],
    hostLabels: hostLabels && [...new Set(hostLabels)],
    createdAt,
    rotatedAt: null,
    expiresAt,
    lastUsedAt: null,
    lastUsedAddress: null,
  };
  insertApiToken(db, token);
  accounts.putToken(token);
  return { ...toView(accounts, token), token: secret };
}

/** As {@linkcode createApiToken}, and reports it. */
export function createOwnApiToken(
  deps: TokenDeps & EmitDeps,
  caller: Caller,
  settings: ApiTokenSettings,
): IssuedApiToken {
  const token = createApiToken(deps, caller, settings);
  reportAccountChange(deps, caller, "account.access_changed", `API token ${token.name} created`);
  return token;
}

/**
 * Replaces the secret of one of the caller's tokens. The former secret is refused immediately.
 *
 * @throws {AppError} `not_found`; `conflict` for an expired token.
 */
export function rotateApiToken(
  deps: TokenDeps & EmitDeps,
  caller: Caller,
  id: string,
): IssuedApiToken {
  const { accounts, db, now } = deps;
  const { userId } = caller;
  const before = selectApiToken(db, id);
  if (before?.userId !== userId) throw notFound("API token", id);
  const rotatedAt = now().toISOString();
  if (before.expiresAt !== null && before.expiresAt <= rotatedAt) {
    throw new AppError("conflict", `API token ${before.name} has expired; create a new one`);
  }
  const secret = makeApiToken();
  const token = { ...before, tokenHash: hashApiToken(secret), rotatedAt };
  updateApiTokenHash(db, id, token);
  accounts.putToken(token);
  const change = `Secret of API token ${token.name} replaced`;
  reportAccountChange(deps, caller, "account.access_changed", change);
  return { ...toView(accounts, token), token: secret };
}

/**
 * Revokes a token of the caller, or one of a user whom the caller may change. Requests with it are
 * refused immediately, and its streams end.
 *
 * @throws {AppError} `not_found`; `forbidden` if the owner has permissions that the caller lacks.
 */
export function revokeApiToken(
  { accounts, db }: Pick<Deps, "accounts" | "db">,
  caller: Caller,
  id: string,
): ApiTokenView {
  const token = selectApiToken(db, id);
  const isOwn = token?.userId === caller.userId;
  if (!token || !isOwn && !mayManageOthers(caller, "users:write")) throw notFound("API token", id);
  if (!isOwn) assertMayManageOwner(db, caller, token.userId);
  deleteApiToken(db, id);
  accounts.removeToken(id);
  return toView(accounts, token);
}

/** Accounts are not those of a caller who is limited to hosts, whatever their role. */
const mayManageOthers = (caller: Caller, permission: string): boolean =>
  mayDo(caller, "admin", permission) && !isOfHosts(caller.scope);

function assertMayManageOthers(caller: Caller, permission: string): void {
  assertMayDo(caller, "admin", permission);
  if (!isOfHosts(caller.scope)) return;
  throw new AppError("forbidden", "Not available to an account that is limited to hosts");
}

const toView = (
  { isRefused }: Deps["accounts"],
  { tokenHash: _, ...token }: ApiToken,
): ApiTokenView => ({ ...token, isSuspended: isRefused(token.userId) });
