import { deepEqual, equal, match } from "node:assert/strict";
import { selectHead } from "../../../../db/enterprise/compliance_logs.ts";
import type { ExportFormat } from "../../../../db/enterprise/compliance_config.ts";
import { exportEntries } from "../../../../services/enterprise/compliance/export.ts";
import { checkExport } from "../../../../services/enterprise/compliance/export_check.ts";
import { complianceDeps, fillLog, rowAt } from "../../../helpers/compliance.ts";
import { openTestDatabase, testClock } from "../../../helpers/test_app.ts";

const ADMIN = { userId: "admin", role: "admin", familyId: "", address: "" } as const;

/** Texts that CSV changes or could confuse. */
const AWKWARD = [
  null,
  "plain, with a comma",
  "=1+1",
  "'=1+1",
  "'quoted'",
  'with "quotes"\nand lines\r\n',
  "\t-2",
  "ünïcödé \u{1F600}",
];

const text = ({ pieces }: { pieces: Iterator<string> }) => {
  let all = "";
  for (let next = pieces.next(); !next.done; next = pieces.next()) all += next.value;
  return all;
};

/** A log of 24 entries and an export of it, as a file of lines. */
async function exported(format: ExportFormat, time = {}) {
  const db = openTestDatabase();
  const { now } = testClock("2026-02-01T00:00:00Z");
  fillLog(db, 24, {
    each: (n) => ({ detail: AWKWARD[n % AWKWARD.length]!, resource_id: n % 3 ? "web" : null }),
  });
  const { hash } = selectHead(db)!;
  const { id } = rowAt(db, 12);
  const file = text(await exportEntries(complianceDeps(db, now), ADMIN, { format, ...time }));
  db.close();
  return { file, hash, id };
}

/** The same as JSON Lines. */
const asLines = (json: string) =>
  JSON.parse(json).logs.map((entry: unknown) => JSON.stringify(entry) + "\n").join("");

for (const format of ["json", "csv", "json lines"] as const) {
  const make = async (time = {}) => {
    const made = await exported(format === "csv" ? "csv" : "json", time);
    return format === "json lines" ? { ...made, file: asLines(made.file) } : made;
  };

  Deno.test(`an export as ${format} verifies, up to the head`, async () => {
    const { file, hash } = await make();
    const { newest, ...report } = checkExport(file);
    deepEqual(report, {
      verified: true,
      entries_checked: 24,
      broken_at_id: null,
      reason: null,
      head_hash: hash,
      isFromBeginning: true,
    });
    equal(newest, "2026-01-01T00:00:23.000Z");
  });

  Deno.test(`an export of a time range as ${format} verifies`, async () => {
    const { file } = await make({
      from: "2026-01-01T00:00:05.000Z",
      to: "2026-01-01T00:00:10.000Z",
    });
    const { verified, entries_checked, isFromBeginning, reason } = checkExport(file);
    deepEqual([verified, entries_checked, isFromBeginning, reason], [true, 6, false, null]);
  });

  Deno.test(`a changed entry of an export as ${format} is found`, async () => {
    const { file, id } = await make();
    const at = file.indexOf(id);
    const end = file.indexOf("containers.stop", at);
    const changed = file.slice(0, end) + "containers.read" + file.slice(end + 15);
    const { verified, broken_at_id, reason, entries_checked } = checkExport(changed);
    deepEqual([verified, broken_at_id, entries_checked], [false, id, 11]);
    match(reason!, /was changed: expected hash/);
  });

  Deno.test(`a missing entry of an export as ${format} is found`, async () => {
    const { file, id } = await make();
    // The awkward details have line breaks, so whole records are cut by their ids.
    const records = format === "csv" ? file.split(/(?<=\r\n)(?="[0-9a-f]{8}-)/) : file.split("\n");
    const { verified, reason } = checkExport(
      records.filter((record: string) => !record.includes(id)).join(format === "csv" ? "" : "\n"),
    );
    equal(verified, false);
    match(reason!, /does not follow the previous one/);
  });

  Deno.test(`an export as ${format} that was cut inside an entry is found`, async () => {
    const { file } = await make();
    const { verified, reason } = checkExport(file.slice(0, -40));
    equal(verified, false);
    match(reason!, /incomplete/);
  });
}

for (const taken of ["first", "last"] as const) {
  Deno.test(`a JSON export whose ${taken} entries were removed is detected`, async () => {
    const { file } = await exported("json");
    const content = JSON.parse(file);
    content.logs = taken === "first" ? content.logs.slice(3) : content.logs.slice(0, -3);
    const { verified, reason } = checkExport(JSON.stringify(content));
    equal(verified, false);
    match(reason!, /^The file has 21 entries; the export had 24$/);

    // If the count was changed as well, the head reveals it.
    content.exported = 21;
    const again = checkExport(JSON.stringify(content));
    deepEqual([again.verified, again.isFromBeginning], [taken === "first", taken === "last"]);
    if (taken === "last") match(again.reason!, /^The end is missing: expected head sha256:/);
  });
}

for (
  const { what, file, reason } of [
    { what: "another CSV file", file: '"a","b"\r\n', reason: /neither an export nor a copy/ },
    { what: "a line that is not an entry", file: "{}\n", reason: /^An entry has no valid id$/ },
    { what: "a list", file: "{}\n[]\n", reason: /^An entry has no valid id$/ },
    { what: "broken JSON", file: '{"head_hash":null,"logs":[', reason: /is incomplete/ },
  ]
) {
  Deno.test(`${what} does not verify`, () => {
    const report = checkExport(file);
    equal(report.verified, false);
    match(report.reason!, reason);
  });
}

Deno.test("a field that no hash covers is found", async () => {
  const { file } = await exported("json");
  const { logs } = JSON.parse(file);
  logs[5].approved_by = "ceo";
  const { verified, reason } = checkExport(JSON.stringify({ logs }));
  deepEqual([verified, reason], [
    false,
    "An entry has the unknown field approved_by",
  ]);
});
