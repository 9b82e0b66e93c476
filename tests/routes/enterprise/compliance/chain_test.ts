import { deepEqual, equal, match, ok } from "node:assert/strict";
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { selectHead } from "../../../../db/enterprise/compliance_logs.ts";
import { GENESIS_HASH } from "../../../../services/enterprise/compliance/hash_chain.ts";
import { yieldToEventLoop } from "../../../../services/waiting.ts";
import { fillLog, rowAt, unguard } from "../../../helpers/compliance.ts";
import { type TestApp, testApp } from "../../../helpers/test_app.ts";

const BASE = "/api/ext/service-enterprise/compliance";
const NOON = "2026-01-01T12:00:00.000Z";

const opened = () => testApp({ edition: "enterprise", now: NOON });
const newest = async (app: TestApp) => (await app.call("GET", `${BASE}/logs?limit=1`)).body.logs[0];
const count = async (app: TestApp) => (await app.call("GET", `${BASE}/logs`)).body.total;

const DEFAULTS = {
  enabled: true,
  retention_days: 365,
  hash_algorithm: "sha256",
  log_api_reads: false,
  export_format: "json",
};

Deno.test("the configuration has defaults, and PUT changes the given settings", async () => {
  using app = opened();
  deepEqual((await app.call("GET", `${BASE}/config`)).body, DEFAULTS);
  const { status, body } = await app.call("PUT", `${BASE}/config`, {
    retention_days: 30,
    export_format: "csv",
  });
  deepEqual([status, body], [200, { ...DEFAULTS, retention_days: 30, export_format: "csv" }]);
  deepEqual((await app.call("GET", `${BASE}/config`)).body, body);
  const entry = await newest(app);
  deepEqual(
    [entry.action, entry.category, entry.actor_id, entry.recorded_by, entry.metadata],
    ["compliance.config_updated", "security", "key", null, {
      address: "192.0.2.1",
      before: DEFAULTS,
      after: body,
    }],
  );
  equal(await count(app), 1);
});

for (
  const change of [
    { enabled: "yes" },
    { enabled: null },
    { retention_days: 0 },
    { retention_days: 3_651 },
    { retention_days: 1.5 },
    { retention_days: "30" },
    { hash_algorithm: "sha512" },
    { log_api_reads: 1 },
    { export_format: "xml" },
  ]
) {
  Deno.test(`PUT /config refuses ${JSON.stringify(change)}`, async () => {
    using app = opened();
    const { status, body } = await app.call("PUT", `${BASE}/config`, change);
    equal(status, 400);
    match(body.error, new RegExp(`^body\\.${Object.keys(change)[0]}: `));
    deepEqual((await app.call("GET", `${BASE}/config`)).body, DEFAULTS);
  });
}

Deno.test("while the log is disabled nothing is recorded except the change that disabled it", async () => {
  using app = opened();
  await app.call("PUT", `${BASE}/config`, { enabled: false });
  const last = await newest(app);
  deepEqual([last.action, last.severity], ["compliance.config_updated", "warning"]);
  equal(last.detail, "The compliance log was turned off");

  const refused = await app.call("POST", `${BASE}/logs`, { category: "data", action: "x" });
  equal(refused.status, 409);
  await app.call("PUT", `${BASE}/config`, { retention_days: 20 });
  await app.call("POST", "/api/maintenance", { enabled: true });
  await app.call("POST", "/api/maintenance", { enabled: true }, { role: "viewer" });
  await app.call("POST", "/auth/token", { apiKey: "wrong" }, { role: "public" });
  await app.call("POST", `${BASE}/verify-chain`, {});
  await (await app.fetch("GET", `${BASE}/export`)).text();
  deepEqual(await newest(app), last);

  await app.call("PUT", `${BASE}/config`, { enabled: true });
  const on = await newest(app);
  deepEqual([on.action, on.metadata.after.enabled], ["compliance.config_updated", true]);
  equal(on.previous_hash, last.entry_hash);
});

Deno.test("the statistics count all entries", async () => {
  using app = opened();
  deepEqual((await app.call("GET", `${BASE}/stats`)).body, {
    total_entries: 0,
    last_24h: 0,
    oldest_entry: null,
    newest_entry: null,
    by_category: {},
    by_severity: {},
    by_outcome: {},
    head_hash: GENESIS_HASH,
  });
  // Every hour for two days, up to noon.
  fillLog(app.deps.db, 49, {
    from: "2025-12-30T12:00:00Z",
    stepMs: 60 * 60 * 1_000,
    each: (n) => ({
      category: n % 2 ? "data" : "system",
      severity: n < 5 ? "critical" : "info",
      outcome: n % 7 ? "success" : "failure",
    }),
  });
  deepEqual((await app.call("GET", `${BASE}/stats`)).body, {
    total_entries: 49,
    last_24h: 25,
    oldest_entry: "2025-12-30T12:00:00.000Z",
    newest_entry: NOON,
    by_category: { data: 24, system: 25 },
    by_severity: { critical: 5, info: 44 },
    by_outcome: { failure: 7, success: 42 },
    head_hash: selectHead(app.deps.db)!.hash,
  });
});

