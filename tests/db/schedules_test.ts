import { throws } from "node:assert/strict";
import { openStateDatabase } from "../../db/database.ts";
import { migrate } from "../../db/migrate.ts";
import { stateMigrations } from "../../db/migrations/state/mod.ts";

Deno.test("schedules and their runs have a known action", () => {
  const db = openStateDatabase(":memory:");
  try {
    migrate(db, stateMigrations);
    db.exec(`
      INSERT INTO schedules (id, name, container_id, container_name, action, cron_expression,
                             timezone, enabled, created_at)
      VALUES ('s', 'nightly', 'c', 'web', 'update', '0 3 * * *', 'UTC', 1, '2026-01-01');
      INSERT INTO schedule_runs (id, schedule_id, schedule_name, container_id, container_name,
                                 action, due_at, started_at)
      VALUES ('r', 's', 'nightly', 'c', 'web', 'update', '2026-01-02', '2026-01-02');
    `);
    for (const table of ["schedules", "schedule_runs"]) {
      throws(() => db.run(`UPDATE ${table} SET action = 'sleep'`), /CHECK constraint failed/);
    }
  } finally {
    db.close();
  }
});
