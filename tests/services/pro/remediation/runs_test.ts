import { deepEqual, equal, match, ok } from "node:assert/strict";
import {
  insertRemediationRule,
  type RemediationRule,
  selectRemediationRule,
} from "../../../../db/pro/remediation_rules.ts";
import { insertRemediationRun } from "../../../../db/pro/remediation_runs.ts";
import { createEnvelope } from "../../../../services/events/events.ts";
import { listAudit } from "../../../../services/access/audit/audit.ts";
import type { Container } from "../../../../services/containers/inventory.ts";
import {
  createRemediator,
  listRemediationRuns,
  recoverRemediations,
  type Remediator,
  sweepRemediationRuns,
} from "../../../../services/pro/remediation/runs.ts";
import { runRemediations } from "../../../../services/pro/remediation/runner.ts";
import { containerOf, idOf, simulateContainers } from "../../../helpers/fake_containers.ts";
import { type FakeAnswer, type FakeEngine, fakeEngine } from "../../../helpers/fake_engine.ts";
import { type TestApp, testApp, type TestAppOptions } from "../../../helpers/test_app.ts";
import { until } from "../../../helpers/until.ts";
import { isInTime } from "../../../helpers/in_time.ts";

const NOON = "2026-01-01T12:00:00.000Z";

function addRule(app: TestApp, fields: Partial<RemediationRule> = {}): RemediationRule {
  const rule: RemediationRule = {
    id: crypto.randomUUID(),
    name: "Keep web running",
    condition_metric: "container_down",
    condition_operator: "==",
    condition_threshold: 1,
    condition_duration: 0,
    action_type: "start",
    action_target: "web",
    action_config: {},
    cooldown_seconds: 60,
    enabled: true,
    created_at: NOON,
    target_name: null,
    pending_since: null,
    seen_at: null,
    last_triggered_at: null,
    trigger_count: 0,
    firings: [],
    ...fields,
  };
  insertRemediationRule(app.deps.db, rule);
  return rule;
}

/** An application with these containers, which have exited. */
function opened(
  containers: (Partial<Container> & { name: string })[] = [{ name: "web" }],
  { answers = {}, ...options }: TestAppOptions & { answers?: Record<string, FakeAnswer> } = {},
) {
  const played = containers.map(({ name, labels = {} }) => ({
    name,
    labels,
    state: "exited" as const,
  }));
  const fake = fakeEngine({ ...simulateContainers(played), ...answers });
  const app = testApp({ edition: "pro", now: NOON, engine: fake.engine, ...options });
  const show = () =>
    setContainers(
      app,
      containers.map((fields) => ({
        state: "exited",
        finishedAt: "2026-01-01T11:00:00.000Z",
        ...fields,
      })),
    );
  show();
  return {
    app,
    fake,
    /** Makes all containers exit again. */
    show,
    async [Symbol.asyncDispose]() {
      app[Symbol.dispose]();
      await fake[Symbol.asyncDispose]();
    },
  };
}

function setContainers(app: TestApp, containers: (Partial<Container> & { name: string })[]): void {
  const { inventory } = app.deps;
  inventory.replaceAll(containers.map(containerOf), inventory.readNumber());
  inventory.setLive(true);
}

async function lookAt(remediator: Remediator): Promise<void> {
  remediator.evaluate();
  await remediator.waitUntilIdle();
}

const history = ({ deps }: TestApp) => listRemediationRuns(deps, { limit: 500, offset: 0 }).history;
const acts = ({ requests }: FakeEngine) => requests.filter((request) => request.startsWith("POST"));

function collect(app: TestApp): unknown[] {
  const seen: unknown[] = [];
  app.deps.events.publish = ({ event, data }) => void seen.push([event, data]);
  return seen;
}

Deno.test("a rule starts its container when it is down and records the run", async () => {
  await using at = opened();
  const { app, fake } = at;
  const rule = addRule(app);
  const events = collect(app);

  await lookAt(createRemediator(app.deps));

  deepEqual(acts(fake), [`POST /containers/${idOf("web")}/start`]);
  const [run, ...others] = history(app);
  deepEqual(others, []);
  deepEqual(run, {
    id: run!.id,
    rule_id: rule.id,
    rule_name: "Keep web running",
    metric_value: 1,
    action_type: "start",
    action_target: "web",
    status: "success",
    error: null,
    started_at: NOON,
    finished_at: NOON,
  });
  const stored = selectRemediationRule(app.deps.db, rule.id)!;
  deepEqual(
    [stored.trigger_count, stored.last_triggered_at, stored.firings, stored.target_name],
    [1, NOON, [NOON], "web"],
  );
  deepEqual(events, [["remediation.executed", {
    rule: "Keep web running",
    ruleId: rule.id,
    action: "start",
    target: "web",
    status: "success",
    error: null,
  }]]);
  equal(app.deps.inventory.get(idOf("web"))?.state, "running");
  const [entry] = listAudit(app.deps, { limit: 1, offset: 0 }).entries;
  deepEqual(
    [entry!.actor, entry!.role, entry!.action, entry!.targets, entry!.outcome],
    ["remediation", "system", "remediation start", ["web", "Keep web running"], "success"],
  );
});

