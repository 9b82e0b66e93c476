import { deepEqual, equal, match } from "node:assert/strict";
import { createRemediator } from "../../../services/pro/remediation/runs.ts";
import { idOf, setContainers, simulateContainers } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { appWithRights } from "../../helpers/custom_roles.ts";
import { type TestApp, testApp, type TestAppOptions } from "../../helpers/test_app.ts";

const BASE = "/api/ext/service-pro/remediation";

const rule = {
  name: "Keep the shop running",
  condition_metric: "container_down",
  condition_operator: "==",
  condition_threshold: 1,
  condition_duration: 0,
  action_type: "start",
  action_target: "web",
  action_config: {},
  cooldown_seconds: 900,
};

const proApp = (options: TestAppOptions = {}) =>
  testApp({ edition: "pro", now: "2026-01-01T12:00:00Z", ...options });

async function add(app: TestApp, changes: Record<string, unknown> = {}) {
  const { status, body } = await app.call("POST", `${BASE}/rules`, { ...rule, ...changes });
  equal(status, 201);
  return body;
}

Deno.test("POST /remediation/rules stores an enabled rule and returns it", async () => {
  using app = proApp();
  const { status, body } = await app.call("POST", `${BASE}/rules`, rule);
  equal(status, 201);
  deepEqual(body, {
    ...rule,
    id: body.id,
    condition: "Container is down",
    enabled: true,
    created_at: "2026-01-01T12:00:00.000Z",
    last_triggered_at: null,
    trigger_count: 0,
  });
  const listed = await app.call("GET", `${BASE}/rules`, undefined, { role: "viewer" });
  deepEqual([listed.status, listed.body], [200, { rules: [body] }]);
});

Deno.test("a rule has defaults for duration, config and cooldown, and can be created disabled", async () => {
  using app = proApp();
  const body = await add(app, {
    condition_duration: undefined,
    action_config: undefined,
    cooldown_seconds: undefined,
    enabled: false,
  });
  deepEqual(
    [body.condition_duration, body.action_config, body.cooldown_seconds, body.enabled],
    [0, {}, 900, false],
  );
});

for (
  const [change, error] of [
    [{ name: undefined }, /^body\.name: /],
    [{ name: "x".repeat(101) }, /^body\.name: /],
    [{ condition_metric: "cpu" }, /^body\.condition_metric: must be one of container_down, /],
    [{ condition_operator: "!=" }, /^body\.condition_operator: must be one of >, <, >=, <=, ==$/],
    [{ condition_threshold: "90" }, /^body\.condition_threshold: /],
    [{ condition_threshold: 1e300 }, /^body\.condition_threshold: /],
    [{ condition_duration: -1 }, /^body\.condition_duration: /],
    [{ condition_duration: 86_401 }, /^body\.condition_duration: /],
    [{ action_type: "rebuild" }, /^body\.action_type: must be one of restart, start, stop$/],
    [{ action_target: "" }, /^body\.action_target: /],
    [{ action_target: "../info" }, /^body\.action_target: /],
    [{ action_config: [] }, /^body\.action_config: /],
    [{ action_config: { timeout_seconds: 301 } }, /^body\.action_config\.timeout_seconds: /],
    [{ cooldown_seconds: -1 }, /^body\.cooldown_seconds: /],
    [{ cooldown_seconds: 86_401 }, /^body\.cooldown_seconds: /],
    [{ cooldown_seconds: 1.5 }, /^body\.cooldown_seconds: /],
    [{ enabled: 1 }, /^body\.enabled: /],
  ] as const
) {
  Deno.test(`POST and PUT /remediation/rules refuse ${JSON.stringify(change).slice(0, 60)}`, async () => {
    using app = proApp();
    const { status, body } = await app.call("POST", `${BASE}/rules`, { ...rule, ...change });
    equal(status, 400);
    match(body.error, error);
    if (Object.values(change)[0] === undefined) return;
    const { id } = await add(app);
    const update = await app.call("PUT", `${BASE}/rules/${id}`, change);
    deepEqual([update.status, update.body.error], [400, body.error]);
  });
}

