import { deepEqual, equal } from "node:assert/strict";
import { reportHeldEvents } from "../../../../services/alerts/silences/held.ts";
import { emit } from "../../../../services/events/emit.ts";
import type { AlertData } from "../../../../services/events/kinds/alerts.ts";
import { composeLabels, setContainers } from "../../../helpers/fake_containers.ts";
import {
  appWithReceivers,
  takeQueued,
  toAll,
  toPeople,
  toPrograms,
} from "../../../helpers/message_receivers.ts";
import { openTestDatabase, type TestApp, testApp } from "../../../helpers/test_app.ts";

const END = "2026-01-01T13:00:00.000Z";

const silence = async (app: TestApp, matchers: object, endsAt = END): Promise<string> => {
  const { status, body } = await app.call("POST", "/api/silences", { matchers, endsAt });
  equal(status, 201, JSON.stringify(body));
  return body.id;
};

const down = ({ deps }: TestApp, container: string) =>
  emit(deps, "container.down", { container, id: "c1", reason: "exited", exitCode: 1 });
const up = ({ deps }: TestApp, container: string) =>
  emit(deps, "container.up", { container, id: "c1" });

/** Pushes are about some kinds only. */
const withoutPush = (messages: string[]) => messages.filter((each) => !each.startsWith("push"));

const ALERT: AlertData = {
  rule: "High CPU",
  ruleId: "r1",
  alertId: "a1",
  metric: "cpu_percent",
  operator: ">",
  threshold: 90,
  value: 95,
  message: "CPU is at 95 % (limit: above 90 %)",
};

Deno.test("a silenced event goes to webhooks and streams, and to no person", async () => {
  using app = await appWithReceivers();
  const end = new AbortController();
  const stream = app.deps.events.subscribe(end.signal)[Symbol.asyncIterator]();
  await silence(app, { container: "web" });
  const { eventId } = down(app, "web");
  deepEqual(takeQueued(app), toPrograms("container.down"));
  equal((await stream.next()).value?.eventId, eventId);
  down(app, "db");
  deepEqual(takeQueued(app), toAll("container.down"));
  end.abort();
});

for (
  const [what, matchers, silenced] of [
    ["a pattern of kinds", { event: "container.*" }, true],
    ["another kind", { event: "container.up" }, false],
    ["a pattern of names", { container: "shop-*" }, true],
    ["another name", { container: "shop" }, false],
    ["the stack", { stack: "shop" }, true],
    ["another stack", { stack: "blog*" }, false],
    ["the severity", { severity: "warning" }, true],
    ["another severity", { severity: "critical" }, false],
    ["a rule", { rule: "*" }, false],
    ["everything", { event: "*", container: "*web", stack: "*", severity: "warning" }, true],
    ["all but one", { event: "*", container: "*web", stack: "*", severity: "info" }, false],
  ] as const
) {
  Deno.test(`a silence of ${what} ${silenced ? "matches" : "does not match"} a stopped container`, async () => {
    using app = await appWithReceivers();
    setContainers(app, { name: "shop-web", labels: composeLabels("shop", "web") });
    await silence(app, matchers);
    down(app, "shop-web");
    deepEqual(
      takeQueued(app),
      silenced ? toPrograms("container.down") : toAll("container.down"),
    );
  });
}

for (
  const [rule, silenced] of [
    ["r1", true],
    ["High CPU", true],
    ["High*", true],
    ["r*", false],
  ] as const
) {
  Deno.test(`a silence of the rule ${rule} ${silenced ? "matches" : "does not match"}`, async () => {
    using app = await appWithReceivers();
    await silence(app, { rule });
    emit(app.deps, "alert.fired", ALERT);
    deepEqual(takeQueued(app), silenced ? toPrograms("alert.fired") : toAll("alert.fired"));
  });
}

Deno.test("an event of several containers is silenced only if all of them are", async () => {
  using app = await appWithReceivers();
  await silence(app, { container: "web*" });
  emit(app.deps, "alert.fired", { ...ALERT, containers: ["web-1", "db"] });
  deepEqual(takeQueued(app), toAll("alert.fired"));
  emit(app.deps, "alert.fired", { ...ALERT, alertId: "a2", containers: ["web-1", "web-2"] });
  deepEqual(takeQueued(app), toPrograms("alert.fired"));
});

Deno.test("a problem that ends during the silence is never reported", async () => {
  using app = await appWithReceivers();
  setContainers(app, { name: "web" });
  await silence(app, { container: "web", severity: "warning" });
  down(app, "web");
  // The end has another severity, which the silence does not match.
  up(app, "web");
  deepEqual(takeQueued(app), ["webhook container.down", "webhook container.up"]);
  app.clock.set(END);
  reportHeldEvents(app.deps);
  deepEqual(takeQueued(app), []);
});

Deno.test("a problem that outlasts the silence is reported once, and so is its end", async () => {
  using app = await appWithReceivers();
  setContainers(app, { name: "web", state: "exited" });
  await silence(app, { container: "web" });
  down(app, "web");
  takeQueued(app);
  app.clock.advance({ minutes: 30 });
  reportHeldEvents(app.deps);
  deepEqual(takeQueued(app), []);
  app.clock.set(END);
  reportHeldEvents(app.deps);
  deepEqual(takeQueued(app), toPeople("container.down"));
  reportHeldEvents(app.deps);
  deepEqual(takeQueued(app), []);
  up(app, "web");
  deepEqual(takeQueued(app), withoutPush(toAll("container.up")));
});

