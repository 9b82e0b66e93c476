import { deepEqual, equal } from "node:assert/strict";
import { failInterrupted } from "../../../../services/jobs/kind.ts";
import { startJob } from "../../../../services/jobs/runner.ts";
import { setMaintenance } from "../../../../services/automation/maintenance/mode.ts";
import { pendingUpdates } from "../../../../services/updates/automatic/pending.ts";
import { createUpdater } from "../../../../services/updates/automatic/updater.ts";
import { checkDueImages } from "../../../../services/updates/check/checker.ts";
import {
  changeUpdateSettings,
  type UpdateSettings,
} from "../../../../services/updates/settings.ts";
import type { Container } from "../../../../services/containers/inventory.ts";
import { upsertBlockedUpdate } from "../../../../db/updates/blocked.ts";
import { selectJobs, selectUnfinishedJobs } from "../../../../db/jobs.ts";
import { composeLabels, idOf, simulateContainers } from "../../../helpers/fake_containers.ts";
import type { FakeAnswer } from "../../../helpers/fake_engine.ts";
import { until } from "../../../helpers/until.ts";
import {
  digestOf,
  index,
  manifest,
  startTagServer,
  type UpdateApp,
  updateApp,
} from "../../../helpers/updates.ts";

const [OLD, NEW] = ["old", "new"].map(manifest) as [string, string];

/** Open on Saturday, 10 January 2026, from 3:00 to 4:00. */
const WINDOW = { cron: "0 3 10 1 *", timeZone: "UTC", durationMinutes: 60 };
const IN_WINDOW = "2026-01-10T03:30:00Z";

/** The settings with which everything is updated in the window. */
const AUTO: Partial<UpdateSettings> = {
  enabled: true,
  intervalHours: 168,
  policy: "auto",
  windows: [WINDOW],
};

type User = Partial<Container> & { name: string };

/** Containers with an update that was first seen on 5 January; the clock is in the window. */
async function outdated(
  users: User[],
  settings: Partial<UpdateSettings> = {},
  answers: Record<string, FakeAnswer> = {},
) {
  const registry = startTagServer();
  const images = [{ id: digestOf("a"), digests: [`${registry.address}/app@${OLD}`] }];
  const made = updateApp(images, {}, answers);
  registry.tags.set("app:1", NEW).set("app:2", NEW);
  made.run(users.map((user) => ({
    image: `${registry.address}/app:1`,
    imageId: digestOf("a"),
    ...user,
  })));
  const { app } = made;
  changeUpdateSettings(app.deps, { ...AUTO, ...settings });
  app.clock.set("2026-01-05T00:00:00Z");
  await checkDueImages(app.deps);
  app.clock.set(IN_WINDOW);
  return {
    ...made,
    registry,
    async [Symbol.asyncDispose]() {
      await made[Symbol.asyncDispose]();
      await registry[Symbol.asyncDispose]();
    },
  };
}

Deno.test("labels of the image neither turn on automatic updates nor widen them", async () => {
  const given = {
    "longshore.update": "auto",
    "longshore.update.level": "major",
    "longshore.update.min-age": "0",
    "longshore.update.window": "0 3 * * * UTC 1h",
  };
  for (
    const { policy, labels, own, at, names } of [
      { policy: "notify", labels: given, own: {}, names: [] },
      { policy: "notify", labels: given, own: { "longshore.update": "Auto" }, names: ["web"] },
      { policy: "auto", labels: given, own: {}, at: "2026-01-05T03:30:00Z", names: [] },
      { policy: "auto", labels: { "longshore.update": "off" }, own: {}, names: [] },
      { policy: "auto", labels: { "longshore.update.min-age": "9d" }, own: {}, names: [] },
      {
        policy: "auto",
        labels: { ...given, "longshore.update.window": "0 5 * * * UTC 1h" },
        own: {},
        names: [],
      },
    ] as const
  ) {
    await using made = await outdated([{ name: "web", labels: { ...labels, ...own } }], { policy });
    made.images[0]!.labels = labels;
    if (at) made.app.clock.set(at);

    deepEqual(await pendingNames(made), names, JSON.stringify({ policy, labels, own }));
  }
});

