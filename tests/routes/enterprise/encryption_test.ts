import { deepEqual, equal, match, throws } from "node:assert/strict";
import type { StateDatabase } from "../../../db/database.ts";
import { insertKeyRotation } from "../../../db/enterprise/key_rotations.ts";
import {
  openTestDatabase,
  TEST_ADDRESS,
  type TestApp,
  testApp,
  type TestAppOptions,
} from "../../helpers/test_app.ts";

const BASE = "/api/ext/service-enterprise/encryption";

const DEFAULTS = {
  enabled: false,
  algorithm: "aes-256-cbc",
  kdf_iterations: 256_000,
  page_size: 4_096,
};

const enterpriseApp = (options: TestAppOptions = {}) =>
  testApp({ edition: "enterprise", now: "2026-01-01T12:00:00Z", ...options });

/** A database that reports SQLCipher. */
function cipherDatabase(): StateDatabase {
  const db = openTestDatabase();
  const get = db.get.bind(db);
  db.get = <Row>(sql: string, params = {}) =>
    sql === "PRAGMA cipher_version"
      ? { cipher_version: "4.6.1 community" } as Row
      : get<Row>(sql, params);
  return db;
}

const entries = async (app: TestApp, query = "") =>
  (await app.call("GET", `${BASE}/audit${query}`)).body.entries;

Deno.test("GET /encryption/status asks the database, which is a plain SQLite", async () => {
  using app = enterpriseApp();
  deepEqual((await app.call("GET", `${BASE}/status`)).body, {
    enabled: false,
    sqlcipher_available: false,
    algorithm: "aes-256-cbc",
    kdf_iterations: 256_000,
    last_rotation: null,
    pending_rotations: 0,
  });
  deepEqual((await app.call("GET", `${BASE}/config`)).body, DEFAULTS);
});

Deno.test("encryption can be enabled only when SQLCipher opened the database", async () => {
  using app = enterpriseApp();
  const refused = await app.call("PUT", `${BASE}/config`, { enabled: true, page_size: 8_192 });
  deepEqual([refused.status, refused.body.error], [
    409,
    "Cannot enable encryption: the database was opened by SQLite without SQLCipher " +
    "(PRAGMA cipher_version returns no value)",
  ]);
  deepEqual((await app.call("GET", `${BASE}/config`)).body, DEFAULTS);
  deepEqual(await entries(app), []);

  const db = cipherDatabase();
  using able = enterpriseApp({ db });
  const { status, body } = await able.call("PUT", `${BASE}/config`, { enabled: true });
  deepEqual([status, body], [200, { ...DEFAULTS, enabled: true }]);
  const shown = (await able.call("GET", `${BASE}/status`)).body;
  deepEqual([shown.enabled, shown.sqlcipher_available], [true, true]);
  const off = await able.call("PUT", `${BASE}/config`, { enabled: false });
  deepEqual([off.status, off.body.enabled], [200, false]);
  db.close();
});

Deno.test("PUT /encryption/config keeps omitted settings and records changes", async () => {
  using app = enterpriseApp();
  const { status, body } = await app.call("PUT", `${BASE}/config`, {
    algorithm: "aes-256-gcm",
    kdf_iterations: 600_000,
    enabled: false,
  });
  deepEqual([status, body], [200, {
    ...DEFAULTS,
    algorithm: "aes-256-gcm",
    kdf_iterations: 600_000,
  }]);
  const [entry, ...more] = await entries(app);
  deepEqual([entry, more], [{
    id: entry.id,
    event_type: "config_updated",
    detail: "algorithm: aes-256-cbc -> aes-256-gcm, kdf_iterations: 256000 -> 600000",
    actor: "key",
    ip: TEST_ADDRESS,
    created_at: "2026-01-01T12:00:00.000Z",
  }, []]);
  // Without a change nothing is recorded.
  for (const same of [{}, { algorithm: "aes-256-gcm" }, body]) {
    deepEqual((await app.call("PUT", `${BASE}/config`, same)).body, body);
  }
  equal((await entries(app)).length, 1);
});

