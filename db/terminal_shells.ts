/** The `terminal_shells` table: shells of terminals that were started and not yet ended. @module */

import { type Row, table, text } from "./columns.ts";

const shells = table("terminal_shells", {
  /** Identifies its processes, in their environment. */
  mark: text(),
  /** Full id. */
  containerId: text(),
  /** `user` or `user:group`; `null` for the container's own. */
  user: text<string | null>(),
  /** ISO 8601, UTC. */
  createdAt: text(),
}, { key: "mark", order: "created_at" });

/** One shell as stored. */
export type TerminalShell = Row<typeof shells>;

export const {
  insert: insertTerminalShell,
  delete: deleteTerminalShell,
  all: selectTerminalShells,
} = shells;