for (
  const [action_type, action_config, request] of [
    ["restart", {}, "restart?t=10"],
    ["restart", { timeout_seconds: 3 }, "restart?t=3"],
    ["stop", { timeout_seconds: 0 }, "stop?t=0"],
  ] as const
) {
  Deno.test(`an action sends ${request}`, async () => {
    await using at = opened([{ name: "web", health: "unhealthy", state: "running" }]);
    addRule(at.app, { condition_metric: "container_unhealthy", action_type, action_config });
    await lookAt(createRemediator(at.app.deps));
    deepEqual(acts(at.fake), [`POST /containers/${idOf("web")}/${request}`]);
  });
}

Deno.test("a host metric triggers an action on the target", async () => {
  await using at = opened([{ name: "web" }, { name: "db" }]);
  addRule(at.app, {
    condition_metric: "container_stopped",
    condition_operator: ">=",
    condition_threshold: 2,
    action_target: "db",
  });
  await lookAt(createRemediator(at.app.deps));
  deepEqual(acts(at.fake), [`POST /containers/${idOf("db")}/start`]);
  equal(history(at.app)[0]?.metric_value, 2);
});

Deno.test("a run is recorded before its action, and fails if it is interrupted", async () => {
  let during: unknown;
  const answers: Record<string, FakeAnswer> = {
    "POST /containers/*/start": () => {
      during = at.app.deps.db.get("SELECT status, finished_at FROM remediation_runs");
      return new Response(null, { status: 204 });
    },
  };
  await using at = opened(undefined, { answers });
  const rule = addRule(at.app);
  await lookAt(createRemediator(at.app.deps));
  deepEqual({ ...during as object }, { status: null, finished_at: null });

  const { db } = at.app.deps;
  const { status: _, error: __, finished_at: ___, ...started } = history(at.app)[0]!;
  insertRemediationRun(db, {
    ...started,
    id: "interrupted",
    started_at: "2026-01-01T12:00:01.000Z",
  });
  equal(history(at.app).length, 1);
  const events = collect(at.app);
  recoverRemediations(at.app.deps);
  recoverRemediations(at.app.deps);
  const [cut, ...others] = history(at.app);
  deepEqual(
    [cut?.id, cut?.status, cut?.error, others.length],
    ["interrupted", "failure", "The service stopped before the action finished", 1],
  );
  equal(events.length, 1);
  equal(acts(at.fake).length, 1);
  equal(selectRemediationRule(db, rule.id)?.enabled, true);
});

Deno.test("a failed action is recorded with the engine's message", async () => {
  const answers: Record<string, FakeAnswer> = {
    "POST /containers/*/start": () =>
      Response.json({ message: "port is already allocated" }, { status: 500 }),
  };
  await using at = opened(undefined, { answers });
  addRule(at.app);
  const events = collect(at.app);
  await lookAt(createRemediator(at.app.deps));
  const [run] = history(at.app);
  deepEqual([run?.status, run?.error], ["failure", "port is already allocated"]);
  match(JSON.stringify(events), /"status":"failure","error":"port is already allocated"/);
});

Deno.test("no rule of a container starts an action while one is running", async () => {
  const waiting = Promise.withResolvers<void>();
  const answers: Record<string, FakeAnswer> = {
    "POST /containers/*/start": async () => {
      await waiting.promise;
      return new Response(null, { status: 204 });
    },
  };
  await using at = opened(undefined, { answers });
  addRule(at.app, { cooldown_seconds: 0 });
  addRule(at.app, { cooldown_seconds: 0, name: "second", action_target: idOf("web") });
  const remediator = createRemediator(at.app.deps);
  remediator.evaluate();
  await until("the action is running", () => acts(at.fake).length === 1);
  at.app.clock.advance({ seconds: 5 });
  remediator.evaluate();
  equal(at.app.deps.db.all("SELECT 1 FROM remediation_runs").length, 1);
  waiting.resolve();
  await remediator.waitUntilIdle();
  equal(history(at.app).length, 1);
});

