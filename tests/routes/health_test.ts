import { deepEqual, equal, ok } from "node:assert/strict";
import { VERSION } from "../../services/version.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { testApp } from "../helpers/test_app.ts";

const ENGINE = { "GET /version": () => Response.json({ Version: "20.10.24", ApiVersion: "1.41" }) };

const FAILED = { at: "2026-01-01T00:00:10.000Z", before: "2026-01-01T00:00:05.000Z" };

Deno.test("GET /livez and /readyz need no token", async () => {
  using app = testApp();
  for (const path of ["/livez", "/readyz"]) {
    const { status, body } = await app.call("GET", path, undefined, { role: "public" });
    deepEqual({ status, body }, { status: 200, body: { status: "ok" } });
  }
});

Deno.test("GET /readyz is 503 while a database fails, and only then", async () => {
  using app = testApp();
  const { db } = app.deps;
  app.deps.db = { ...db, get: () => raise("disk I/O error") };
  const failed = await app.call("GET", "/readyz", undefined, { role: "public" });
  app.deps.db = db;

  deepEqual([failed.status, failed.body], [503, { status: "failed" }]);
  equal(failed.headers.get("content-type"), "application/json");
  equal((await app.call("GET", "/readyz")).status, 200);
  equal((await app.call("GET", "/livez")).status, 200);
});

Deno.test("GET /api/health shows only the status without a token", async () => {
  using app = testApp();
  const { status, body } = await app.call("GET", "/api/health", undefined, { role: "public" });
  deepEqual({ status, body }, { status: 200, body: { status: "degraded" } });

  const forged = await app.call("GET", "/api/health", undefined, { token: "a.b.c" });
  deepEqual(forged.body, { status: "degraded" });
});

Deno.test("GET /health returns status and version without a token", async () => {
  await using fake = fakeEngine(ENGINE);
  using app = testApp({ engine: fake.engine });
  const health = () => app.call("GET", "/health", undefined, { role: "public" });

  deepEqual((await health()).body, { status: "degraded", version: VERSION });
  await fake.engine.request("GET", "/version").then((response) => response.bytes());
  deepEqual((await health()).body, { status: "ok", version: VERSION });
});

Deno.test("GET /api/health shows all details with a token", async () => {
  await using fake = fakeEngine(ENGINE);
  using app = testApp({ engine: fake.engine });
  await fake.engine.request("GET", "/version").then((response) => response.bytes());
  app.clock.advance({ minutes: 2 });
  app.deps.workers.set("host sampler", {
    name: "host sampler",
    lastRoundAt: FAILED.at,
    lastError: null,
    lastErrorAt: null,
  });

  const { status, body } = await app.call("GET", "/api/health", undefined, { role: "viewer" });

  equal(status, 200);
  deepEqual(body, {
    status: "ok",
    version: VERSION,
    startedAt: "2026-01-01T00:00:00.000Z",
    uptimeSeconds: 120,
    engine: { reachable: true, version: "20.10.24", apiVersion: "1.41" },
    eventStream: { status: "ok", breaks: 0, lastError: null, lastErrorAt: null },
    inventory: { status: "ok", lastError: null, lastErrorAt: null },
    ownContainer: "none",
    databases: { state: "ok", metrics: "ok" },
    outboxDepth: 0,
    workers: [{
      name: "host sampler",
      status: "ok",
      lastRoundAt: FAILED.at,
      lastError: null,
      lastErrorAt: null,
    }],
    license: {
      edition: "ce",
      expiresAt: null,
      graceUntil: null,
      problem: null,
      protectedUntil: null,
      warning: null,
    },
  });
});

Deno.test("GET /api/health is degraded while the engine is unreachable, without asking it", async () => {
  using app = testApp();
  const { status, body } = await app.call("GET", "/api/health");
  equal(status, 200);
  equal(body.status, "degraded");
  deepEqual(body.engine, { reachable: false, version: null, apiVersion: null });
});

for (
  const { when, lastRoundAt, expected } of [
    { when: "before its first round", lastRoundAt: null, expected: "failing" },
    { when: "since its last round", lastRoundAt: FAILED.before, expected: "failing" },
    {
      when: "before a round that went well",
      lastRoundAt: "2026-01-01T00:00:15.000Z",
      expected: "ok",
    },
  ]
) {
  Deno.test(`a worker that failed ${when} is ${expected}`, async () => {
    await using fake = fakeEngine(ENGINE);
    using app = testApp({ engine: fake.engine });
    await fake.engine.request("GET", "/version").then((response) => response.bytes());
    app.deps.workers.set("w", { name: "w", lastRoundAt, lastError: "no", lastErrorAt: FAILED.at });

    const { body } = await app.call("GET", "/api/health");
    equal(body.workers[0].status, expected);
    equal(body.status, expected === "ok" ? "ok" : "degraded");
    ok(body.workers[0].lastError === "no");
  });
}

function raise(message: string): never {
  throw new Error(message);
}
