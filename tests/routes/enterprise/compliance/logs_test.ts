import { deepEqual, equal, match, ok } from "node:assert/strict";
import { createHash } from "node:crypto";
import { GENESIS_HASH } from "../../../../services/enterprise/compliance/hash_chain.ts";
import canonicalize from "canonicalize";
import { fillLog } from "../../../helpers/compliance.ts";
import { type CallOptions, type TestApp, testApp } from "../../../helpers/test_app.ts";

const BASE = "/api/ext/service-enterprise/compliance";
const NOON = "2026-01-01T12:00:00.000Z";

const restored = {
  category: "data",
  severity: "warning",
  action: "backup.restored",
  resource_type: "database",
  resource_id: "orders",
  detail: "Restored from the backup of 2025-12-31",
  outcome: "failure",
  metadata: { ticket: "OPS-4711", nested: { list: [1, 2.5, null, true, "ä€😀"] } },
};

const opened = () => testApp({ edition: "enterprise", now: NOON });
const write = (app: TestApp, changes = {}, options?: CallOptions) =>
  app.call("POST", `${BASE}/logs`, { ...restored, ...changes }, options);
const list = async (app: TestApp, query = "") =>
  (await app.call("GET", `${BASE}/logs?${query}`)).body;

/** Uses only the response of the API. */
function recomputed(shown: Record<string, unknown>): string {
  const { entry_hash: _, chain_valid: __, ...fields } = shown;
  return `sha256:${createHash("sha256").update(canonicalize(fields)!).digest("hex")}`;
}

Deno.test("POST /logs stores an entry and shows it, and it can be read", async () => {
  using app = opened();
  const { status, body } = await write(app);
  equal(status, 201);
  const { id, event_id, entry_hash, ...rest } = body;
  deepEqual(rest, {
    ...restored,
    actor_id: "key",
    actor_type: "api_key",
    recorded_by: "key",
    previous_hash: GENESIS_HASH,
    created_at: NOON,
  });
  for (const each of [id, event_id]) match(each, /^[0-9a-f-]{36}$/);
  equal(entry_hash, recomputed(body));

  deepEqual(await list(app), { logs: [body], total: 1, limit: 100, offset: 0 });
  const read = await app.call("GET", `${BASE}/logs/${id}`);
  deepEqual([read.status, read.body], [200, { ...body, chain_valid: true }]);
  const next = await write(app, { metadata: undefined });
  equal(next.body.previous_hash, entry_hash);
  equal((await app.call("GET", `${BASE}/logs/x`)).status, 404);
});

Deno.test("omitted fields have defaults, and the entry names its author", async () => {
  using app = opened();
  const { body } = await app.call("POST", `${BASE}/logs`, {
    category: "system",
    action: "host.rebooted",
    actor_id: "boss",
  });
  const { id, event_id, entry_hash, ...rest } = body;
  ok(id !== event_id && entry_hash !== "sha256:0");
  deepEqual(rest, {
    category: "system",
    severity: "info",
    actor_id: "boss",
    actor_type: "user",
    action: "host.rebooted",
    resource_type: null,
    resource_id: null,
    detail: null,
    outcome: "success",
    metadata: null,
    recorded_by: "key",
    previous_hash: GENESIS_HASH,
    created_at: NOON,
  });
  equal(entry_hash, recomputed(body));
  equal((await write(app, { actor_id: "x", actor_type: "agent" })).body.actor_type, "agent");
});

const deep = (levels: number): unknown => levels === 0 ? 1 : { a: deep(levels - 1) };

