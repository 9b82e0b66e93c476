import { deepEqual, equal, match, ok } from "node:assert/strict";
import type { StateDatabase } from "../../../../db/database.ts";
import { selectAnchor } from "../../../../db/enterprise/chain_anchors.ts";
import { type ComplianceRow, selectHead } from "../../../../db/enterprise/compliance_logs.ts";
import { walkChain } from "../../../../services/enterprise/compliance/chain.ts";
import { complianceStats } from "../../../../services/enterprise/compliance/logs.ts";
import { sweepCompliance } from "../../../../services/enterprise/compliance/retention.ts";
import { sweepComplianceLog } from "../../../../services/enterprise/compliance/sweeper.ts";
import { createLog } from "../../../../services/log.ts";
import { complianceDeps, fillLog, rowAt, unguard } from "../../../helpers/compliance.ts";
import { openTestDatabase, testApp, testClock } from "../../../helpers/test_app.ts";
import { until } from "../../../helpers/until.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const START = "2024-01-01T00:00:00Z";

function opened(now = "2025-12-31T00:00:00Z") {
  const db = openTestDatabase();
  const clock = testClock(now);
  return { db, clock, deps: complianceDeps(db, clock.now) };
}

const keep = (db: StateDatabase, days: number) =>
  void db.run("UPDATE compliance_config SET retention_days = :days", { days });
const verified = async (db: StateDatabase) =>
  (await walkChain(db, {}, () => Promise.resolve())).verified;
function write(db: StateDatabase, row: ComplianceRow): void {
  const columns = Object.keys(row);
  db.run(
    `INSERT INTO compliance_logs (${columns.join(", ")})
     VALUES (${columns.map((name) => `:${name}`).join(", ")})`,
    { ...row },
  );
}
const count = (db: StateDatabase) =>
  db.get<{ n: number }>("SELECT count(*) AS n FROM compliance_logs")!.n;

Deno.test("the log stays valid across three retentions", async () => {
  const { db, clock, deps } = opened("2024-06-01T00:00:00Z");
  keep(db, 30);
  // One an hour for a hundred days, up to 2024-04-10.
  fillLog(db, 2_400, { from: START, stepMs: DAY_MS / 24 });
  clock.set("2024-02-10T00:00:00Z");
  for (const [deleted, total] of [[240, 240], [240, 480], [240, 720]] as const) {
    const { sequence, hash } = selectHead(db)!;
    deepEqual(await sweepCompliance(deps), {
      deleted,
      retention_days: 30,
      chain_anchor_recorded: true,
    });
    equal(selectAnchor(db)!.sequence, total);
    equal(rowAt(db, total + 1).previous_hash, selectAnchor(db)!.hash);
    equal(rowAt(db, sequence + 1).previous_hash, hash);
    equal(await verified(db), true);
    const stats = await complianceStats(deps);
    equal(stats.total_entries, count(db));
    clock.advance({ days: 10 });
  }
  equal(db.get<{ n: number }>("SELECT count(*) AS n FROM compliance_anchors")!.n, 3);
  db.close();
});

Deno.test("a log with only old entries keeps the announcement", async () => {
  const { db, deps } = opened();
  fillLog(db, 500, { from: START });
  equal((await sweepCompliance(deps)).deleted, 500);
  equal(count(db), 1);
  equal(rowAt(db, 501).previous_hash, selectAnchor(db)!.hash);
  equal(await verified(db), true);
  deepEqual(await sweepCompliance(deps), {
    deleted: 0,
    retention_days: 365,
    chain_anchor_recorded: false,
  });
  equal(count(db), 1);
  db.close();
});

Deno.test("a day more or less decides", async () => {
  for (
    const [now, deleted] of [
      ["2025-01-01T00:00:00.000Z", 1],
      ["2024-12-31T00:00:00.001Z", 1],
      ["2024-12-31T00:00:00.000Z", 0],
    ] as const
  ) {
    const { db, deps } = opened(now);
    fillLog(db, 1, { from: START });
    equal((await sweepCompliance(deps)).deleted, deleted, now);
    db.close();
  }
});

