/** Pausing, killing, renaming, limiting and removing containers, on both engines. @module */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { type LiveApp, liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { engineTest, podmanTest, type RealEngine } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

const C = "/api/containers";

/** A test on Docker and on Podman. */
function bothTest(
  name: string,
  run: (engine: RealEngine, app: LiveApp) => Promise<void>,
): void {
  const withApp = async (engine: RealEngine) => {
    await using app = await liveApp(engine.socketPath);
    await run(engine, app);
  };
  engineTest(`${name} (Docker)`, withApp);
  long(podmanTest)(`${name} (Podman)`, withApp);
}

/** The container as the next list shows it. */
async function listed(app: LiveApp, id: string) {
  const { body } = await app.call("GET", C);
  return body.containers.find((each: { id: string }) => each.id === id);
}

bothTest("pausing, resuming and killing are in the next read", async (engine, app) => {
  await using container = await engine.runContainer({ network: "bridge" });
  const { id, name } = container;
  const act = async (path: string, body?: unknown) => {
    const answer = await app.call("POST", `${C}/${name}/${path}`, body);
    const { state, changed, error } = answer.body;
    if (answer.status !== 200) return [answer.status, error];
    equal((await listed(app, id)).state, state);
    return [state, changed];
  };
  deepEqual(await act("unpause"), ["running", false]);
  deepEqual(await act("pause"), ["paused", true]);
  deepEqual(await act("pause"), ["paused", false]);
  deepEqual(await act("unpause"), ["running", true]);
  deepEqual(await act("kill", { signal: "SIGFOO" }), [400, "body.signal: unknown signal SIGFOO"]);
  deepEqual(await act("kill", { signal: "URG" }), ["running", true]);
  deepEqual(await act("kill"), ["exited", true]);
  for (const path of ["kill", "pause"]) {
    deepEqual(await act(path), [409, `Container ${name} is exited, not running`]);
  }
  deepEqual(await act("unpause"), [409, `Container ${name} is exited, not paused`]);
});

bothTest("killing and removing by this service cause no event", async (engine, app) => {
  const end = new AbortController();
  const downs: string[] = [];
  const reading = (async () => {
    for await (const { event, data } of app.deps.events.subscribe(end.signal)) {
      if (event === "container.down") downs.push(data.id);
    }
  })();
  await using killed = await engine.runContainer();
  await using removed = await engine.runContainer();
  await using other = await engine.runContainer();
  equal((await app.call("POST", `${C}/${killed.id}/kill`)).status, 200);
  equal((await app.call("DELETE", `${C}/${removed.id}?force=true`)).status, 200);
  await engine.docker("kill", other.id);
  await until("another end is reported", () => downs.includes(other.id));
  deepEqual(downs, [other.id]);
  end.abort();
  await reading;
});

bothTest(
  "a new name is in the next read, and schedules with the id follow",
  async (engine, app) => {
    await using container = await engine.runContainer();
    await using other = await engine.runContainer();
    const { id } = container;
    const rename = async (ref: string, name: string) =>
      await app.call("POST", `${C}/${ref}/rename`, { name });
    const schedule = await app.call("POST", "/api/schedules", {
      name: `nightly-${id.slice(0, 8)}`,
      containerId: id,
      containerName: container.name,
      action: "restart",
      cronExpression: "0 3 * * *",
    });
    equal(schedule.status, 201);

    const taken = await rename(id, other.name);
    deepEqual(
      [taken.status, taken.body.error],
      [409, `The name ${other.name} is already in use by another container`],
    );
    const name = `${container.name}-new`;
    const { body } = await rename(container.name, name);
    deepEqual(body, { ok: true, id, name, state: "running", changed: true });
    equal((await listed(app, id)).name, name);
    equal((await app.call("GET", `${C}/${container.name}`)).status, 404);
    equal((await app.call("GET", `/api/schedules/${schedule.body.id}`)).body.containerName, name);
    equal((await rename(name, name)).body.changed, false);
  },
);

bothTest("a container is removed with its anonymous volumes", async (engine, app) => {
  const options = ["--volume=/data"];
  await using kept = await engine.runContainer({ options });
  await using removed = await engine.runContainer({ options });
  const volumeOf = async (id: string) =>
    (await app.call("GET", `${C}/${id}`)).body.mounts[0].name as string;
  const volumes = async () =>
    (await app.call("GET", "/api/volumes")).body.volumes.map((each: { name: string }) => each.name);
  const [first, second] = [await volumeOf(kept.id), await volumeOf(removed.id)];

  const refused = await app.call("DELETE", `${C}/${kept.name}`);
  deepEqual(
    [refused.status, refused.body.error],
    [409, `Container ${kept.name} is running; stop it first, or use force`],
  );
  for (const { id, name, query } of [{ ...kept, query: "" }, { ...removed, query: "&volumes=1" }]) {
    const { status, body } = await app.call("DELETE", `${C}/${id}?force=true${query}`);
    deepEqual([status, body], [200, { ok: true, id, name }]);
    equal(await listed(app, id), undefined);
    equal((await app.call("DELETE", `${C}/${id}`)).status, 404);
  }
  const left = await volumes();
  deepEqual([left.includes(first), left.includes(second)], [true, false]);
  await engine.docker("volume", "rm", first);
});

bothTest(
  "a container whose network another one shares is only removed by force",
  async (engine, app) => {
    await using vpn = await engine.runContainer({ network: "bridge" });
    await using side = await engine.runContainer({ options: [`--network=container:${vpn.name}`] });
    await until("it is listed", () => listed(app, side.id));
    for (const { id } of [side, vpn]) await app.call("POST", `${C}/${id}/kill`);
    const { status, body } = await app.call("DELETE", `${C}/${vpn.id}`);
    deepEqual([status, body.error], [
      409,
      `${side.name} cannot run without container ${vpn.name}; remove it first, or use force`,
    ]);
    equal((await app.call("DELETE", `${C}/${side.id}`)).status, 200);
    equal((await app.call("DELETE", `${C}/${vpn.id}`)).status, 200);
  },
);

bothTest("the engine's description and changed files are shown", async (engine, app) => {
  await using container = await engine.runContainer({
    options: ["--env=PASSWORD=secret"],
    command: ["sh", "-c", "echo a > /tmp/new; rm -r /www; echo >> /etc/group; sleep 1000"],
  });
  const inspect = async (role: "viewer" | "admin") =>
    (await app.call("GET", `${C}/${container.name}/inspect`, undefined, { role })).body;
  const shown = await inspect("admin");
  equal(shown.Id, container.id);
  ok(shown.Config.Env.includes("PASSWORD=secret"));
  const redacted = await inspect("viewer");
  ok(redacted.Config.Env.includes("PASSWORD=********"));
  equal(JSON.stringify(redacted).includes("secret"), false);

  const changes = await until("the files are changed", async () => {
    const { body } = await app.call("GET", `${C}/${container.name}/changes`);
    return body.total >= 5 ? body.changes : undefined;
  });
  deepEqual(
    changes.filter(({ path }: { path: string }) => /new|www|group/.test(path)),
    [
      { path: "/etc/group", kind: "modified" },
      { path: "/tmp/new", kind: "added" },
      { path: "/www", kind: "deleted" },
    ],
  );
});

engineTest("limits change without a restart", async (engine) => {
  await using app = await liveApp(engine.socketPath);
  await using container = await engine.runContainer({ network: "bridge" });
  const before = await listed(app, container.id) ?? await until(
    "it is listed",
    () => listed(app, container.id),
  );
  const MB = 1024 * 1024;
  const change = (limits: unknown) => app.call("PUT", `${C}/${container.name}/limits`, limits);
  const set = async (limits: unknown) => {
    const { status, body } = await change(limits);
    equal(status, 200, body.error);
    return body;
  };

  deepEqual((await set({ cpus: 0.5, memoryBytes: 64 * MB, pidsLimit: 50 })).limits, {
    memoryBytes: 64 * MB,
    memorySwapBytes: 128 * MB,
    cpus: 0.5,
    pids: 50,
  });
  deepEqual((await set({ memoryBytes: 256 * MB, pidsLimit: -1 })).limits, {
    memoryBytes: 256 * MB,
    memorySwapBytes: 320 * MB,
    cpus: 0.5,
    pids: null,
  });
  equal((await set({ memorySwapBytes: -1 })).limits.memorySwapBytes, null);
  const restartPolicy = { name: "on-failure", maximumRetryCount: 3 };
  const detail = await set({ restartPolicy });
  deepEqual([detail.restartPolicy, detail.startedAt], [restartPolicy, before.startedAt]);
  await app.call("POST", `${C}/${container.name}/pause`);
  equal((await set({ cpus: 0.25 })).limits.cpus, 0.25);
  await app.call("POST", `${C}/${container.name}/unpause`);

  const tooMany = await change({ cpus: 9_999 });
  equal(tooMany.status, 400);
  match(tooMany.body.error, /CPUs/);
});

engineTest(
  "the restart policy of a container with automatic removal cannot change",
  async (engine) => {
    await using app = await liveApp(engine.socketPath);
    await using container = await engine.runContainer({ options: ["--rm"] });
    const { status, body } = await app.call("PUT", `${C}/${container.name}/limits`, {
      restartPolicy: { name: "always" },
    });
    equal(status, 409);
    match(body.error, /AutoRemove/);
  },
);

long(podmanTest)("limits cannot change on Podman 4", async (engine) => {
  await using app = await liveApp(engine.socketPath);
  await using container = await engine.runContainer();
  const { status, body } = await app.call("PUT", `${C}/${container.name}/limits`, {
    pidsLimit: 50,
  });
  deepEqual([status, body.error], [409, "This engine cannot change the limits of a container"]);
});