for (
  const [what, tamper] of [
    ["time", "UPDATE compliance_logs SET created_at = 'zzz' WHERE sequence = 3"],
    ["category", "UPDATE compliance_logs SET category = 'evil' WHERE sequence = 3"],
    ["severity", "UPDATE compliance_logs SET severity = '' WHERE sequence = 3"],
    ["type of actor", "UPDATE compliance_logs SET actor_type = 'robot' WHERE sequence = 3"],
    ["final outcome", "UPDATE compliance_logs SET outcome = 'x' WHERE sequence = 3"],
    ["count", "INSERT INTO compliance_counts VALUES ('constructor', 'valueOf', '', 5)"],
  ] as const
) {
  Deno.test(`GET shows a ${what} that was never written`, async () => {
    using app = opened();
    const { db } = app.deps;
    fillLog(db, 5, { from: "2026-01-01T00:00:00Z" });
    const { id } = rowAt(db, 3);
    unguard(db);
    db.exec("PRAGMA ignore_check_constraints = ON");
    db.exec(tamper);
    const list = await app.call("GET", `${BASE}/logs`);
    equal(list.status, 200);
    equal(list.body.logs.length, 5);
    const entry = await app.call("GET", `${BASE}/logs/${id}`);
    deepEqual([entry.status, entry.body.chain_valid], [200, what === "count"]);
    const stats = await app.call("GET", `${BASE}/stats`);
    equal(stats.status, 200);
    if (what === "time") equal(stats.body.newest_entry, "zzz");
    if (what === "count") equal(stats.body.by_category.constructor, 5);
  });
}

Deno.test("POST /verify-chain verifies the chain and reports the broken entry", async () => {
  using app = opened();
  const { db } = app.deps;
  fillLog(db, 100, { from: "2025-12-01T00:00:00Z", stepMs: 60 * 60 * 1_000 });
  const verify = async (body?: unknown) => (await app.call("POST", `${BASE}/verify-chain`, body));
  const { hash: head_hash } = selectHead(db)!;
  deepEqual((await verify({})).body, {
    verified: true,
    entries_checked: 100,
    broken_at_id: null,
    reason: null,
    head_hash,
  });
  equal((await verify({ limit: 10 })).body.entries_checked, 10);
  // 24 of the first day, and the two verifications before.
  equal((await verify({ from: "2025-12-02" })).body.entries_checked, 78);
  equal((await verify({ from: "2025-12-02T00:30:00+01:00", limit: 5 })).body.entries_checked, 5);

  unguard(db);
  db.exec("UPDATE compliance_logs SET detail = 'harmless' WHERE sequence = 50");
  const { id, entry_hash } = db.get<{ id: string; entry_hash: string }>(
    "SELECT id, entry_hash FROM compliance_logs WHERE sequence = 50",
  )!;
  const { status, body } = await verify({});
  equal(status, 200);
  deepEqual([body.verified, body.entries_checked, body.broken_at_id], [false, 49, id]);
  match(body.reason, new RegExp(`expected hash ${entry_hash}, actual sha256:[0-9a-f]{64}$`));
  const entry = await newest(app);
  deepEqual(
    [entry.action, entry.severity, entry.outcome, entry.resource_id],
    ["compliance.verify", "critical", "failure", id],
  );
});

for (
  const body of [
    { from: 2026 },
    { from: "2026" },
    { from: "yesterday" },
    { from: "2026-02-30" },
    { from: null },
    { limit: 0 },
    { limit: -1 },
    { limit: 1.5 },
    { limit: "10" },
  ]
) {
  Deno.test(`POST /verify-chain refuses ${JSON.stringify(body)}`, async () => {
    using app = opened();
    const answer = await app.call("POST", `${BASE}/verify-chain`, body);
    equal(answer.status, 400);
    match(answer.body.error, /^body\.(from|limit): /);
  });
}