Deno.test("where the clock was set back, no entry goes before one that is to be kept", async () => {
  const { db, deps } = opened();
  fillLog(db, 10, { from: START });
  fillLog(db, 5, { from: "2025-12-01T00:00:00Z" });
  fillLog(db, 10, { from: START });
  equal((await sweepCompliance(deps)).deleted, 10);
  equal(count(db), 15 + 1);
  equal(await verified(db), true);
  db.close();
});

Deno.test("runs at the same time are one", async () => {
  const { db, deps } = opened();
  fillLog(db, 1_000, { from: START });
  const results = await Promise.all([1, 2, 3].map(() => sweepCompliance(deps)));
  deepEqual(results.map(({ deleted }) => deleted), [1_000, 1_000, 1_000]);
  equal(count(db), 1);
  db.close();
});

Deno.test("evidence of tampering is recorded before the deletion", async () => {
  const { db, clock, deps } = opened();
  const lines: string[] = [];
  const log = createLog({ level: "info", format: "json", now: clock.now }, (line) => {
    lines.push(line);
  });
  fillLog(db, 300, { from: START });
  fillLog(db, 10, { from: "2025-12-01T00:00:00Z" });
  const { id } = rowAt(db, 100);
  db.exec("DROP TRIGGER compliance_logs_never_change");
  db.exec("UPDATE compliance_logs SET detail = 'harmless' WHERE sequence = 100");
  equal((await sweepCompliance({ ...deps, log })).deleted, 300);
  const told = rowAt(db, 311);
  deepEqual([told.action, told.severity, told.outcome, told.resource_id], [
    "compliance.chain_broken",
    "critical",
    "failure",
    id,
  ]);
  match(told.detail!, /was changed: expected hash sha256:\w+, actual sha256:\w+$/);
  match(lines[0]!, /compliance log tampered with/);
  equal(rowAt(db, 312).action, "compliance.retention");
  equal(await verified(db), true);
  db.close();
});

for (
  const { what, tamper, deleted, reason } of [
    {
      what: "an entry before the first one",
      tamper: (db: StateDatabase) =>
        write(db, { ...rowAt(db, 1), id: "forged", sequence: -7, created_at: "2015-01-01" }),
      deleted: 301,
      reason: /^There are entries before the first entry$/,
    },
    {
      what: "an entry before the first one with a too large number",
      tamper: (db: StateDatabase) => {
        write(db, { ...rowAt(db, 1), id: "forged", sequence: -7 });
        db.exec("UPDATE compliance_logs SET sequence = -9007199254740999 WHERE sequence = -7");
      },
      deleted: 301,
      reason: /^An entry cannot be read: /,
    },
    {
      what: "an anchor that nothing announced",
      tamper: (db: StateDatabase) => {
        const { entry_hash } = rowAt(db, 20);
        db.exec("DELETE FROM compliance_logs WHERE sequence <= 20");
        db.exec(`INSERT INTO compliance_anchors VALUES ('x', 20, '${entry_hash}', '')`);
      },
      deleted: 280,
      reason: /^No entry of the log announces the anchor sha256:/,
    },
    {
      what: "a hole in the places",
      tamper: (db: StateDatabase) => {
        db.exec("UPDATE compliance_logs SET sequence = -sequence WHERE sequence > 100");
        db.exec("UPDATE compliance_logs SET sequence = 5 - sequence WHERE sequence < 0");
        db.exec("UPDATE compliance_head SET sequence = sequence + 5");
      },
      deleted: 300,
      reason: /is misplaced: .* actual 6 positions later$/,
    },
  ]
) {
  Deno.test(`${what} does not go without a word, and what is announced is what goes`, async () => {
    const { db, deps } = opened();
    fillLog(db, 300, { from: START });
    fillLog(db, 10, { from: "2025-12-01T00:00:00Z" });
    unguard(db);
    tamper(db);
    equal((await sweepCompliance(deps)).deleted, deleted);
    const { sequence } = selectHead(db)!;
    const broken = rowAt(db, sequence - 1);
    equal(broken.action, "compliance.chain_broken");
    match(broken.detail!, reason);
    equal(JSON.parse(rowAt(db, sequence).metadata!).entries, deleted);
    db.close();
  });
}

