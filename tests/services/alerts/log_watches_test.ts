import { equal, match } from "node:assert/strict";
import { evaluateAlerts } from "../../../services/alerts/evaluation.ts";
import { runAlertRound } from "../../../services/alerts/evaluator.ts";
import { refreshLogWatches } from "../../../services/alerts/log_watches.ts";
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
  await until("the log is followed", () => app.logs.web!.followers > 0);
  return app;
}

const countOf = ({ deps }: LogApp) =>
  deps.alerts.logs.get(idOf("web"))!.patterns[0]!.count.total(deps.now().getTime());

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
