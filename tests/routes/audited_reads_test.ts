import { deepEqual, equal, match } from "node:assert/strict";
import { everyRoute } from "../../routes/editions.ts";
import {
  omittedReadRecorder,
  recordOmittedReads,
} from "../../services/access/audit/omitted_reads.ts";
import type { Scope } from "../../services/access/scope.ts";
import { setContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { type TestApp, testApp } from "../helpers/test_app.ts";

// deno-lint-ignore no-explicit-any
const entries = async (app: TestApp): Promise<any[]> =>
  (await app.call("GET", "/api/audit?limit=500")).body.entries;

const shown = async (app: TestApp) =>
  (await entries(app)).map(({ action, target, outcome }) => `${action} ${target} ${outcome}`)
    .sort();

Deno.test("copies of data, reads of sources and sign-ins that come back from a provider are in the audit log", async () => {
  using app = testApp();
  const read: string[] = [];
  for (const { prefix, endpoints } of await everyRoute(app.deps)) {
    for (const { method, path, audited } of endpoints) {
      if (audited) read.push(`${method.toUpperCase()} ${prefix}${path}`);
    }
  }
  deepEqual(read.sort(), [
    "GET /api/backup/snapshots/:id/archive",
    "GET /api/backup/snapshots/:id/diff/:other",
    "GET /api/backup/snapshots/:id/file",
    "GET /api/backup/snapshots/:id/files",
    "GET /api/containers/:id/file",
    "GET /api/containers/:id/files",
    "GET /api/containers/:id/logs/download",
    "GET /api/images/:id/export",
    "GET /api/stacks/:name/file",
    "GET /api/stacks/:name/files",
    "GET /api/stacks/:name/source",
    "GET /api/stacks/:name/versions/:version",
    "GET /api/stacks/:name/versions/:version/diff/:other",
    "GET /api/swarm/tokens",
    "GET /api/volumes/:name/file",
    "GET /api/volumes/:name/files",
    "GET /auth/oidc/:id/callback",
    "GET /auth/oidc/callback",
    "POST /api/stacks/:name/plan",
    "POST /api/stacks/generate",
  ]);
});

Deno.test("reads of sources and plans are recorded, and do not count as changes", async () => {
  await using fake = fakeEngine({ "GET /containers/json": () => Response.json([]) });
  using app = testApp({ engine: fake.engine });
  setContainers(app);
  const compose = "services:\n  web:\n    image: nginx\n";
  await app.call("POST", "/api/stacks", { name: "shop", deploy: false, compose });
  const changes: string[] = [];
  app.deps.changes.record = (resource) => void changes.push(resource);

  for (
    const [method, path] of [
      ["GET", "/source"],
      ["GET", "/versions/1"],
      ["GET", "/versions/1/diff/1"],
      ["GET", "/versions"],
      ["POST", "/plan"],
    ] as const
  ) await app.call(method, `/api/stacks/shop${path}`, method === "POST" ? {} : undefined);

  deepEqual((await shown(app)).map((each) => each.replace(/ \w+$/, "")), [
    "GET /api/stacks/:name/source shop",
    "GET /api/stacks/:name/versions/:version shop 1",
    "GET /api/stacks/:name/versions/:version/diff/:other shop 1 1",
    "POST /api/stacks shop",
    "POST /api/stacks/:name/plan shop",
  ]);
  deepEqual(changes, []);
});

/** Reads with API tokens, of which the scope decides. */
const reader = (app: TestApp, scope: Partial<Scope>) => async (path: string) =>
  (await app.call("GET", path, undefined, { role: "viewer", scope })).status;

for (const edition of ["ce", "enterprise"] as const) {
  Deno.test(`denied reads of limited tokens are recorded once in an hour (${edition})`, async () => {
    await using fake = fakeEngine({});
    using app = testApp({ edition, engine: fake.engine });
    setContainers(app, { name: "web" }, { name: "db" });
    const read = reader(app, { containers: ["web"] });
    for (let n = 0; n < 3; n++) {
      equal(await read("/api/containers/db"), 404);
      equal(await read("/api/audit"), 403);
      equal(await read("/api/silences"), 404);
      equal(await read("/api/containers"), 200);
    }
    equal(await reader(app, { permissions: ["images:read"] })("/api/containers"), 403);
    const all = [
      "GET /api/audit  denied",
      "GET /api/containers  denied",
      "GET /api/containers/:id db denied",
      "GET /api/silences  denied",
    ];
    deepEqual(await shown(app), all);

    app.clock.advance({ minutes: 60 });
    equal(await read("/api/containers/db"), 404);
    deepEqual(await shown(app), [...all, all[2]].sort());
  });
}

Deno.test("a token that tries many names fills 100 entries an hour", async () => {
  await using fake = fakeEngine({});
  using app = testApp({ engine: fake.engine });
  setContainers(app, { name: "web" });
  const read = reader(app, { containers: ["web"] });
  for (let n = 0; n < 150; n++) await read(`/api/containers/guess-${n}`);
  equal((await entries(app)).length, 100);
  // Other tokens have their own.
  await reader(app, { containers: ["w*"] })("/api/containers/db");
  equal((await entries(app)).length, 101);
});

Deno.test("what was omitted of a token's denied reads is one entry when the hour is over", async () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  const read = reader(app, { permissions: ["images:read"] });
  for (let n = 0; n < 137; n++) await read(`/api/containers/guess-${n}`);
  await read("/api/containers/guess-0");
  const settle = () => recordOmittedReads(app.deps, app.deps.deniedReads.settle());
  settle();
  equal((await entries(app)).length, 100);

  app.clock.advance({ minutes: 60 });
  // A denied read of the next hour does not lose the count.
  await read("/api/containers/guess-1");
  settle();
  settle();
  const all = await entries(app);
  equal(all.length, 102);
  const { targets, command, outcome, token } = all.find(({ action }) =>
    action === "reads.unlisted"
  );
  const [first, last] = [100, 136].map((n) => `GET /api/containers/:id guess-${n}`);
  deepEqual([targets.sort(), command, outcome], [
    [first, last],
    `37 more denied reads in the hour since 2026-01-01T12:00:00.000Z: from ${first} to ${last}`,
    "denied",
  ]);
  equal(token.id, all.at(-1).token.id);
});

Deno.test("what was omitted is recorded when the service stops", async () => {
  using app = testApp();
  const read = reader(app, { permissions: ["images:read"] });
  for (let n = 0; n < 103; n++) await read(`/api/containers/guess-${n}`);
  await omittedReadRecorder.run(app.deps, AbortSignal.abort(), () => {});
  const all = await entries(app);
  match(all.find(({ action }) => action === "reads.unlisted").command, /^3 more denied reads /);
});

Deno.test("denied reads of logins, and of clients without a token, are not in the audit log", async () => {
  using app = testApp();
  equal((await app.call("GET", "/api/audit", undefined, { role: "viewer" })).status, 403);
  equal((await app.call("GET", "/api/containers/x", undefined, { role: "public" })).status, 401);
  deepEqual(await entries(app), []);
});
