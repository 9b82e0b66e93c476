import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import type { StateDatabase } from "../../../../db/database.ts";
import { selectAnchor } from "../../../../db/enterprise/chain_anchors.ts";
import { type ComplianceRow, selectHead } from "../../../../db/enterprise/compliance_logs.ts";
import type { Caller } from "../../../../services/access/caller.ts";
import { appendEntry } from "../../../../services/enterprise/compliance/append.ts";
import { verifyChain, walkChain } from "../../../../services/enterprise/compliance/chain.ts";
import { sweepCompliance } from "../../../../services/enterprise/compliance/retention.ts";
import { GENESIS_HASH, hashEntry } from "../../../../services/enterprise/compliance/hash_chain.ts";
import { createYield } from "../../../../services/waiting.ts";
import {
  complianceDeps,
  fillLog,
  rowAt,
  STOPPED,
  undone,
  unguard,
} from "../../../helpers/compliance.ts";
import { openTestDatabase, testClock } from "../../../helpers/test_app.ts";

const LARGE = 2_000;
const SMALL = 400;

const ADMIN: Caller = { userId: "admin", role: "admin", familyId: "f", address: "192.0.2.1" };

const atOnce = () => Promise.resolve();
const verify = (db: StateDatabase, range = {}) => walkChain(db, range, atOnce);
const idAt = (db: StateDatabase, sequence: number) => rowAt(db, sequence).id;

/** Changes a field of one entry, without a word to its hash. */
const set =
  (column: keyof ComplianceRow, value: string | null) => (db: StateDatabase, at: number) => {
    const {
      changes = db.run(
        `UPDATE compliance_logs SET ${column} = :value WHERE sequence = :at`,
        { value, at },
      ),
    } = {};
    equal(changes, 1);
  };

const remove = (db: StateDatabase, at: number) =>
  void db.run("DELETE FROM compliance_logs WHERE sequence = :at", { at });

const move = (db: StateDatabase, from: number, to: number) =>
  void db.run("UPDATE compliance_logs SET sequence = :to WHERE sequence = :from", { from, to });

function swap(db: StateDatabase, a: number, b: number): void {
  move(db, a, -1);
  move(db, b, a);
  move(db, -1, b);
}

/** Puts an entry of one's own behind another one, with a hash that is right. */
function insertAfter(db: StateDatabase, at: number): string {
  const id = crypto.randomUUID();
  const before = rowAt(db, at);
  db.run("UPDATE compliance_logs SET sequence = -sequence WHERE sequence > :at", { at });
  db.run("UPDATE compliance_logs SET sequence = 1 - sequence WHERE sequence < 0", {});
  const fields = { ...before, id, previous_hash: before.entry_hash };
  write(db, { ...fields, sequence: at + 1, entry_hash: hashEntry(fields) });
  return id;
}

function write(db: StateDatabase, row: ComplianceRow): void {
  const columns = Object.keys(row);
  db.run(
    `INSERT INTO compliance_logs (${columns.join(", ")})
     VALUES (${columns.map((name) => `:${name}`).join(", ")})`,
    { ...row },
  );
}

/** Changes an entry and recomputes its hash, as an informed attacker would. */
function rewrite(db: StateDatabase, at: number): void {
  const row = { ...rowAt(db, at), outcome: "failure" as const };
  set("outcome", "failure")(db, at);
  set("entry_hash", hashEntry(row))(db, at);
}

