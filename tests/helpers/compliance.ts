/** A compliance log to look at, and hands that tamper with it. @module */

import { openStateDatabase, type StateDatabase } from "../../db/database.ts";
import { migrate } from "../../db/migrate.ts";
import { stateMigrations } from "../../db/migrations/state/mod.ts";
import { type ComplianceRow, selectChain } from "../../db/enterprise/compliance_logs.ts";
import { createComplianceState } from "../../services/access/audit/compliance_state.ts";
import { silentLog } from "../../services/log.ts";
import { chainEntry, type NewEntry } from "../../services/enterprise/compliance/append.ts";

/** An entry for a stopped container. */
export const STOPPED: NewEntry = {
  category: "container",
  severity: "info",
  actor_id: "5f0c7c0a-8f43-4a3c-9c69-7e2f3f6d1c11",
  actor_type: "user",
  action: "containers.stop",
  resource_type: "containers",
  resource_id: "web",
  detail: "POST /api/containers/:id/stop: 200",
  outcome: "success",
  metadata: { method: "POST", path: "/api/containers/:id/stop", status: 200, address: "192.0.2.1" },
  recorded_by: null,
};

/** The parts that the compliance log needs. */
export const complianceDeps = (db: StateDatabase, now: () => Date) => ({
  compliance: createComplianceState(db),
  db,
  log: silentLog,
  now,
});

const ENTRIES_OF_TRANSACTION = 1_000;

/**
 * Writes so many entries, each some time after the one before.
 *
 * @param each What is different in one of them, by its number from 0.
 */
export function fillLog(
  db: StateDatabase,
  entries: number,
  { from = "2026-01-01T00:00:00Z", stepMs = 1_000, each = () => ({}) }: {
    from?: string;
    stepMs?: number;
    each?: (n: number) => Partial<NewEntry>;
  } = {},
): void {
  const fromMs = Date.parse(from);
  for (let begin = 0; begin < entries; begin += ENTRIES_OF_TRANSACTION) {
    const end = Math.min(entries, begin + ENTRIES_OF_TRANSACTION);
    db.transaction(() => {
      for (let n = begin; n < end; n++) {
        const now = () => new Date(fromMs + n * stepMs);
        chainEntry({ db, now }, { ...STOPPED, ...each(n) });
      }
    });
  }
}

/** Opens the file as an attacker with full access to it: without the triggers that protect the log. */
export function openUnguarded(path: string): StateDatabase {
  const db = openStateDatabase(path);
  unguard(db);
  return db;
}

/** Removes the triggers that protect the log, as an attacker with the file can. */
export function unguard(db: StateDatabase): void {
  const triggers = db.all<{ name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'compliance_%'",
  );
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`);
}

/** Makes a state database in a file. */
export function makeStateFile(path: string): StateDatabase {
  const db = openStateDatabase(path);
  migrate(db, stateMigrations);
  return db;
}

/** Runs `work` and undoes all that it did to the database. */
export async function undone<T>(db: StateDatabase, work: () => T | Promise<T>): Promise<T> {
  db.exec("BEGIN");
  try {
    return await work();
  } finally {
    db.exec("ROLLBACK");
  }
}

export const rowAt = (db: StateDatabase, sequence: number): ComplianceRow =>
  selectChain(db, { after: sequence - 1, through: sequence, limit: 1 })[0]!;
