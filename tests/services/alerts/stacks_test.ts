import { deepEqual, equal } from "node:assert/strict";
import { insertBackupDrill } from "../../../db/backup_drills.ts";
import { insertBackupTarget } from "../../../db/backup_targets.ts";
import { replaceLastBackup } from "../../../db/last_backups.ts";
import { evaluateAlerts } from "../../../services/alerts/evaluation.ts";
import type { AlertData } from "../../../services/events/kinds/alerts.ts";
import { composeLabels, containerOf, setContainers } from "../../helpers/fake_containers.ts";
import { backupTarget } from "../../helpers/backup_target.ts";
import { collectEvents, testApp } from "../../helpers/test_app.ts";

const RULES = "/api/alerts/rules";

const RULE = {
  name: "Old backup",
  metric: "backup_age_hours",
  operator: ">",
  threshold: 48,
  durationSeconds: 0,
  scope: { target: { kind: "stacks" as const, stacks: ["shop", "wiki"] } },
};

Deno.test("backup_age_hours fires for each stack in the scope, and resolves with its next backup", async () => {
  using app = testApp({ now: "2026-01-01T00:00:00Z" });
  const events = collectEvents(app);
  const { db } = app.deps;
  insertBackupTarget(db, backupTarget({ id: "t1" }));
  const backUp = (stack: string, at: string) =>
    replaceLastBackup(db, {
      subject: `stack ${stack}`,
      stack,
      targetId: "t1",
      at,
      snapshot: "40dc1520",
      size: 1,
    });
  const running = (...stacks: string[]) =>
    setContainers(
      app,
      ...stacks.map((name) => containerOf({ name, labels: composeLabels(name, "web") })),
    );
  const told = () =>
    events.splice(0).map(({ event, data }) => {
      const { stack, container, value } = data as AlertData;
      return [event, stack, container, value];
    });
  const evaluate = (at: string) => {
    app.clock.set(at);
    evaluateAlerts(app.deps);
    return told();
  };

  const created = await app.call("POST", RULES, RULE);
  equal(created.status, 201, created.body.error);
  running("shop", "wiki", "press", "new");
  for (const stack of ["shop", "wiki", "press", "gone"]) backUp(stack, "2026-01-01T00:00:00.000Z");
  deepEqual(evaluate("2026-01-03T00:00:00Z"), []);
  backUp("wiki", "2026-01-02T12:00:00.000Z");
  deepEqual(evaluate("2026-01-03T01:00:00Z"), [["alert.fired", "shop", undefined, 49]]);
  const { body: { alerts } } = await app.call("GET", "/api/alerts/active");
  deepEqual([alerts[0].stack, alerts[0].container, alerts[0].message], [
    "shop",
    null,
    "The age of the last backup of shop is 49 h (limit: above 48 h)",
  ]);
  backUp("shop", "2026-01-03T02:00:00.000Z");
  deepEqual(evaluate("2026-01-03T02:00:00Z"), [["alert.resolved", "shop", undefined, 0]]);

  deepEqual(evaluate("2026-01-05T00:00:00Z"), [["alert.fired", "wiki", undefined, 60]]);
  const { status } = await app.call("DELETE", `${RULES}/${created.body.id}`);
  equal(status, 200);
  deepEqual(told(), [["alert.resolved", "wiki", undefined, 60]]);
});

Deno.test("a rule on stacks is tested on their present values", async () => {
  using app = testApp({ now: "2026-01-03T01:00:00Z" });
  const { db } = app.deps;
  const test = async () => (await app.call("POST", `${RULES}/test`, RULE)).body;
  equal((await test()).problem, "The engine is unreachable");
  setContainers(app, containerOf({ name: "web", labels: composeLabels("shop", "web") }));
  equal((await test()).problem, "No stack in the scope has a value");
  insertBackupTarget(db, backupTarget({ id: "t1" }));
  replaceLastBackup(db, {
    subject: "stack shop",
    stack: "shop",
    targetId: "t1",
    at: "2026-01-01T00:00:00.000Z",
    snapshot: "40dc1520",
    size: 1,
  });
  const { wouldFire, valueText, problem } = await test();
  deepEqual([wouldFire, valueText, problem], [true, "49 h", null]);
});

Deno.test("a metric of stacks refuses another target", async () => {
  using app = testApp();
  const scope = { target: { kind: "containers" } };
  const { status, body } = await app.call("POST", RULES, { ...RULE, scope });
  deepEqual([status, body.error], [
    400,
    "body.scope.target.kind: backup_age_hours is measured for stacks; set it to stacks",
  ]);
});

Deno.test("drill_age_days counts from the last drill that succeeded", async () => {
  using app = testApp({ now: "2026-01-11T00:00:00Z" });
  const drill = { stack: "shop", snapshot: "40dc1520", target: "NAS", durationMs: 1 };
  for (const [id, ok, at] of [["a", true, "2026-01-01"], ["b", false, "2026-01-09"]] as const) {
    const reason = "shop-web-1 is healthy";
    insertBackupDrill(app.deps.db, { ...drill, id, ok, reason, at: `${at}T00:00:00.000Z` });
  }
  setContainers(app, containerOf({ name: "web", labels: composeLabels("shop", "web") }));
  const rule = { ...RULE, metric: "drill_age_days", threshold: 9 };
  const { wouldFire, valueText } = (await app.call("POST", `${RULES}/test`, rule)).body;
  deepEqual([wouldFire, valueText], [true, "10 days"]);
});
