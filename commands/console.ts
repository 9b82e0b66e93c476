/**
 * The caller of commands.
 *
 * @module
 */

import type { Caller } from "../services/caller.ts";

/** How the audit log names an operator who uses the command line of the host. */
export const CONSOLE: Caller = { userId: "console", role: "admin", familyId: "", address: "" };
