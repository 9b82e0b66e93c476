import { deepEqual, equal, match } from "node:assert/strict";
import { insertJob } from "../../../db/jobs.ts";
import { reportRemovedContainers } from "../../../services/messages/removed.ts";
import { markedName } from "../../../services/containers/marks.ts";
import { messageOf } from "../../../services/events/message.ts";
import { collectNotifications } from "../../../services/messages/queue.ts";
import { emit } from "../../../services/events/emit.ts";
import type { AppEvent, NewEvent } from "../../../services/events/events.ts";
import type { EventKind, EventMap } from "../../../services/events/kinds/mod.ts";
import { keepCrashLines } from "../../../services/containers/crash_lines.ts";
import { containerOf, idOf, setContainers } from "../../helpers/fake_containers.ts";
import { openTestDatabase, testApp } from "../../helpers/test_app.ts";

const CHANNELS = "/api/notifications/channels";

const down = (container: string) =>
  ({ container, id: container, reason: "exited", exitCode: 1 }) as const;
const up = (container: string) => ({ container, id: container });
const alert = (containers: string[]) => ({
  rule: "Stopped",
  ruleId: "r1",
  alertId: "a1",
  metric: "container_stopped",
  stateOf: "container" as const,
  operator: "gt",
  threshold: 0,
  value: containers.length,
  message: `${containers.length} stopped`,
  containers,
});
const monitor = {
  monitor: "Shop",
  monitorId: "m1",
  outageId: "o1",
  cause: "HTTP 502",
  containers: ["web"],
};

/** A service with one channel, whose messages are collected as soon as they are due. */
const UPDATE = {
  ...{ container: "web", id: "web", image: "web:2", digest: null, reason: null },
  jobId: "j1",
};

async function service({ db = openTestDatabase(), ...channel }: {
  db?: ReturnType<typeof openTestDatabase>;
  events?: string[];
  minSeverity?: string;
} = {}) {
  const app = testApp({ db, now: "2026-01-01T12:00:00Z", config: { serverName: "host" } });
  const { deps, clock } = app;
  setContainers(app, { name: "web", state: "exited" }, { name: "db", state: "exited" });
  if ((await app.call("GET", CHANNELS)).body.channels.length === 0) {
    await app.call("POST", CHANNELS, {
      name: "On-call",
      kind: "gotify",
      config: { url: "https://gotify.example.com", token: "t" },
      ...channel,
    });
  }
  const messages = () =>
    deps.db.all<{ payload: string }>("SELECT payload FROM outbox_messages ORDER BY sequence")
      .map(({ payload }) => JSON.parse(payload));
  return {
    ...app,
    messages,
    titles: (): string[] => messages().map(({ title }) => title.replace("host: ", "")),
    emit: <Kind extends EventKind>(kind: Kind, data: EventMap[Kind]) => emit(deps, kind, data),
    /** The clock goes on by so many seconds. */
    pass(seconds: number) {
      for (let i = 0; i < seconds; i++) {
        clock.advance({ seconds: 1 });
        collectNotifications(deps);
      }
    },
  };
}

Deno.test("the containers of an engine that goes down are in the message about it", async () => {
  using app = await service();
  for (let i = 0; i < 50; i++) app.emit("container.down", down(`c${i}`));
  app.pass(2);
  app.emit("engine.down", { error: "connection refused", containers: 50 });
  app.emit("container.down", down("late"));
  app.pass(60);
  app.emit("monitor.down", monitor);
  app.emit("container.down", down("web"));
  app.emit("engine.up", { downtimeSeconds: 60, containers: 49, stopped: ["web"] });
  for (let i = 0; i < 49; i++) app.emit("container.up", up(`c${i}`));
  app.emit("monitor.up", { ...monitor, downtimeSeconds: 5 });
  app.pass(120);
  deepEqual(app.titles(), ["Container engine down", "Container engine up"]);
  const [first, last] = app.messages();
  deepEqual([first.phase, last.phase, first.thread], ["begin", "end", last.thread]);
  match(last.lines.join("\n"), /Not running any more: web\nMeanwhile: Monitor down: Shop/);
});

