/** /auth: login by key or password, token refresh and logout. @module */

import * as z from "zod";
import { loginName } from "../services/access/sign_in/login_name.ts";
import { refreshSession } from "../services/access/sign_in/refresh.ts";
import { exchangeApiKey, logIn } from "../services/access/sign_in/first_factor.ts";
import { logOut } from "../services/access/sign_in/sessions.ts";
import { describeCaller } from "../services/access/users/users.ts";
import type { Deps } from "../services/deps.ts";
import { clientOf } from "./pipeline/client.ts";
import { endpoint } from "./contract/endpoint.ts";
import { Done, Timestamp } from "./contract/shapes.ts";
import {
  KeyBody,
  LoginBody,
  MfaRequired,
  renewalWithNote,
  signInWithNote,
  THROTTLED,
  TokenPair,
} from "./users/login.ts";
import { UserRole } from "./users/shapes.ts";

const RefreshBody = z.object({
  refreshToken: z.string().min(1).max(512).meta({
    example: "xvD6c3RgXVoq5GTUs_dI5NBzVNMylfKKu7lkcsfuk7s",
  }),
}).meta({ id: "TokenRefresh" });

const Me = z.object({
  id: z.string().meta({ description: "`key` in key mode" }),
  email: z.string().nullable().meta({ description: "null in key mode" }),
  role: UserRole,
  createdAt: Timestamp.nullable(),
  lastLoginAt: Timestamp.nullable(),
}).meta({ id: "CurrentUser" });

export const authEndpoints = (deps: Deps) => [
  endpoint(
    "POST /auth/token",
    {
      operationId: "createTokens",
      summary: "Exchange an API key for tokens",
      description: "Key mode (`AUTH_MODE=key`) only.",
      role: "public",
      body: KeyBody,
      returns: TokenPair,
      failures: { 401: "The key is wrong", 404: "Key mode is off", ...THROTTLED },
    },
    ({ body, caller, request, admit }) =>
      exchangeApiKey(deps, body, clientOf(caller, request), admit),
  ),

  endpoint("POST /auth/login", {
    operationId: "logIn",
    summary: "Log in with email and password",
    description: "Users mode (`AUTH_MODE=users`) only. Failures are counted per address and per " +
      "account. An address that recently logged in to the account is not blocked by " +
      "failures from other addresses. An account with a second factor gets no tokens yet, see " +
      "`POST /auth/mfa`.",
    role: "public",
    body: LoginBody,
    returns: z.union([TokenPair, MfaRequired]).meta({ id: "LoginResult" }),
    failures: {
      401: "The email or the password is wrong",
      403: "Passwords are off, or the user's identity provider gives them no role any more",
      404: "Users mode is off",
      503: "Too many concurrent logins",
      ...THROTTLED,
    },
  }, async ({ body, caller, request, note, admit }) => {
    note.target = loginName(deps, body.email);
    return signInWithNote(note, await logIn(deps, body, clientOf(caller, request), admit));
  }),

  endpoint("POST /auth/refresh", {
    unaudited: true,
    operationId: "refreshTokens",
    summary: "Refresh tokens",
    description:
      "A refresh token can be used once. For 10 seconds the same address gets the same new tokens " +
      "again, so that parallel refreshes are safe. Any other reuse revokes the whole login, " +
      "including its access tokens, because the token may have been stolen. Tokens that " +
      "`POST /auth/session` has set as a cookie are refused.",
    role: "public",
    body: RefreshBody,
    returns: TokenPair,
    failures: { 401: "Unknown, used, revoked or expired", ...THROTTLED },
  }, ({ body, caller, note, admit }) => {
    const presented = { tokens: [body.refreshToken], pageHash: null };
    const pair = refreshSession(deps, presented, caller.address, admit);
    return renewalWithNote(note, pair);
  }),

  endpoint("POST /auth/logout", {
    operationId: "logOut",
    withoutFactor: true,
    loginOnly: true,
    destructive: true,
    summary: "Log out",
    description: "Revokes the access tokens and the refresh token of this login.",
    role: "viewer",
    returns: Done,
  }, ({ caller }) => logOut(deps, caller)),

  endpoint("GET /auth/me", {
    operationId: "getCurrentUser",
    withoutFactor: true,
    scope: "open",
    summary: "Get the current user",
    role: "viewer",
    returns: Me,
  }, ({ caller }) => describeCaller(deps, caller)),
];