async function pendingNames({ app }: Pick<UpdateApp, "app">): Promise<string[]> {
  return (await pendingUpdates(app.deps)).map(({ name }) => name);
}

Deno.test("a running container is due for its newest image in a window, once it is old enough", async () => {
  await using made = await outdated([{ name: "web" }, { name: "stopped", state: "exited" }]);
  deepEqual(await pendingUpdates(made.app.deps), [{
    containerId: made.app.deps.inventory.list().find(({ name }) => name === "web")!.id,
    name: "web",
    group: "web",
    imageId: digestOf("a"),
    image: undefined,
    seenImage: `${made.registry.address}/app:1`,
    digest: NEW,
    verifyTimeoutSeconds: undefined,
  }]);
  for (const time of ["2026-01-10T02:59:59Z", "2026-01-10T04:00:00Z"]) {
    made.app.clock.set(time);
    deepEqual(await pendingNames(made), []);
  }
});

Deno.test("a container that another running program updates is left to it, unless its label says auto", async () => {
  const env = (name: string) => [{ name, value: "true" }];
  const files = { "com.docker.compose.project.config_files": "/data/compose/1/compose.yaml" };
  const enable = { "com.centurylinklabs.watchtower.enable": "true" };
  for (
    const { image, updater = {}, labels = {}, names } of [
      { image: "containrrr/watchtower:1", names: [] },
      { image: "containrrr/watchtower", labels: enable, names: [] },
      { image: "containrrr/watchtower", labels: { "longshore.update": "auto" }, names: ["web"] },
      { image: "containrrr/watchtower", updater: { state: "exited" as const }, names: ["web"] },
      { image: "watchtower", updater: { env: env("WATCHTOWER_MONITOR_ONLY") }, names: ["web"] },
      { image: "watchtower", updater: { env: env("WATCHTOWER_LABEL_ENABLE") }, names: ["web"] },
      {
        image: "watchtower",
        updater: { env: env("WATCHTOWER_LABEL_ENABLE") },
        labels: enable,
        names: [],
      },
      { image: "portainer/portainer-ce", updater: { at: "/data" }, labels: files, names: [] },
      { image: "portainer/portainer-ce", updater: { at: "/other" }, labels: files, names: ["web"] },
      { image: "louislam/dockge:1", updater: { at: "/data" }, labels: files, names: ["web"] },
      { image: "", labels: { PODMAN_SYSTEMD_UNIT: "web.service" }, names: [] },
    ]
  ) {
    await using made = await outdated([{ name: "web", labels }]);
    made.images[0]!.labels = {};
    const { state = "running", env = [], at } = updater as {
      state?: Container["state"];
      env?: Container["details"]["env"];
      at?: string;
    };
    const mounts = at === undefined
      ? []
      : [{ type: "volume", name: "v", source: "", destination: at, readOnly: false }];
    const { list } = made.app.deps.inventory;
    const [web] = list();
    const other = {
      ...web!,
      id: idOf("updater"),
      name: "updater",
      image,
      state,
      labels: {},
      details: { ...web!.details, env, mounts },
    };
    made.app.deps.inventory.put(other, made.app.deps.inventory.readNumber());

    deepEqual(await pendingNames(made), names, JSON.stringify({ image, labels, updater }));
  }
});