for (
  const [change, error] of [
    [{ category: undefined }, /^body\.category: /],
    [{ category: "containers" }, /^body\.category: /],
    [{ severity: "fatal" }, /^body\.severity: /],
    [{ actor_type: "robot" }, /^body\.actor_type: /],
    [{ actor_id: "" }, /^body\.actor_id: /],
    [{ actor_id: "x".repeat(201) }, /^body\.actor_id: /],
    [{ action: undefined }, /^body\.action: /],
    [{ action: "" }, /^body\.action: /],
    [{ action: "x".repeat(201) }, /^body\.action: /],
    [{ outcome: "denied" }, /^body\.outcome: /],
    [{ resource_type: 1 }, /^body\.resource_type: /],
    [{ resource_id: "x".repeat(301) }, /^body\.resource_id: /],
    [{ detail: "x".repeat(2_001) }, /^body\.detail: /],
    [{ detail: "a\0b" }, /^body\.detail: contains a NUL/],
    [{ detail: "\ud800" }, /^body\.detail: .*surrogate/],
    [{ metadata: [] }, /^body\.metadata: must be an object/],
    [{ metadata: "x" }, /^body\.metadata: must be an object/],
    [{ metadata: 5 }, /^body\.metadata: must be an object/],
    [{ metadata: { a: "\ud800" } }, /^body\.metadata: /],
    [{ metadata: { a: "\0" } }, /^body\.metadata: /],
    [{ metadata: { a: "x".repeat(8_200) } }, /^body\.metadata: must be at most 8192 bytes/],
    [{ metadata: { a: "ä".repeat(4_100) } }, /^body\.metadata: must be at most 8192 bytes/],
    [{ metadata: deep(9) }, /^body\.metadata: must not nest more than 8 deep/],
  ] as const
) {
  Deno.test(`POST /logs refuses ${JSON.stringify(change).slice(0, 60)}`, async () => {
    using app = opened();
    const { status, body } = await write(app, change);
    equal(status, 400);
    match(body.error, error);
    // The refusal may be recorded, but not by the caller's entry.
    const { logs } = await list(app);
    ok(logs.every(({ recorded_by }: { recorded_by: unknown }) => recorded_by === null));
  });
}

for (
  const [what, text, error] of [
    ["a number beyond the range of a double", '{"a": 1e400}', /beyond 2\^53 .* Infinity,/],
    [
      "an integer that loses digits",
      '{"a": [9007199254740993]}',
      /beyond 2\^53 .* 9007199254740992,/,
    ],
    ["a negative one", '{"a": {"b": -9007199254740993}}', /beyond 2\^53 .* -9007199254740992,/],
    ["a member __proto__", '{"__proto__": 5}', /metadata: must not contain a member __proto__/],
    ["an object as __proto__", '{"__proto__": {"a": 1}}', /must not contain a member __proto__/],
    ["an inner member __proto__", '{"a": [{"__proto__": 1}]}', /__proto__/],
    [
      "what is nested as deep as a body is long",
      `{"a":${"[".repeat(200_000)}${"]".repeat(200_000)}}`,
      /must not nest/,
    ],
  ] as const
) {
  Deno.test(`POST /logs refuses ${what} in the metadata`, async () => {
    using app = opened();
    const { status, body } = await app.call(
      "POST",
      `${BASE}/logs`,
      `{"category": "data", "action": "x", "metadata": ${text}}`,
      { headers: { "content-type": "application/json" } },
    );
    equal(status, 400);
    match(body.error, error);
  });
}

Deno.test("metadata at its limits is stored unchanged", async () => {
  using app = opened();
  for (
    const metadata of [
      {},
      deep(8),
      { a: "x".repeat(8_184) },
      { "": "", "€": '\u2028\\"', constructor: 1, n: [1e-7, -0.5, 9007199254740991] },
    ]
  ) {
    const { status, body } = await write(app, { metadata });
    equal(status, 201);
    deepEqual(body.metadata, metadata);
    equal(body.entry_hash, recomputed(body));
    const read = await app.call("GET", `${BASE}/logs/${body.id}`);
    deepEqual(read.body, { ...body, chain_valid: true });
  }
});

Deno.test("only admins can read the log or add to it", async () => {
  using app = opened();
  for (const role of ["viewer", "operator"] as const) {
    for (
      const [method, path] of [
        ["GET", "logs"],
        ["GET", "logs/x"],
        ["POST", "logs"],
        ["GET", "export"],
        ["GET", "config"],
        ["PUT", "config"],
        ["GET", "stats"],
        ["POST", "verify-chain"],
        ["DELETE", "retention"],
      ] as const
    ) {
      const body = method === "POST" || method === "PUT" ? {} : undefined;
      equal((await app.call(method, `${BASE}/${path}`, body, { role })).status, 403);
    }
  }
});

