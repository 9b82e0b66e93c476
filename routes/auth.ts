/** /auth: login by key or password, token refresh and logout. @module */

import * as z from "zod";
import { EMAIL_LENGTH_MAX } from "../services/access/users/emails.ts";
import { loginName } from "../services/access/sign_in/login_name.ts";
import { PASSWORD_LENGTH_MAX } from "../services/input/password_rule.ts";
import { refreshSession, ReusedTokenError } from "../services/access/sign_in/refresh.ts";
import {
  exchangeApiKey,
  logIn,
  logOut,
  type TokenPair as Login,
} from "../services/access/sign_in/sessions.ts";
import { describeCaller } from "../services/access/users/users.ts";
import type { Deps } from "../services/deps.ts";
import { clientOf } from "./pipeline/client.ts";
import { endpoint, type Note } from "./contract/endpoint.ts";
import { Done, Timestamp } from "./contract/shapes.ts";
import { UserRole } from "./users/shapes.ts";

export const TokenPair = z.object({
  accessToken: z.string().meta({ description: "JWT for the Authorization header" }),
  refreshToken: z.string().meta({
    description: "Valid for one call of `POST /auth/refresh` within 30 days",
  }),
  expiresIn: z.int().meta({ description: "Seconds until the access token ends", example: 900 }),
  role: UserRole,
  serverName: z.string(),
}).meta({ id: "TokenPair" });

export const KeyBody = z.object({
  apiKey: z.string().min(1).max(4_096).meta({ example: "lsk_aGVsbG8gaGFyYm91cg" }),
}).meta({ id: "ApiKeyLogin" });

export const LoginBody = z.object({
  email: z.string().min(1).max(EMAIL_LENGTH_MAX),
  password: z.string().min(1).max(PASSWORD_LENGTH_MAX),
}).meta({
  id: "PasswordLogin",
  example: { email: "ada@example.com", password: "correct horse battery" },
});

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

export const THROTTLED = { 429: "Limit of 10 failures per minute reached; see `Retry-After`" };

/** Names the user in the logs when a refresh token is reused. */
export async function withReuseInNote(note: Note, login: Promise<Login>): Promise<Login> {
  try {
    return await login;
  } catch (error) {
    if (error instanceof ReusedTokenError) note.actor = error.userId;
    throw error;
  }
}

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
      "failures from other addresses.",
    role: "public",
    body: LoginBody,
    returns: TokenPair,
    failures: {
      401: "The email or the password is wrong",
      404: "Users mode is off",
      503: "Too many concurrent logins",
      ...THROTTLED,
    },
  }, ({ body, caller, request, note, admit }) => {
    note.target = loginName(deps, body.email);
    return logIn(deps, body, clientOf(caller, request), admit);
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
    return withReuseInNote(note, pair);
  }),

  endpoint("POST /auth/logout", {
    operationId: "logOut",
    loginOnly: true,
    destructive: true,
    summary: "Log out",
    description: "Revokes the access tokens and the refresh token of this login.",
    role: "viewer",
    returns: Done,
  }, ({ caller }) => logOut(deps, caller)),

  endpoint("GET /auth/me", {
    operationId: "getCurrentUser",
    scope: "open",
    summary: "Get the current user",
    role: "viewer",
    returns: Me,
  }, ({ caller }) => describeCaller(deps, caller)),
];