/** Changes of entry `at` of the log, and the entries at which they must be found. */
const TAMPERINGS: {
  what: string;
  tamper: (db: StateDatabase, at: number) => void;
  /** The place of the entry that has to be named, as it is before. */
  found: (at: number) => number;
  reason: RegExp;
}[] = [
  ...([
    ["event_id", "x"],
    ["category", "data"],
    ["severity", "critical"],
    ["actor_id", "another user"],
    ["actor_type", "system"],
    ["action", "containers.start"],
    ["resource_type", null],
    ["resource_type", "stacks"],
    ["resource_id", null],
    ["resource_id", ""],
    ["detail", "harmless"],
    ["outcome", "failure"],
    ["metadata", null],
    ["metadata", "{}"],
    // The same value in another form.
    [
      "metadata",
      '{"method":"POST","address":"192.0.2.1","path":"/api/containers/:id/stop","status":200}',
    ],
    ["recorded_by", ""],
    ["recorded_by", "key"],
    ["created_at", "2020-01-01T00:00:00.000Z"],
  ] as const).map(([column, value]) => ({
    what: `${column} is made ${JSON.stringify(value)}`,
    tamper: set(column, value),
    found: (at: number) => at,
    reason: /was changed: expected hash sha256:[0-9a-f]{64}, actual sha256:[0-9a-f]{64}$/,
  })),
  {
    what: "the hash is another one",
    tamper: set("entry_hash", `sha256:${"a".repeat(64)}`),
    found: (at) => at,
    reason: /was changed: expected hash sha256:a{64}, actual sha256:[0-9a-f]{64}$/,
  },
  {
    what: "the hash is longer than a page",
    tamper: set("entry_hash", "x".repeat(100_000)),
    found: (at) => at,
    reason: /was changed: expected hash x{100}\.\.\., actual/,
  },
  {
    what: "the hash of the entry before is another one",
    tamper: set("previous_hash", `sha256:${"b".repeat(64)}`),
    found: (at) => at,
    reason: /expected previous_hash sha256:[0-9a-f]{64}, actual sha256:b{64}$/,
  },
  {
    what: "the entry is rewritten with a hash that is right",
    tamper: rewrite,
    found: (at) => at + 1,
    reason: /expected previous_hash sha256:[0-9a-f]{64}, actual sha256:[0-9a-f]{64}$/,
  },
  {
    what: "the entry is deleted",
    tamper: remove,
    found: (at) => at + 1,
    reason: /does not follow the previous one/,
  },
  {
    what: "two entries change places",
    tamper: (db, at) => swap(db, at, at + 1),
    found: (at) => at + 1,
    reason: /does not follow the previous one/,
  },
  {
    what: "an entry is moved far away",
    tamper: (db, at) => swap(db, at, at === 7 ? 300 : 7),
    found: (at) => at === 7 ? 300 : at,
    reason: /does not follow the previous one/,
  },
];

Deno.test("an unchanged log is valid, including an empty one", async () => {
  const db = openTestDatabase();
  deepEqual(await verify(db), {
    verified: true,
    entries_checked: 0,
    broken_at_id: null,
    reason: null,
    head_hash: GENESIS_HASH,
  });
  fillLog(db, 1_000);
  const report = await verify(db);
  deepEqual([report.verified, report.entries_checked], [true, 1_000]);
  equal(report.head_hash, rowAt(db, 1_000).entry_hash);
  equal(rowAt(db, 1).previous_hash, GENESIS_HASH);
  db.close();
});

for (
  const [what, sql, actual] of [
    ["too high", "UPDATE compliance_counts SET entries = entries + 1", "51"],
    ["gone", "DELETE FROM compliance_counts", "0"],
    ["made up", "INSERT INTO compliance_counts VALUES ('data', 'info', '', -3)", "47"],
    [
      "such that no number holds them",
      "UPDATE compliance_counts SET entries = 9007199254740999",
      "an unreadable value",
    ],
  ] as const
) {
  Deno.test(`counts of the log that are ${what} are found`, async () => {
    const db = openTestDatabase();
    fillLog(db, 50);
    db.exec(sql);
    const { verified, entries_checked, broken_at_id, reason } = await verify(db);
    deepEqual([verified, entries_checked, broken_at_id], [false, 50, null]);
    equal(
      reason,
      `The counts of the log do not match its entries: expected 50, actual ${actual}`,
    );
    // A part of the log has no counts of its own.
    equal((await verify(db, { limit: 50 })).verified, true);
    equal((await verify(db, { from: "2026-01-01T00:00:00.000Z" })).verified, true);
    db.close();
  });
}