for (
  const [change, error] of [
    [{ enabled: "yes" }, /^body\.enabled: /],
    [{ enabled: null }, /^body\.enabled: /],
    [{ algorithm: "aes-128-cbc" }, /^body\.algorithm: must be one of aes-256-cbc, aes-256-gcm$/],
    [{ algorithm: "AES-256-GCM" }, /^body\.algorithm: must be one of /],
    [{ kdf_iterations: 99_999 }, /^body\.kdf_iterations: .*100000/],
    [{ kdf_iterations: 5_000_001 }, /^body\.kdf_iterations: .*5000000/],
    [{ kdf_iterations: 256_000.5 }, /^body\.kdf_iterations: /],
    [{ kdf_iterations: "256000" }, /^body\.kdf_iterations: /],
    ...[0, 1, 256, 511, 513, 3_000, 131_072, -512, 512.5, "512", null].map((page_size) =>
      [{ page_size }, /^body\.page_size: must be a power of two from 512 to 65536$/] as const
    ),
  ] as const
) {
  Deno.test(`PUT /encryption/config refuses ${JSON.stringify(change)}`, async () => {
    using app = enterpriseApp();
    const { status, body } = await app.call("PUT", `${BASE}/config`, {
      algorithm: "aes-256-gcm",
      ...change,
    });
    equal(status, 400);
    match(body.error, error);
    deepEqual((await app.call("GET", `${BASE}/config`)).body, DEFAULTS);
  });
}

Deno.test("the smallest and the largest value of each setting are accepted", async () => {
  using app = enterpriseApp();
  for (
    const change of [
      { kdf_iterations: 100_000 },
      { kdf_iterations: 5_000_000 },
      ...[512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536].map((page_size) => ({
        page_size,
      })),
    ]
  ) {
    const { status, body } = await app.call("PUT", `${BASE}/config`, change);
    equal(status, 200);
    deepEqual({ ...body, ...change }, body);
  }
});

Deno.test("a rotation is pending until it is ended, and only one can be pending", async () => {
  using app = enterpriseApp();
  const begun = await app.call("POST", `${BASE}/rotate-key`, { notes: "Yearly" });
  equal(begun.status, 202);
  const { id, status, message } = begun.body;
  deepEqual([Object.keys(begun.body), status], [["id", "status", "message"], "pending"]);
  match(message, new RegExp(`/rotations/${id}`));
  equal((await app.call("GET", `${BASE}/status`)).body.pending_rotations, 1);

  app.clock.advance({ minutes: 5 });
  const second = await app.call("POST", `${BASE}/rotate-key`, {});
  deepEqual([second.status, second.body.error], [
    409,
    `Rotation ${id} has been pending since 2026-01-01T12:00:00.000Z; end it first`,
  ]);

  const ended = await app.call("PUT", `${BASE}/rotations/${id}`, { status: "completed" });
  deepEqual([ended.status, ended.body], [200, {
    id,
    status: "completed",
    notes: "Yearly",
    initiated_by: "key",
    started_at: "2026-01-01T12:00:00.000Z",
    completed_at: "2026-01-01T12:05:00.000Z",
  }]);
  for (const status of ["completed", "failed", "cancelled"]) {
    const again = await app.call("PUT", `${BASE}/rotations/${id}`, { status });
    deepEqual([again.status, again.body.error], [
      409,
      `Rotation ${id} has already ended (completed, 2026-01-01T12:05:00.000Z)`,
    ]);
  }
  const { body } = await app.call("GET", `${BASE}/status`);
  deepEqual([body.last_rotation, body.pending_rotations], ["2026-01-01T12:05:00.000Z", 0]);
  deepEqual(
    (await entries(app)).map(({ event_type, detail }: Record<string, string>) => [
      event_type,
      detail,
    ]),
    [
      ["rotation_ended", `Rotation ${id}: completed`],
      ["rotation_initiated", `Rotation ${id}: pending (Yearly)`],
    ],
  );
});