Deno.test("what lasts longer than an outage of the engine is sent afterwards, and its end, too", async () => {
  using app = await service();
  app.emit("engine.down", { error: "connection refused", containers: 2 });
  app.emit("monitor.down", monitor);
  app.pass(20);
  app.emit("engine.up", { downtimeSeconds: 20, containers: 2, stopped: [] });
  app.pass(300);
  app.emit("monitor.up", { ...monitor, downtimeSeconds: 320 });
  app.pass(10);
  deepEqual(app.titles(), [
    "Container engine down",
    "Container engine up",
    "Monitor down: Shop",
    "Monitor up: Shop",
  ]);
  deepEqual(app.messages().map(({ phase }) => phase), ["begin", "end", "begin", "end"]);
});

Deno.test("a channel for containers only gets the outage of the engine instead", async () => {
  using app = await service({ events: ["container.down", "container.up"], minSeverity: "warning" });
  app.emit("container.down", down("web"));
  app.pass(1);
  app.emit("engine.down", { error: "connection refused", containers: 2 });
  app.pass(30);
  app.emit("engine.up", { downtimeSeconds: 30, containers: 2, stopped: [] });
  app.pass(100);
  deepEqual(app.titles(), ["Container engine down", "Container engine up"]);
});

Deno.test("events of a cause within 10 s are one message and one that follows", async () => {
  using app = await service();
  app.emit("container.down", down("web"));
  app.emit("container.oom", { container: "web", id: "web" });
  app.pass(3);
  deepEqual(app.titles(), ["Container out of memory: web"]);
  match(
    app.messages()[0].lines.join("\n"),
    /^Image: app:1\nContainer down: web\nExited \(exit code 1\)/,
  );
  app.emit("remediation.executed", {
    rule: "Restart",
    ruleId: "r",
    action: "restart",
    target: "web",
    status: "success",
    error: null,
  });
  app.emit("container.up", up("web"));
  app.pass(8);
  equal(app.titles().length, 1);
  app.pass(60);
  equal(app.titles().length, 2);
  equal(app.messages()[1].phase, "end");
});

Deno.test("a container that runs out of memory is one critical message, which says it once", async () => {
  const oom = { container: "web", id: "web" };
  const end = { ...oom, reason: "oom", exitCode: 137 } as const;
  for (const minSeverity of ["info", "critical"]) {
    using app = await service({ minSeverity });
    app.emit("container.oom", oom);
    app.emit("container.down", end);
    app.emit("container.oom", { container: "db", id: "db" });
    app.pass(10);
    const [message, other] = app.messages();
    equal(message.title, "host: Container down: web");
    deepEqual(message.lines, ["Out of memory (exit code 137)", "Image: app:1"]);
    equal(message.severity, "critical");
    equal(other.title, "host: Container out of memory: db");
  }
});

Deno.test("a firing of a container is in the message of the monitor or rule that covers it", async () => {
  for (
    const [kind, data, end, ended] of [
      ["monitor.down", monitor, "monitor.up", { ...monitor, downtimeSeconds: 60 }],
      ["alert.fired", alert(["web", "db"]), "alert.resolved", alert(["web", "db"])],
    ] as const
  ) {
    using app = await service();
    app.emit(kind, data as never);
    app.pass(30);
    app.emit("container.down", down("web"));
    app.emit("container.unhealthy", { container: "other", id: "other", healthOutput: null });
    app.pass(30);
    app.emit("container.up", up("web"));
    app.pass(30);
    app.emit(end, ended as never);
    app.pass(60);
    equal(app.titles().length, 3, app.titles().join());
    equal(app.titles()[1], "Container unhealthy: other");
  }
});

Deno.test("a load is not explained by a monitor, and a crash loop is sent while one is open", async () => {
  using app = await service();
  app.emit("monitor.down", monitor);
  app.pass(30);
  const { stateOf: _, ...load } = alert(["web"]);
  app.emit("alert.fired", { ...load, metric: "container_cpu_percent" });
  app.emit("container.crash_looping", down("web"));
  app.pass(30);
  deepEqual(app.titles().slice(1), ["Crash loop: web"]);
  match(app.messages()[1].lines.join("\n"), /Alert: Stopped/);
});

