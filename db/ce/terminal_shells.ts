/**
 * The `terminal_shells` table: shells of terminals that were started and not yet ended.
 *
 * @module
 */

import { table } from "../columns.ts";
import type { Database } from "../database.ts";

/** One shell as stored. */
export interface TerminalShell {
  /** Identifies its processes, in their environment. */
  mark: string;
  /** Full id. */
  containerId: string;
  /** `user` or `user:group`; `null` for the container's own. */
  user: string | null;
  /** ISO 8601, UTC. */
  createdAt: string;
}

const shells = table<TerminalShell>("terminal_shells", {
  mark: "value",
  containerId: "value",
  user: "value",
  createdAt: "value",
}, { key: "mark" });

export const { insert: insertTerminalShell, delete: deleteTerminalShell } = shells;

export function selectTerminalShells(db: Database): TerminalShell[] {
  return shells.select(db, "ORDER BY created_at");
}