Deno.test("the counts fit also while entries are added and swept", async () => {
  const db = openTestDatabase();
  const now = testClock("2026-01-02T00:00:00Z").now;
  const deps = complianceDeps(db, now);
  fillLog(db, 3_000, { from: "2024-01-01T00:00:00Z" });
  fillLog(db, 1_000, { from: "2026-01-01T00:00:00Z" });
  const pause = createYield();
  let walks = 0;
  const sweep = sweepCompliance(deps).then(() => true);
  let swept = false;
  while (!swept) {
    const report = await walkChain(db, {}, async () => {
      await appendEntry(deps, STOPPED);
      await pause();
    });
    equal(report.reason, null);
    swept = await Promise.race([sweep, Promise.resolve(false)]);
    walks++;
  }
  equal((await verify(db)).verified, true);
  ok(walks > 0 && selectAnchor(db)!.sequence === 3_000);
  db.close();
});

for (const [missing, words] of [[1, "1 entry"], [7, "7 entries"]] as const) {
  Deno.test(`${words} missing at the beginning: the reason says so`, async () => {
    const db = openTestDatabase();
    fillLog(db, 50);
    unguard(db);
    db.run("DELETE FROM compliance_logs WHERE sequence <= :missing", { missing });
    const { previous_hash, id } = rowAt(db, missing + 1);
    const report = await verify(db);
    deepEqual([report.verified, report.broken_at_id], [false, id]);
    equal(
      report.reason,
      `The beginning of the log is missing, ${words} before ${id}: ` +
        `expected previous_hash ${GENESIS_HASH}, actual ${previous_hash}`,
    );
    db.close();
  });
}

Deno.test("one change to an entry anywhere in 2 000 is found, and the entry named", async (t) => {
  const db = openTestDatabase();
  fillLog(db, LARGE);
  unguard(db);
  for (const { what, tamper, found, reason } of TAMPERINGS) {
    const at = 301 + Math.floor(Math.random() * (LARGE - 1_000));
    await t.step(`${what} (entry ${at})`, async () => {
      const expected = what.includes("far away") ? 7 : found(at);
      const before = idAt(db, what.includes("far away") ? at : expected);
      await undone(db, async () => {
        tamper(db, at);
        const report = await verify(db);
        deepEqual([report.verified, report.broken_at_id], [false, before]);
        equal(
          report.entries_checked,
          (what.includes("change places") ? at : expected) - 1 -
            (what.includes("deleted") ? 1 : 0),
        );
        match(report.reason!, reason);
      });
    });
  }
  await t.step("and without a change it verifies", async () => {
    equal((await verify(db)).entries_checked, LARGE);
  });
  db.close();
});

Deno.test("the same is found at the first, the second and the last entries", async () => {
  const db = openTestDatabase();
  fillLog(db, SMALL);
  unguard(db);
  for (const { what, tamper, found, reason } of TAMPERINGS.slice(0, -2)) {
    for (const at of [1, 2, SMALL - 1, SMALL]) {
      await undone(db, async () => {
        const isEnd = found(at) > SMALL;
        const named = idAt(db, isEnd ? (what.includes("deleted") ? at - 1 : at) : found(at));
        tamper(db, at);
        const report = await verify(db);
        deepEqual([what, at, report.verified, report.broken_at_id], [what, at, false, named]);
        const isBeginning = what.includes("deleted") && at === 1;
        match(report.reason!, isEnd ? /head/ : isBeginning ? /beginning .* is missing/ : reason);
      });
    }
  }
  db.close();
});

Deno.test("an entry that is put between two others is found", async () => {
  const db = openTestDatabase();
  fillLog(db, SMALL);
  unguard(db);
  for (const at of [1, 2, 200, SMALL - 1]) {
    await undone(db, async () => {
      const next = idAt(db, at + 1);
      const id = insertAfter(db, at);
      const report = await verify(db);
      // Before the last one it is where the last one should be.
      const named = at === SMALL - 1 ? id : next;
      deepEqual([report.verified, report.broken_at_id], [false, named]);
    });
  }
  await undone(db, async () => {
    const id = insertAfter(db, SMALL);
    const report = await verify(db);
    deepEqual([report.verified, report.broken_at_id], [false, id]);
    match(report.reason!, /comes after the head/);
  });
  await undone(db, async () => {
    write(db, { ...rowAt(db, 1), id: "x", sequence: -1 });
    const report = await verify(db);
    deepEqual([report.verified, report.broken_at_id], [false, "x"]);
    match(report.reason!, /before the first entry$/);
  });
  db.close();
});

