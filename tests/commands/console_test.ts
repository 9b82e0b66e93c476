import { deepEqual, equal } from "node:assert/strict";
import { recordCommand } from "../../commands/console.ts";
import { fillLog } from "../helpers/compliance.ts";
import { openTestDatabase } from "../helpers/test_app.ts";

const now = () => new Date("2026-01-02T00:00:00Z");

function notes() {
  const lines: string[] = [];
  return { lines, program: { note: (line: string) => void lines.push(line) } };
}

const chainOf = (db: ReturnType<typeof openTestDatabase>) =>
  db.all<{ action: string; actor_id: string; resource_id: string | null }>(
    "SELECT action, actor_id, resource_id FROM compliance_logs ORDER BY sequence",
  ).map(({ action, actor_id, resource_id }) => [action, actor_id, resource_id]);

Deno.test("commands are recorded in the audit log and in an enabled compliance log", async () => {
  const db = openTestDatabase();
  const { lines, program } = notes();
  try {
    await recordCommand(program, { db, now }, "user add", "u1");
    deepEqual(chainOf(db), []);

    fillLog(db, 1);
    await recordCommand(program, { db, now }, "key new");
    await recordCommand(program, { db, now }, "user remove", "u1");
    deepEqual(chainOf(db).slice(1), [["key.new", "console", null], [
      "user.remove",
      "console",
      "u1",
    ]]);
    deepEqual(
      db.all<{ action: string }>("SELECT action FROM audit_entries ORDER BY rowid")
        .map(({ action }) => action),
      ["longshore user add", "longshore key new", "longshore user remove"],
    );

    db.run("UPDATE compliance_config SET enabled = 0", {});
    await recordCommand(program, { db, now }, "user add", "u2");
    equal(chainOf(db).length, 3);
    deepEqual(lines, []);
  } finally {
    db.close();
  }
});

Deno.test("a compliance log that cannot be written does not fail the command", async () => {
  const db = openTestDatabase();
  const { lines, program } = notes();
  try {
    fillLog(db, 1);
    db.exec(
      "CREATE TRIGGER full BEFORE INSERT ON compliance_logs " +
        "BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END",
    );
    await recordCommand(program, { db, now }, "user add", "u1");
    deepEqual(lines, [
      "It could not be written into the compliance log: database or disk is full",
    ]);
  } finally {
    db.close();
  }
});