Deno.test("GET /logs is paged and filtered, newest first", async () => {
  using app = opened();
  const categories = ["data", "system", "security"] as const;
  fillLog(app.deps.db, 30, {
    from: "2026-01-01T00:00:00Z",
    stepMs: 60_000,
    each: (n) => ({
      category: categories[n % 3]!,
      severity: n % 2 ? "error" : "info",
      outcome: n % 5 ? "success" : "failure",
      actor_id: `user ${n % 4}`,
      action: `act.${n % 7}`,
      resource_id: String(n),
    }),
  });
  const found = async (query: string) => {
    const { logs, total } = await list(app, query);
    return [total, logs.map(({ resource_id }: { resource_id: string }) => Number(resource_id))];
  };
  const all = Array.from({ length: 30 }, (_, n) => 29 - n);
  const where = (fits: (n: number) => boolean) => {
    const fitting = all.filter(fits);
    return [fitting.length, fitting];
  };
  deepEqual(await found(""), where(() => true));
  deepEqual(await found("category=system"), where((n) => n % 3 === 1));
  deepEqual(await found("severity=error"), where((n) => n % 2 === 1));
  deepEqual(await found("outcome=failure"), where((n) => n % 5 === 0));
  deepEqual(await found("actor_id=user%202"), where((n) => n % 4 === 2));
  deepEqual(await found("action=act.3"), where((n) => n % 7 === 3));
  deepEqual(
    await found("category=data&severity=info&outcome=success&actor_id=user%200"),
    where((n) => n % 3 === 0 && n % 2 === 0 && n % 5 !== 0 && n % 4 === 0),
  );
  deepEqual(await found("q=USER%202"), where((n) => n % 4 === 2));
  deepEqual(await found("q=act.3&severity=info"), where((n) => n % 7 === 3 && n % 2 === 0));
  deepEqual(await found("q=%25"), [0, []]);
  deepEqual(await found("actor_id=unknown"), [0, []]);
  deepEqual(await found("severity=critical"), [0, []]);
  deepEqual(await found("limit=3&offset=4"), [30, [25, 24, 23]]);
  deepEqual(await found("limit=3&offset=28"), [30, [1, 0]]);
  deepEqual(await found("offset=30"), [30, []]);
  deepEqual(await found("category=system&limit=2&offset=1"), [10, [25, 22]]);
  deepEqual(await found("from=2026-01-01T00:10:00Z"), where((n) => n >= 10));
  deepEqual(await found("to=2026-01-01T00:10:00Z"), where((n) => n <= 10));
  deepEqual(
    await found("from=2026-01-01T01:05:00%2B01:00&to=2026-01-01T00:06:59.999Z"),
    where((n) => n === 5 || n === 6),
  );
  deepEqual(await found("from=2026-01-01&to=2026-01-01"), where(() => true));
  deepEqual(await found("to=2025-12-31"), [0, []]);
  deepEqual(await found("from=2026-01-02"), [0, []]);
  deepEqual(await found("to=9999-12-31"), where(() => true));
  deepEqual(
    await found("severity=info&from=2026-01-01T00:10:00Z&limit=2&offset=1"),
    [10, [26, 24]],
  );
});

for (
  const query of [
    "category=nonsense",
    "severity=",
    "outcome=denied",
    "actor_id=",
    "q=",
    "limit=0",
    "limit=501",
    "limit=x",
    "offset=-1",
    "from=2026",
    "from=2026-13-01",
    "from=2026-01-01T00:00:00",
    "from=yesterday",
    "to=2026-02-30",
    "from=2026-01-02&to=2026-01-01",
    "from=2026-01-01&from=2026-01-02",
    "from=9999-12-31T23:59:59-01:00",
  ]
) {
  Deno.test(`GET /logs?${query} is refused`, async () => {
    using app = opened();
    const { status, body } = await app.call("GET", `${BASE}/logs?${query}`);
    equal(status, 400);
    match(body.error, /^query\.(category|severity|outcome|actor_id|q|limit|offset|from|to): /);
  });
}

/** A list is read in windows of 5 000 entries; these are two and three. */
Deno.test("pages are complete over thousands of entries with the same time", async () => {
  using app = opened();
  fillLog(app.deps.db, 5_500, { stepMs: 0, each: (n) => ({ resource_id: String(n) }) });
  const seen: number[] = [];
  for (let offset = 0; offset < 6_000; offset += 500) {
    const { logs, total } = await list(app, `limit=500&offset=${offset}&actor_id=${STOPPED_ACTOR}`);
    equal(total, 5_500);
    seen.push(...logs.map(({ resource_id }: { resource_id: string }) => Number(resource_id)));
  }
  deepEqual(seen, Array.from({ length: 5_500 }, (_, n) => 5_499 - n));
});