for (
  const [what, prepare] of [
    [
      "during maintenance",
      (app: TestApp) => app.deps.maintenance.set({ enabled: true, until: null, reason: null }),
    ],
    ["while the engine is unreachable", (app: TestApp) => app.deps.inventory.setLive(false)],
    ["for a container that does not exist", (app: TestApp) => setContainers(app, [])],
  ] as const
) {
  Deno.test(`no action is started or recorded ${what}`, async () => {
    await using at = opened();
    const rule = addRule(at.app);
    prepare(at.app);
    await lookAt(createRemediator(at.app.deps));
    deepEqual([acts(at.fake), history(at.app)], [[], []]);
    deepEqual(selectRemediationRule(at.app.deps.db, rule.id), rule);
  });
}

Deno.test("a rule fires after maintenance if its condition still holds", async () => {
  await using at = opened();
  addRule(at.app);
  const remediator = createRemediator(at.app.deps);
  at.app.deps.maintenance.set({ enabled: true, until: null, reason: null });
  await lookAt(remediator);
  at.app.deps.maintenance.set({ enabled: false, until: null, reason: null });
  await lookAt(remediator);
  equal(history(at.app).length, 1);
});

for (
  const { what, fields, error } of [
    {
      what: "the service's own container",
      fields: { self: true },
      error: "web is the service's own container",
    },
    {
      what: "a Swarm task",
      fields: { labels: { "com.docker.swarm.task.id": "t1" } },
      error: "web is a task of a Swarm service; Swarm replaces its containers itself",
    },
  ]
) {
  Deno.test(`a rule whose target became ${what} skips its runs and is disabled`, async () => {
    await using at = opened([{ name: "web", ...fields }]);
    const rule = addRule(at.app);
    const remediator = createRemediator(at.app.deps);
    const events = collect(at.app);
    for (let n = 0; n < 7; n++) {
      await lookAt(remediator);
      at.app.clock.advance({ minutes: 1 });
    }
    deepEqual(acts(at.fake), []);
    const runs = history(at.app);
    deepEqual([runs.length, runs.at(-1)?.status, runs.at(-1)?.error], [6, "skipped", error]);
    equal(selectRemediationRule(at.app.deps.db, rule.id)?.enabled, false);
    equal(events.length, 1);
  });
}

Deno.test("a rule that fires five times within an hour is disabled with an event", async () => {
  await using at = opened();
  const { app, fake } = at;
  const rule = addRule(app);
  const remediator = createRemediator(app.deps);
  const events = collect(app);
  for (let n = 0; n < 10; n++) {
    at.show();
    await lookAt(remediator);
    app.clock.advance({ minutes: 10 });
  }

  equal(acts(fake).length, 5);
  const [last, ...others] = history(app);
  const reason = "The rule fired 5 times within an hour and was disabled";
  deepEqual([last?.status, last?.error, last?.metric_value], ["skipped", reason, null]);
  deepEqual(others.map(({ status }) => status), Array(5).fill("success"));
  deepEqual(events.at(-1), ["remediation.disabled", { rule: rule.name, ruleId: rule.id, reason }]);
  equal(events.length, 6);
  const stored = selectRemediationRule(app.deps.db, rule.id)!;
  deepEqual([stored.enabled, stored.trigger_count], [false, 5]);

  // After it was enabled again, it can fire five more times.
  const toggled = await app.call(
    "PUT",
    `/api/ext/service-pro/remediation/rules/${rule.id}/toggle`,
    { enabled: true },
  );
  equal(toggled.body.enabled, true);
  await lookAt(remediator);
  equal(acts(fake).length, 6);
  equal(selectRemediationRule(app.deps.db, rule.id)?.enabled, true);
});

Deno.test("a rule that fired too often before a crash is disabled after the restart", async () => {
  await using at = opened();
  const firings = [1, 2, 3, 4, 5].map((n) => `2026-01-01T11:5${n}:00.000Z`);
  const rule = addRule(at.app, { firings });
  const events = collect(at.app);
  // The last run was not finished; the rule must not fire a sixth time.
  await lookAt(createRemediator(at.app.deps));
  deepEqual(acts(at.fake), []);
  recoverRemediations(at.app.deps);
  recoverRemediations(at.app.deps);
  equal(selectRemediationRule(at.app.deps.db, rule.id)?.enabled, false);
  deepEqual([history(at.app).length, events.length], [1, 1]);
});

Deno.test("an error of one rule does not prevent the evaluation of the others", async () => {
  await using at = opened([{ name: "web" }, { name: "db" }]);
  const broken = addRule(at.app, { created_at: "2026-01-01T11:00:00.000Z" });
  addRule(at.app, { action_target: "db" });
  at.app.deps.db.run("UPDATE remediation_rules SET firings = '5' WHERE id = :id", {
    id: broken.id,
  });
  const remediator = createRemediator(at.app.deps);
  let failure: unknown;
  try {
    remediator.evaluate();
  } catch (error) {
    failure = error;
  }
  await remediator.waitUntilIdle();
  ok(failure instanceof TypeError);
  deepEqual(acts(at.fake), [`POST /containers/${idOf("db")}/start`]);
});