for (
  const [what, fields, error] of [
    ["the service itself", { self: true }, "web is the service's own container"],
    [
      "a task of a Swarm",
      { labels: { "com.docker.swarm.task.id": "t1" } },
      "web is a task of a Swarm service; Swarm replaces its containers itself",
    ],
  ] as const
) {
  Deno.test(`POST and PUT /remediation/rules refuse ${what} as target, by name and by id`, async () => {
    using app = proApp();
    setContainers(app, { name: "web", ...fields });
    const { id } = await add(app, { action_target: "other" });
    for (const action_target of ["web", idOf("web"), idOf("web").slice(0, 4)]) {
      const created = await app.call("POST", `${BASE}/rules`, { ...rule, action_target });
      const changed = await app.call("PUT", `${BASE}/rules/${id}`, { action_target });
      for (const { status, body } of [created, changed]) {
        deepEqual([status, body.error], [400, `body.action_target: ${error}`]);
      }
    }
    equal((await app.call("GET", `${BASE}/rules`)).body.rules[0].action_target, "other");
  });
}

Deno.test("POST /remediation/rules allows 10 rules on Pro and validates the body first", async () => {
  using app = proApp();
  for (let n = 0; n < 10; n++) await add(app);
  const { status, body } = await app.call("POST", `${BASE}/rules`, rule);
  deepEqual([status, body], [402, {
    error:
      "Edition limit reached (remediation rules): the Pro edition allows 10; delete one or upgrade",
    current: 10,
    max: 10,
    currentEdition: "pro",
    upgradeUrl: body.upgradeUrl,
  }]);
  const bad = await app.call("POST", `${BASE}/rules`, { ...rule, action_type: "x" });
  equal(bad.status, 400);
  equal((await app.call("GET", "/api/edition")).body.usage.remediation_rules, 10);
});

Deno.test("POST /remediation/rules has no limit on Enterprise", async () => {
  using app = proApp({ edition: "enterprise" });
  for (let n = 0; n < 11; n++) await add(app);
});

Deno.test("GET /remediation/rules lists by name", async () => {
  using app = proApp();
  for (const name of ["web", "API", "db"]) await add(app, { name });
  const { rules } = (await app.call("GET", `${BASE}/rules`)).body;
  deepEqual(rules.map(({ name }: { name: string }) => name), ["API", "db", "web"]);
});

Deno.test("PUT /remediation/rules/:id changes the given fields; toggle disables and enables it", async () => {
  using app = proApp();
  const created = await add(app);
  const path = `${BASE}/rules/${created.id}`;
  const changes = {
    condition_metric: "container_memory_percent",
    condition_operator: ">",
    condition_threshold: 95,
    condition_duration: 60,
    action_type: "restart",
    action_config: { timeout_seconds: 30 },
    cooldown_seconds: 300,
  };
  const changed = await app.call("PUT", path, changes);
  deepEqual([changed.status, changed.body], [
    200,
    { ...created, ...changes, condition: "Memory of a container > 95 % for 1 min" },
  ]);
  for (const enabled of [false, false, true]) {
    const { status, body } = await app.call("PUT", `${path}/toggle`, { enabled });
    deepEqual([status, body], [200, { ...changed.body, enabled }]);
  }
  equal((await app.call("PUT", `${path}/toggle`, {})).status, 400);
  deepEqual((await app.call("GET", `${BASE}/rules`)).body.rules, [changed.body]);
});

Deno.test("a changed condition resets the rule", async () => {
  using app = proApp();
  const { id } = await add(app, { condition_duration: 60 });
  const stored = () =>
    app.deps.db.get<{ pending_since: string | null }>(
      "SELECT pending_since FROM remediation_rules",
    )!;
  const pend = () =>
    app.deps.db.run("UPDATE remediation_rules SET pending_since = :at, seen_at = :at", {
      at: "2026-01-01T12:00:00.000Z",
    });
  for (
    const [change, begins] of [
      [{ name: "x", cooldown_seconds: 5, condition_duration: 30 }, false],
      [{ condition_threshold: 2 }, true],
      [{ action_target: "db" }, true],
      [{ enabled: false }, true],
    ] as const
  ) {
    pend();
    await app.call("PUT", `${BASE}/rules/${id}`, change);
    equal(stored().pending_since === null, begins, JSON.stringify(change));
  }
});