Deno.test("more than 5 changes in 10 minutes are one message, then a summary every 30 minutes", async () => {
  using app = await service();
  const cpu = { ...alert([]), metric: "cpu_percent" };
  const seen: number[] = [];
  for (let minute = 0; minute < 90; minute++) {
    app.emit(minute % 2 ? "alert.resolved" : "alert.fired", cpu);
    app.pass(60);
    seen.push(app.titles().length);
  }
  deepEqual([seen[4], seen[5], seen[30], seen[40], seen[89]], [5, 6, 6, 7, 8]);
  match(app.messages()[6].lines.join("\n"), /Changes since the last message: 30/);
  app.pass(3 * 60 * 60);
  equal(app.titles().at(-1), "Alert resolved: Stopped");
  equal(app.titles().length, 9);
});

Deno.test("a container that restarts at once is sent as one message, and not again for 5 minutes", async () => {
  using app = await service();
  for (let i = 0; i < 2; i++) {
    app.emit("container.down", down("web"));
    app.emit("container.up", up("web"));
    app.pass(60);
  }
  deepEqual(app.titles(), ["Container up: web"]);
  match(
    app.messages()[0].lines.join("\n"),
    /^Image: app:1\nContainer down: web\nExited \(exit code 1\)$/,
  );
  app.pass(300);
  app.emit("container.down", down("web"));
  app.emit("container.up", up("web"));
  app.pass(60);
  equal(app.titles().length, 2);
});

Deno.test("a start is news only to channels that name it, or as the end of a problem", async () => {
  for (
    const [events, titles] of [[["*"], []], [["container.up"], ["Container up: web"]]] as const
  ) {
    using app = await service({ events: [...events] });
    app.emit("container.up", up("web"));
    app.emit("container.healthy", up("web"));
    app.emit("update.started", UPDATE);
    app.pass(60);
    deepEqual(app.titles(), titles);
  }
  using app = await service();
  app.emit("container.down", down("web"));
  app.pass(10);
  app.emit("container.up", up("web"));
  app.pass(60);
  deepEqual(app.titles(), ["Container down: web", "Container up: web"]);
});

Deno.test("a health check that recovers ends its message, and one that keeps failing briefly is quiet", async () => {
  using app = await service();
  const unhealthy = { ...up("web"), healthOutput: "connection refused" };
  app.emit("container.unhealthy", unhealthy);
  app.pass(30);
  app.emit("container.healthy", up("web"));
  app.pass(30);
  deepEqual(app.titles(), ["Container unhealthy: web", "Container healthy: web"]);
  deepEqual(app.messages().map(({ phase }) => phase), ["begin", "end"]);
  equal(new Set(app.messages().map(({ thread }) => thread)).size, 1);

  app.emit("container.unhealthy", unhealthy);
  app.pass(30);
  app.emit("container.healthy", up("web"));
  app.pass(60);
  equal(app.titles().length, 2);
  app.emit("container.unhealthy", unhealthy);
  app.pass(61);
  equal(app.titles().at(-1), "Container unhealthy: web");
});

Deno.test("during an update of a container, only the update is reported", async () => {
  using app = await service();
  const web = { id: "web", name: "web" };
  {
    using _ = app.deps.reservations.markReplaced([web]);
    app.emit("container.down", down("web"));
    app.pass(10);
    app.emit("container.up", up("web"));
    keepCrashLines(app.deps.crashLines, UPDATE.jobId, ["Log: no database"]);
    app.emit("update.rolled_back", { ...UPDATE, reason: "web exited with code 9" });
    app.pass(60);
  }
  deepEqual(app.titles(), ["Update rolled back: web"]);
  const lines = ["Image: web:2", "web exited with code 9", "Log: no database"];
  deepEqual(app.messages()[0].lines, lines);
  // Another container of the stack is updated.
  using _ = app.deps.reservations.reserve({ id: "db", name: "db" }, "updated", { affected: [web] });
  app.emit("container.down", down("web"));
  app.pass(60);
  equal(app.titles().at(-1), "Container down: web");
});

