import { deepEqual, equal } from "node:assert/strict";
import { selectCrashLoop } from "../../../db/crash_loops.ts";
import { selectBlockedUpdates, upsertBlockedUpdate } from "../../../db/updates/blocked.ts";
import { raiseHealthTime, selectHealthTime } from "../../../db/updates/health_times.ts";
import {
  selectPreviousImages,
  selectPreviousImagesBefore,
  upsertPreviousImage,
} from "../../../db/updates/previous.ts";
import { evaluateAlerts } from "../../../services/alerts/evaluation.ts";
import { listActiveAlerts } from "../../../services/alerts/events.ts";
import { changeAlertRule, createAlertRule } from "../../../services/alerts/rules.ts";
import { reportExit, reportStart } from "../../../services/containers/crash_loops.ts";
import { collectNotifications } from "../../../services/messages/queue.ts";
import {
  containerOf,
  idOf,
  setContainers,
  simulateContainers,
} from "../../helpers/fake_containers.ts";
import { type FakeEngine, fakeEngine } from "../../helpers/fake_engine.ts";
import { collectEvents, type TestApp, testApp } from "../../helpers/test_app.ts";

const WEB = { id: idOf("web"), name: "web" };
const STOPPED = { state: "exited", exitCode: 1 } as const;

/** An engine with one stopped container, which can be renamed. */
function renamingEngine(): FakeEngine {
  const simulated = simulateContainers([{ name: WEB.name, ...STOPPED }]);
  let { name } = WEB;
  return fakeEngine({
    "POST /containers/*/rename": ({ query }) => {
      name = query.get("name")!;
      return new Response(null, { status: 204 });
    },
    "GET /containers/*/json": async (request) => {
      const answer = await simulated["GET /containers/*/json"]!(request) as Response;
      return Response.json({ ...await answer.json(), Name: `/${name}` });
    },
  });
}

function setContainer({ deps: { inventory } }: TestApp, fields: Parameters<typeof containerOf>[0]) {
  inventory.replaceAll([containerOf({ ...fields, id: WEB.id })], inventory.readNumber());
  inventory.setLive(true);
}

async function addChannel(app: TestApp) {
  const config = { url: "https://gotify.example.com", token: "t" };
  await app.call("POST", "/api/notifications/channels", {
    name: "On-call",
    kind: "gotify",
    config,
  });
  /** The messages so far, after all that wait are due. */
  return () => {
    for (let seconds = 0; seconds < 30; seconds++) {
      app.clock.advance({ seconds: 1 });
      collectNotifications(app.deps);
    }
    return app.deps.db.all<{ payload: string }>(
      "SELECT payload FROM outbox_messages ORDER BY sequence",
    ).map(({ payload }) => JSON.parse(payload));
  };
}

const addRule = ({ deps }: TestApp) =>
  createAlertRule(deps, {
    name: "Down",
    metric: "container_not_running",
    operator: "==",
    threshold: 1,
    durationSeconds: 0,
    autoIncident: false,
    scope: { target: { kind: "containers" } },
  });

const active = ({ deps }: TestApp) => listActiveAlerts(deps).map(({ container }) => container);

const rename = async (app: TestApp, from: string, to: string) =>
  equal((await app.call("POST", `/api/containers/${from}/rename`, { name: to })).status, 200);

Deno.test("an alert of a renamed container does not fire again, and is resolved once", async () => {
  await using fake = renamingEngine();
  using app = testApp({ engine: fake.engine, now: "2026-01-01T12:00:00Z" });
  const events = collectEvents(app);
  const messages = await addChannel(app);
  setContainer(app, { name: "web", ...STOPPED });
  addRule(app);
  const evaluate = () => {
    for (let minutes = 0; minutes < 5; minutes++) {
      evaluateAlerts(app.deps);
      app.clock.advance({ minutes: 1 });
    }
    return events.map(({ event, data }) => `${event} ${(data as { container: string }).container}`);
  };
  deepEqual(evaluate(), ["alert.fired web"]);
  equal(messages().length, 1);

  await rename(app, "web", "shop");
  deepEqual(evaluate(), ["alert.fired web"]);
  deepEqual(active(app), ["shop"]);

  setContainer(app, { name: "shop" });
  deepEqual(evaluate(), ["alert.fired web", "alert.resolved shop"]);
  deepEqual(active(app), []);
  const [fired, resolved, ...more] = messages();
  deepEqual([resolved.event, resolved.phase, more], ["alert.resolved", "end", []]);
  equal(resolved.thread, fired.thread);
});

Deno.test("a container is not evaluated while it is being renamed", () => {
  using app = testApp();
  app.deps.alerts.renaming.add(WEB.id);
  setContainer(app, { name: "shop", ...STOPPED });
  addRule(app);
  evaluateAlerts(app.deps);
  deepEqual(active(app), []);
  app.deps.alerts.renaming.clear();
  evaluateAlerts(app.deps);
  deepEqual(active(app), ["shop"]);
});

