/** Targets that backups of Longshore itself go to, with the keys that decrypt its secrets. @module */

import { selectSchedules } from "../../../db/schedules.ts";
import { assertAdminLogin, type Caller } from "../../access/caller.ts";
import type { Deps } from "../../deps.ts";

/** Id of the kind of schedules that store them. */
export const OWN_BACKUP = "own-backup";

/**
 * The permission to change targets must not be enough to send the keys to another server. A schedule that
 * is off counts, because an admin who turns it on sees only the name of its target.
 *
 * @throws {AppError} `forbidden`
 */
export function assertMayRedirect(
  { db }: Pick<Deps, "db">,
  caller: Caller,
  targetId: string,
): void {
  const isUsed = selectSchedules(db)
    .some(({ kind, options }) => kind === OWN_BACKUP && options.target === targetId);
  if (isUsed) assertAdminLogin(caller, "change a target of Longshore's own backups");
}