Deno.test("a problem that a changed silence no longer matches is reported", async () => {
  using app = await appWithReceivers();
  setContainers(app, { name: "web", state: "exited" }, { name: "db", state: "exited" });
  const id = await silence(app, { event: "container.*" });
  down(app, "web");
  down(app, "db");
  takeQueued(app);
  await app.call("PUT", `/api/silences/${id}`, { matchers: { container: "db" } });
  reportHeldEvents(app.deps);
  deepEqual(takeQueued(app), toPeople("container.down"));
});

Deno.test("what a silence holds survives a restart", async () => {
  const db = openTestDatabase();
  {
    using app = await appWithReceivers({ db });
    await silence(app, { rule: "High CPU" });
    emit(app.deps, "alert.fired", ALERT);
    takeQueued(app);
  }
  using app = testApp({ db, edition: "ce", now: END });
  reportHeldEvents(app.deps);
  deepEqual(takeQueued(app), ["notification alert.fired", "notification alert.fired"]);
  db.close();
});

Deno.test("a deleted silence reports at once what lasts", async () => {
  using app = await appWithReceivers();
  const id = await silence(app, { rule: "r1" });
  emit(app.deps, "alert.fired", ALERT);
  takeQueued(app);
  await app.call("DELETE", `/api/silences/${id}`);
  reportHeldEvents(app.deps);
  deepEqual(takeQueued(app), toPeople("alert.fired"));
});

for (
  const { what, containers } of [
    { what: "removed", containers: [] },
    { what: "running again", containers: [{ name: "web" }] },
  ]
) {
  Deno.test(`a container that is ${what} after the silence is not reported`, async () => {
    using app = await appWithReceivers();
    await silence(app, { container: "web" });
    down(app, "web");
    takeQueued(app);
    app.clock.set(END);
    // Nothing is decided while the state of the containers is unknown.
    reportHeldEvents(app.deps);
    setContainers(app, ...containers);
    reportHeldEvents(app.deps);
    setContainers(app, { name: "web", state: "exited" });
    reportHeldEvents(app.deps);
    deepEqual(takeQueued(app), []);
  });
}

Deno.test("an unhealthy container is reported after the silence unless it became healthy", async () => {
  using app = await appWithReceivers();
  await silence(app, { event: "container.unhealthy" });
  for (const container of ["web", "db"]) {
    emit(app.deps, "container.unhealthy", { container, id: "c1", healthOutput: null });
  }
  takeQueued(app);
  setContainers(app, { name: "web", health: "healthy" }, { name: "db", health: "unhealthy" });
  app.clock.set(END);
  reportHeldEvents(app.deps);
  deepEqual(takeQueued(app), withoutPush(toPeople("container.unhealthy")));
});

Deno.test("the incident of a silenced alert is silenced, too", async () => {
  using app = await appWithReceivers();
  const { body: { id: ruleId } } = await app.call("POST", "/api/alerts/rules", {
    name: "High CPU",
    metric: "cpu_percent",
    operator: ">",
    threshold: 90,
    durationSeconds: 0,
    autoIncident: true,
  });
  await silence(app, { rule: "High CPU" });
  emit(app.deps, "alert.fired", { ...ALERT, ruleId });
  deepEqual(takeQueued(app), [...toPrograms("alert.fired"), ...toPrograms("incident.created")]);
  reportHeldEvents(app.deps);
  deepEqual(takeQueued(app), []);
  emit(app.deps, "alert.resolved", { ...ALERT, ruleId });
  deepEqual(takeQueued(app), [...toPrograms("alert.resolved"), ...toPrograms("incident.resolved")]);
  app.clock.set(END);
  reportHeldEvents(app.deps);
  deepEqual(takeQueued(app), []);
});

Deno.test("a silence begins and ends at its times", async () => {
  using app = await appWithReceivers();
  await app.call("POST", "/api/silences", {
    matchers: { event: "*" },
    startsAt: "2026-01-01T12:30:00Z",
    endsAt: END,
  });
  for (
    const [at, silenced] of [
      ["2026-01-01T12:29:59.999Z", false],
      ["2026-01-01T12:30:00Z", true],
      ["2026-01-01T12:59:59.999Z", true],
      [END, false],
    ] as const
  ) {
    app.clock.set(at);
    emit(app.deps, "container.oom", { container: "web", id: "c1" });
    equal(takeQueued(app).length, silenced ? 1 : 3, at);
  }
});

Deno.test("a silence for a stack silences its deploys", async () => {
  using app = await appWithReceivers();
  await silence(app, { stack: "shop" });
  const fail = (stack: string) =>
    emit(app.deps, "deploy.rolled_back", { stack, version: 1, reason: "web exited", jobId: stack });
  fail("shop");
  deepEqual(takeQueued(app), toPrograms("deploy.rolled_back"));
  fail("blog");
  deepEqual(takeQueued(app), toAll("deploy.rolled_back"));
});

Deno.test("a sign-in from a new address cannot be silenced", async () => {
  using app = await appWithReceivers();
  await silence(app, { event: "*" });
  emit(app.deps, "account.new_sign_in", {
    account: "ada@example.com",
    userId: "u1",
    sessionId: "s1",
    address: "192.0.2.1",
    userAgent: null,
  });
  equal(takeQueued(app).includes("notification account.new_sign_in"), true);
});

Deno.test("maintenance mode pauses webhooks, too, and what lasts is reported to people", async () => {
  using app = await appWithReceivers();
  setContainers(app, { name: "web", state: "exited" }, { name: "db" });
  await app.call("POST", "/api/maintenance", { enabled: true });
  down(app, "web");
  down(app, "db");
  up(app, "db");
  deepEqual(takeQueued(app), []);
  reportHeldEvents(app.deps);
  await app.call("POST", "/api/maintenance", { enabled: false });
  reportHeldEvents(app.deps);
  deepEqual(takeQueued(app), toPeople("container.down"));
});