for (
  const { what, labels, settings, names } of [
    { what: "the policy notify", settings: { policy: "notify" as const }, names: [] },
    {
      what: "the label auto and the policy notify",
      settings: { policy: "notify" as const },
      labels: { "longshore.update": "auto" },
      names: ["web"],
    },
    { what: "the label off", labels: { "longshore.update": "off" }, names: [] },
    {
      what: "Watchtower's monitor-only",
      labels: { "com.centurylinklabs.watchtower.monitor-only": "true" },
      names: [],
    },
    { what: "a label with a problem", labels: { "longshore.update.level": "x" }, names: [] },
    { what: "no window", settings: { windows: [] }, names: [] },
    {
      what: "a window of its own that is closed",
      labels: { "longshore.update.window": "0 5 * * * UTC 1h" },
      names: [],
    },
    {
      what: "a window of its own that is open, and none in the settings",
      settings: { windows: [] },
      labels: { "longshore.update.window": "0 3 * * * UTC 1h" },
      names: ["web"],
    },
    {
      what: "a younger image than the settings ask for",
      settings: { minimumAgeHours: 240 },
      names: [],
    },
    {
      what: "an image old enough for its label",
      settings: { minimumAgeHours: 240 },
      labels: { "longshore.update.min-age": "5d" },
      names: ["web"],
    },
  ]
) {
  Deno.test(`with ${what}, ${names[0] ?? "nothing"} is updated`, async () => {
    await using made = await outdated([{ name: "web", labels: labels ?? {} }], settings);
    deepEqual(await pendingNames(made), names);
  });
}

Deno.test("the service's own container is never updated", async () => {
  await using made = await outdated([{ name: "longshore", self: true }]);
  deepEqual(await pendingNames(made), []);
});

Deno.test("a blocked image is never updated to", async () => {
  await using made = await outdated([{ name: "web" }, { name: "worker" }]);
  upsertBlockedUpdate(made.app.deps.db, {
    id: "b1",
    containerName: "web",
    digest: NEW,
    image: "app:1",
    reason: "unhealthy",
    jobId: "j1",
    createdAt: IN_WINDOW,
  });
  deepEqual(await pendingNames(made), ["worker"]);
});

Deno.test("a level leads to the newest version that it allows, with the age of that one", async () => {
  await using made = await outdated([
    { name: "major", labels: { "longshore.update.level": "major" } },
    { name: "minor", labels: { "longshore.update.level": "minor" } },
  ]);
  const pending = await pendingUpdates(made.app.deps);
  deepEqual(pending.map(({ name, image }) => [name, image]), [
    ["major", `${made.registry.address}/app:2`],
    ["minor", undefined],
  ]);
});

Deno.test("stacks are updated one after the other, and containers after those they depend on", async () => {
  const container = (stack: string, service: string, dependsOn?: string, labels = {}) => ({
    name: `${stack}-${service}`,
    composeProject: stack,
    composeService: service,
    labels: {
      ...composeLabels(stack, service, dependsOn === undefined ? {} : { dependsOn }),
      ...labels,
    },
  });
  await using made = await outdated([
    container("shop", "api", "db:service_healthy:false"),
    container("blog", "web", undefined, {
      "com.centurylinklabs.watchtower.enable": "true",
      "com.centurylinklabs.watchtower.depends-on": "blog-worker",
    }),
    container("shop", "db"),
    container("blog", "worker"),
  ]);
  deepEqual(await pendingNames(made), ["blog-worker", "blog-web", "shop-db", "shop-api"]);
});

/** An updater that has been running for longer than the engine needs to settle. */
function settledUpdater({ app }: UpdateApp) {
  app.clock.advance({ minutes: -15 });
  const updater = createUpdater(app.deps);
  app.clock.advance({ minutes: 15 });
  return updater;
}

/** Number of started updates of a container: the engine is asked for it first. */
const attempts = ({ requests }: UpdateApp) =>
  requests.filter((request) => /^GET \/containers\/.+\/json/.test(request)).length;

Deno.test("a stack whose update cannot be started pauses for an hour, and others go on", async () => {
  await using made = await outdated([{ name: "one" }, { name: "two" }], {
    windows: [{ ...WINDOW, durationMinutes: 600 }],
  });
  const updater = settledUpdater(made);
  for (const expected of [1, 2, 2]) {
    await updater.next();
    equal(attempts(made), expected);
  }
  made.app.clock.advance({ minutes: 60 });
  await updater.next();
  equal(attempts(made), 3);
});