Deno.test("a renamed container stays in its crash loop, and its end is reported as such", async () => {
  await using fake = renamingEngine();
  using app = testApp({ engine: fake.engine, now: "2026-01-01T12:00:00Z" });
  const messages = await addChannel(app);
  setContainer(app, { name: "web", ...STOPPED });
  const exit = (container: string) =>
    reportExit(app.deps, { container, id: WEB.id, reason: "exited", exitCode: 1 });
  exit("web");
  const [down] = messages();
  await rename(app, "web", "shop");
  reportStart(app.deps, { container: "shop", id: WEB.id });
  setContainer(app, { name: "shop" });
  const [, up, ...more] = messages();
  deepEqual([up.event, up.phase, more], ["container.up", "end", []]);
  equal(up.thread, down.thread);

  exit("shop");
  await rename(app, "shop", "web");
  exit("web");
  deepEqual(selectCrashLoop(app.deps.db, "shop"), undefined);
  equal(selectCrashLoop(app.deps.db, "web")?.exitCount, 3);
});

Deno.test("a container that takes the name of a removed one with an open alert has one alert", async () => {
  await using fake = renamingEngine();
  using app = testApp({ engine: fake.engine, now: "2026-01-01T12:00:00Z" });
  const messages = await addChannel(app);
  addRule(app);
  const shop = containerOf({ name: "shop", ...STOPPED });
  const exit = (container: string, id: string) =>
    reportExit(app.deps, { container, id, reason: "exited", exitCode: 1 });
  setContainers(app, { name: "web", id: WEB.id, ...STOPPED }, shop);
  exit("web", WEB.id);
  exit("shop", shop.id);
  evaluateAlerts(app.deps);
  deepEqual(active(app).sort(), ["shop", "web"]);
  messages();

  setContainer(app, { name: "web", ...STOPPED });
  await rename(app, "web", "shop");
  for (let minutes = 0; minutes < 5; minutes++) {
    evaluateAlerts(app.deps);
    app.clock.advance({ minutes: 1 });
  }
  deepEqual(active(app), ["shop"]);
  reportStart(app.deps, { container: "shop", id: WEB.id });
  setContainer(app, { name: "shop" });
  evaluateAlerts(app.deps);
  deepEqual(active(app), []);
  messages();
  app.clock.advance({ minutes: 10 });
  const sent = messages().map((
    { phase, thread, title, lines },
  ) => [phase, thread, title, lines[0]]);
  deepEqual(sent.slice(2), [
    ["end", "container shop", "test-host: Alert resolved: Down (shop)", "shop was removed"],
    ["end", "container web", "test-host: Alert resolved: Down (shop)", "shop is running"],
  ]);
});

Deno.test("a rule that takes the name of another one with an open alert leaves that alert alone", () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  const events = collectEvents(app);
  const [first, second] = [addRule(app), addRule(app)];
  setContainer(app, { name: "web", ...STOPPED });
  evaluateAlerts(app.deps);
  changeAlertRule(app.deps, second.id, { name: "Other" });
  changeAlertRule(app.deps, second.id, { name: first.name });
  changeAlertRule(app.deps, second.id, { enabled: false });
  deepEqual(listActiveAlerts(app.deps).map(({ ruleId }) => ruleId), [first.id]);
  setContainer(app, { name: "web" });
  evaluateAlerts(app.deps);
  deepEqual(
    events.map(({ event, data }) => [event, (data as { ruleId: string }).ruleId]).slice(2),
    [
      ["alert.resolved", second.id],
      ["alert.resolved", first.id],
    ],
  );
});

Deno.test("blocked and previous images and the time to healthy follow a container", async () => {
  await using fake = renamingEngine();
  using app = testApp({ engine: fake.engine });
  const { db } = app.deps;
  setContainer(app, WEB);
  for (const name of ["web", "site"]) {
    const common = { containerName: name, createdAt: "2026-01-01T00:00:00.000Z" };
    upsertBlockedUpdate(db, {
      ...{ id: `b-${name}`, digest: "sha256:1", image: `${name}:2`, reason: "failed", jobId: "j" },
      ...common,
    });
    upsertPreviousImage(db, {
      data: null,
      ...{ id: `p-${name}`, imageId: "sha256:2", reference: `${name}:1`, tag: `previous/${name}` },
      ...common,
    });
    raiseHealthTime(db, name, name === "web" ? 10 : 20);
  }

  await rename(app, "web", "site");

  deepEqual(selectBlockedUpdates(db).map(({ id, containerName }) => [id, containerName]), [
    ["b-web", "site"],
  ]);
  deepEqual(selectPreviousImages(db, "site").map(({ id }) => id), ["p-web"]);
  deepEqual(selectPreviousImages(db, "web"), []);
  equal(selectHealthTime(db, "site"), 10);
  // The image of the container that had the name before is still removed when its time is over.
  deepEqual(
    selectPreviousImagesBefore(db, "2027").map(({ tag }) => tag).sort(),
    ["previous/site", "previous/web"],
  );
});
