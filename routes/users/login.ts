/** Shapes and failures that logins with tokens and with a session cookie share. @module */

import * as z from "zod";
import { EMAIL_LENGTH_MAX } from "../../services/access/users/emails.ts";
import { PASSWORD_LENGTH_MAX } from "../../services/input/password_rule.ts";
import { ReusedTokenError } from "../../services/access/sign_in/refresh.ts";
import type { TokenPair as Login } from "../../services/access/sign_in/sessions.ts";
import type { Note } from "../contract/endpoint.ts";
import { UserRole } from "./shapes.ts";

export const TokenPair = z.object({
  accessToken: z.string().meta({ description: "JWT for the Authorization header" }),
  refreshToken: z.string().meta({
    description: "Valid for one call of `POST /auth/refresh` within 30 days",
  }),
  expiresIn: z.int().meta({ description: "Seconds until the access token ends", example: 900 }),
  role: UserRole,
  serverName: z.string(),
}).meta({ id: "TokenPair" });

export const KeyBody = z.strictObject({
  apiKey: z.string().min(1).max(4_096).meta({ example: "lsk_aGVsbG8gaGFyYm91cg" }),
}).meta({ id: "ApiKeyLogin" });

export const LoginBody = z.strictObject({
  email: z.string().min(1).max(EMAIL_LENGTH_MAX),
  password: z.string().min(1).max(PASSWORD_LENGTH_MAX),
}).meta({
  id: "PasswordLogin",
  example: { email: "ada@example.com", password: "correct horse battery" },
});

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