/** The container `web`, whose image is for `architecture`, in a window of several days. */
async function withObstacle(hostConfig: Record<string, unknown>, architecture = "amd64") {
  const web = { name: "web", image: "" };
  const containers = simulateContainers([web]);
  const answers: Record<string, FakeAnswer> = {
    ...containers,
    "GET /containers/*/json": async (request) => {
      const container = await (await containers["GET /containers/*/json"]!(request)).json();
      return Response.json({ ...container, HostConfig: hostConfig });
    },
    "GET /images/*/json": () =>
      Response.json({ Id: digestOf("a"), Os: "linux", Architecture: architecture, Size: 1 }),
    "GET /info": () => Response.json({ Swarm: {} }),
  };
  const made = await outdated(
    [{ name: "web" }],
    { windows: [{ ...WINDOW, durationMinutes: 6000 }], minimumAgeHours: 0, intervalHours: 1 },
    answers,
  );
  web.image = `${made.registry.address}/app:1`;
  const { app: { clock, deps }, events, registry, run } = made;
  const updater = settledUpdater(made);
  return {
    ...made,
    image: web.image,
    /** Lets the registry have another image, and the updater run in each of the next hours. */
    async offer(digest: string, { hours }: { hours: number }): Promise<(string | null)[]> {
      registry.tags.set("app:1", digest);
      for (let hour = 0; hour < hours; hour++) {
        run([{ name: "web", image: web.image, imageId: digestOf("a") }]);
        await checkDueImages(deps);
        await updater.next();
        await until("the job has ended", () => selectUnfinishedJobs(deps.db).length === 0);
        await updater.next();
        clock.advance({ minutes: 90 });
      }
      const jobs = selectJobs(deps.db, { target: "web" }, { limit: 10 });
      equal(events.filter(({ event }) => event === "update.failed").length, jobs.length);
      return jobs.map(({ error }) => error);
    },
  };
}

Deno.test("an obstacle ends an update as a failed job once for each image", async () => {
  await using made = await withObstacle({ AutoRemove: true });
  const reason = "web is removed when it stops (--rm), so that it cannot be observed";
  deepEqual(await made.offer(NEW, { hours: 3 }), [reason]);
  deepEqual(made.events.at(-1)!.data, {
    ...{ container: "web", id: idOf("web"), image: made.image, digest: null, reason },
    jobId: selectJobs(made.app.deps.db, {}, { limit: 1 })[0]!.id,
  });
  deepEqual(await made.offer(manifest("newer"), { hours: 3 }), [reason, reason]);
});

Deno.test("an image for another platform is not pulled, and is reported once", async () => {
  await using made = await withObstacle({}, "s390x");
  deepEqual(await made.offer(index(NEW), { hours: 3 }), [
    `${made.image} is for linux/amd64, but web runs linux/s390x`,
  ]);
  deepEqual(made.requests.filter((each) => each.startsWith("POST")), []);
});

Deno.test("nothing is updated in maintenance mode, while checks are off or while an update runs", async () => {
  await using made = await outdated([{ name: "web" }]);
  const { deps } = made.app;
  const updater = settledUpdater(made);

  setMaintenance(deps, { enabled: true });
  await updater.next();
  setMaintenance(deps, { enabled: false });

  changeUpdateSettings(deps, { enabled: false });
  await updater.next();
  changeUpdateSettings(deps, { enabled: true });

  const gate = Promise.withResolvers<void>();
  const { completion } = startJob(deps, {
    id: "test",
    targetType: "container",
    role: "admin",
    permission: "containers:update",
    run: () => gate.promise,
    recover: failInterrupted,
  }, { target: "db", input: {}, caller: { userId: "update policy" } });
  await updater.next();
  gate.resolve();
  await completion;
  equal(attempts(made), 0);
  await updater.next();
  equal(attempts(made), 1);
});

Deno.test("nothing is updated within ten minutes of a start of the service or of the engine", async () => {
  await using made = await outdated([{ name: "web" }]);
  const { deps } = made.app;
  made.app.clock.advance({ minutes: -20 });
  const updater = createUpdater(deps);
  const after = async (minutes: number) => {
    made.app.clock.advance({ minutes });
    await updater.next();
    return attempts(made);
  };
  equal(await after(9), 0);
  deps.eventStream.recordBreak("The engine ended the stream");
  equal(await after(1), 0);
  equal(await after(9), 0);
  equal(await after(1), 1);
});
