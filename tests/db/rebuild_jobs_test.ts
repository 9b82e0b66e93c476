import { deepEqual, match, throws } from "node:assert/strict";
import { openStateDatabase } from "../../db/database.ts";
import { selectJobs } from "../../db/jobs.ts";
import { migrate } from "../../db/migrate.ts";
import { stateMigrations } from "../../db/migrations/state/mod.ts";

Deno.test("an unfinished rebuild of an earlier version becomes a job that needs attention", () => {
  const db = openStateDatabase(":memory:");
  try {
    const at = stateMigrations.findIndex(({ name }) => name === "0100_ce_rebuild_jobs");
    migrate(db, stateMigrations.slice(0, at));
    const [old, fresh] = ["0123456789abcdef".repeat(4), "fedcba9876543210".repeat(4)];
    db.exec(`
      INSERT INTO rebuilds (old_id, name, ran, new_id)
      VALUES ('${old}', 'web', 1, '${fresh}'), ('${fresh}', 'db', 0, NULL);
    `);
    migrate(db, stateMigrations);

    const jobs = selectJobs(db, {}, { limit: 10 });
    deepEqual(
      jobs.map(({ kind, target, status, error }) => [kind, target, status, error]).sort(),
      [
        [
          "container.rebuild",
          "db",
          "needs_attention",
          "The service was upgraded during the rebuild and does not continue it. Of the containers " +
          "fedcba987654 keep one, with the name db",
        ],
        [
          "container.rebuild",
          "web",
          "needs_attention",
          "The service was upgraded during the rebuild and does not continue it. Of the containers " +
          "0123456789ab and fedcba987654 keep one, with the name web and running",
        ],
      ],
    );
    for (const { id, createdAt, endedAt } of jobs) {
      match(id, /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/);
      match(createdAt, /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/);
      deepEqual(endedAt, createdAt);
    }
    throws(() => db.get("SELECT * FROM rebuilds"), /no such table/);
  } finally {
    db.close();
  }
});
