/** The caller of commands, what is recorded of them, and the users that they name. @module */

import { selectUserByEmail, type User } from "../db/users.ts";
import type { Caller } from "../services/access/caller.ts";
import { recordAudit } from "../services/access/audit/audit.ts";
import { emailKey } from "../services/access/users/emails.ts";
import type { Deps } from "../services/deps.ts";
import { recordCommandEntry } from "../services/editions.ts";
import { systemReason } from "../services/text/system_reason.ts";
import { CommandError, type Program } from "./program.ts";

/** Name in the audit log of an operator who uses the command line of the host. */
export const CONSOLE: Caller = { userId: "console", role: "admin", familyId: "", address: "" };

/**
 * Records a command in the audit log, and in the compliance log if one was started. A damaged
 * compliance log does not fail the command, because its change is already stored.
 *
 * @param command E.g. `user add`.
 */
export async function recordCommand(
  { note }: Pick<Program, "note">,
  deps: Pick<Deps, "db" | "now">,
  command: string,
  target = "",
  targets: readonly string[] = [target],
): Promise<void> {
  recordAudit(deps, {
    caller: CONSOLE,
    action: `longshore ${command}`,
    target,
    targets,
    outcome: "success",
  });
  try {
    await recordCommandEntry(deps, command, target);
  } catch (error) {
    note(`It could not be written into the compliance log: ${systemReason(error)}`);
  }
}

/** @throws {CommandError} If no user has the email. */
export function requireUser(db: Deps["db"], email: string): User {
  const user = selectUserByEmail(db, emailKey(email));
  if (!user) throw new CommandError(`No user has the email ${email}`);
  return user;
}