Deno.test("a deploy that failed is one problem, which ends with the next one that succeeds", async () => {
  using app = await service();
  const deploy = { stack: "shop", version: 4, reason: null, jobId: "j1" };
  app.emit("deploy.succeeded", { ...deploy, stack: "blog" });
  app.pass(60);
  {
    using _ = app.deps.reservations.markReplaced([{ id: "web", name: "web" }]);
    app.emit("container.down", down("web"));
    keepCrashLines(app.deps.crashLines, "j1", ["Log: no database"]);
    app.emit("deploy.rolled_back", { ...deploy, reason: "web exited with code 9" });
  }
  app.pass(60);
  app.emit("deploy.succeeded", { ...deploy, version: 5, jobId: "j2" });
  app.pass(60);
  app.emit("deploy.succeeded", { ...deploy, version: 5, jobId: "j3" });
  app.pass(60);
  const messages = app.messages().map(({ title, lines, severity, phase, thread }) =>
    [title, lines, severity, phase, thread] as const
  );
  deepEqual(messages, [
    [
      "host: Deploy rolled back: shop",
      ["Version: 4", "web exited with code 9", "Log: no database"],
      ...["warning", "begin", "deploy shop"],
    ],
    ["host: Stack deployed: shop", ["Version: 5"], "info", "end", "deploy shop"],
  ]);
});

Deno.test("the failed update of a schedule is reported once, by the kinds that a channel gets", async () => {
  const failed = { schedule: "nightly", scheduleId: "s1", container: "web", action: "update" };
  for (
    const [events, titles] of [
      [["*"], ["Update rolled back: web"]],
      [["schedule.failed"], ["Schedule failed: nightly"]],
      [["schedule.failed", "update.failed"], ["Schedule failed: nightly"]],
    ] as const
  ) {
    using app = await service({ events: [...events] });
    app.emit("update.rolled_back", { ...UPDATE, reason: "web exited with code 9" });
    const { jobId } = UPDATE;
    app.emit("schedule.failed", { ...failed, error: "web exited with code 9", jobId });
    app.pass(60);
    deepEqual(app.titles(), titles);
  }
  using app = await service();
  app.emit("schedule.failed", { ...failed, error: "No such container: web" });
  app.pass(60);
  deepEqual(app.titles(), ["Schedule failed: nightly"]);
});

Deno.test("the failed backup of a schedule is reported once, by the kinds that a channel gets", async () => {
  const failed = { schedule: "nightly", scheduleId: "s1", action: "backup", error: "full" };
  for (const kind of ["backup", "own-backup"]) {
    for (
      const [events, titles] of [
        [["*"], ["Backup failed: shop"]],
        [["schedule.failed", "update.failed", "update.rolled_back", "update.needs_attention"], [
          "Schedule failed: nightly",
        ]],
      ] as const
    ) {
      using app = await service({ events: [...events] });
      app.emit("backup.failed", { backup: "shop", place: "NAS", jobId: "j1", reason: "full" });
      app.emit("schedule.failed", { ...failed, kind, jobId: "j1" });
      app.pass(60);
      deepEqual(app.titles(), titles, kind);
    }
  }
});

Deno.test("a failed and an overdue backup are one problem, which the next success ends", async () => {
  using app = await service();
  const backup = { backup: "shop", place: "NAS", jobId: "j1" };
  const schedule = { schedule: "nightly", scheduleId: "s1" };
  app.emit("backup.failed", { ...backup, reason: "The target is full" });
  app.emit("schedule.failed", {
    ...schedule,
    ...{ kind: "backup", action: "backup", subject: "shop", stack: "shop", jobId: "j1" },
    error: "The target is full",
  });
  app.pass(60);
  app.emit("backup.overdue", { ...schedule, backup: "shop", lastAt: null });
  app.pass(60);
  app.emit("backup.succeeded", { ...backup, snapshot: "40dc1520", size: 1, downtimeMs: 0 });
  app.pass(60);
  deepEqual(app.titles(), ["Backup failed: shop", "Backup overdue: shop", "Backed up: shop"]);
});