Deno.test("after a failed or cancelled rotation another can start, and last_rotation stays", async () => {
  using app = enterpriseApp();
  for (const status of ["failed", "cancelled"]) {
    const { body: { id } } = await app.call("POST", `${BASE}/rotate-key`);
    app.clock.advance({ seconds: 1 });
    const { body } = await app.call("PUT", `${BASE}/rotations/${id}`, { status, notes: "No room" });
    deepEqual([body.status, body.notes], [status, "No room"]);
  }
  const { body } = await app.call("GET", `${BASE}/status`);
  deepEqual([body.last_rotation, body.pending_rotations], [null, 0]);
  const listed = (await app.call("GET", `${BASE}/rotations?limit=1`)).body;
  deepEqual(
    [listed.rotations.length, listed.rotations[0].status, listed.total, listed.limit],
    [1, "cancelled", 2, 1],
  );
  const [last] = await entries(app);
  match(last.detail, /^Rotation [\w-]+: cancelled \(No room\)$/);
});

Deno.test("the database itself refuses a second pending rotation", () => {
  using app = enterpriseApp();
  const { db } = app.deps;
  const pending = (id: string) =>
    insertKeyRotation(db, {
      id,
      status: "pending",
      notes: "",
      initiated_by: "key",
      started_at: "2026-01-01T12:00:00.000Z",
      completed_at: null,
    });
  pending("a");
  throws(() => pending("b"), { errcode: 2067 });
});

Deno.test("of ten concurrent rotations one succeeds", async () => {
  using app = enterpriseApp();
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => app.call("POST", `${BASE}/rotate-key`, {})),
  );
  equal(answers.filter(({ status }) => status === 202).length, 1);
  equal(answers.filter(({ status }) => status === 409).length, 9);
  equal((await app.call("GET", `${BASE}/rotations`)).body.total, 1);
});

for (
  const [method, path, body, status, error] of [
    ["POST", "rotate-key", { notes: "x".repeat(1_001) }, 400, /^body\.notes: /],
    ["POST", "rotate-key", { notes: 1 }, 400, /^body\.notes: /],
    ["PUT", "rotations/x", { status: "completed" }, 404, /^Key rotation x does not exist$/],
    ["PUT", "rotations/x", {}, 400, /^body\.status: is required$/],
    ["PUT", "rotations/x", { status: "pending" }, 400, /^body\.status: must be one of /],
    ["PUT", "rotations/x", { status: "failed", notes: null }, 400, /^body\.notes: /],
    ["GET", "rotations?limit=501", undefined, 400, /^query\.limit: /],
    ["GET", "audit?event_type=login", undefined, 400, /^query\.event_type: must be one of config_/],
    ["GET", "audit?event_type=", undefined, 400, /^query\.event_type: /],
    ["DELETE", "audit/retention", undefined, 400, /^query\.days: is required$/],
    ["DELETE", "audit/retention?days=", undefined, 400, /^query\.days: must be a whole number/],
    ["DELETE", "audit/retention?days=29", undefined, 400, /^query\.days: .*30/],
    ["DELETE", "audit/retention?days=3651", undefined, 400, /^query\.days: .*3650/],
    ["DELETE", "audit/retention?days=-30", undefined, 400, /^query\.days: /],
    ["DELETE", "audit/retention?days=90.5", undefined, 400, /^query\.days: /],
    ["DELETE", "audit/retention?days=1e3", undefined, 400, /^query\.days: /],
    ["DELETE", "audit/retention?days=90&days=30", undefined, 400, /^query\.days: given 2 times/],
  ] as const
) {
  Deno.test(`${method} ${path} with ${JSON.stringify(body)?.slice(0, 40) ?? "no body"} is ${status}`, async () => {
    using app = enterpriseApp();
    const answer = await app.call(method, `${BASE}/${path}`, body);
    equal(answer.status, status);
    match(answer.body.error, error);
    deepEqual(await entries(app), []);
  });
}

