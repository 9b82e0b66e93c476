import { deepEqual, equal, match, ok } from "node:assert/strict";
import type { Database, Params } from "../../../db/database.ts";
import {
  countEntries,
  type EntryFilter,
  selectChain,
  selectEntries,
  selectEntry,
  selectNewestSequences,
  selectSequenceFrom,
  selectTimes,
  selectWindowStart,
} from "../../../db/enterprise/compliance_logs.ts";
import { fillLog } from "../../helpers/compliance.ts";
import { openTestDatabase } from "../../helpers/test_app.ts";

const RANGE = { from: "2026-01-01T00:00:00.000Z", before: "2026-01-01T01:00:00.000Z" };
const PAGE = { limit: 10, offset: 0 };

/** The query plans of the statements that `work` runs. */
function plansOf(work: (db: Database) => void): string[] {
  const db = openTestDatabase();
  fillLog(db, 10);
  const plans: string[] = [];
  const explain = (sql: string, params: Params = {}) => {
    const steps = db.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, params);
    plans.push(steps.map(({ detail }) => detail).join("; "));
  };
  work({
    ...db,
    all(sql, params) {
      explain(sql, params);
      return db.all(sql, params);
    },
    get(sql, params) {
      explain(sql, params);
      return db.get(sql, params);
    },
  });
  db.close();
  return plans;
}

const FILTERS: [filter: EntryFilter, index: string][] = [
  [{}, "by_time"],
  [{ category: "container" }, "by_category"],
  [{ severity: "info" }, "by_severity"],
  [{ outcome: "success" }, "by_outcome"],
  [{ actor_id: "x" }, "by_actor"],
  [{ action: "x" }, "by_action"],
];

for (const [filter, index] of FILTERS) {
  Deno.test(`entries by ${Object.keys(filter)[0] ?? "time"} are counted and found by an index`, () => {
    const [counted, found] = plansOf((db) => {
      countEntries(db, filter, RANGE);
      selectEntries(db, filter, RANGE, PAGE);
    });
    match(
      counted!,
      new RegExp(`^SEARCH compliance_logs USING COVERING INDEX compliance_logs_${index} \\(`),
    );
    // In the order of the index, without sorting.
    match(
      found!,
      new RegExp(`^SEARCH compliance_logs USING INDEX compliance_logs_${index} \\([^;]*$`),
    );
  });
}

Deno.test("entries by several fields use the index of one of them and the time", () => {
  const filter = { category: "container", severity: "info", actor_id: "x" } as const;
  for (
    const plan of plansOf((db) => {
      countEntries(db, filter, RANGE);
      selectEntries(db, filter, RANGE, PAGE);
    })
  ) {
    match(plan, /^SEARCH compliance_logs USING INDEX .*created_at>\? AND created_at<\?\)/);
  }
});

Deno.test("all other queries of the log use an index", () => {
  const plans = plansOf((db) => {
    selectEntry(db, "x");
    selectChain(db, { after: 1, through: 5, limit: 2 });
    selectSequenceFrom(db, RANGE.from);
    selectWindowStart(db, RANGE, 5);
    selectNewestSequences(db, RANGE, 5);
    selectTimes(db);
  });
  equal(plans.length, 7);
  for (const plan of plans) {
    match(plan, /^SEARCH compliance_logs( USING|$)/);
    ok(!plan.includes("TEMP B-TREE"), plan);
  }
});

Deno.test("a window starts `size` entries before its end, or is undefined with fewer entries", () => {
  const db = openTestDatabase();
  fillLog(db, 10);
  const start = (before: string, size: number, from = "") =>
    selectWindowStart(db, { from, before }, size);
  deepEqual(
    [start("~", 1), start("~", 10), start("~", 11), start("2026-01-01T00:00:05.000Z", 3)],
    [
      "2026-01-01T00:00:09.000Z",
      "2026-01-01T00:00:00.000Z",
      undefined,
      "2026-01-01T00:00:02.000Z",
    ],
  );
  equal(start("~", 3, "2026-01-01T00:00:08.000Z"), undefined);
  db.close();
});