Deno.test("a hole in what is deleted does not stop it", async () => {
  const { db, deps } = opened();
  fillLog(db, 300, { from: START });
  fillLog(db, 10, { from: "2025-12-01T00:00:00Z" });
  db.exec("DROP TRIGGER compliance_logs_are_kept");
  db.exec("DELETE FROM compliance_logs WHERE sequence BETWEEN 10 AND 290");
  equal((await sweepCompliance(deps)).deleted, 300 - 281);
  equal(rowAt(db, 311).action, "compliance.chain_broken");
  equal(await verified(db), true);
  db.close();
});

Deno.test("a run that ends between any two slices leaves a log that verifies", async () => {
  const { db, deps } = opened();
  fillLog(db, 3_000, { from: START });
  fillLog(db, 10, { from: "2025-12-01T00:00:00Z" });
  let left = 3_000;
  for (let runs = 0; left > 0; runs++) {
    ok(runs < 1_000);
    const end = new AbortController();
    const run = sweepCompliance(deps, { signal: end.signal }).catch(() => {});
    await until("it has begun to delete", () => 3_000 - (selectAnchor(db)?.sequence ?? 0) < left);
    end.abort();
    await run;
    left = 3_000 - selectAnchor(db)!.sequence;
    equal(await verified(db), true);
  }
  equal((await complianceStats(deps)).total_entries, count(db));
  db.close();
});

Deno.test("old entries are deleted and announced even while the log is disabled", async () => {
  const { db, deps } = opened();
  fillLog(db, 100, { from: START });
  db.exec("UPDATE compliance_config SET enabled = 0");
  equal((await sweepCompliance(deps)).deleted, 100);
  equal(rowAt(db, 101).action, "compliance.retention");
  equal(await verified(db), true);
  db.close();
});

Deno.test("an announcement submitted through the API is not valid", async () => {
  using app = testApp({ edition: "enterprise", now: "2025-12-31T00:00:00Z" });
  const { db } = app.deps;
  fillLog(db, 100, { from: "2025-12-01T00:00:00Z" });
  const { entry_hash: hash } = rowAt(db, 50);
  const base = "/api/ext/service-enterprise/compliance";
  const { body } = await app.call("POST", `${base}/logs`, {
    category: "security",
    actor_id: "system",
    actor_type: "system",
    action: "compliance.retention",
    resource_type: "compliance",
    metadata: { entries_before: 50, anchor_hash: hash },
  });
  unguard(db);
  db.exec("DELETE FROM compliance_logs WHERE sequence <= 50");
  db.exec(`INSERT INTO compliance_anchors VALUES ('${body.id}', 50, '${hash}', '')`);
  const report = await app.call("POST", `${base}/verify-chain`, {});
  equal(report.body.verified, false);
  match(report.body.reason, /^No entry of the log announces the anchor/);
});

Deno.test("the sweeper deletes once a day, and logs the hash of the head", async () => {
  const lines: string[] = [];
  const clock = testClock("2025-12-31T00:00:00Z");
  const log = createLog({ level: "info", format: "json", now: clock.now }, (line) => {
    lines.push(line);
  });
  using app = testApp({ edition: "enterprise", now: "2025-12-31T00:00:00Z", log });
  fillLog(app.deps.db, 2_000, { from: START });
  const end = new AbortController();
  let rounds = 0;
  const running = sweepComplianceLog(app.deps, end.signal, () => rounds++);
  await until("a round is over", () => rounds > 0);
  end.abort();
  await running;
  const line = lines.map((line) => JSON.parse(line)).find(({ message }) =>
    message === "compliance log"
  );
  const { hash } = selectHead(app.deps.db)!;
  deepEqual([line.deleted, line.entries, line.headHash], [2_000, 2_001, hash]);
});

Deno.test("stopping the service ends a sweep between two slices without a failure", async () => {
  using app = testApp({ edition: "enterprise", now: "2025-12-31T00:00:00Z" });
  const { db } = app.deps;
  fillLog(db, 5_000, { from: START });
  const end = new AbortController();
  const running = sweepComplianceLog(app.deps, end.signal, () => {});
  await until("it has begun to delete", () => selectAnchor(db) !== undefined);
  end.abort();
  await running;
  ok(count(db) > 1);
  equal(await verified(db), true);
});
