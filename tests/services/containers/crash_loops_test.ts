import { deepEqual, equal } from "node:assert/strict";
import { selectServiceStop } from "../../../db/service_stops.ts";
import {
  endCrashLoops,
  recordRemoval,
  recordServiceStop,
  recordStop,
  reportExit,
  reportStart,
} from "../../../services/containers/crash_loops.ts";
import { listItems } from "../../../services/containers/containers.ts";
import { markedName } from "../../../services/containers/marks.ts";
import { createTemporaryNames } from "../../../services/containers/temporary_names.ts";
import type { Deps } from "../../../services/deps.ts";
import type { DownReason } from "../../../services/events/kinds/containers.ts";
import { overviewFrame } from "../../../services/live/overview_frame.ts";
import type { ContainerState } from "../../../services/containers/inventory.ts";
import { containerOf, idOf } from "../../helpers/fake_containers.ts";
import { openTestDatabase, testApp } from "../../helpers/test_app.ts";

/** A container "web" with every event about it, on a service that can be restarted. */
function watched({ restart = "always" } = {}) {
  const db = openTestDatabase();
  const start = () => {
    const app = testApp({ now: "2026-01-01T12:00:00Z", db });
    app.deps.events.publish = ({ event }) => void told.push(event);
    return app;
  };
  const told: string[] = [];
  let app = start();
  const put = (state: ContainerState | "removed", name = "web") => {
    const { inventory } = app.deps;
    if (state === "removed") return inventory.remove(idOf(name), inventory.readNumber());
    const { details } = containerOf({ name });
    const restartPolicy = { name: restart, maximumRetryCount: 0 };
    const container = containerOf({ name, state, details: { ...details, restartPolicy } });
    inventory.put(container, inventory.readNumber());
  };
  put("running");
  const down = (reason: DownReason, exitCode: number, name: string) =>
    ({ id: idOf(name), container: name, reason, exitCode }) as const;
  return {
    get deps(): Deps {
      return app.deps;
    },
    get clock() {
      return app.clock;
    },
    told,
    put,
    exit: (reason: DownReason = "exited", exitCode = 1, name = "web") =>
      reportExit(app.deps, down(reason, exitCode, name)),
    start: (name = "web") => reportStart(app.deps, { container: name, id: idOf(name) }),
    stop: () => recordServiceStop(app.deps, down("stopped", 0, "web")),
    stopBetweenRuns: () => recordStop(app.deps, { container: "web", id: idOf("web") }),
    remove: () => recordRemoval(app.deps, { container: "web", id: idOf("web") }),
    end: () => endCrashLoops(app.deps),
    restartService() {
      const time = app.clock.now().toISOString();
      app[Symbol.dispose]();
      app = start();
      app.clock.set(time);
      put("running");
    },
    [Symbol.dispose]() {
      app[Symbol.dispose]();
      db.close();
    },
  };
}

function crash(web: ReturnType<typeof watched>, times: number): void {
  for (let i = 0; i < times; i++) {
    web.clock.advance({ seconds: 1 });
    web.exit();
    web.start();
  }
}

Deno.test("the third exit within 5 minutes is a crash loop; nothing is reported until it ends", () => {
  using web = watched();
  crash(web, 20);
  deepEqual(web.told, [
    "container.down",
    "container.up",
    "container.down",
    "container.up",
    "container.crash_looping",
  ]);
  web.told.length = 0;
  web.clock.advance({ ms: 10 * 60_000 - 1 });
  web.end();
  deepEqual(web.told, []);
  web.deps.events.publish = ({ event, data }) => {
    deepEqual([event, data], ["container.stable", {
      container: "web",
      id: idOf("web"),
      image: "app:1",
      outcome: "running",
      exits: 20,
      durationSeconds: 619,
    }]);
    web.told.push(event);
  };
  web.clock.advance({ ms: 1 });
  web.end();
  web.end();
  equal(web.told.length, 1);
});

Deno.test("lists mark a container in a crash loop, also while it runs, until it is stopped", () => {
  using web = watched();
  const isMarked = () => {
    const { deps } = web;
    return listItems(deps, deps.inventory.list()).map(({ crashLooping }) => crashLooping);
  };
  crash(web, 2);
  deepEqual(isMarked(), [false]);
  crash(web, 1);
  deepEqual(isMarked(), [true]);
  web.stop();
  deepEqual(isMarked(), [false]);
});

Deno.test("the overview names a container in a crash loop until it is removed, although the loop may go on", () => {
  using web = watched({ restart: "no" });
  const attention = () =>
    overviewFrame(web.deps, web.deps.inventory.list(), new Set()).attention.map(({ name }) => name);
  crash(web, 3);
  deepEqual(attention(), ["web"]);
  web.remove();
  web.put("removed");
  web.clock.advance({ minutes: 9 });
  web.end();
  deepEqual([web.told.includes("container.stable"), attention()], [false, []]);
});

Deno.test("three exits in more than 5 minutes are not a crash loop", () => {
  using web = watched();
  for (let i = 0; i < 5; i++) {
    web.exit();
    web.clock.advance({ seconds: 151 });
    web.end();
  }
  deepEqual(web.told, Array(5).fill("container.down"));
});

Deno.test("a crash loop survives a restart of the service", () => {
  using web = watched();
  crash(web, 2);
  web.restartService();
  crash(web, 1);
  web.restartService();
  crash(web, 1);
  deepEqual(web.told.slice(4), ["container.crash_looping"]);
});

