import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { createHash } from "node:crypto";
import { openStateDatabase } from "../../../../db/database.ts";
import { selectHead } from "../../../../db/enterprise/compliance_logs.ts";
import canonicalize from "canonicalize";
import { appendEntry, chainEntry } from "../../../../services/enterprise/compliance/append.ts";
import { walkChain } from "../../../../services/enterprise/compliance/chain.ts";
import { temporaryDirectory } from "../../../helpers/command.ts";
import { complianceDeps, makeStateFile, rowAt, STOPPED } from "../../../helpers/compliance.ts";
import { openTestDatabase, testClock } from "../../../helpers/test_app.ts";

const WRITERS = 50;
const EACH = 20;
const { now } = testClock();
const atOnce = () => Promise.resolve();

Deno.test("fifty concurrent writers create one chain, each in its order", async () => {
  using directory = temporaryDirectory();
  const db = makeStateFile(`${directory.path}/state.sqlite`);
  const deps = complianceDeps(db, now);
  const written = await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      const hashes: string[] = [];
      for (let n = 0; n < EACH; n++) {
        const entry = { ...STOPPED, actor_id: `writer ${writer}`, resource_id: String(n) };
        hashes.push((await appendEntry(deps, entry)).entry_hash);
      }
      return hashes;
    }),
  );
  const report = await walkChain(db, {}, atOnce);
  deepEqual([report.verified, report.entries_checked], [true, WRITERS * EACH]);
  const stored = Array.from({ length: WRITERS * EACH }, (_, n) => rowAt(db, n + 1));
  equal(new Set(stored.map(({ previous_hash }) => previous_hash)).size, WRITERS * EACH);
  for (const [writer, hashes] of written.entries()) {
    const own = stored.filter(({ actor_id }) => actor_id === `writer ${writer}`);
    deepEqual(own.map(({ entry_hash }) => entry_hash), hashes);
  }
  db.close();
});

Deno.test("an entry is in the file when appendEntry() resolves", async () => {
  using directory = temporaryDirectory();
  const path = `${directory.path}/state.sqlite`;
  const db = makeStateFile(path);
  const deps = complianceDeps(db, now);
  const other = openStateDatabase(path);
  for (let n = 1; n <= 5; n++) {
    const entries = await Promise.all([1, 2, 3].map(() => appendEntry(deps, STOPPED)));
    deepEqual(selectHead(other), { sequence: 3 * n, hash: entries.at(-1)!.entry_hash });
  }
  other.close();
  db.close();
});

Deno.test("writers in several processes create one chain", async () => {
  using directory = temporaryDirectory();
  const path = `${directory.path}/state.sqlite`;
  const dbs = [makeStateFile(path), openStateDatabase(path), openStateDatabase(path)];
  await Promise.all(dbs.flatMap((db) => {
    const deps = complianceDeps(db, now);
    return Array.from({ length: 5 }, async () => {
      for (let n = 0; n < 20; n++) await appendEntry(deps, STOPPED);
    });
  }));
  const report = await walkChain(dbs[0]!, {}, atOnce);
  deepEqual([report.verified, report.entries_checked], [true, 300]);
  for (const db of dbs) db.close();
});

Deno.test("a rollback removes its entry, and pending entries continue from the one before", async () => {
  const db = openTestDatabase();
  const deps = complianceDeps(db, now);
  const first = appendEntry(deps, STOPPED);
  try {
    db.transaction(() => {
      chainEntry({ db, now }, STOPPED);
      throw new Error("no");
    });
  } catch { /* as it should */ }
  const kept = db.transaction(() => chainEntry({ db, now }, STOPPED));
  equal((await first).previous_hash, kept.entry_hash);
  equal((await walkChain(db, {}, atOnce)).entries_checked, 2);
  db.close();
});

Deno.test("another process that holds the file for a while loses no entry", async () => {
  using directory = temporaryDirectory();
  const path = `${directory.path}/state.sqlite`;
  const db = makeStateFile(path);
  const deps = complianceDeps(db, now);
  db.exec("PRAGMA busy_timeout = 10");
  const other = openStateDatabase(path);
  other.exec("BEGIN IMMEDIATE");
  const entries = Promise.all([
    appendEntry(deps, STOPPED),
    appendEntry(deps, STOPPED),
  ]);
  await new Promise((resolve) => setTimeout(resolve, 150));
  const late = appendEntry(deps, { ...STOPPED, resource_id: "late" });
  other.exec("ROLLBACK");
  const [a, b] = await entries;
  deepEqual([b.previous_hash, (await late).previous_hash], [a.entry_hash, b.entry_hash]);

  // But not for ever.
  other.exec("BEGIN IMMEDIATE");
  await rejects(appendEntry(deps, STOPPED), /locked/);
  other.exec("ROLLBACK");
  await appendEntry(deps, STOPPED);
  equal((await walkChain(db, {}, atOnce)).entries_checked, 4);
  other.close();
  db.close();
});