for (const cut of [1, 2, 100, SMALL - 1]) {
  Deno.test(`${cut} entries cut off the end are missed, and the last one named`, async () => {
    const db = openTestDatabase();
    fillLog(db, SMALL);
    unguard(db);
    const { hash } = selectHead(db)!;
    db.run("DELETE FROM compliance_logs WHERE sequence > :last", { last: SMALL - cut });
    const report = await verify(db);
    deepEqual([report.verified, report.broken_at_id], [false, idAt(db, SMALL - cut)]);
    equal(report.entries_checked, SMALL - cut);
    equal(
      report.reason,
      `The end of the log is truncated, ${cut} ${
        cut === 1 ? "entry is" : "entries are"
      } missing: ` +
        `expected head ${hash}, actual ${rowAt(db, SMALL - cut).entry_hash}`,
    );
    db.close();
  });
}

Deno.test("a log of which nothing is left is broken, and there is nothing to name", async () => {
  const db = openTestDatabase();
  fillLog(db, SMALL);
  unguard(db);
  db.run("DELETE FROM compliance_logs", {});
  const report = await verify(db);
  deepEqual([report.verified, report.entries_checked, report.broken_at_id], [false, 0, null]);
  match(report.reason!, /^The end of the log is truncated, 400 entries are missing: /);
  db.close();
});

Deno.test("a changed or removed head is detected", async () => {
  const db = openTestDatabase();
  fillLog(db, SMALL);
  unguard(db);
  const last = idAt(db, SMALL);
  for (
    const [sql, reason] of [
      [`UPDATE compliance_head SET hash = 'sha256:${"c".repeat(64)}'`, /is not the head/],
      ["UPDATE compliance_head SET sequence = 500", /truncated, 100 entries are missing/],
      ["UPDATE compliance_head SET sequence = 399", /is not the head/],
      ["DELETE FROM compliance_head", /^The head of the log is missing$/],
    ] as const
  ) {
    await undone(db, async () => {
      db.exec(sql);
      const report = await verify(db);
      equal(report.verified, false, sql);
      match(report.reason!, reason);
      equal(report.broken_at_id, sql.includes("399") ? idAt(db, 399) : last);
    });
  }
  db.close();
});

Deno.test("numbers and texts that no program of ours writes are found, not stumbled over", async () => {
  const db = openTestDatabase();
  fillLog(db, SMALL);
  unguard(db);
  db.exec("PRAGMA ignore_check_constraints = 1");
  for (
    const [sql, named] of [
      ["UPDATE compliance_logs SET sequence = 9223372036854775807 WHERE sequence = 400", 399],
      ["UPDATE compliance_logs SET metadata = 'junk' WHERE sequence = 10", 10],
      ["UPDATE compliance_logs SET metadata = '[]' WHERE sequence = 10", 10],
      ["UPDATE compliance_logs SET metadata = '\"x\"' WHERE sequence = 10", 10],
      [
        `UPDATE compliance_logs SET metadata = '{"a":${"[".repeat(50_000)}' WHERE sequence = 10`,
        10,
      ],
      ["UPDATE compliance_logs SET detail = CAST(x'C3285C00' AS TEXT) WHERE sequence = 10", 10],
      ["UPDATE compliance_logs SET created_at = 'never' WHERE sequence = 10", 10],
    ] as const
  ) {
    await undone(db, async () => {
      const id = idAt(db, named);
      db.exec(sql);
      const report = await verify(db);
      deepEqual([sql, report.verified, report.broken_at_id], [sql, false, id]);
      ok(report.reason!.length < 1_000);
    });
  }
  db.close();
});

