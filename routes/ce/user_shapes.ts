/**
 * Shapes of users that several endpoints share.
 *
 * @module
 */

import * as z from "zod";
import { USER_ROLES } from "../../services/auth/caller.ts";
import { Timestamp } from "../shapes.ts";

export const UserRole = z.enum(USER_ROLES).meta({ id: "UserRole" });

export const User = z.object({
  id: z.string(),
  email: z.string().meta({ example: "ada@example.com" }),
  role: UserRole,
  createdAt: Timestamp,
  lastLoginAt: Timestamp.nullable(),
}).meta({ id: "User" });
