/**
 * Shapes of users that several endpoints share.
 *
 * @module
 */

import * as z from "zod";
import { Timestamp } from "../shapes.ts";

export const UserRole = z.enum(["viewer", "operator", "admin"], {
  error: "must be one of viewer, operator, admin",
});

export const User = z.object({
  id: z.string(),
  email: z.string().meta({ example: "ada@example.com" }),
  role: UserRole,
  createdAt: Timestamp,
  lastLoginAt: Timestamp.nullable(),
});