Deno.test("a rule whose target does not exist is 400 unless allow_missing is true", async () => {
  await using fake = fakeEngine(simulateContainers([{ name: "web" }]));
  using app = proApp({ engine: fake.engine });
  const missing = { ...rule, action_target: "gone" };

  const refused = await app.call("POST", `${BASE}/rules`, missing);
  deepEqual([refused.status, refused.body.error], [
    400,
    "body.action_target: container gone does not exist; set allow_missing to accept it",
  ]);
  const kept = await add(app, { action_target: "gone", allow_missing: true });
  const change = async (change: Record<string, unknown>) =>
    (await app.call("PUT", `${BASE}/rules/${kept.id}`, change)).status;
  deepEqual(
    [
      await change({ ...kept, name: "renamed" }),
      await change({ action_target: "lost" }),
      await change({ action_target: "lost", allow_missing: true }),
      await change({ action_target: "web" }),
    ],
    [200, 400, 200, 200],
  );
});

Deno.test("DELETE /remediation/rules/:id deletes the rule and keeps its history", async () => {
  const containers = [{ name: "web", state: "exited" as const }];
  await using fake = fakeEngine(simulateContainers(containers));
  using app = proApp({ engine: fake.engine });
  setContainers(app, { name: "web", state: "exited" });
  const { id } = await add(app);
  const remediator = createRemediator(app.deps);
  remediator.evaluate();
  await remediator.waitUntilIdle();

  const { status, body } = await app.call("DELETE", `${BASE}/rules/${id}`);
  deepEqual([status, body], [200, { ok: true }]);
  deepEqual((await app.call("GET", `${BASE}/rules`)).body, { rules: [] });
  const shown = await app.call("GET", `${BASE}/history`, undefined, { role: "viewer" });
  const [run] = shown.body.history;
  deepEqual(shown.body, {
    history: [{
      id: run.id,
      rule_id: id,
      rule_name: rule.name,
      metric_value: 1,
      action_type: "start",
      action_target: "web",
      status: "success",
      error: null,
      started_at: "2026-01-01T12:00:00.000Z",
      finished_at: "2026-01-01T12:00:00.000Z",
    }],
    total: 1,
    limit: 50,
    offset: 0,
  });
  deepEqual((await app.call("GET", `${BASE}/history?offset=1`)).body.history, []);
  for (const query of ["limit=0", "limit=501", "limit=x"]) {
    equal((await app.call("GET", `${BASE}/history?${query}`)).status, 400);
  }
  equal((await app.call("GET", `${BASE}/history?limit=500`)).status, 200);
});

for (
  const [method, path, body] of [
    ["PUT", "/rules/unknown", { name: "x" }],
    ["PUT", "/rules/unknown", { action_target: "x" }],
    ["PUT", "/rules/unknown/toggle", { enabled: true }],
    ["DELETE", "/rules/unknown", undefined],
  ] as const
) {
  Deno.test(`${method} /remediation${path} with ${JSON.stringify(body)} is 404`, async () => {
    using app = proApp();
    const answer = await app.call(method, BASE + path, body);
    deepEqual([answer.status, answer.body], [404, {
      error: "Remediation rule unknown does not exist",
    }]);
  });
}

Deno.test("remediation is 402 on CE", async () => {
  using app = testApp();
  equal((await app.call("GET", `${BASE}/rules`)).status, 402);
  equal((await app.call("POST", `${BASE}/rules`, rule)).status, 402);
});

for (const action_type of ["start", "stop", "restart"]) {
  Deno.test(`a rule that does ${action_type} needs the permission for it as well`, async () => {
    const needed = `containers:${action_type}`;
    using app = await appWithRights("remediation:write");
    using allowed = await appWithRights("remediation:write", needed);
    const given = { ...rule, action_type, allow_missing: true };
    const path = `${BASE}/rules`;

    const refused = await app.asViewer("POST", path, given);
    deepEqual([refused.status, refused.body.error], [
      403,
      `The role operator or ${needed} is required for this`,
    ]);
    equal((await allowed.asViewer("POST", path, given)).status, 201);
    const { status, body: { id } } = await app.asViewer("POST", path, { ...given, enabled: false });
    equal(status, 201);
    equal((await app.asViewer("PUT", `${path}/${id}`, { condition_threshold: 0 })).status, 200);
    equal((await app.asViewer("PUT", `${path}/${id}`, { enabled: true })).status, 403);
    equal((await app.asViewer("PUT", `${path}/${id}/toggle`, { enabled: true })).status, 403);
    equal((await app.call("PUT", `${path}/${id}/toggle`, { enabled: true })).status, 200);
    equal((await app.asViewer("PUT", `${path}/${id}`, { cooldown_seconds: 0 })).status, 403);
    equal((await app.asViewer("PUT", `${path}/${id}/toggle`, { enabled: false })).status, 200);
  });
}
