import { deepEqual, equal, match } from "node:assert/strict";
import { sweepSilences } from "../../services/alerts/silences/silences.ts";
import { testApp } from "../helpers/test_app.ts";

const NOW = "2026-01-01T12:00:00.000Z";
const NEW = {
  matchers: { event: "container.*", container: "web*" },
  endsAt: "2026-01-01T15:00:00+01:00",
  comment: "Import",
};

Deno.test("an operator creates, lists and deletes a silence; a viewer reads it", async () => {
  using app = testApp({ now: NOW });
  const operator = { role: "operator" } as const;
  const { status, body } = await app.call("POST", "/api/silences", NEW, operator);
  equal(status, 201);
  deepEqual(body, {
    id: body.id,
    matchers: NEW.matchers,
    startsAt: NOW,
    endsAt: "2026-01-01T14:00:00.000Z",
    comment: "Import",
    createdBy: "key",
    createdAt: NOW,
    state: "active",
  });
  const viewer = { role: "viewer" } as const;
  deepEqual((await app.call("GET", "/api/silences", undefined, viewer)).body, { silences: [body] });
  equal((await app.call("POST", "/api/silences", NEW, viewer)).status, 403);
  const path = `/api/silences/${body.id}`;
  equal((await app.call("DELETE", path, undefined, viewer)).status, 403);
  equal((await app.call("DELETE", path, undefined, operator)).status, 200);
  equal((await app.call("DELETE", path, undefined, operator)).status, 404);
  deepEqual((await app.call("GET", "/api/silences")).body, { silences: [] });
});

Deno.test("an operator changes the end, the comment and the matchers of a running silence", async () => {
  using app = testApp({ now: NOW });
  const operator = { role: "operator" } as const;
  const { body: created } = await app.call("POST", "/api/silences", NEW, operator);
  const path = `/api/silences/${created.id}`;
  app.clock.set("2026-01-01T13:00:00Z");
  const extended = await app.call("PUT", path, { endsAt: "2026-01-01T20:00:00Z" }, operator);
  equal(extended.status, 200);
  deepEqual(extended.body, { ...created, endsAt: "2026-01-01T20:00:00.000Z" });
  app.clock.advance({ minutes: 1 });
  const change = { comment: "Second import", matchers: { stack: "shop" } };
  const { body: changed } = await app.call("PUT", path, change, operator);
  deepEqual(changed, { ...extended.body, ...change });
  deepEqual((await app.call("GET", "/api/silences")).body, { silences: [changed] });
  const { body: { entries: [entry] } } = await app.call("GET", "/api/audit");
  deepEqual([entry.targets, JSON.parse(entry.command)], [["shop"], change]);
  equal((await app.call("PUT", path, change, { role: "viewer" })).status, 403);
  equal((await app.call("PUT", "/api/silences/none", change, operator)).status, 404);
});

Deno.test("a silence that has ended is not changed", async () => {
  using app = testApp({ now: NOW });
  const { body: { id } } = await app.call("POST", "/api/silences", NEW);
  app.clock.set("2026-01-01T14:00:00Z");
  const change = { endsAt: "2026-01-01T20:00:00Z" };
  const { status, body } = await app.call("PUT", `/api/silences/${id}`, change);
  deepEqual([status, body.error], [409, "The silence has ended; create a new one"]);
});

Deno.test("the audit log names what was silenced", async () => {
  using app = testApp({ now: NOW });
  await app.call("POST", "/api/silences", NEW, { role: "operator" });
  const { body: { entries: [entry] } } = await app.call("GET", "/api/audit");
  deepEqual(entry.targets, ["web*"]);
  deepEqual(JSON.parse(entry.command).matchers, NEW.matchers);
});

Deno.test("a silence is pending, active and ended, and is deleted 7 days later", async () => {
  using app = testApp({ now: NOW });
  await app.call("POST", "/api/silences", { ...NEW, startsAt: "2026-01-01T13:00:00Z" });
  const stateAt = async (time: string) => {
    app.clock.set(time);
    sweepSilences(app.deps);
    return (await app.call("GET", "/api/silences")).body.silences[0]?.state;
  };
  equal(await stateAt(NOW), "pending");
  equal(await stateAt("2026-01-01T13:00:00Z"), "active");
  equal(await stateAt("2026-01-01T14:00:00Z"), "ended");
  equal(await stateAt("2026-01-08T14:00:00Z"), "ended");
  equal(await stateAt("2026-01-08T14:00:00.001Z"), undefined);
});

for (
  const [what, change, problem] of [
    ["no end", { endsAt: undefined }, /^body\.endsAt: is required/],
    ["a past end", { endsAt: NOW }, /^body\.endsAt: .* is in the past$/],
    [
      "an end before the start",
      { startsAt: "2026-02-01T12:00:00Z" },
      /^body\.endsAt: must be after startsAt$/,
    ],
    ["an end in two years", { endsAt: "2028-01-01T00:00:00Z" }, /within 366 days/],
    ["no matchers", { matchers: {} }, /^body\.matchers: must have at least one of/],
    ["an unknown matcher", { matchers: { name: "web" } }, /^body\.matchers\.name: unknown field/],
    ["an unknown kind", { matchers: { event: "container.dwon" } }, /must match a kind of event/],
    ["an unknown severity", { matchers: { severity: "fatal" } }, /^body\.matchers\.severity/],
    ["a long pattern", { matchers: { container: "w".repeat(256) } }, /matchers\.container/],
  ] as [string, Record<string, unknown>, RegExp][]
) {
  Deno.test(`a silence with ${what} is refused`, async () => {
    using app = testApp({ now: NOW });
    const { status, body } = await app.call("POST", "/api/silences", { ...NEW, ...change });
    equal(status, 400);
    match(body.error, problem);
    if (change.endsAt === undefined && "endsAt" in change) return;
    const { body: { id } } = await app.call("POST", "/api/silences", NEW);
    const changed = await app.call("PUT", `/api/silences/${id}`, change);
    deepEqual([changed.status, changed.body.error], [400, body.error]);
  });
}

Deno.test("at most 500 silences are open, and at most 500 ended ones are kept", async () => {
  using app = testApp({ now: NOW });
  const { deps: { db } } = app;
  const insert = (count: number, endsAt: string) =>
    db.run(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :count)
       INSERT INTO silences SELECT :endsAt || n, '{"event":"*"}', :endsAt, :endsAt, '', 'key', :endsAt
       FROM numbers`,
      { count, endsAt },
    );
  insert(600, "2026-01-01T11:00:00.000Z");
  insert(499, "2026-01-02T00:00:00.000Z");
  equal((await app.call("POST", "/api/silences", NEW)).status, 201);
  equal((await app.call("GET", "/api/silences")).body.silences.length, 1_000);
  const { status, body } = await app.call("POST", "/api/silences", NEW);
  deepEqual([status, body.error], [409, "Limit of 500 silences reached; delete one first"]);
});

Deno.test("a token limited to containers cannot use silences", async () => {
  using app = testApp({ now: NOW });
  const scope = { containers: ["web*"] };
  equal((await app.call("GET", "/api/silences", undefined, { scope })).status, 404);
  equal((await app.call("POST", "/api/silences", NEW, { scope })).status, 404);
});
