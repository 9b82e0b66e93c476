/** /api/account: the caller's own account, password and sessions. @module */

import * as z from "zod";
import {
  changeOwnPassword,
  describeAccount,
  updateAccount,
} from "../services/access/users/account.ts";
import {
  listSessions,
  revokeSession,
  revokeSessions,
} from "../services/access/users/own_sessions.ts";
import { PASSWORD_LENGTH_MAX } from "../services/input/password_rule.ts";
import type { Deps } from "../services/deps.ts";
import { endpoint } from "./contract/endpoint.ts";
import { Done, pagingQuery, Timestamp } from "./contract/shapes.ts";
import { Email, NewPassword, SessionPage, UserName, UserRole } from "./users/shapes.ts";

const Account = z.object({
  mode: z.enum(["key", "users"]).meta({
    description: "Whether people sign in with the API key or with accounts",
  }),
  id: z.string().meta({ description: "`key` for the API key" }),
  email: z.string().nullable().meta({ description: "null for the API key" }),
  name: z.string().nullable(),
  role: UserRole,
  hasPassword: z.boolean().meta({
    description: "Whether the account signs in by password; otherwise by API key or an identity " +
      "provider",
  }),
  createdAt: Timestamp.nullable(),
  lastLoginAt: Timestamp.nullable(),
}).meta({ id: "Account" });

const AccountBody = z.object({
  name: UserName.optional().meta({ description: "null removes it" }),
  email: Email.optional(),
}).meta({ id: "AccountUpdate", example: { name: "Ada Lovelace", email: "ada@example.com" } });

const PasswordBody = z.object({
  currentPassword: z.string().min(1).max(PASSWORD_LENGTH_MAX),
  newPassword: NewPassword,
  removePasskeys: z.boolean().optional().meta({
    description: "Deletes your passkeys as well, which sign in without the password",
  }),
}).meta({
  id: "OwnPasswordChange",
  example: {
    currentPassword: "correct horse battery",
    newPassword: "violet tractor under nine moons",
  },
});

const OFF = { 404: "Users mode is off" };

export const accountEndpoints = (deps: Deps) => [
  endpoint("GET /api/account", {
    operationId: "getAccount",
    summary: "Get your account",
    role: "viewer",
    scope: "open",
    returns: Account,
  }, ({ caller }) => describeAccount(deps, caller)),

  endpoint("PUT /api/account", {
    operationId: "updateAccount",
    summary: "Update your account",
    description:
      "Fields that are missing stay unchanged. Identity providers cannot link an email " +
      "that a user without the role admin has entered.",
    role: "viewer",
    loginOnly: true,
    body: AccountBody,
    returns: Account,
    failures: {
      409: "Another user has this email, or an identity provider sets it",
      ...OFF,
    },
  }, ({ body, caller, note }) => {
    const account = updateAccount(deps, caller, body);
    note.targets = [account.email ?? account.id];
    return account;
  }),

  endpoint("PUT /api/account/password", {
    operationId: "changePassword",
    summary: "Change your password",
    description: "Revokes all your other sessions.",
    role: "viewer",
    loginOnly: true,
    body: PasswordBody,
    returns: Done,
    failures: {
      403: "The current password is wrong",
      409: "The account has no password",
      429: "Too many wrong current passwords",
      ...OFF,
    },
  }, async ({ body, caller, note }) => {
    const { email } = await changeOwnPassword(deps, caller, body);
    note.targets = [email];
  }),

  endpoint("GET /api/account/sessions", {
    operationId: "listSessions",
    summary: "List your sessions",
    description: "Last used first. In key mode, these are the sessions of all holders of the key.",
    role: "viewer",
    loginOnly: true,
    query: z.object(pagingQuery(100)),
    returns: SessionPage,
  }, ({ query, caller }) => listSessions(deps, caller, caller.userId, query)),

  endpoint("DELETE /api/account/sessions", {
    operationId: "revokeOtherSessions",
    summary: "Revoke your other sessions",
    description: "Signs you out everywhere except here, and ends the open streams there.",
    role: "viewer",
    loginOnly: true,
    returns: Done,
  }, ({ caller }) => revokeSessions(deps, caller.userId, caller.familyId)),

  endpoint("DELETE /api/account/sessions/:id", {
    operationId: "revokeSession",
    summary: "Revoke one of your sessions",
    description: "Its tokens are rejected and its streams end immediately.",
    role: "viewer",
    loginOnly: true,
    returns: Done,
    failures: { 404: "You have no such session" },
  }, ({ params, caller }) => revokeSession(deps, caller.userId, params.id)),
];
