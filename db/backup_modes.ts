/** The `backup_modes` table: how the containers of a stack are kept from writing during its backups. @module */

import { type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const modes = table("backup_modes", {
  stack: text(),
  mode: text<"stop" | "pause" | "hooks" | "live">(),
}, { key: "stack" });

export type BackupMode = Row<typeof modes>;

export const {
  replace: replaceBackupMode,
  delete: deleteBackupMode,
} = modes;

/** By stack; those without a setting are not there. */
export const selectBackupModes = (db: Database): Map<string, BackupMode["mode"]> =>
  new Map(modes.select(db, "").map(({ stack, mode }) => [stack, mode]));