Deno.test("a rule that is deleted during its action keeps its history", async () => {
  const answers: Record<string, FakeAnswer> = {
    "POST /containers/*/start": async () => {
      await at.app.call("DELETE", `/api/ext/service-pro/remediation/rules/${rule.id}`);
      return new Response(null, { status: 204 });
    },
  };
  await using at = opened(undefined, { answers });
  const rule = addRule(at.app);
  await lookAt(createRemediator(at.app.deps));
  equal(selectRemediationRule(at.app.deps.db, rule.id), undefined);
  deepEqual(history(at.app).map(({ status, rule_name }) => [status, rule_name]), [
    ["success", "Keep web running"],
  ]);
});

Deno.test("a container that was recreated is found by its name", async () => {
  await using at = opened([{ name: "web", state: "running" }]);
  const old = "d".repeat(64);
  addRule(at.app, { action_target: old });
  const remediator = createRemediator(at.app.deps);
  const containers = [{ name: "web", id: old, state: "running" as const }];
  setContainers(at.app, containers);
  await lookAt(remediator);
  at.show();
  setContainers(at.app, [{ name: "web", state: "exited" }]);
  await lookAt(remediator);
  deepEqual(acts(at.fake), [`POST /containers/${idOf("web")}/start`]);
});

Deno.test("a container that was given by its id is found by its new name after a rename", async () => {
  await using at = opened([{ name: "shop", state: "running" }]);
  const old = "d".repeat(64);
  const rule = addRule(at.app, { action_target: old });
  const remediator = createRemediator(at.app.deps);
  const temporary = "shop-longshore-old-running-dddddddddddd";
  for (const name of ["web", "shop", temporary]) {
    const originalName = name === temporary ? "shop" : name;
    setContainers(at.app, [{ name, originalName, id: old, state: "running" }]);
    await lookAt(remediator);
  }
  equal(selectRemediationRule(at.app.deps.db, rule.id)!.target_name, "shop");

  setContainers(at.app, [{ name: "shop", state: "exited" }]);
  await lookAt(remediator);
  deepEqual(acts(at.fake), [`POST /containers/${idOf("shop")}/start`]);
});

Deno.test("history is kept for 90 days and 1 000 runs per rule; running ones stay", async () => {
  await using at = opened();
  const { db } = at.app.deps;
  const run = {
    rule_id: "r",
    rule_name: "r",
    metric_value: 1,
    action_type: "start" as const,
    action_target: "web",
  };
  const ended = { status: "success" as const, finished_at: NOON };
  const day = (days: number) => new Date(Date.parse(NOON) - days * 86_400_000).toISOString();
  insertRemediationRun(db, { ...run, ...ended, id: "old", started_at: day(91) });
  insertRemediationRun(db, { ...run, id: "open", started_at: day(92) });
  insertRemediationRun(db, { ...run, ...ended, id: "kept", rule_id: "s", started_at: day(89) });
  for (let n = 0; n < 1_001; n++) {
    const started_at = new Date(Date.parse(NOON) - n).toISOString();
    insertRemediationRun(db, { ...run, ...ended, id: `n${n}`, started_at });
  }
  sweepRemediationRuns(at.app.deps);
  const ids = db.all<{ id: string }>("SELECT id FROM remediation_runs").map(({ id }) => id);
  deepEqual(
    [
      ids.length,
      ids.includes("old"),
      ids.includes("open"),
      ids.includes("kept"),
      ids.includes("n1000"),
    ],
    [1_002, false, true, true, false],
  );
});

Deno.test("the runner evaluates soon after a container went down, and stops on abort", async () => {
  await using at = opened([{ name: "web", state: "running" }]);
  const { app } = at;
  addRule(app);
  const stop = new AbortController();
  let rounds = 0;
  const ended = runRemediations(app.deps, stop.signal, () => rounds++);
  await until("the first round", () => rounds === 1);
  at.show();
  setContainers(app, [{ name: "web", state: "exited", finishedAt: "2026-01-01T11:00:00.000Z" }]);
  const started = performance.now();
  app.deps.events.publish({
    event: "container.down",
    ...createEnvelope(app.deps),
    data: { container: "web", id: idOf("web"), reason: "killed", exitCode: 137 },
  });
  await until("it acts", () => history(app).length === 1);
  ok(isInTime(performance.now() - started, 4_900), "sooner than the next round");
  stop.abort();
  await ended;
});