Deno.test("a verification begins at a time, and looks at so many entries", async () => {
  const db = openTestDatabase();
  fillLog(db, SMALL);
  unguard(db);
  const at = (n: number) => new Date(Date.parse("2026-01-01T00:00:00Z") + n * 1_000).toISOString();
  const checked = async (range: { from?: string; limit?: number }) => {
    const { verified, entries_checked, broken_at_id } = await verify(db, range);
    return [verified, entries_checked, broken_at_id];
  };
  deepEqual(await checked({ from: at(0) }), [true, SMALL, null]);
  deepEqual(await checked({ from: at(100) }), [true, SMALL - 100, null]);
  deepEqual(await checked({ from: at(399) }), [true, 1, null]);
  deepEqual(await checked({ from: at(400) }), [true, 0, null]);
  deepEqual(await checked({ limit: 10 }), [true, 10, null]);
  deepEqual(await checked({ from: at(100), limit: 300 }), [true, 300, null]);

  set("detail", "harmless")(db, 50);
  deepEqual(await checked({}), [false, 49, idAt(db, 50)]);
  deepEqual(await checked({ limit: 49 }), [true, 49, null]);
  deepEqual(await checked({ from: at(50) }), [true, SMALL - 50, null]);
  // The entry before the beginning is not looked at itself, but has to be the one that is followed.
  set("entry_hash", `sha256:${"a".repeat(64)}`)(db, 200);
  deepEqual(await checked({ from: at(200) }), [false, 0, idAt(db, 201)]);
  remove(db, 300);
  deepEqual(await checked({ from: at(299) }), [false, 0, idAt(db, 301)]);
  remove(db, 400);
  deepEqual(await checked({ from: at(350) }), [false, 49, idAt(db, 399)]);
  deepEqual(await checked({ from: at(1_000) }), [false, 0, idAt(db, 399)]);
  db.close();
});

Deno.test("a clock that was set back is not a fault, and verification starts by time", async () => {
  const db = openTestDatabase();
  fillLog(db, 10, { from: "2026-01-01T00:00:00Z" });
  fillLog(db, 10, { from: "2030-01-01T00:00:00Z" });
  fillLog(db, 10, { from: "2026-01-02T00:00:00Z" });
  equal((await verify(db)).entries_checked, 30);
  const { verified, entries_checked } = await verify(db, { from: "2026-01-02T00:00:00.000Z" });
  deepEqual([verified, entries_checked], [true, 10]);
  db.close();
});

Deno.test("entries written during verification are not a fault", async () => {
  const db = openTestDatabase();
  const { now } = testClock();
  fillLog(db, 10_000);
  let written = 0;
  let ended = false;
  const deps = complianceDeps(db, now);
  const writing = (async () => {
    for (; !ended; written++) await appendEntry(deps, STOPPED);
  })();
  const report = await walkChain(db, {}, createYield());
  ended = true;
  await writing;
  deepEqual([report.verified, report.entries_checked], [true, 10_000]);
  ok(written > 2, `${written} entries were written meanwhile`);
  equal((await verify(db)).entries_checked, 10_000 + written);
  db.close();
});

Deno.test("a retention that runs during verification is not a fault", async () => {
  const db = openTestDatabase();
  const clock = testClock("2026-01-01T00:00:00Z");
  fillLog(db, 5_000, { from: "2024-01-01T00:00:00Z" });
  fillLog(db, 5_000, { from: "2025-12-31T00:00:00Z" });
  for (const steps of [0, 1, 5, 17]) {
    // A retention that is always ahead of the verification, or behind it, or overtakes it.
    let step = 0;
    let sweeping: Promise<unknown> | undefined;
    const report = await walkChain(db, {}, async () => {
      if (step++ === steps) sweeping = sweepCompliance(complianceDeps(db, clock.now));
      await new Promise((resolve) => setTimeout(resolve, 0));
    });
    deepEqual([steps, report.verified, report.reason], [steps, true, null]);
    await sweeping;
    equal((await verify(db)).verified, true);
    clock.advance({ seconds: 1_000 });
    fillLog(db, 3_000, { from: "2024-06-01T00:00:00Z" });
  }
  db.close();
});

