/** Shapes of users that several endpoints share. @module */

import * as z from "zod";
import { USER_ROLES } from "../../services/access/caller.ts";
import {
  PASSWORD_CHARACTERS_MAX,
  PASSWORD_CHARACTERS_MIN,
  PASSWORD_LENGTH_RULE,
  passwordProblem,
} from "../../services/input/password_rule.ts";
import { EMAIL_RULE, isEmail } from "../../services/access/users/emails.ts";
import { oneLine, paged, Timestamp } from "../contract/shapes.ts";

export const UserRole = z.enum(USER_ROLES).meta({ id: "UserRole" });

export const User = z.object({
  id: z.string(),
  email: z.string().meta({ example: "ada@example.com" }),
  name: z.string().nullable().meta({ example: "Ada Lovelace" }),
  role: UserRole,
  createdAt: Timestamp,
  lastLoginAt: Timestamp.nullable(),
}).meta({ id: "User" });

export const Email = z.string({ error: EMAIL_RULE }).refine(isEmail, { error: EMAIL_RULE })
  .meta({ format: "email", example: "ada@example.com" });

export const UserName = oneLine(100).nullable();

export const NewPassword = z.string({ error: PASSWORD_LENGTH_RULE })
  .refine((password) => passwordProblem(password) === undefined, {
    error: ({ input }) => passwordProblem(input as string),
  })
  .meta({
    minLength: PASSWORD_CHARACTERS_MIN,
    maxLength: PASSWORD_CHARACTERS_MAX,
    description: `${PASSWORD_CHARACTERS_MIN} to ${PASSWORD_CHARACTERS_MAX} characters, and not ` +
      "one of the most common passwords",
  });

export const Session = z.object({
  id: z.string(),
  address: z.string().nullable().meta({
    description: "Address of the last sign-in or refresh; null if it was not recorded",
  }),
  userAgent: z.string().nullable().meta({ description: "`User-Agent` of the sign-in" }),
  createdAt: Timestamp,
  lastUsedAt: Timestamp.meta({
    description: "The last sign-in or refresh. An access token is used for up to 15 minutes " +
      "without a refresh.",
  }),
  current: z.boolean().meta({ description: "Whether the token of the request belongs to it" }),
}).meta({ id: "Session" });

export const SessionPage = paged({ sessions: z.array(Session) }).meta({ id: "SessionPage" });
