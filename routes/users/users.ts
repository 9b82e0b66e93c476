/** /auth/users: the accounts of users mode. @module */

import * as z from "zod";
import { PASSWORD_LENGTH_MAX } from "../../services/input/password_rule.ts";
import { changePassword } from "../../services/access/users/passwords.ts";
import {
  confirmEmail,
  createUser,
  listUsers,
  removeUser,
  setUserRole,
} from "../../services/access/users/users.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint, type Note } from "../contract/endpoint.ts";
import { Done } from "../contract/shapes.ts";
import { Email, NewPassword, User, UserRole } from "./shapes.ts";

const NewUser = z.object({
  email: Email,
  password: NewPassword,
  role: UserRole,
}).meta({ id: "NewUser" });

const ListedUser = User.extend({
  isEmailConfirmed: z.boolean().meta({
    description: "Whether identity providers may link the account by its email: an admin has " +
      "entered or confirmed it",
  }),
  formerEmail: z.string().nullable().meta({
    description: "The confirmed email before the user entered the present one; null for none",
  }),
  isSuspended: z.boolean().meta({
    description: "Whether the identity provider gives the user no role any more, so that " +
      "sign-ins and API tokens are refused until it gives one or an admin sets the role",
  }),
}).meta({ id: "ListedUser" });

const EmailBody = z.object({
  email: Email.meta({ description: "The email of the user, as it is confirmed" }),
}).meta({ id: "EmailConfirmation", example: { email: "ada@example.com" } });

const RoleBody = z.object({ role: UserRole }).meta({
  id: "UserRoleBody",
  example: { role: "operator" },
});

const CurrentPassword = z.string().min(1).max(PASSWORD_LENGTH_MAX).optional();

const PasswordBody = z.object({
  password: NewPassword,
  current_password: CurrentPassword.meta({ description: "Required for your own password" }),
  currentPassword: CurrentPassword.meta({ description: "The same as `current_password`" }),
}).meta({
  id: "PasswordChange",
  example: { password: "at least twelve characters", current_password: "correct horse battery" },
});

const BEYOND = "The role does not allow this, or the user has permissions that you do not have";
const OFF = { 404: "Users mode is off" };
const UNKNOWN = { 404: "The user does not exist, or users mode is off" };

/** Adds the user's email to the audit entry. */
function addToNote<Account extends { id: string; email: string }>(
  note: Note,
  user: Account,
): Account {
  note.targets = [user.email, user.id];
  return user;
}

export const userEndpoints = (deps: Deps) => [
  endpoint("GET /auth/users", {
    operationId: "listUsers",
    summary: "List users",
    description: "Sorted by email.",
    role: "admin",
    permission: "users:read",
    returns: z.object({ users: z.array(ListedUser) }).meta({ id: "UserList" }),
    failures: OFF,
  }, () => ({ users: listUsers(deps) })),

  endpoint("POST /auth/users", {
    operationId: "createUser",
    loginOnly: true,
    summary: "Create a user",
    description: "Emails are compared case-insensitively. You cannot assign a role above your own.",
    role: "admin",
    permission: "users:write",
    body: NewUser,
    returns: User,
    status: 201,
    failures: {
      402: "The edition allows no more users",
      403: BEYOND,
      409: "Another user has this email",
      ...OFF,
    },
  }, async ({ body, caller, note }) => addToNote(note, await createUser(deps, caller, body))),

  endpoint("DELETE /auth/users/:id", {
    operationId: "deleteUser",
    loginOnly: true,
    summary: "Delete a user",
    description: "Revokes all logins of the user immediately.",
    role: "admin",
    permission: "users:write",
    returns: Done,
    failures: { 403: BEYOND, 409: "The user is yourself or the last admin", ...UNKNOWN },
  }, ({ params, caller, note }) => void addToNote(note, removeUser(deps, caller, params.id))),

  endpoint(
    "POST /auth/users/:id/email/confirm",
    {
      operationId: "confirmUserEmail",
      loginOnly: true,
      summary: "Confirm a user's email",
      description: "For an account that a user without the role admin has created, or whose " +
        "owner has changed the email: identity providers with `linkByVerifiedEmail` may link it " +
        "then. Confirm it only if it belongs to the user.",
      role: "admin",
      body: EmailBody,
      returns: User,
      failures: { 409: "The user has another email", ...UNKNOWN },
    },
    ({ params, body, note }) => addToNote(note, confirmEmail(deps, params.id, body.email)),
  ),

  endpoint(
    "PUT /auth/users/:id/role",
    {
      operationId: "setUserRole",
      loginOnly: true,
      summary: "Change a user's role",
      description:
        "Applies from the user's next request. Existing logins cannot be refreshed; the user " +
        "has to log in again.",
      role: "admin",
      permission: "users:write",
      body: RoleBody,
      returns: User,
      failures: { 403: BEYOND, 409: "The user is the last admin", ...UNKNOWN },
    },
    ({ params, body, caller, note }) =>
      addToNote(note, setUserRole(deps, caller, params.id, body.role)),
  ),

  endpoint("PUT /auth/users/:id/password", {
    operationId: "setUserPassword",
    loginOnly: true,
    destructive: true,
    summary: "Change a password",
    description:
      "Admins can change any password. Other users can change their own and must send the " +
      "current one. Revokes all logins of the user, including this one.",
    role: "viewer",
    permission: "users:write",
    body: PasswordBody,
    returns: User,
    failures: {
      403: "The password is another user's, or the current password is wrong",
      429: "Too many wrong current passwords",
      ...UNKNOWN,
    },
  }, async ({ params, body, caller, note }) =>
    addToNote(
      note,
      await changePassword(deps, caller, params.id, {
        password: body.password,
        currentPassword: body.current_password ?? body.currentPassword,
      }),
    )),
];
