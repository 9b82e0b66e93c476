import { deepEqual } from "node:assert/strict";
import { selectOpenAlertEvents } from "../../db/alert_events.ts";
import { selectAlertProgress } from "../../db/alert_progress.ts";
import { selectAlertRules } from "../../db/alert_rules.ts";
import { openStateDatabase } from "../../db/database.ts";
import { migrate } from "../../db/migrate.ts";
import { stateMigrations } from "../../db/migrations/state/mod.ts";

Deno.test("rules of an earlier version keep their state and their alert", () => {
  const db = openStateDatabase(":memory:");
  try {
    const at = stateMigrations.findIndex(({ name }) => name === "0090_ce_alert_scopes");
    migrate(db, stateMigrations.slice(0, at));
    db.exec(`
      INSERT INTO alert_rules VALUES
        ('r1', 'local', 'CPU', 'cpu_percent', '>', 90, 60, 1, 1, '2026-01-01T00:00:00.000Z',
         'firing', NULL, NULL, '2026-01-02T00:00:00.000Z'),
        ('r2', 'local', 'Disk', 'disk_percent', '>', 80, 0, 0, 0, '2026-01-01T00:00:00.000Z',
         'ok', NULL, NULL, NULL);
      INSERT INTO alert_events VALUES
        ('e1', 'local', 'r1', 'CPU', 'cpu_percent', '>', 90, 95, 'CPU: 95',
         '2026-01-02T00:00:00.000Z', NULL);`);
    migrate(db, stateMigrations);

    const settings = {
      severity: "warning",
      scope: { target: { kind: "host" } },
      pattern: null,
      path: null,
      windowSeconds: null,
      forMissingDataSeconds: null,
      createdAt: "2026-01-01T00:00:00.000Z",
    };
    deepEqual(selectAlertRules(db).map((rule) => ({ ...rule })), [
      {
        ...{ id: "r1", name: "CPU", metric: "cpu_percent", operator: ">", threshold: 90 },
        ...{ durationSeconds: 60, autoIncident: true, enabled: true, ...settings },
      },
      {
        ...{ id: "r2", name: "Disk", metric: "disk_percent", operator: ">", threshold: 80 },
        ...{ durationSeconds: 0, autoIncident: false, enabled: false, ...settings },
      },
    ]);
    deepEqual(selectAlertProgress(db).map((progress) => ({ ...progress })), [{
      ruleId: "r1",
      container: "",
      state: "firing",
      pendingSince: null,
      seenAt: null,
      lastFiredAt: "2026-01-02T00:00:00.000Z",
      alertId: "e1",
    }]);
    deepEqual(
      selectOpenAlertEvents(db).map(({ id, severity, container }) => [
        id,
        severity,
        container,
      ]),
      [["e1", "warning", null]],
    );
  } finally {
    db.close();
  }
});