Deno.test("a backup does not end the problem of another one with the same name", async () => {
  using app = await service();
  const own = { backup: "Longshore", subject: "longshore", place: "NAS", jobId: "j1" };
  const volume = { ...own, subject: "volumes Longshore", jobId: "j2" };
  app.emit("backup.failed", { ...own, reason: "The target is full" });
  app.pass(60);
  equal(app.messages().at(-1)!.thread, "backup longshore");
  app.emit("backup.succeeded", { ...volume, snapshot: "40dc1520", size: 1, downtimeMs: 0 });
  app.pass(60);
  deepEqual(app.titles(), ["Backup failed: Longshore"]);
  app.emit("backup.succeeded", { ...own, snapshot: "40dc1520", size: 1, downtimeMs: 0 });
  app.pass(60);
  deepEqual(app.titles(), ["Backup failed: Longshore", "Backed up: Longshore"]);
});

Deno.test("an automatic update that keeps failing in the same way is reported once", async () => {
  using app = await service();
  const attempt = (createdBy: string, error: string) => {
    app.clock.advance({ seconds: 3_600 });
    const [id, createdAt] = [crypto.randomUUID(), app.deps.now().toISOString()];
    insertJob(app.deps.db, {
      ...{ id, kind: "container.update", targetType: "container", target: "web", stack: null },
      ...{ status: "failed", progress: null, steps: [], input: {}, error, result: null },
      ...{ createdBy, tokenId: null, createdAt, startedAt: createdAt, endedAt: createdAt },
    });
    app.emit("update.failed", { ...UPDATE, jobId: id, reason: error });
  };
  attempt("update policy", "The registry does not answer");
  attempt("update policy", "The registry does not answer");
  attempt("update policy", "No space left");
  attempt("u1", "No space left");
  attempt("u1", "No space left");
  app.pass(60);
  deepEqual(app.messages().map(({ lines }) => lines.at(-1)), [
    "The registry does not answer",
    ...Array(3).fill("No space left"),
  ]);
});

Deno.test("links lead to the page of a stack or container, and to the list if it was removed", () => {
  const at = (event: NewEvent) =>
    messageOf(
      { ...event, timestamp: "", eventId: "e1", server: "host", serverId: "s" } as AppEvent,
      { serviceBaseUrl: "https://ops.example.com/x" },
    ).link;
  const loop = { ...up("web"), exits: 3, durationSeconds: 60 };
  const deploy = { stack: "my shop", version: 1, reason: null, jobId: "j1" };
  deepEqual([
    at({ event: "container.down", data: down("web") }),
    at({ event: "container.removed", data: up("web") }),
    at({ event: "container.stable", data: { ...loop, outcome: "removed" } }),
    at({ event: "container.stable", data: { ...loop, outcome: "running" } }),
    at({ event: "deploy.failed", data: deploy }),
  ], [
    "https://ops.example.com/x/containers/web",
    "https://ops.example.com/x/containers",
    "https://ops.example.com/x/containers",
    "https://ops.example.com/x/containers/web",
    "https://ops.example.com/x/stacks/my%20shop",
  ]);
});

Deno.test("what waits and what is open survive kill -9 of the service", async () => {
  const db = openTestDatabase();
  const before = await service({ db });
  before.emit("engine.down", { error: "connection refused", containers: 2 });
  before.pass(1);
  before.emit("monitor.down", monitor);
  before[Symbol.dispose]();
  using app = await service({ db });
  app.emit("container.down", down("web"));
  app.emit("engine.up", { downtimeSeconds: 1, containers: 1, stopped: ["web"] });
  app.pass(11);
  deepEqual(app.titles(), ["Container engine down", "Container engine up"]);
});

Deno.test("an end is sent to those who got the beginning, and an unknown one only as news", async () => {
  using app = await service({ minSeverity: "warning" });
  app.emit("container.up", up("db"));
  app.emit("container.down", down("web"));
  app.pass(20);
  app.emit("container.up", up("web"));
  app.pass(20);
  deepEqual(app.titles(), ["Container down: web", "Container up: web"]);
});