Deno.test("an entry that cannot be stored fails alone", async () => {
  const db = openTestDatabase();
  const deps = complianceDeps(db, now);
  const bad = { ...STOPPED, metadata: { a: NaN } };
  const results = await Promise.allSettled([
    appendEntry(deps, STOPPED),
    appendEntry(deps, bad),
    appendEntry(deps, STOPPED),
  ]);
  deepEqual(results.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled"]);
  equal((await walkChain(db, {}, atOnce)).entries_checked, 2);
  db.close();
});

Deno.test("a disk that is full fails the entries of one transaction, and the chain goes on", async () => {
  const db = openTestDatabase();
  const deps = complianceDeps(db, now);
  db.exec("PRAGMA max_page_count = 200");
  let written = 0;
  let failed: unknown;
  while (failed === undefined) {
    const entries = Array.from({ length: 20 }, () => appendEntry(deps, STOPPED));
    for (const { status, reason } of await Promise.allSettled(entries) as PromiseRejectedResult[]) {
      if (status === "rejected") failed = reason;
      else written++;
    }
  }
  match((failed as Error).message, /full/);
  equal((await walkChain(db, {}, atOnce)).entries_checked, written);
  db.exec("PRAGMA max_page_count = 100000");
  await appendEntry(deps, STOPPED);
  const report = await walkChain(db, {}, atOnce);
  deepEqual([report.verified, report.entries_checked], [true, written + 1]);
  db.close();
});

Deno.test("a log without its head is not written to", async () => {
  const db = openTestDatabase();
  const deps = complianceDeps(db, now);
  db.exec("DROP TRIGGER compliance_head_stays; DELETE FROM compliance_head");
  await rejects(appendEntry(deps, STOPPED), /has no head/);
  db.close();
});

for (const sequence of ["9007199254740991", "9223372036854775807", "-9223372036854775808"]) {
  Deno.test(`a log whose head was given the sequence ${sequence} goes on after its last entry`, async () => {
    const db = openTestDatabase();
    const deps = complianceDeps(db, now);
    await appendEntry(deps, STOPPED);
    db.exec(`UPDATE compliance_head SET sequence = ${sequence}`);
    const { verified, reason } = await walkChain(db, {}, atOnce);
    equal(verified, false);
    match(reason!, /truncated/);
    await appendEntry(deps, STOPPED);
    const report = await walkChain(db, {}, atOnce);
    deepEqual([report.verified, report.entries_checked], [true, 2]);
    db.close();
  });
}

Deno.test("a head with another sequence does not hide removed entries", async () => {
  const db = openTestDatabase();
  const deps = complianceDeps(db, now);
  for (let n = 0; n < 3; n++) await appendEntry(deps, STOPPED);
  db.exec(`
    DROP TRIGGER compliance_logs_are_kept;
    DELETE FROM compliance_logs WHERE sequence > 1;
    UPDATE compliance_head SET sequence = 9223372036854775807`);
  const { id } = await appendEntry(deps, STOPPED);
  const report = await walkChain(db, {}, atOnce);
  deepEqual([report.verified, report.broken_at_id], [false, id]);
  db.close();
});

const TEXTS = [
  null,
  "",
  "plain",
  'a "b" \\ /',
  "\u2028\u0001\n",
  "ä€😀",
  "\u007f",
  "a\0b",
  "\ud800",
];

Deno.test("the hash is that of the canonical JSON of what is shown, whatever the fields hold", () => {
  const db = openTestDatabase();
  for (const [n, text] of TEXTS.entries()) {
    const entry = db.transaction(() =>
      chainEntry({ db, now }, {
        ...STOPPED,
        actor_id: text ?? "x",
        action: text ?? "y",
        resource_type: text,
        resource_id: text,
        detail: text,
        recorded_by: text,
        metadata: n % 2 ? null : { [`${n}`]: [n / 3, { z: 1, a: "€" }], a: "b" },
      })
    );
    const { entry_hash, ...fields } = entry;
    ok(fields.actor_id.isWellFormed() && !fields.actor_id.includes("\0"));
    const hash = createHash("sha256").update(canonicalize(fields)!).digest("hex");
    equal(entry_hash, `sha256:${hash}`);
  }
  db.close();
});
