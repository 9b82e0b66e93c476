import { deepEqual, equal, match, ok } from "node:assert/strict";
import { liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { BUSYBOX, engineTest, privateEngineTest } from "../helpers/real_engine.ts";
import { actionsOf, networked, NEVER_STABLE, sleeper, testStack } from "../helpers/test_stack.ts";
import { until } from "../helpers/until.ts";

const idsOf = (containers: Record<string, { Id: string }>) =>
  Object.fromEntries(Object.entries(containers).map(([name, { Id }]) => [name, Id]));

/** Output of a container, without the times. */
const linesOf = ({ container, logLines }: { container: string; logLines: string[] }) => [
  container,
  logLines.map((line) => line.slice(line.indexOf(" ") + 1)),
];

long(engineTest)(
  "a deploy that stops where it fails keeps what it started, and restores the rest",
  async (engine) => {
    await using app = await liveApp(engine.socketPath);
    await using stack = testStack(app, engine);
    const all = (level: string, db: object, more = {}) => ({
      services: {
        first: { ...sleeper, environment: { level } },
        db: { ...sleeper, environment: { level }, ...db },
        web: {
          ...sleeper,
          environment: { level },
          volumes: ["/anonymous"],
          depends_on: { db: { condition: "service_healthy" } },
        },
        ...more,
      },
    });
    await stack.store(all("1", { healthcheck: { test: "true", interval: "1s" } }));
    equal((await stack.deploy()).status, "succeeded");
    const before = await stack.containers();

    await stack.store(
      all("2", { healthcheck: { test: "false", interval: "1s", retries: 1 } }, {
        other: { ...sleeper, depends_on: { web: { condition: "service_started" } } },
      }),
    );
    const failed = await stack.deploy({ onFailure: "stop" });

    equal(failed.status, "failed", JSON.stringify(failed));
    match(failed.error!, /web needs db, which is not healthy/);
    const after = await stack.containers();
    deepEqual(Object.keys(after).sort(), ["db-1", "first-1", "web-1"]);
    const isKept = (name: string) => after[name]!.Id === before[name]!.Id;
    deepEqual(["first-1", "db-1", "web-1"].map(isKept), [false, false, true]);
    equal(after["web-1"]!.State.StartedAt, before["web-1"]!.State.StartedAt);

    // The next deploy goes on from there.
    await stack.store(all("2", { healthcheck: { test: "true", interval: "1s" } }));
    const next = await stack.deploy();
    equal(next.status, "succeeded", JSON.stringify(next));
    const last = await stack.containers();
    equal(last["first-1"]!.Id, after["first-1"]!.Id);
    equal(last["web-1"]!.Mounts?.[0]?.Name, before["web-1"]!.Mounts?.[0]?.Name);
    deepEqual(actionsOf(await stack.plan()).filter((text) => !/ none$/.test(text)), []);
  },
);

long(engineTest)(
  "a failed deploy restores a container that shares the network of a stopped one",
  async (engine) => {
    await using app = await liveApp(engine.socketPath);
    await using stack = testStack(app, engine);
    const all = (side: object) => ({
      services: { web: networked, side: { ...networked, network_mode: "service:web", ...side } },
    });
    await stack.store(all({}));
    equal((await stack.deploy()).status, "succeeded");
    await engine.docker("stop", `${stack.name}-web-1`);
    const before = await stack.containers();
    await stack.store(all({ healthcheck: { test: "false", interval: "1s", retries: 1 } }));

    for (const recreate of ["changed", "always"]) {
      const failed = await stack.deploy({ recreate });

      equal(failed.status, "rolled_back", failed.error!);
      match(failed.error!, /side-1 became unhealthy/);
      const after = await stack.containers();
      deepEqual(idsOf(after), idsOf(before));
      const isRunning = (name: string) => after[name]!.State.Running;
      deepEqual(["web-1", "side-1"].map(isRunning), [false, true]);
    }
  },
);

long(engineTest)(
  "a deploy that stops keeps a container that shares the network of a replaced one",
  async (engine) => {
    await using app = await liveApp(engine.socketPath);
    await using stack = testStack(app, engine);
    const all = (level: string, side: object) => ({
      services: {
        web: { ...networked, environment: { level } },
        side: { ...networked, network_mode: "service:web", ...side },
      },
    });
    await stack.store(all("1", {}));
    equal((await stack.deploy()).status, "succeeded");

    const command = ["sh", "-c", "echo listening; exec sleep 1000"];
    await stack.store(all("2", { command, post_start: [{ command: "false" }] }));
    const failed = await stack.deploy({ onFailure: "stop" });

    equal(failed.status, "failed", failed.error!);
    match(failed.error!, /side-1 failed: post_start\[0\] exited with code 1/);
    deepEqual(failed.result.evidence.map(linesOf), [[`${stack.name}-side-1`, ["listening"]]]);
    const after = await stack.containers();
    deepEqual(Object.keys(after).sort(), ["side-1", "web-1"]);
    equal(after["side-1"]!.HostConfig.NetworkMode, `container:${after["web-1"]!.Id}`);
    deepEqual(Object.values(after).map(({ State }) => State.Running), [true, true]);
  },
);

long(engineTest)(
  "what cannot return after a failed deploy does not keep the other containers from it",
  async (engine) => {
    await using app = await liveApp(engine.socketPath);
    await using stack = testStack(app, engine);
    const all = (level: string, side: object) => ({
      services: {
        web: networked,
        side: { ...networked, network_mode: "service:web", ...side },
        other: { ...networked, environment: { level }, depends_on: ["side"] },
      },
    });
    await stack.store(all("1", {}));
    equal((await stack.deploy()).status, "succeeded");
    const before = await stack.containers();
    await engine.docker("rm", "--force", before["web-1"]!.Id);

    await stack.store(all("2", { healthcheck: { test: "false", interval: "1s", retries: 1 } }));
    const failed = await stack.deploy();

    equal(failed.status, "needs_attention", failed.error!);
    match(failed.error!, /side-1 became unhealthy; rollback incomplete: .*No such container/);
    const after = await stack.containers();
    deepEqual(Object.keys(after).sort(), ["other-1", "side-1"]);
    equal(after["side-1"]!.Id, before["side-1"]!.Id);
    equal(after["other-1"]!.Id, before["other-1"]!.Id);
    deepEqual(["side-1", "other-1"].map((name) => after[name]!.State.Running), [false, true]);

    await stack.store(all("2", {}));
    equal((await stack.deploy()).status, "succeeded");
    deepEqual(Object.keys(await stack.containers()).sort(), ["other-1", "side-1", "web-1"]);
  },
);

long(engineTest)(
  "a failed deploy keeps the new container of an old one that is gone, and says so",
  async (engine) => {
    await using app = await liveApp(engine.socketPath);
    await using stack = testStack(app, engine);
    const all = (level: string) => ({
      services: {
        web: { ...networked, environment: { level } },
        broken: {
          ...networked,
          environment: { level },
          healthcheck: { test: "test ! -e /tmp/broken", interval: "1s", retries: 1 },
        },
      },
    });
    await stack.store(all("1"));
    equal((await stack.deploy()).status, "succeeded");
    await stack.store(all("2"));

    const deploy = stack.deploy(NEVER_STABLE);
    const { replaced, web } = await until("the old container is replaced", async () => {
      const containers = await stack.containers();
      const [old] = Object.keys(containers).filter((name) => name.startsWith("web-1-"));
      const fresh = containers["web-1"];
      const isStarted = [fresh, containers["broken-1"]].every((each) =>
        each?.State.Running && each.Config.Env?.includes("level=2")
      );
      return isStarted && old !== undefined && { replaced: containers[old]!, web: fresh! };
    });
    await engine.docker("rm", replaced.Id);
    await engine.docker("exec", `${stack.name}-broken-1`, "touch", "/tmp/broken");
    const failed = await deploy;

    equal(failed.status, "needs_attention", JSON.stringify(failed));
    ok(
      failed.error!.endsWith(
        `; rollback incomplete: The old container of ${stack.name}-web-1 no longer exists ` +
          "(the new one is running)",
      ),
      failed.error!,
    );
    const after = await stack.containers();
    deepEqual(Object.keys(after).sort(), ["broken-1", "web-1"]);
    deepEqual([after["web-1"]!.Id, after["web-1"]!.State.Running], [web.Id, true]);
    ok(after["broken-1"]!.Config.Env?.includes("level=1"));

    equal((await stack.deploy()).status, "succeeded");
    deepEqual(actionsOf(await stack.plan()).filter((text) => !/ none$/.test(text)), []);
  },
);

engineTest(
  "the scale goes up and down at the highest numbers, also in maintenance mode",
  async (engine) => {
    await using app = await liveApp(engine.socketPath);
    await using stack = testStack(app, engine);
    equal((await app.call("POST", "/api/maintenance", { enabled: true })).status, 200);
    const scaled = async (scale: number) => {
      await stack.store({ services: { web: { ...sleeper, scale } } });
      equal((await stack.deploy()).status, "succeeded");
      return idsOf(await stack.containers());
    };
    const one = await scaled(1);
    const three = await scaled(3);
    const two = await scaled(2);
    await engine.docker("rm", "--force", one["web-1"]!);
    const again = await scaled(2);
    const none = await scaled(0);

    equal(three["web-1"], one["web-1"]);
    deepEqual(two, { "web-1": three["web-1"], "web-2": three["web-2"] });
    deepEqual(Object.keys(again).sort(), ["web-1", "web-2"]);
    equal(again["web-2"], two["web-2"]);
    deepEqual(none, {});
  },
);

long(engineTest)(
  "orphans are removed on request only, and some services can be chosen",
  async (engine) => {
    await using app = await liveApp(engine.socketPath);
    await using stack = testStack(app, engine);
    const db = { ...networked, environment: { A: "1" } };
    const web = { ...networked, environment: { A: "1" }, depends_on: ["db"] };
    const side = { ...networked, network_mode: "service:web" };
    await stack.store({ services: { db, web, side, other: networked, old: networked } });
    equal((await stack.deploy()).status, "succeeded");
    const first = idsOf(await stack.containers());

    const environment = { A: "2" };
    await stack.store({
      services: { db, web: { ...web, environment }, side, other: { ...networked, environment } },
    });
    const some = await stack.deploy({ services: ["web"] });
    equal(some.status, "succeeded", JSON.stringify(some));
    const second = idsOf(await stack.containers());
    const changed = Object.keys(first).filter((name) => first[name] !== second[name]);
    // A container that shares the network of a replaced one would have none.
    deepEqual(changed.sort(), ["side-1", "web-1"]);
    ok(second["old-1"]);

    equal((await stack.deploy({ removeOrphans: true })).status, "succeeded");
    const third = idsOf(await stack.containers());
    deepEqual(Object.keys(third).sort(), ["db-1", "other-1", "side-1", "web-1"]);
  },
);

long(privateEngineTest)("down keeps volumes and images unless they are named", async (engine) => {
  const image = `longshore-test/own-${crypto.randomUUID().slice(0, 8)}:1`;
  await using app = await liveApp(engine.socketPath);
  await using stack = testStack(app, engine);
  await using other = await engine.runContainer();
  await engine.docker("tag", BUSYBOX, image);
  const volumes = async () =>
    (await engine.docker("volume", "ls", "--quiet")).split("\n")
      .filter((volume) => volume.startsWith(stack.name));
  const images = () => engine.docker("images", "--quiet", image);
  await stack.store({
    services: {
      db: { ...sleeper, volumes: ["data:/data"] },
      web: { ...sleeper, image },
    },
    volumes: { data: {} },
  });
  equal((await stack.deploy()).status, "succeeded");

  const kept = await stack.down({});
  deepEqual(kept.result.volumes, []);
  deepEqual([await volumes(), await images() !== ""], [[`${stack.name}_data`], true]);

  equal((await stack.deploy()).status, "succeeded");
  const down = await stack.down({ volumes: true, images: "local" });
  deepEqual(down.result.volumes, [`${stack.name}_data`]);
  // The image of the other container stays.
  deepEqual(down.result.images, [image], other.name);
  deepEqual([await volumes(), await images()], [[], ""]);
});

long(engineTest)(
  "hooks run as the file says, and a failed one takes the deploy back",
  async (engine) => {
    await using app = await liveApp(engine.socketPath);
    await using stack = testStack(app, engine);
    // The variables of the shell, not those of the file.
    const note = (
      words: string,
    ) => ["sh", "-c", `echo ${words} >> /data/notes`.replaceAll("$", "$$$$")];
    const web = {
      ...sleeper,
      volumes: ["data:/data"],
      post_start: [
        { command: note("started $WHO in $PWD"), working_dir: "/tmp", environment: ["WHO=$NAME"] },
        { command: "chmod 666 /data/notes" },
        { command: note("uid $(id -u)"), user: "1000" },
      ],
      pre_stop: [{ command: note("stops") }],
    };
    const store = (service: object, services: object = {}) =>
      stack.store({
        services: { web: service, ...services },
        volumes: { data: {} },
      }, { env: { NAME: "alice" } });
    const notes = async () =>
      (await engine.docker("exec", `${stack.name}-web-1`, "cat", "/data/notes")).split("\n");
    await store(web);
    const first = await stack.deploy();
    equal(first.status, "succeeded", JSON.stringify(first));
    const started = ["started alice in /tmp", "uid 1000"];
    deepEqual(await notes(), started);
    deepEqual(first.result.warnings.length, 2);

    const changes = await stack.watch();
    equal((await stack.deploy()).status, "succeeded");
    deepEqual(await changes(), []);

    await store({ ...web, environment: { A: "1" }, post_start: [{ command: ["/missing"] }] });
    const failed = await stack.deploy();
    equal(failed.status, "rolled_back", JSON.stringify(failed));
    match(
      failed.error!,
      /web-1 failed: post_start\[0\] (exited with code 12[67]|could not be run: )/,
    );
    deepEqual(await notes(), [...started, "stops"]);

    await store({ ...web, scale: 2 });
    equal((await stack.deploy()).status, "succeeded");
    await store({ ...web, scale: 1 });
    equal((await stack.deploy()).status, "succeeded");
    deepEqual((await notes()).slice(3), [...started, "stops"]);

    await store({ ...web, pre_stop: [{ command: "false" }] });
    equal((await stack.deploy()).status, "succeeded");
    const down = await stack.down({});
    match(down.error!, /web-1 failed: pre_stop\[0\] exited with code 1/);
    await store(web);
  },
);

long(engineTest)(
  "an image for another platform is not used, and nothing is waited for in vain",
  async (engine) => {
    await using app = await liveApp(engine.socketPath);
    await using stack = testStack(app, engine);
    const { Architecture } = JSON.parse(await engine.docker("info", "--format={{json .}}"));
    const warningsOf = async () =>
      (await stack.plan() as unknown as { warnings: string[] }).warnings.join();
    const [own, other] = /arm64|aarch64/.test(Architecture)
      ? ["linux/arm64", "linux/amd64"]
      : ["linux/amd64", "linux/arm64"];
    for (
      const [services, problem] of [
        [{ web: { ...sleeper, platform: other } }, `for ${other} of web does not exist and is not`],
        [
          { web: { ...sleeper, platform: other }, job: { ...sleeper, platform: own } },
          "use image .* for different platforms",
        ],
        [
          {
            db: sleeper,
            web: { ...sleeper, depends_on: { db: { condition: "service_healthy" } } },
          },
          "web waits until db is healthy, and db has no health check",
        ],
      ] as const
    ) {
      await stack.store({ services });
      match(await warningsOf(), new RegExp(problem.replace("does not exist and is not", "")));
      const refused = await stack.deploy({ pull: "never" });
      deepEqual([refused.status, await stack.containers()], ["failed", {}]);
      match(refused.error!, new RegExp(problem));
    }

    await stack.store({ services: { web: { ...sleeper, platform: own } } });
    equal((await stack.deploy({ pull: "never" })).status, "succeeded");
    deepEqual(actionsOf(await stack.plan()), ["service web none"]);
  },
);
