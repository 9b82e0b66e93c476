import { deepEqual, equal, match } from "node:assert/strict";
import { evaluateAlerts } from "../../../services/alerts/evaluation.ts";
import { runAlertRound } from "../../../services/alerts/evaluator.ts";
import { refreshLogWatches } from "../../../services/alerts/log_watches.ts";
import type { Container } from "../../../services/containers/inventory.ts";
import { encode } from "../../../services/stream/chunks.ts";
import { containerOf, idOf } from "../../helpers/fake_containers.ts";
import { type LogApp, logApp } from "../../helpers/log_app.ts";
import { openLogStream } from "../../helpers/log_client.ts";
import { until } from "../../helpers/until.ts";

/** More than twice what a stream holds in memory. */
const LINES = 1_000;
const TEXT = "x".repeat(1_000);

/** An application that counts the errors in the log of a container. */
async function watching(threshold: number): Promise<LogApp> {
  const app = logApp(containerOf({ name: "web" }));
  await watch(app, threshold);
  await until("the log is followed", () => app.logs.web!.followers > 0);
  return app;
}

async function watch(app: LogApp, threshold = 1): Promise<void> {
  const { status } = await app.call("POST", "/api/alerts/rules", {
    name: "errors",
    metric: "container_log_matches",
    pattern: "^error",
    operator: ">=",
    threshold,
    windowSeconds: 60,
    durationSeconds: 0,
  });
  equal(status, 201);
  await runAlertRound(app.deps);
}

const countOf = ({ deps }: LogApp, name = "web") =>
  deps.alerts.logs.get(idOf(name))!.patterns[0]!.count.total(deps.now().getTime());

/** Makes the containers those of the application, and evaluates the rules. */
async function runWith(app: LogApp, ...containers: Container[]): Promise<void> {
  app.contain(...containers);
  await runAlertRound(app.deps);
}

/** Writes lines, of which every second one is an error, and follows them while none can be tested. */
async function burst(app: LogApp): Promise<void> {
  const other = await openLogStream(app, "/api/containers/web/logs/stream?tail=0");
  const { promise, resolve } = Promise.withResolvers<void>();
  const slice = app.deps.limiters.searchSlices(() => promise);
  for (let line = 0; line < LINES;) {
    for (const end = line + 100; line < end; line++) {
      app.logs.web!.write(`${line % 2 === 0 ? "error" : "fine"} ${TEXT}`);
    }
    await other.lines(100);
  }
  await other.cancel();
  resolve();
  await slice;
}

Deno.test("each line of a burst is counted once", async () => {
  await using app = await watching(LINES / 2);
  await burst(app);
  await until("all were counted", () => countOf(app) >= LINES / 2);

  app.logs.web!.write("error at last");
  await until("the last one was counted", () => countOf(app) > LINES / 2);
  equal(countOf(app), LINES / 2 + 1);
});

Deno.test("lines that were dropped count as matches, and the alert says so", async () => {
  await using app = await watching(5);
  app.deps.alerts.logs.clear();
  const frames = [{ dropped: 6 }, { dropped: null }].map((data) => encode("gap", data));
  const open = () => Promise.resolve(ReadableStream.from(frames));
  await refreshLogWatches({ ...app.deps, logStreams: { ...app.deps.logStreams, open } });
  await until("the gap was counted", () => countOf(app) > 0);
  app.deps.alerts.logs.get(idOf("web"))!.isOpen = true;

  evaluateAlerts(app.deps);

  const [alert] = (await app.call("GET", "/api/alerts/events")).body.events;
  match(alert.message, /of web is 6 \(.*\); 6 of them came too fast to be tested$/);
});

Deno.test("a container that is created later counts from its first line, others from now on", async () => {
  const old = containerOf({ name: "old" });
  await using app = logApp(old);
  app.logs.old!.write("error before the rule");
  await watch(app);

  app.contain(old, containerOf({ name: "web" }));
  app.logs.web!.write("error of the first second");
  await runAlertRound(app.deps);
  await until("the first line was counted", () => countOf(app) === 1);
  app.logs.web!.write("error");
  app.logs.old!.write("error");
  await until("the next ones were counted", () => countOf(app) === 2 && countOf(app, "old") === 1);
});

Deno.test("a watch that was interrupted continues after the last counted line", async () => {
  await using app = await watching(1);
  app.logs.web!.write("error 1");
  await until("it was counted", () => countOf(app) === 1);

  app.deps.alerts.logs.get(idOf("web"))!.close();
  await until("the stream has ended", () => !app.deps.alerts.logs.get(idOf("web"))!.isOpen);
  app.logs.web!.write("error 2");
  await runAlertRound(app.deps);
  app.logs.web!.write("error 3");
  await until("the missed and the new one were counted", () => countOf(app) === 3);
});

Deno.test("running containers get the places of stopped ones, and give them back", async () => {
  const web = containerOf({ name: "web", state: "exited" });
  const others = Array.from({ length: 50 }, (_, at) => containerOf({ name: `other-${at}` }));
  const stopped = others.map((each): Container => ({ ...each, state: "exited" }));
  await using app = logApp(...stopped, web);
  await watch(app);
  const open = () => [...app.deps.alerts.logs].filter(([, { isOpen }]) => isOpen).length;
  equal(open(), 50);

  const startedAt = "2026-01-01T11:59:58Z";
  const running: Container = { ...web, state: "running", startedAt };
  app.contain(...stopped, running);
  app.logs.web!.write("error", { time: "2026-01-01T11:59:59.000000001Z" });
  await runWith(app, ...stopped, running);
  await until("its first line was counted", () => countOf(app) === 1);
  equal(open(), 50);

  await runWith(app, ...others, { ...running, state: "exited" });
  deepEqual(
    app.deps.alerts.logs.get(idOf("web"))!.error,
    "The limit of 50 containers whose logs are watched is reached",
  );
  await until("it was closed", () => !app.deps.alerts.logs.get(idOf("web"))!.isOpen);
  app.contain(...stopped, running);
  app.logs.web!.write("error of the next run", { time: "2026-01-01T12:00:00.000000001Z" });
  await runWith(app, ...stopped, running);
  await until("no line was missed or counted twice", () => countOf(app) === 2);
});
