import { equal, throws } from "node:assert/strict";
import { openStateDatabase } from "../../db/database.ts";
import { migrate } from "../../db/migrate.ts";
import { stateMigrations } from "../../db/migrations/state/mod.ts";

Deno.test("schedules and runs from before the action update keep theirs and can have it", () => {
  const db = openStateDatabase(":memory:");
  try {
    const at = stateMigrations.findIndex(({ name }) => name === "0070_ce_schedule_updates");
    migrate(db, stateMigrations.slice(0, at));
    db.exec(`
      INSERT INTO schedules (id, name, container_id, container_name, action, cron_expression,
                             timezone, enabled, created_at)
      VALUES ('s', 'nightly', 'c', 'web', 'restart', '0 3 * * *', 'UTC', 1, '2026-01-01');
      INSERT INTO schedule_runs (id, schedule_id, schedule_name, container_id, container_name,
                                 action, due_at, started_at)
      VALUES ('r', 's', 'nightly', 'c', 'web', 'stop', '2026-01-02', '2026-01-02');
    `);
    migrate(db, stateMigrations);

    for (const [table, action] of [["schedules", "restart"], ["schedule_runs", "stop"]]) {
      equal(db.get<{ action: string }>(`SELECT action FROM ${table}`)?.action, action);
      db.run(`UPDATE ${table} SET action = 'update'`);
      throws(() => db.run(`UPDATE ${table} SET action = 'sleep'`), /CHECK constraint failed/);
    }
  } finally {
    db.close();
  }
});