Deno.test("GET /encryption/audit is paged, newest first, and filtered by event_type", async () => {
  using app = enterpriseApp();
  for (const page_size of [512, 1_024, 2_048]) {
    await app.call("PUT", `${BASE}/config`, { page_size });
    app.clock.advance({ minutes: 1 });
  }
  await app.call("POST", `${BASE}/rotate-key`, {});
  const { body } = await app.call("GET", `${BASE}/audit?limit=2&offset=1`);
  deepEqual(
    [body.entries.map(({ detail }: { detail: string }) => detail), body.total, body.offset],
    [["page_size: 1024 -> 2048", "page_size: 512 -> 1024"], 4, 1],
  );
  equal((await entries(app, "?event_type=rotation_initiated")).length, 1);
  equal((await entries(app, "?event_type=config_updated")).length, 3);
  equal((await app.call("GET", `${BASE}/audit?event_type=audit_purged`)).body.total, 0);
});

Deno.test("DELETE /encryption/audit/retention deletes older entries, and adds an entry about it", async () => {
  using app = enterpriseApp();
  await app.call("PUT", `${BASE}/config`, { page_size: 512 });
  app.clock.advance({ days: 40 });
  await app.call("PUT", `${BASE}/config`, { page_size: 1_024 });
  app.clock.advance({ days: 50 });
  // An entry of exactly that age is kept.
  const kept = await app.call("DELETE", `${BASE}/audit/retention?days=90`);
  deepEqual([kept.status, kept.body], [200, { deleted: 0, retention_days: 90 }]);
  app.clock.advance({ ms: 1 });
  const gone = await app.call("DELETE", `${BASE}/audit/retention?days=90`);
  deepEqual(gone.body, { deleted: 1, retention_days: 90 });
  const left = await entries(app);
  deepEqual(left.map(({ event_type }: { event_type: string }) => event_type), [
    "audit_purged",
    "audit_purged",
    "config_updated",
  ]);
  deepEqual([left[0].detail, left[0].actor, left[0].ip], [
    "1 entry older than 90 days deleted (before 2026-01-01T12:00:00.001Z)",
    "key",
    TEST_ADDRESS,
  ]);
});

Deno.test("a change is undone when the audit cannot be written", async () => {
  using app = enterpriseApp();
  const run = app.deps.db.run.bind(app.deps.db);
  app.deps.db.run = (sql, params) => {
    if (/INTO encryption_audit/.test(sql)) throw Object.assign(new Error("full"), { errcode: 13 });
    return run(sql, params);
  };
  equal((await app.call("PUT", `${BASE}/config`, { page_size: 512 })).status, 503);
  equal((await app.call("POST", `${BASE}/rotate-key`, {})).status, 503);
  equal((await app.call("DELETE", `${BASE}/audit/retention?days=30`)).status, 503);
  deepEqual((await app.call("GET", `${BASE}/config`)).body, DEFAULTS);
  equal((await app.call("GET", `${BASE}/rotations`)).body.total, 0);
});

Deno.test("only admins can read or change the settings of encryption, and only with the license", async () => {
  using app = enterpriseApp();
  using pro = testApp({ edition: "pro" });
  for (const path of ["status", "config", "rotations", "audit"]) {
    for (const role of ["viewer", "operator"] as const) {
      equal((await app.call("GET", `${BASE}/${path}`, undefined, { role })).status, 403);
    }
    const { status, body } = await pro.call("GET", `${BASE}/${path}`);
    deepEqual([status, body.error], [
      402,
      "Encryption settings need the Enterprise edition (encryption)",
    ]);
  }
});