Deno.test("the removal of a container ends its problem for those who got the beginning", async () => {
  for (
    const [events, titles] of [
      [["*"], ["Container down: web", "Container removed: web"]],
      [["container.down", "container.up"], ["Container down: web", "Container removed: web"]],
      [["container.down"], ["Container down: web"]],
    ] as const
  ) {
    using app = await service({ events: [...events] });
    const { inventory } = app.deps;
    const remove = (name: string) => inventory.remove(idOf(name), inventory.readNumber());
    const round = (seconds: number) => {
      app.pass(seconds);
      reportRemovedContainers(app.deps);
    };
    app.emit("container.down", down("web"));
    round(70);
    remove("db");
    remove("web");
    inventory.setLive(false);
    round(10);
    equal(app.titles().length, 1);
    inventory.setLive(true);
    round(0);
    round(20);
    deepEqual(app.titles(), titles);
    deepEqual(app.messages()[1]?.phase, titles[1] && "end");
    deepEqual(app.messages()[1]?.thread, titles[1] && app.messages()[0].thread);
  }
});

Deno.test("a container that is replaced is not removed", async () => {
  using app = await service();
  const { inventory } = app.deps;
  app.emit("container.down", down("web"));
  const name = markedName({ name: "web", role: "old", ran: false, oldId: idOf("web") });
  inventory.put(
    containerOf({ name, originalName: "web", id: idOf("web") }),
    inventory.readNumber(),
  );
  app.pass(70);
  reportRemovedContainers(app.deps);
  app.pass(10);
  deepEqual(app.titles(), ["Container down: web"]);
});

Deno.test("a problem that ends during maintenance is over", async () => {
  using app = await service();
  app.emit("monitor.down", monitor);
  app.pass(20);
  await app.call("POST", "/api/maintenance", { enabled: true });
  app.emit("monitor.up", { ...monitor, downtimeSeconds: 20 });
  await app.call("POST", "/api/maintenance", { enabled: false });
  app.emit("container.down", down("web"));
  app.pass(20);
  deepEqual(app.titles(), ["Monitor down: Shop", "Container down: web"]);
});

Deno.test("a deleted or disabled channel gets nothing that waits", async () => {
  using app = await service();
  const [{ id }] = (await app.call("GET", CHANNELS)).body.channels;
  app.emit("container.down", down("web"));
  await app.call("PUT", `${CHANNELS}/${id}/toggle`, { enabled: false });
  app.pass(20);
  deepEqual(app.titles(), []);
});

for (
  const [what, runSeconds, expected] of [
    ["at once", 0, ["Crash loop: web"]],
    ["after 2 seconds", 2, ["Crash loop: web"]],
    // At the first message, the container had exited once.
    ["after 4 seconds", 4, ["Container up: web", "Crash loop: web"]],
  ] as const
) {
  Deno.test(`the crash loop of a container that exits ${what} is sent within 3 s`, async () => {
    using app = await service();
    for (let exit = 0; exit < 2; exit++) {
      app.emit("container.down", down("web"));
      app.emit("container.up", up("web"));
      app.pass(runSeconds);
    }
    app.emit("container.crash_looping", down("web"));
    app.pass(3);
    deepEqual(app.titles(), expected);
    equal(app.messages().at(-1).severity, "critical");
    app.pass(3_600);
    equal(app.titles().length, expected.length);
  });
}

Deno.test("two exits alone are one message", async () => {
  using app = await service();
  for (let exit = 0; exit < 2; exit++) {
    app.emit("container.down", down("web"));
    app.emit("container.up", up("web"));
  }
  app.pass(9);
  deepEqual(app.titles(), []);
  app.pass(60);
  deepEqual(app.titles(), ["Container up: web"]);
});

Deno.test("a crash loop is sent although the container keeps changing", async () => {
  using app = await service();
  for (let exit = 0; exit < 3; exit++) {
    app.emit("container.oom", { container: "web", id: "web" });
    const end = { ...down("web"), reason: "oom", exitCode: 137 } as const;
    if (exit < 2) {
      app.emit("container.down", end);
      app.emit("container.up", up("web"));
    } else app.emit("container.crash_looping", end);
    app.pass(1);
  }
  app.pass(2);
  equal(app.titles().at(-1), "Crash loop: web");
});
