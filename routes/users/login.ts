/** Shapes and failures that logins with tokens and with a session cookie share. @module */

import * as z from "zod";
import { EMAIL_LENGTH_MAX } from "../../services/access/users/emails.ts";
import { PASSWORD_LENGTH_MAX } from "../../services/input/password_rule.ts";
import { MFA_METHODS } from "../../services/access/factors/factors.ts";
import { type Renewal, ReusedTokenError } from "../../services/access/sign_in/refresh.ts";
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

/** The response to the sign-in of a page. */
export const BrowserSession = TokenPair.omit({ refreshToken: true }).extend({
  permissions: z.array(z.string()).meta({
    description: "What custom roles grant the user in addition to the role, when the session " +
      "was last refreshed",
    example: ["containers:restart"],
  }),
  isLimitedToHosts: z.boolean().meta({
    description: "Whether custom roles limit the user to hosts of the fleet: this server itself " +
      "then shows nothing of its own",
  }),
}).meta({ id: "BrowserSession" });

export const MfaRequired = z.object({
  mfaRequired: z.literal(true),
  mfaToken: z.string().meta({
    description: "For `POST /auth/mfa`, within 5 minutes, from the same page or, of other " +
      "clients, from the same address. It ends with the sign-in",
  }),
  methods: z.array(z.enum(MFA_METHODS)).meta({
    description: "What the account can prove its second factor with",
  }),
}).meta({ id: "MfaRequired" });

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

/** Notes of a sign-in that it waits for its second factor, which completes the login. */
export function signInWithNote<Result extends object>(note: Note, result: Result): Result {
  if ("mfaRequired" in result) note.step = "first factor";
  return result;
}

/**
 * Notes of a renewal what the logs need: the user if a refresh token was reused, and that an open
 * page renews its login without anything new.
 */
export async function renewalWithNote(note: Note, renewal: Promise<Renewal>): Promise<Renewal> {
  try {
    const renewed = await renewal;
    note.isRoutine = !renewed.isNewAddress;
    return renewed;
  } catch (error) {
    if (error instanceof ReusedTokenError) note.actor = error.userId;
    throw error;
  }
}