for (
  const [what, reason, exitCode, restart, loops] of [
    ["tasks that finish", "exited", 0, "no", false],
    ["tasks that finish and are retried on failures", "exited", 0, "on-failure", false],
    ["a service that keeps exiting with 0", "exited", 0, "unless-stopped", true],
    ["stops by a user", "stopped", 137, "always", false],
    ["a memory limit that is too small", "oom", 137, "always", true],
  ] as const
) {
  Deno.test(`${what}: ${loops ? "a crash loop" : "not a crash loop"}`, () => {
    using web = watched({ restart });
    for (let i = 0; i < 4; i++) web.exit(reason, exitCode);
    equal(web.told.includes("container.crash_looping"), loops);
    equal(web.told.length, loops ? 3 : 4);
  });
}

for (
  const [state, act, outcome] of [
    ["running", "start", "running"],
    ["exited", "none", "exited"],
    ["exited", "stop", "stopped"],
    ["exited", "user stop", "stopped"],
    ["removed", "none", "removed"],
  ] as const
) {
  Deno.test(`a crash loop after which the container is ${outcome} (${act})`, () => {
    using web = watched();
    crash(web, 3);
    web.exit();
    if (act === "start") web.start();
    if (act === "stop") web.stop();
    if (act === "user stop") web.exit("stopped", 0);
    web.put(state);
    web.clock.advance({ minutes: 10 });
    const outcomes: string[] = [];
    web.deps.events.publish = ({ data }) =>
      void outcomes.push((data as { outcome: string }).outcome);
    web.end();
    deepEqual(outcomes, [outcome]);
  });
}

Deno.test("a start in a crash loop ends the record of a stop by the service", () => {
  using web = watched();
  crash(web, 3);
  web.stop();
  equal(typeof selectServiceStop(web.deps.db, idOf("web")), "string");
  web.start();
  equal(selectServiceStop(web.deps.db, idOf("web")), undefined);
});

Deno.test("the replacement of a container continues its crash loop", () => {
  using web = watched();
  crash(web, 2);
  const name = markedName({ name: "web", role: "new", ran: true, oldId: idOf("web") });
  web.deps.inventory.temporary.record({ id: idOf(name), name: "web" });
  web.put("running", name);
  web.exit("exited", 1, name);
  equal(web.told.at(-1), "container.crash_looping");
});

Deno.test("a container that only has the name of a replacement hides nothing about another one", () => {
  using web = watched();
  const name = markedName({ name: "web", role: "old", ran: true, oldId: idOf("web") });
  web.put("running", name);
  for (let exits = 0; exits < 3; exits++) web.exit("exited", 1, name);
  equal(web.told.at(-1), "container.crash_looping");
  web.told.length = 0;

  web.exit("exited", 1);
  deepEqual(web.told, ["container.down"]);
});

Deno.test("temporary names outlast the process", () => {
  using app = testApp();
  const { db } = app.deps;
  const web = { id: idOf("web"), name: "web" };
  const temporary = markedName({ name: "web", role: "old", ran: true, oldId: web.id });
  createTemporaryNames(db).record(web);
  const names = createTemporaryNames(db);
  equal(names.originalOf({ id: web.id, name: temporary }), "web");
  equal(names.originalOf({ id: web.id, name: "another" }), "another");
  names.forget(web.id);
  equal(createTemporaryNames(db).originalOf({ id: web.id, name: temporary }), temporary);
});

for (
  const [what, act, outcome] of [
    ["stopped by a user", "user stop", "stopped"],
    ["stopped by this service", "stop", "stopped"],
    ["stopped between two runs", "stopBetweenRuns", "stopped"],
    ["removed", "remove", "removed"],
  ] as const
) {
  Deno.test(`the crash loop of a container that was ${what} ends at once`, () => {
    using web = watched();
    crash(web, 3);
    if (act === "user stop") web.exit("stopped", 0);
    else web[act]();
    web.put(outcome === "removed" ? "removed" : "exited");
    web.told.length = 0;
    web.clock.advance({ ms: 2_999 });
    web.end();
    deepEqual(web.told, []);
    const outcomes: unknown[] = [];
    web.deps.events.publish = ({ event, data }) =>
      void outcomes.push([event, (data as { outcome: string }).outcome]);
    web.clock.advance({ ms: 1 });
    web.end();
    web.end();
    deepEqual(outcomes, [["container.stable", outcome]]);
  });
}

Deno.test("a restart and an update continue a crash loop", () => {
  using web = watched();
  crash(web, 3);
  web.told.length = 0;
  web.exit("stopped", 0);
  web.start();
  web.clock.advance({ minutes: 1 });
  web.end();
  web.stop();
  web.put("exited");
  {
    const target = { id: idOf("web"), name: "web" };
    using _ = web.deps.reservations.reserve(target, "updated");
    web.clock.advance({ minutes: 1 });
    web.end();
  }
  deepEqual(web.told, []);
});

Deno.test("a container that is created again for each run continues its crash loop", () => {
  using web = watched({ restart: "no" });
  for (let run = 0; run < 4; run++) {
    web.exit();
    web.remove();
    web.put("removed");
    web.clock.advance({ seconds: 30 });
    web.end();
    web.put("running");
    web.start();
  }
  deepEqual(web.told.slice(-2), ["container.up", "container.crash_looping"]);
});
