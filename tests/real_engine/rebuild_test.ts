import { deepEqual, equal, match, notEqual, ok, rejects } from "node:assert/strict";
import { connectEngine } from "../../engine/client.ts";
import {
  containerCreate,
  type ContainerInspect,
  containerInspect,
  containerStart,
} from "../../engine/containers.ts";
import { listJobs } from "../../services/jobs/jobs.ts";
import type { PullPolicy } from "../../services/images/pull_policy.ts";
import { rebuildContainer } from "../../services/updates/rebuild/rebuild.ts";
import { AppError } from "../../services/errors.ts";
import { ADMIN, interrupt } from "../helpers/drill.ts";
import { startEngineProxy } from "../helpers/engine_proxy.ts";
import { connectAny } from "../helpers/fake_engine.ts";
import { liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import {
  BUSYBOX,
  ownEngineTest,
  podmanTest,
  privateEngineTest,
  type RealEngine,
} from "../helpers/real_engine.ts";
import { startRegistry } from "../helpers/registry.ts";
import { until } from "../helpers/until.ts";

/** Ends at once when it is stopped. */
const SLEEP = ["sh", "-c", "trap 'exit 0' TERM; sleep 2147483647 & wait"];

async function rebuildOn({ socketPath }: RealEngine, self?: string) {
  const app = await liveApp(socketPath);
  app.deps.now = () => new Date();
  if (self !== undefined) app.deps.self = { id: self, hostname: null };
  const { deps } = app;
  return {
    deps,
    inventory: deps.inventory,
    rebuild: (ref: string, pull?: PullPolicy) =>
      rebuildContainer(deps, ref, { pull, actor: { userId: "key" } }),
    inspect: (ref: string) => containerInspect(deps.engine, ref),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

const code = (wanted: string, sentence?: RegExp) => (error: unknown) => {
  if (!(error instanceof AppError)) throw error;
  equal(error.code, wanted, error.message);
  if (sentence) match(error.message, sentence);
  return true;
};

const unique = (what: string) => `longshore-test-${what}-${crypto.randomUUID().slice(0, 8)}`;

/** Removes containers, volumes and networks of a test, in this order. */
function cleanup(engine: RealEngine) {
  const things: { kind: "rm" | "volume" | "network" | "rmi"; name: string }[] = [];
  return {
    add(kind: typeof things[number]["kind"], name: string): string {
      things.push({ kind, name });
      return name;
    },
    async [Symbol.asyncDispose]() {
      for (const { kind, name } of things.toReversed()) {
        const command = kind === "rm"
          ? ["rm", "--force", "--volumes"]
          : kind === "rmi"
          ? ["rmi", "--force"]
          : [kind, "rm"];
        await engine.docker(...command, name).catch(() => {});
      }
    },
  };
}

/** Builds an image from the test image. @returns Its id. */
async function makeImage(engine: RealEngine, name: string, ...changes: string[]): Promise<string> {
  const container = await engine.docker("create", BUSYBOX, "true");
  try {
    return await engine.docker(
      "commit",
      ...changes.flatMap((change) => ["--change", change]),
      container,
      name,
    );
  } finally {
    await engine.docker("rm", container);
  }
}

/** Names of all containers whose name has a part in common with the test's. */
async function namesLike(engine: RealEngine, part: string): Promise<string[]> {
  const names = await engine.docker("ps", "--all", `--filter=name=${part}`, "--format={{.Names}}");
  return names.split("\n").filter((name) => name !== "").sort();
}

/** Removes the fields that may differ between a container and its replacement. */
function comparable(inspect: ContainerInspect): unknown {
  const { Config, HostConfig, Mounts, NetworkSettings, Name, Path, Args, RestartCount } = inspect;
  const shortId = inspect.Id.slice(0, 12);
  const networks = Object.entries(NetworkSettings.Networks ?? {}).map(([name, settings]) => ({
    name,
    IPAMConfig: settings.IPAMConfig,
    Links: settings.Links,
    Aliases: settings.Aliases?.filter((alias) => alias !== shortId),
    DriverOpts: settings.DriverOpts ?? {},
    static: settings.IPAMConfig?.IPv4Address && settings.IPAddress,
  }));
  return {
    Name,
    Path,
    Args,
    RestartCount,
    Config: { ...Config, Hostname: Config.Hostname === shortId ? "its id" : Config.Hostname },
    // The request for a volume may change; the mounts below may not.
    HostConfig: { ...HostConfig, Mounts: null },
    Mounts: (Mounts ?? []).map(({ Mode: _mode, ...mount }) => mount)
      .sort((a, b) => a.Destination.localeCompare(b.Destination)),
    networks: networks.sort((a, b) => a.name.localeCompare(b.name)),
  };
}

privateEngineTest("a rebuild keeps every setting of the user", async (engine) => {
  await using on = await rebuildOn(engine);
  await using things = cleanup(engine);
  const name = unique("all");
  const [front, back] = [unique("front"), unique("back")];
  things.add("network", front);
  things.add("network", back);
  await engine.docker("network", "create", "--subnet=10.77.1.0/24", front);
  await engine.docker("network", "create", "--subnet=10.77.2.0/24", back);
  const image = things.add("rmi", `${name}:1`);
  await makeImage(
    engine,
    image,
    'CMD ["sh", "-c", "sleep 9"]',
    "ENV FROM_IMAGE=1",
    "LABEL from.image=1",
    "VOLUME /image-volume",
    "EXPOSE 7070",
  );
  const peer = things.add("rm", unique("peer"));
  await engine.docker("run", "-d", `--name=${peer}`, "-v", "/from-peer", BUSYBOX, ...SLEEP);
  const named = things.add("volume", unique("volume"));
  things.add("rm", name);
  const options = [
    `--name=${name}`,
    "--hostname=chosen",
    "--domainname=example.test",
    "--env=A=b=c",
    "--env=EMPTY=",
    "--label=own=label",
    "--user=0:0",
    "--workdir=/tmp",
    `--network=${front}`,
    "--network-alias=app",
    "--network-alias=app2",
    "--ip=10.77.1.50",
    `--link=${peer}:friend`,
    `--volume=${named}:/named:ro`,
    "--volume=/anonymous",
    "--mount=type=volume,dst=/mounted",
    "--mount=type=bind,src=/tmp,dst=/bound,readonly",
    "--mount=type=tmpfs,dst=/scratch,tmpfs-size=1048576",
    "--tmpfs=/ram:size=65536",
    `--volumes-from=${peer}:ro`,
    "--publish=127.0.0.1:18099:80",
    "--publish=9000",
    "--expose=6060",
    "--memory=64m",
    "--memory-reservation=32m",
    "--cpus=0.5",
    "--cpu-shares=512",
    "--pids-limit=77",
    "--restart=on-failure:3",
    "--health-cmd=true",
    "--health-interval=30s",
    "--health-retries=5",
    "--device=/dev/null:/dev/own-null:r",
    "--cap-add=NET_ADMIN",
    "--cap-drop=MKNOD",
    "--sysctl=net.ipv4.ip_forward=1",
    "--ulimit=nofile=1024:2048",
    "--log-driver=json-file",
    "--log-opt=max-size=1m",
    "--add-host=somewhere:10.9.8.7",
    "--dns=10.1.2.3",
    "--dns-search=example.test",
    "--security-opt=no-new-privileges",
    "--read-only",
    "--init",
    "--shm-size=8m",
    "--oom-score-adj=100",
    "--group-add=7",
    "--stop-signal=SIGINT",
    "--stop-timeout=3",
    "--ipc=shareable",
    "--tty",
  ];
  await engine.docker("create", ...options, image, ...SLEEP);
  await engine.docker("network", "connect", "--alias=other", "--ip=10.77.2.60", back, name);
  await engine.docker("start", name);
  const before = await on.inspect(name);

  const result = await on.rebuild(name, "never");

  const after = await on.inspect(name);
  deepEqual(comparable(after), comparable(before));
  deepEqual(result, {
    ok: true,
    oldId: before.Id,
    id: after.Id,
    image,
    imageUpdated: false,
  });
  notEqual(after.Id, before.Id);
  equal(after.State.Running, true);
  deepEqual(await namesLike(engine, name), [name]);
  equal(on.inventory.get(after.Id)?.state, "running");
  equal(on.inventory.get(before.Id), undefined);

  // A second rebuild keeps the same settings.
  await on.rebuild(name, "never");
  deepEqual(comparable(await on.inspect(name)), comparable(before));
});

long(privateEngineTest)("a rebuild takes the new image with its defaults", async (engine) => {
  await using on = await rebuildOn(engine);
  await using registry = await startRegistry(engine);
  await using things = cleanup(engine);
  const name = unique("image");
  const reference = things.add("rmi", `${registry.address}/${name}:latest`);
  const publish = async (...changes: string[]) => {
    const id = await makeImage(engine, reference, ...changes);
    await engine.docker("push", reference);
    return id;
  };
  const first = await publish(
    `CMD ${JSON.stringify([...SLEEP.slice(0, 2), SLEEP[2] + " # 1"])}`,
    "ENV VERSION=1",
    "ENV GONE=1",
    "LABEL version=1",
    "WORKDIR /tmp",
    "EXPOSE 1111",
    "HEALTHCHECK --interval=11s CMD true",
  );
  things.add("rm", name);
  const oldId = await engine.docker(
    "run",
    "--detach",
    `--name=${name}`,
    "--env=OWN=x",
    "--label=own=x",
    `--label=com.docker.compose.image=${first}`,
    reference,
  );
  const second = await publish(
    `CMD ${JSON.stringify([...SLEEP.slice(0, 2), SLEEP[2] + " # 2"])}`,
    "ENV VERSION=2",
    "ENV NEW=1",
    "LABEL version=2",
    "WORKDIR /www",
    "EXPOSE 2222",
    "HEALTHCHECK --interval=22s CMD true",
    "USER 0",
  );
  // Somewhere else; here the name still means the first one.
  await engine.docker("tag", first, reference);

  const unpulled = await on.rebuild(name, "missing");
  equal(unpulled.imageUpdated, false);
  equal((await on.inspect(name)).Image, first);

  const result = await on.rebuild(name);
  const { Config, Image, State } = await on.inspect(name);
  equal(result.imageUpdated, true);
  equal(result.image, reference);
  notEqual(result.id, oldId);
  equal(Image, second);
  equal(State.Running, true);
  match(Config.Cmd!.at(-1)!, /# 2$/);
  const env = Config.Env!.filter((entry) => !entry.startsWith("PATH="));
  deepEqual(env.sort(), ["NEW=1", "OWN=x", "VERSION=2"]);
  deepEqual(Config.Labels, { own: "x", version: "2", "com.docker.compose.image": second });
  deepEqual(Object.keys(Config.ExposedPorts!), ["2222/tcp"]);
  deepEqual([Config.WorkingDir, Config.User], ["/www", "0"]);
  equal(Config.Healthcheck?.Interval, 22e9);
  equal(Config.Image, reference);
});

long(privateEngineTest)("a rebuild of a stopped container does not start it", async (engine) => {
  await using on = await rebuildOn(engine);
  await using things = cleanup(engine);
  const name = things.add("rm", unique("stopped"));
  await engine.docker("create", `--name=${name}`, "--volume=/data", BUSYBOX, ...SLEEP);
  const before = await on.inspect(name);
  const { id } = await on.rebuild(before.Id.slice(0, 12), "never");
  const after = await on.inspect(name);
  deepEqual([after.Id, after.State.Status], [id, "created"]);
  deepEqual(comparable(after), comparable(before));
  deepEqual(await namesLike(engine, name), [name]);
});

privateEngineTest("data in volumes without a name outlives a rebuild", async (engine) => {
  await using on = await rebuildOn(engine);
  await using things = cleanup(engine);
  const name = things.add("rm", unique("data"));
  for (const options of [[], ["--rm"]]) {
    await engine.docker(
      "run",
      "--detach",
      `--name=${name}`,
      ...options,
      "--volume=/data",
      BUSYBOX,
      ...SLEEP,
    );
    await engine.docker("exec", name, "sh", "-c", "echo kept > /data/file");
    await on.rebuild(name, "never");
    await on.rebuild(name, "never");
    equal(await engine.docker("exec", name, "cat", "/data/file"), "kept");
    deepEqual(await namesLike(engine, name), [name]);
    await engine.docker("rm", "--force", "--volumes", name);
  }
});

for (const options of [[], ["--rm"]]) {
  const kind = options.length ? "a container that removes itself" : "the old container";
  const test = options.length ? long(privateEngineTest) : privateEngineTest;
  test(`a rebuild whose start fails puts ${kind} back`, async (engine) => {
    await using on = await rebuildOn(engine);
    await using things = cleanup(engine);
    const name = things.add("rm", unique("broken"));
    const image = things.add("rmi", `${name}:latest`);
    const good = await makeImage(engine, image, `CMD ${JSON.stringify(SLEEP)}`);
    await engine.docker(
      "run",
      "--detach",
      `--name=${name}`,
      ...options,
      "--volume=/data",
      "--publish=127.0.0.1:18098:80",
      image,
    );
    await engine.docker("exec", name, "sh", "-c", "echo kept > /data/file");
    const before = await on.inspect(name);
    await makeImage(engine, image, 'CMD ["/no/such/program"]');

    await rejects(
      on.rebuild(name, "never"),
      code("conflict", /could not be started: .*no such file or directory/),
    );

    const after = await on.inspect(name);
    deepEqual([after.Image, after.State.Running], [good, true]);
    if (!options.length) equal(after.Id, before.Id);
    deepEqual(after.Config.Cmd, before.Config.Cmd);
    deepEqual(after.HostConfig.PortBindings, before.HostConfig.PortBindings);
    equal(await engine.docker("exec", name, "cat", "/data/file"), "kept");
    deepEqual(await namesLike(engine, name), [name]);
    equal(on.inventory.get(after.Id)?.state, "running");
  });
}

long(privateEngineTest)(
  "a rebuild that cannot be created does not touch the old one",
  async (engine) => {
    await using on = await rebuildOn(engine);
    await using things = cleanup(engine);
    const name = things.add("rm", unique("uncreated"));
    const folder = `${engine.sandbox.directory}/${name}`;
    await Deno.mkdir(folder);
    const mount = `--mount=type=bind,src=${folder},dst=/bound`;
    await engine.docker(
      "run",
      "--detach",
      "--network=host",
      `--name=${name}`,
      mount,
      BUSYBOX,
      ...SLEEP,
    );
    await Deno.remove(folder);
    const before = await on.inspect(name);
    await rejects(
      on.rebuild(name, "never"),
      code("conflict", /could not be created: .*does not exist/),
    );
    deepEqual(await on.inspect(name), before);
    deepEqual(await namesLike(engine, name), [name]);
  },
);

long(privateEngineTest)(
  "a rebuild names the image that the registry lacks or refuses",
  async (engine) => {
    await using on = await rebuildOn(engine);
    await using registry = await startRegistry(engine);
    await using things = cleanup(engine);
    const name = things.add("rm", unique("registry"));
    const reference = things.add("rmi", `${registry.address}/${name}:1`);
    await engine.docker("tag", BUSYBOX, reference);
    await engine.docker("run", "--detach", "--network=host", `--name=${name}`, reference, ...SLEEP);
    const before = await on.inspect(name);

    await rejects(
      on.rebuild(name),
      code("not_found", new RegExp(`^Image ${reference} could not be pulled: .*unknown`)),
    );
    await registry.stop();
    await rejects(
      on.rebuild(name, "always"),
      code("bad_gateway", new RegExp(`^Image ${reference} could not be pulled: .*refused`)),
    );
    deepEqual(await on.inspect(name), before);

    // Without a pull it does not matter.
    equal((await on.rebuild(name, "missing")).ok, true);
    await registry.restart();

    await engine.docker("tag", reference, `${name}-spare`);
    things.add("rmi", `${name}-spare`);
    await engine.docker("rmi", reference);
    await rejects(on.rebuild(name, "never"), code("not_found", new RegExp(`^Image ${reference}`)));
    equal((await on.inspect(name)).State.Running, true);
  },
);

long(privateEngineTest)("a rebuild pulls an image that is missing only", async (engine) => {
  await using on = await rebuildOn(engine);
  await using registry = await startRegistry(engine);
  await using things = cleanup(engine);
  const name = things.add("rm", unique("missing"));
  const reference = await registry.push(`${name}:1`);
  things.add("rmi", reference);
  await engine.docker("tag", BUSYBOX, reference);
  await engine.docker("run", "--detach", "--network=host", `--name=${name}`, reference, ...SLEEP);
  await engine.docker("rmi", reference);
  equal((await on.rebuild(name, "missing")).imageUpdated, false);
  equal((await on.inspect(name)).State.Running, true);
});

long(privateEngineTest)(
  "a container of an image without a name is rebuilt from its id",
  async (engine) => {
    await using on = await rebuildOn(engine);
    await using things = cleanup(engine);
    const name = things.add("rm", unique("nameless"));
    const image = await makeImage(engine, `${name}:1`, "ENV A=1");
    things.add("rmi", image);
    await engine.docker("run", "--detach", "--network=host", `--name=${name}`, image, ...SLEEP);
    await engine.docker("rmi", `${name}:1`).catch(() => {});
    const result = await on.rebuild(name);
    deepEqual([result.imageUpdated, result.image], [false, image]);
    deepEqual((await on.inspect(name)).Config.Env!.filter((entry) => entry === "A=1"), ["A=1"]);
  },
);

long(privateEngineTest)(
  "a fixed hardware address is kept, a generated one is not",
  async (engine) => {
    await using on = await rebuildOn(engine);
    await using things = cleanup(engine);
    using client = connectEngine(engine.socketPath);
    const name = things.add("rm", unique("mac"));
    const MacAddress = "02:42:0a:4d:01:99";
    const body = { Image: BUSYBOX, Cmd: SLEEP, MacAddress };
    await containerStart(client, (await containerCreate(client, { name, body })).id);
    await on.rebuild(name, "never");
    match(await engine.docker("exec", name, "ip", "link"), new RegExp(MacAddress));

    const other = things.add("rm", unique("mac"));
    await engine.docker("run", "--detach", "--network=host", `--name=${other}`, BUSYBOX, ...SLEEP);
    await on.rebuild(other, "never");
    ok(!(await on.inspect(other)).Config.MacAddress);
  },
);

long(privateEngineTest)("entrypoints and commands keep their meaning", async (engine) => {
  await using on = await rebuildOn(engine);
  await using things = cleanup(engine);
  const image = things.add("rmi", unique("entry"));
  await makeImage(engine, image, 'ENTRYPOINT ["echo", "entry"]', 'CMD ["command"]');
  for (
    const [options, args] of [
      [[], []],
      [[], ["own", "args"]],
      [["--entrypoint=cat"], []],
      [["--entrypoint=cat"], ["/etc/passwd"]],
      [["--entrypoint="], ["sh", "-c", "true"]],
      [["--no-healthcheck"], []],
    ] as const
  ) {
    const name = things.add("rm", unique("entry"));
    await engine.docker("create", `--name=${name}`, ...options, image, ...args);
    const before = await on.inspect(name);
    await on.rebuild(name, "never");
    deepEqual(
      comparable(await on.inspect(name)),
      comparable(before),
      JSON.stringify([options, args]),
    );
  }
});

long(privateEngineTest)(
  "containers that share the network of a rebuilt container are recreated",
  async (engine) => {
    await using on = await rebuildOn(engine);
    await using things = cleanup(engine);
    const name = things.add("rm", unique("shared"));
    await engine.docker(
      "run",
      "--detach",
      `--name=${name}`,
      "--ipc=shareable",
      "--volume=/www",
      BUSYBOX,
      ...SLEEP,
    );
    const partner = things.add("rm", unique("partner"));
    const idle = things.add("rm", unique("idle"));
    const sharing = [`--network=container:${name}`, `--ipc=container:${name}`];
    await engine.docker("run", "--detach", `--name=${partner}`, ...sharing, BUSYBOX, ...SLEEP);
    await engine.docker(
      "create",
      `--name=${idle}`,
      `--network=container:${name}`,
      BUSYBOX,
      ...SLEEP,
    );

    const { id } = await on.rebuild(name, "never");

    const moved = await on.inspect(partner);
    equal(moved.State.Running, true);
    equal(moved.HostConfig.NetworkMode, `container:${id}`);
    equal(moved.HostConfig.IpcMode, `container:${id}`);
    const links = (container: string) => engine.docker("exec", container, "ip", "link");
    equal(await links(partner), await links(name));
    equal((await on.inspect(idle)).State.Status, "created");
    await engine.docker("start", idle);
    equal(await links(idle), await links(name));
  },
);

long(privateEngineTest)(
  "a rebuilt container is found by its name, its aliases and links",
  async (engine) => {
    await using on = await rebuildOn(engine);
    await using things = cleanup(engine);
    const network = things.add("network", unique("names"));
    await engine.docker("network", "create", network);
    const [name, peer] = [things.add("rm", unique("named")), things.add("rm", unique("peer"))];
    await engine.docker("run", "-d", `--name=${peer}`, `--network=${network}`, BUSYBOX, ...SLEEP);
    await engine.docker(
      "run",
      "--detach",
      `--name=${name}`,
      `--network=${network}`,
      "--network-alias=app",
      BUSYBOX,
      ...SLEEP,
    );
    await on.rebuild(name, "never");
    for (const host of [name, "app"]) {
      await engine.docker("exec", peer, "ping", "-c", "1", "-W", "5", host);
    }

    const [linked, linking] = [
      things.add("rm", unique("linked")),
      things.add("rm", unique("linking")),
    ];
    await engine.docker("run", "--detach", `--name=${linked}`, BUSYBOX, ...SLEEP);
    const link = `--link=${linked}:friend`;
    await engine.docker("run", "--detach", `--name=${linking}`, link, BUSYBOX, ...SLEEP);
    await on.rebuild(linking, "never");
    await engine.docker("exec", linking, "ping", "-c", "1", "-W", "5", "friend");
    await on.rebuild(linked, "never");
    await engine.docker("exec", linking, "ping", "-c", "1", "-W", "5", "friend");
  },
);

long(privateEngineTest)("one container is rebuilt once at a time", async (engine) => {
  await using on = await rebuildOn(engine);
  await using things = cleanup(engine);
  const name = things.add("rm", unique("twice"));
  const id = await engine.docker(
    "run",
    "--detach",
    "--network=host",
    `--name=${name}`,
    BUSYBOX,
    ...SLEEP,
  );
  const outcomes = await Promise.allSettled([
    on.rebuild(name, "never"),
    on.rebuild(id, "never"),
    on.rebuild(id.slice(0, 12), "never"),
  ]);
  const failed = outcomes.filter((outcome) => outcome.status === "rejected");
  equal(failed.length, 2);
  for (const { reason } of failed) {
    code("conflict", /\(container\.rebuild\) on \S+ has not/)(reason);
  }
  deepEqual(await namesLike(engine, name), [name]);
  equal((await on.inspect(name)).State.Running, true);
});

privateEngineTest(
  "a rebuild of the service itself or of a paused container is refused",
  async (engine) => {
    await using things = cleanup(engine);
    const name = things.add("rm", unique("self"));
    const id = await engine.docker(
      "run",
      "--detach",
      "--network=host",
      `--name=${name}`,
      BUSYBOX,
      ...SLEEP,
    );
    await using self = await rebuildOn(engine, id);
    await rejects(self.rebuild(name, "never"), code("forbidden", /own container/));
    await rejects(self.rebuild(id.slice(0, 12), "never"), code("forbidden"));

    await using other = await rebuildOn(engine);
    await engine.docker("pause", name);
    await rejects(other.rebuild(name, "never"), code("conflict", /is paused/));
    await engine.docker("unpause", name);
    await rejects(other.rebuild("no-such-container"), code("not_found"));
    equal((await other.inspect(name)).Id, id);
  },
);

long(ownEngineTest)(
  "an engine crash during a rebuild loses no container",
  async (engine) => {
    await using proxy = startEngineProxy(engine.socketPath, engine.sandbox.directory);
    await using on = await rebuildOn({ ...engine, socketPath: proxy.socketPath });
    const name = unique("crash");
    await engine.docker("run", "--detach", "--network=host", `--name=${name}`, BUSYBOX, ...SLEEP);
    // The new container exists, and the old one has stopped.
    const { struck } = interrupt(proxy, {
      number: 0,
      moment: "after",
      isCounted: ({ path }) => path.endsWith("/stop"),
      strike: () => engine.kill(),
    });
    await rejects(on.rebuild(name, "never"), code("unavailable", /engine was lost/));
    await struck;
    await engine.restart();

    const job = await until("the job has ended", () => {
      const [job] = listJobs(on.deps, ADMIN, { limit: 1, kind: ["container.rebuild"] }).jobs;
      return job?.endedAt !== null && job;
    });
    equal(job.status, "succeeded", job.error ?? "");
    const { Id, State } = await on.inspect(name);
    deepEqual([Id, State.Running], [(job.result as { id: string }).id, true]);
    deepEqual(await namesLike(engine, name), [name]);
  },
);

long(ownEngineTest)(
  "a rebuild ends, with the old container running, when each start of the new one breaks",
  async (engine) => {
    await using proxy = startEngineProxy(engine.socketPath, engine.sandbox.directory);
    await using on = await rebuildOn({ ...engine, socketPath: proxy.socketPath });
    const name = unique("broken");
    const old = (await engine.docker(
      "run",
      "--detach",
      "--network=host",
      `--name=${name}`,
      BUSYBOX,
      ...SLEEP,
    ))
      .trim();
    proxy.observe(({ path }) => {
      if (path.endsWith("/start") && !path.includes(old)) throw new Error("Lost");
    });

    await rejects(on.rebuild(name, "never"), code("unavailable", /engine was lost/));
    const job = await until("the job has ended", () => {
      const [job] = listJobs(on.deps, ADMIN, { limit: 1, kind: ["container.rebuild"] }).jobs;
      return job?.endedAt !== null && job;
    });

    equal(job.status, "rolled_back", job.error ?? "");
    const { Id, State } = await on.inspect(name);
    deepEqual([Id, State.Running], [old, true]);
    deepEqual(await namesLike(engine, name), [name]);
  },
);

long(podmanTest)("a rebuild on Podman keeps networks, aliases, data and limits", async (engine) => {
  await using on = await rebuildOn(engine);
  await using things = cleanup(engine);
  const name = unique("podman");
  const [front, back] = [unique("front"), unique("back")];
  for (const network of [front, back]) {
    things.add("network", network);
    await engine.docker("network", "create", network);
  }
  things.add("rm", name);
  await engine.docker(
    "run",
    "--detach",
    `--name=${name}`,
    `--network=${front}`,
    "--network-alias=app",
    "--volume=/data",
    "--memory=64m",
    "--restart=always",
    "--publish=127.0.0.1:18097:80",
    BUSYBOX,
    ...SLEEP,
  );
  await engine.docker("network", "connect", "--alias=other", back, name);
  await engine.docker("exec", name, "sh", "-c", "echo kept > /data/file");
  const before = await on.inspect(name);

  const { id } = await on.rebuild(name, "never");

  const after = await on.inspect(name);
  deepEqual([after.Id, after.State.Running], [id, true]);
  equal(await engine.docker("exec", name, "cat", "/data/file"), "kept");
  deepEqual(after.HostConfig.PortBindings, before.HostConfig.PortBindings);
  deepEqual(after.HostConfig.Memory, before.HostConfig.Memory);
  deepEqual(after.HostConfig.RestartPolicy, before.HostConfig.RestartPolicy);
  const aliases = ({ Id, NetworkSettings }: ContainerInspect) =>
    Object.entries(NetworkSettings.Networks ?? {}).map(([network, { Aliases }]) => [
      network,
      Aliases?.filter((alias) => alias !== Id.slice(0, 12)),
    ]);
  deepEqual(aliases(after).sort(), aliases(before).sort());
  ok(!after.Config.Env!.includes(`HOSTNAME=${before.Id.slice(0, 12)}`));
  deepEqual(await namesLike(engine, name), [name]);
});

long(podmanTest)(
  "a rebuild on Podman keeps limits of processor time and of files",
  async (engine) => {
    await using on = await rebuildOn(engine);
    await using things = cleanup(engine);
    const limitsOf = ({ HostConfig }: ContainerInspect) => {
      const { NanoCpus, CpuPeriod, CpuQuota, Ulimits } = HostConfig;
      return { NanoCpus, CpuPeriod, CpuQuota, Ulimits };
    };
    for (
      const options of [
        ["--cpus=0.5"],
        ["--cpu-period=50000", "--cpu-quota=20000"],
        ["--ulimit=nofile=100:200", "--ulimit=nproc=1000"],
        ["--ulimit=core=0", "--ulimit=nproc=1000"],
      ]
    ) {
      const name = things.add("rm", unique("limits"));
      await engine.docker("create", `--name=${name}`, ...options, BUSYBOX, ...SLEEP);
      const before = await on.inspect(name);
      await on.rebuild(name, "never");
      deepEqual(limitsOf(await on.inspect(name)), limitsOf(before), options.join(" "));
    }
  },
);

long(podmanTest)("a rebuild refuses a container in a pod, and changes nothing", async (engine) => {
  await using on = await rebuildOn(engine);
  using client = connectAny(engine.socketPath);
  const name = unique("pod");
  await using stack = new AsyncDisposableStack();
  for (const shared of [["net", "ipc", "uts"], ["net"]]) {
    const pod = `${name}-${shared.length}`;
    await client.json("POST", "/libpod/pods/create", {
      body: { name: pod, infra_image: BUSYBOX, infra_command: SLEEP, shared_namespaces: shared },
    });
    stack.defer(async () => {
      await client.send("DELETE", `/libpod/pods/${pod}`, { query: { force: true } });
    });
    const member = `${pod}-member`;
    await client.json("POST", "/libpod/containers/create", {
      body: { name: member, image: BUSYBOX, command: SLEEP, pod },
    });
    const { Id } = await on.inspect(member);
    await rejects(on.rebuild(member, "never"), code("conflict", /is in a pod of Podman/));
    equal((await on.inspect(member)).Id, Id);
  }
});