const STOPPED_ACTOR = "5f0c7c0a-8f43-4a3c-9c69-7e2f3f6d1c11";

Deno.test("pages are complete over many windows, also with a filter that few entries match", async () => {
  using app = opened();
  const isRare = (n: number) => n % 499 === 0;
  fillLog(app.deps.db, 11_000, {
    each: (n) => ({ resource_id: String(n), ...(isRare(n) && { severity: "critical" }) }),
  });
  const expected = Array.from({ length: 11_000 }, (_, n) => n).filter(isRare).reverse();
  const numbers = ({ logs }: { logs: { resource_id: string }[] }) =>
    logs.map(({ resource_id }) => Number(resource_id));
  deepEqual(numbers(await list(app, "severity=critical")), expected);
  deepEqual(numbers(await list(app, "severity=critical&offset=7&limit=9")), expected.slice(7, 16));
  const filter = `severity=critical&category=container&actor_id=${STOPPED_ACTOR}`;
  const page = await list(app, `${filter}&offset=7&limit=9`);
  deepEqual([page.total, numbers(page)], [expected.length, expected.slice(7, 16)]);
  const [last] = numbers(await list(app, "offset=10999"));
  equal(last, 0);
});

Deno.test("an entry shows whether and where it was changed", async () => {
  using app = opened();
  const { db } = app.deps;
  fillLog(db, 5);
  const ids = db.all<{ id: string }>("SELECT id FROM compliance_logs ORDER BY sequence")
    .map(({ id }) => id);
  const valid = async () => {
    const answers = await Promise.all(ids.map((id) => app.call("GET", `${BASE}/logs/${id}`)));
    return answers.map(({ body }) => body.chain_valid ?? "gone");
  };
  deepEqual(await valid(), [true, true, true, true, true]);
  db.exec("DROP TRIGGER compliance_logs_never_change; DROP TRIGGER compliance_logs_are_kept");
  db.exec("UPDATE compliance_logs SET detail = 'harmless' WHERE sequence = 2");
  deepEqual(await valid(), [true, false, true, true, true]);
  db.exec("DELETE FROM compliance_logs WHERE sequence = 4");
  deepEqual(await valid(), [true, false, false, "gone", false]);
  db.exec("DELETE FROM compliance_logs WHERE sequence = 5");
  deepEqual(await valid(), [true, false, false, "gone", "gone"]);
  db.exec("PRAGMA ignore_check_constraints = 1");
  db.exec("UPDATE compliance_logs SET metadata = 'junk' WHERE sequence = 1");
  deepEqual(await valid(), [false, false, false, "gone", "gone"]);
  equal((await list(app)).logs.at(-1).metadata, null);
});

Deno.test("SQL can neither change nor delete entries, nor insert one outside the chain", () => {
  using app = opened();
  const { db } = app.deps;
  fillLog(db, 3);
  const refused = (sql: string, says: RegExp) => {
    try {
      db.exec(sql);
    } catch (error) {
      return match((error as Error).message, says);
    }
    throw new Error(`${sql} was not refused`);
  };
  const copy = `id || 'x', event_id, category, severity, actor_id, actor_type, action,
    resource_type, resource_id, detail, outcome, metadata, recorded_by, previous_hash, entry_hash,
    created_at FROM compliance_logs WHERE sequence`;
  refused("UPDATE compliance_logs SET detail = 'x'", /never changes/);
  refused("UPDATE compliance_logs SET sequence = 9 WHERE sequence = 3", /never changes/);
  refused("DELETE FROM compliance_logs", /deleted by retention only/);
  refused("DELETE FROM compliance_logs WHERE sequence = 3", /deleted by retention only/);
  refused(`INSERT INTO compliance_logs SELECT 4, ${copy} = 3`, /must follow the last one/);
  refused(`INSERT INTO compliance_logs SELECT 3, ${copy} = 3`, /must follow the last one/);
  refused(`INSERT OR REPLACE INTO compliance_logs SELECT 3, ${copy} = 3`, /must follow/);
  refused("DELETE FROM compliance_head", /the head of the compliance log stays/);
  equal(db.get<{ n: number }>("SELECT count(*) AS n FROM compliance_logs")!.n, 3);
});