Deno.test("DELETE /retention deletes old entries, and the rest verifies", async () => {
  using app = opened();
  fillLog(app.deps.db, 1_000, { from: "2024-12-31T00:00:00Z", stepMs: 60 * 60 * 1_000 });
  await app.call("PUT", `${BASE}/config`, { retention_days: 350 });
  const { status, body } = await app.call("DELETE", `${BASE}/retention`);
  // Up to 2025-01-16 12:00, which is 350 days ago.
  deepEqual([status, body], [200, {
    deleted: 396,
    retention_days: 350,
    chain_anchor_recorded: true,
  }]);
  const { logs, total } = (await app.call("GET", `${BASE}/logs?limit=500&offset=400`)).body;
  equal(logs.at(-1).created_at, "2025-01-16T12:00:00.000Z");
  // Plus the change of the configuration, the announcement, and the request itself.
  equal(total, 1_000 - 396 + 3);
  equal((await app.call("GET", `${BASE}/stats`)).body.total_entries, total);
  equal((await app.call("GET", `${BASE}/logs/${logs.at(-1).id}`)).body.chain_valid, true);
  const verified = await app.call("POST", `${BASE}/verify-chain`, {});
  deepEqual([verified.body.verified, verified.body.entries_checked], [true, total]);
  const announced = await app.call("GET", `${BASE}/logs?action=compliance.retention`);
  deepEqual(announced.body.logs[0].metadata, {
    retention_days: 350,
    older_than: "2025-01-16T12:00:00.000Z",
    entries: 396,
    entries_before: 396,
    anchor_hash: logs.at(-1).previous_hash,
  });
  equal(announced.body.logs[0].actor_id, "key");
  deepEqual((await app.call("DELETE", `${BASE}/retention`)).body, {
    deleted: 0,
    retention_days: 350,
    chain_anchor_recorded: false,
  });
});

/** Uses only the exported file. */
function recomputed({ entry_hash: _, ...fields }: Record<string, unknown>): string {
  return `sha256:${createHash("sha256").update(canonicalize(fields)!).digest("hex")}`;
}

Deno.test("every hash can be recomputed from the JSON export", async () => {
  using app = opened();
  fillLog(app.deps.db, 450, {
    from: "2025-12-01T00:00:00Z",
    each: (n) => ({ metadata: n % 3 ? { n, "€": [n / 7, "\u2028", null] } : null, detail: null }),
  });
  const response = await app.fetch("GET", `${BASE}/export`);
  equal(response.status, 200);
  equal(response.headers.get("content-type"), "application/json; charset=utf-8");
  equal(
    response.headers.get("content-disposition"),
    'attachment; filename="compliance-log-2026-01-01T12-00-00Z.json"',
  );
  equal(response.headers.get("cache-control"), "no-store");
  deepEqual(
    ["x-total-count", "x-exported-count"].map((name) => response.headers.get(name)),
    ["450", "450"],
  );
  const { head_hash, logs } = await response.json();
  equal(logs.length, 450);
  let previous = GENESIS_HASH;
  for (const entry of logs) {
    equal(entry.previous_hash, previous);
    equal(entry.entry_hash, previous = recomputed(entry));
  }
  equal(head_hash, previous);
  deepEqual(
    logs.toReversed(),
    (await app.call("GET", `${BASE}/logs?limit=500&offset=1`)).body.logs,
  );
  const entry = await newest(app);
  deepEqual([entry.action, entry.category, entry.metadata], ["compliance.export", "security", {
    address: "192.0.2.1",
    format: "json",
    from: null,
    to: null,
    exported: 450,
    total: 450,
  }]);
});

Deno.test("python computes the same hashes from the JSON export", async () => {
  using app = opened();
  await app.call("POST", `${BASE}/logs`, {
    category: "data",
    action: 'a\u2028b "quoted" \\ ä€😀 \u007f \u0001',
    metadata: { b: [1, true, null, { z: "", a: "ß" }], a: { "€": -5 } },
  });
  fillLog(app.deps.db, 20);
  const text = await (await app.fetch("GET", `${BASE}/export?format=json`)).text();
  const script = `
import hashlib, json, sys
data = json.load(sys.stdin)
previous = "sha256:" + "0" * 64
for entry in data["logs"]:
    given = entry.pop("entry_hash")
    text = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert entry["previous_hash"] == previous, entry
    previous = "sha256:" + hashlib.sha256(text.encode()).hexdigest()
    assert previous == given, text
print(len(data["logs"]), previous == data["head_hash"])
`;
  equal(await python(script, text), "21 True\n");
});