Deno.test("an unannounced or changed anchor is detected", async () => {
  const db = openTestDatabase();
  const { now } = testClock("2026-01-01T00:00:00Z");
  fillLog(db, 300, { from: "2024-01-01T00:00:00Z" });
  fillLog(db, 100, { from: "2025-12-31T00:00:00Z" });
  const forge = (sequence: number) => {
    const { entry_hash: hash, id } = rowAt(db, sequence);
    db.run("DELETE FROM compliance_logs WHERE sequence <= :sequence", { sequence });
    const later = rowAt(db, 400).id;
    db.run(
      `INSERT INTO compliance_anchors VALUES (:later, :sequence, :hash, '2026-01-01T00:00:00.000Z')`,
      { later, sequence, hash },
    );
    return id;
  };
  await undone(db, async () => {
    unguard(db);
    forge(50);
    const report = await verify(db);
    deepEqual([report.verified, report.broken_at_id], [false, idAt(db, 51)]);
    match(report.reason!, /^No entry of the log announces the anchor sha256:/);
  });

  const swept = await sweepCompliance(complianceDeps(db, now));
  equal(swept.deleted, 300);
  equal((await verify(db)).verified, true);
  unguard(db);
  const first = idAt(db, 301);
  const anchor = selectAnchor(db)!;
  for (
    const [sql, named, reason] of [
      [`UPDATE compliance_anchors SET hash = 'sha256:${"d".repeat(64)}'`, first, /differs from/],
      ["UPDATE compliance_anchors SET sequence = 299", first, /is misplaced/],
      ["UPDATE compliance_anchors SET sequence = 310", idAt(db, 310), /before the anchor/],
      ["UPDATE compliance_anchors SET entry_id = 'x'", first, /No entry of the log announces/],
      ["DELETE FROM compliance_anchors", first, /beginning of the log is missing, 300 entries/],
      [
        `UPDATE compliance_logs SET metadata = replace(metadata, '"entries_before":300',
           '"entries_before":350') WHERE id = '${anchor.entry_id}'`,
        first,
        /No entry of the log announces/,
      ],
    ] as const
  ) {
    await undone(db, async () => {
      db.exec(sql);
      const report = await verify(db);
      deepEqual([sql, report.verified, report.broken_at_id], [sql, false, named]);
      match(report.reason!, reason);
    });
  }
  // Further entries taken off the beginning, with an anchor that claims to be of that retention.
  await undone(db, async () => {
    const { entry_hash: hash } = rowAt(db, 350);
    db.run("DELETE FROM compliance_logs WHERE sequence <= 350", {});
    db.run("UPDATE compliance_anchors SET sequence = 350, hash = :hash", { hash });
    const report = await verify(db);
    deepEqual([report.verified, report.broken_at_id], [false, idAt(db, 351)]);
    match(report.reason!, /No entry of the log announces/);
  });
  db.close();
});

Deno.test("a verification is recorded with its result and the hash of the head", async () => {
  const db = openTestDatabase();
  const { now } = testClock();
  const deps = complianceDeps(db, now);
  fillLog(db, 10);
  const { hash } = selectHead(db)!;
  deepEqual(await verifyChain(deps, ADMIN, {}), {
    verified: true,
    entries_checked: 10,
    broken_at_id: null,
    reason: null,
    head_hash: hash,
  });
  const entry = rowAt(db, 11);
  deepEqual(
    [entry.action, entry.category, entry.severity, entry.outcome, entry.actor_id],
    ["compliance.verify", "security", "info", "success", "admin"],
  );
  deepEqual(JSON.parse(entry.metadata!), {
    address: "192.0.2.1",
    entries_checked: 10,
    head_hash: hash,
    from: null,
    limit: null,
  });

  unguard(db);
  set("detail", "harmless")(db, 4);
  db.run("UPDATE compliance_head SET sequence = 10, hash = :hash", { hash });
  db.run("DELETE FROM compliance_logs WHERE sequence = 11", {});
  const broken = await verifyChain(deps, ADMIN, { limit: 5 });
  deepEqual([broken.verified, broken.broken_at_id], [false, idAt(db, 4)]);
  db.close();
});

Deno.test("verifications wait for each other, and too many are refused", async () => {
  const db = openTestDatabase();
  const deps = complianceDeps(db, testClock().now);
  fillLog(db, 3_000);
  const all = Array.from({ length: 9 }, () => verifyChain(deps, ADMIN, {}));
  await rejects(verifyChain(deps, ADMIN, {}), { code: "too_many_requests" });
  for (const { verified } of await Promise.all(all)) equal(verified, true);
  equal((await verifyChain(deps, ADMIN, {})).verified, true);
  db.close();
});
