/** Results of drills, as the API shows them. @module */

import {
  selectBackupDrills,
  selectLatestBackupDrills,
  type StoredDrill,
} from "../../../db/backup_drills.ts";
import { includesStack, type Scope } from "../../access/scope.ts";
import type { Deps } from "../../deps.ts";

/** Newest first. @param query.latest Only the newest one of each stack. */
export function listDrills(
  { db }: Pick<Deps, "db">,
  scope: Scope | undefined,
  { stack, latest }: { stack?: string | undefined; latest: boolean },
): StoredDrill[] {
  const drills = latest ? selectLatestBackupDrills(db) : selectBackupDrills(db, stack);
  return drills.filter((drill) =>
    includesStack(scope, drill.stack) && (stack === undefined || drill.stack === stack)
  );
}