/** Runs a script of another language's own libraries. @returns What it printed. */
async function python(script: string, input: string): Promise<string> {
  const child = new Deno.Command("python3", {
    args: ["-c", script],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { success, stdout, stderr } = await child.output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

const EVIL = [
  '=HYPERLINK("http://evil.example","x")',
  "+1",
  "-1+1|cmd",
  "@SUM(1)",
  "\t=1",
  "\r=1",
  "\n=1",
  "  =1",
  "\u00a0=1",
  "\u200b=1",
  "\uff1d1+1",
  "\uff0b1",
  "\uff0d1",
  "\uff201",
  "|calc",
  "%0A",
];
const PLAIN = ['say "hi", twice', "a\r\nb", "a,b;c", "ä€😀", "1=1", "", " leading", "sha256:0"];

Deno.test("the CSV export is read by another implementation, and executes nothing", async () => {
  using app = opened();
  const texts = [...EVIL, ...PLAIN];
  fillLog(app.deps.db, texts.length, {
    each: (n) => ({ detail: texts[n]!, metadata: { [texts[n]!]: texts[n]! }, resource_id: null }),
  });
  const json = await (await app.fetch("GET", `${BASE}/export?format=json`)).json();
  await app.call("PUT", `${BASE}/config`, { export_format: "csv" });
  const response = await app.fetch("GET", `${BASE}/export?to=2026-01-01T10:00:00Z`);
  equal(response.headers.get("content-type"), "text/csv; charset=utf-8; header=present");
  match(response.headers.get("content-disposition")!, /filename="compliance-log-[\dT-]+Z\.csv"$/);
  const text = await response.text();
  equal(
    text.replaceAll(/"(?:[^"]|"")*"/g, "").replaceAll(",", ""),
    "\r\n".repeat(texts.length + 1),
  );

  const script = `
import csv, io, json, sys
text = sys.stdin.buffer.read().decode()
rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
print(json.dumps(rows))
`;
  const [header, ...rows] = JSON.parse(await python(script, text)) as string[][];
  deepEqual(header, [
    "id",
    "event_id",
    "created_at",
    "category",
    "severity",
    "actor_id",
    "actor_type",
    "action",
    "resource_type",
    "resource_id",
    "detail",
    "outcome",
    "metadata",
    "recorded_by",
    "previous_hash",
    "entry_hash",
  ]);
  equal(rows.length, texts.length);
  rows.forEach((row, n) => {
    const fields = Object.fromEntries(header!.map((name, at) => [name, row[at]]));
    const entry = json.logs[n];
    equal(fields.detail, n < EVIL.length ? `'${texts[n]}` : texts[n]);
    deepEqual(JSON.parse(fields.metadata!), entry.metadata);
    deepEqual(
      [fields.id, fields.entry_hash, fields.previous_hash, fields.resource_id, fields.recorded_by],
      [entry.id, entry.entry_hash, entry.previous_hash, "", ""],
    );
    ok(!row.some((cell) => /^\s*[=+\-@|%\uff1d\uff0b\uff0d\uff20]/.test(cell)));
  });
});

Deno.test("an export has the newest 10 000 entries of the range and the total number", async () => {
  using app = opened();
  fillLog(app.deps.db, 10_050, { from: "2025-01-01T00:00:00Z" });
  const exported = async (query = "") => {
    const response = await app.fetch("GET", `${BASE}/export?${query}`);
    const { logs } = await response.json();
    const counts = ["x-total-count", "x-exported-count"].map((name) => response.headers.get(name));
    return [...counts, logs.length, logs[0]?.created_at, logs.at(-1)?.created_at];
  };
  const at = (n: number) => new Date(Date.parse("2025-01-01T00:00:00Z") + n * 1_000).toISOString();
  deepEqual(await exported("to=2025-12-31"), ["10050", "10000", 10_000, at(50), at(10_049)]);
  deepEqual(await exported(`to=${at(49)}`), ["50", "50", 50, at(0), at(49)]);
  deepEqual(await exported(`from=${at(10)}&to=${at(19)}`), ["10", "10", 10, at(10), at(19)]);
  deepEqual(await exported("to=2024-12-31"), ["0", "0", 0, undefined, undefined]);
  equal((await app.call("GET", `${BASE}/export?format=xml`)).status, 400);
  equal((await app.call("GET", `${BASE}/export?from=x`)).status, 400);
});

Deno.test("HEAD of an export exports and records nothing", async () => {
  using app = opened();
  fillLog(app.deps.db, 3);
  const { status } = await app.fetch("HEAD", `${BASE}/export`);
  equal(status, 200);
  const { logs } = (await app.call("GET", `${BASE}/logs?action=compliance.export`)).body;
  deepEqual(logs, []);
});

Deno.test("an export is created while it is read, and can be cancelled", async () => {
  using app = opened();
  fillLog(app.deps.db, 2_000);
  const response = await app.fetch("GET", `${BASE}/export?format=csv`);
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let lines = 0;
  for (let n = 0; n < 3; n++) {
    lines += decoder.decode((await reader.read()).value).split("\r\n").length - 1;
  }
  // The names of the columns, and two pieces.
  equal(lines, 1 + 2 * 100);
  await reader.cancel();
  // A piece in progress when the client disconnects is discarded.
  await yieldToEventLoop();
  const head = await app.fetch("HEAD", `${BASE}/export`);
  deepEqual([head.status, await head.text()], [200, ""]);
  await yieldToEventLoop();
});
