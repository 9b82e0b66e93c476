/**
 * /auth: logging in by key or password, renewing, logging out.
 *
 * @module
 */

import * as z from "zod";
import { EMAIL_LENGTH_MAX } from "../../services/ce/emails.ts";
import { loginName } from "../../services/ce/login_name.ts";
import { PASSWORD_BYTES_MAX } from "../../services/ce/passwords.ts";
import {
  exchangeApiKey,
  logIn,
  logOut,
  refreshSession,
  ReusedTokenError,
  type TokenPair as Login,
} from "../../services/ce/sessions.ts";
import { describeCaller } from "../../services/ce/users.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint, type Note } from "../endpoint.ts";
import { Done, done, Timestamp } from "../shapes.ts";
import { UserRole } from "./user_shapes.ts";

const TokenPair = z.object({
  accessToken: z.string().meta({ description: "JWT for the Authorization header" }),
  refreshToken: z.string().meta({ description: "Good for one call of /auth/refresh in 30 days" }),
  expiresIn: z.int().meta({ description: "Seconds until the access token ends", example: 900 }),
  role: UserRole,
  serverName: z.string(),
});

const KeyBody = z.object({
  apiKey: z.string().min(1).max(4_096).meta({ example: "lsk_aGVsbG8gaGFyYm91cg" }),
});

const LoginBody = z.object({
  email: z.string().min(1).max(EMAIL_LENGTH_MAX),
  password: z.string().min(1).max(PASSWORD_BYTES_MAX),
}).meta({ example: { email: "ada@example.com", password: "correct horse battery" } });

const RefreshBody = z.object({
  refreshToken: z.string().min(1).max(512).meta({
    example: "xvD6c3RgXVoq5GTUs_dI5NBzVNMylfKKu7lkcsfuk7s",
  }),
});

const Me = z.object({
  id: z.string().meta({ description: "`key` in key mode" }),
  email: z.string().nullable().meta({ description: "null in key mode" }),
  role: UserRole,
  createdAt: Timestamp.nullable(),
  lastLoginAt: Timestamp.nullable(),
});

const THROTTLED = { 429: "Ten failures within a minute; see Retry-After" };

/** Tells the logs of what was done whose login it turned out to be, or whose token was copied. */
async function told(note: Note, login: Promise<Login>): Promise<Login> {
  try {
    const answer = await login;
    note.actor = answer.userId;
    return answer;
  } catch (error) {
    if (error instanceof ReusedTokenError) note.actor = error.userId;
    throw error;
  }
}

export const authEndpoints = (deps: Deps) => [
  endpoint({
    method: "post",
    path: "/auth/token",
    summary: "Exchange the API key for tokens",
    description: "Key mode (`AUTH_MODE=key`) only.",
    role: "public",
    body: KeyBody,
    returns: TokenPair,
    failures: { 401: "The key is wrong", 404: "Key mode is off", ...THROTTLED },
  }, ({ body, caller, note }) => told(note, exchangeApiKey(deps, body, caller.address))),

  endpoint({
    method: "post",
    path: "/auth/login",
    summary: "Log in with email and password",
    description:
      "Users mode (`AUTH_MODE=users`) only. Failures count for the address and for the account; an " +
      "address from which the account was lately used is not held back by those from elsewhere.",
    role: "public",
    body: LoginBody,
    returns: TokenPair,
    failures: {
      401: "Email or password are wrong",
      404: "Users mode is off",
      503: "Too many others log in",
      ...THROTTLED,
    },
  }, ({ body, caller, note }) => {
    note.target = loginName(deps, body.email);
    return told(note, logIn(deps, body, caller.address));
  }),

  endpoint({
    method: "post",
    path: "/auth/refresh",
    unaudited: true,
    summary: "Exchange a refresh token for new tokens",
    description: "A refresh token is good once. One that is used again ends the whole login, the " +
      "access tokens included: somebody copied it.",
    role: "public",
    body: RefreshBody,
    returns: TokenPair,
    failures: { 401: "Unknown, used, revoked or expired", ...THROTTLED },
  }, ({ body, caller, note }) => told(note, refreshSession(deps, body, caller.address))),

  endpoint({
    method: "post",
    path: "/auth/logout",
    summary: "End the login of this token",
    description: "Its access tokens and its refresh token are refused from then on.",
    role: "viewer",
    returns: Done,
  }, ({ caller }) => {
    logOut(deps, caller);
    return done;
  }),

  endpoint({
    method: "get",
    path: "/auth/me",
    summary: "Show who the caller is",
    role: "viewer",
    returns: Me,
  }, ({ caller }) => describeCaller(deps, caller)),
];
