import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { connectEngine } from "../../engine/client.ts";
import {
  containerCreate,
  containerInspect,
  containerList,
  containerLogs,
  containerRemove,
  containerRestart,
  containerStart,
  containerStats,
  containerStop,
  containerTop,
} from "../../engine/containers.ts";
import { EngineError, EngineUnreachableError } from "../../engine/errors.ts";
import { systemEvents } from "../../engine/events.ts";
import { execCreate, execInspect, execStart } from "../../engine/exec.ts";
import { imageInspect, imageList, imagePrune, imageRemove } from "../../engine/images.ts";
import { imagePull } from "../../engine/image_pull.ts";
import {
  networkConnect,
  networkDisconnect,
  networkInspect,
  networkList,
} from "../../engine/networks.ts";
import {
  buildPrune,
  systemDiskUsage,
  systemInfo,
  systemPing,
  systemVersion,
} from "../../engine/system.ts";
import { volumeList, volumeRemove } from "../../engine/volumes.ts";
import { frameTexts } from "../helpers/frames.ts";
import { durationOf, mostlyWithin } from "../helpers/in_time.ts";
import { long } from "../helpers/long.ts";
import { BUSYBOX, engineTest, ownEngineTest, privateEngineTest } from "../helpers/real_engine.ts";
import { startRegistry } from "../helpers/registry.ts";
import { eventually, until } from "../helpers/until.ts";

/** The status of the EngineError that a call fails with. */
const failsWith = (status: number) => (error: unknown) =>
  error instanceof EngineError && error.status === status;

engineTest("the API version is the one that the engine speaks", async ({ socketPath, docker }) => {
  using engine = connectEngine(socketPath);
  await systemPing(engine);
  const { ApiVersion, Version } = await systemVersion(engine);
  equal(engine.apiVersion, ApiVersion);
  equal(engine.kind, "docker");
  equal(engine.reachable, true);
  equal(Version, await docker("version", "--format", "{{.Server.Version}}"));
});

engineTest("a container that the command line started is listed", async (real) => {
  using engine = connectEngine(real.socketPath);
  await using container = await real.runContainer({ labels: { "test.color": "blue" } });

  const listed = await containerList(engine, { filters: { label: ["test.color=blue"] } });

  equal(listed.length, 1);
  const [{ Id, Names, Image, State, Labels }] = listed as [typeof listed[0] & object];
  deepEqual({ Id, Names, Image, State, color: Labels?.["test.color"] }, {
    Id: container.id,
    Names: [`/${container.name}`],
    Image: BUSYBOX,
    State: "running",
    color: "blue",
  });
});

engineTest("a container is inspected by id, prefix and name", async (real) => {
  using engine = connectEngine(real.socketPath);
  await using container = await real.runContainer({
    options: ["--env=COLOR=blue", "--memory=64m", "--restart=on-failure:3"],
  });
  for (const id of [container.id, container.id.slice(0, 12), container.name]) {
    const { Id, State, Config, HostConfig, RestartCount } = await containerInspect(engine, id);
    equal(Id, container.id);
    equal(State.Status, "running");
    ok(Config.Env?.includes("COLOR=blue"));
    equal(HostConfig.Memory, 64 * 1024 * 1024);
    deepEqual(HostConfig.RestartPolicy, { Name: "on-failure", MaximumRetryCount: 3 });
    equal(RestartCount, 0);
  }
  await rejects(containerInspect(engine, "no-such-container"), failsWith(404));
});

engineTest("stop and start report whether they changed anything", async (real) => {
  using engine = connectEngine(real.socketPath);
  await using container = await real.runContainer();
  const state = async () => (await containerInspect(engine, container.id)).State.Status;

  deepEqual(await containerStart(engine, container.id), { changed: false });
  deepEqual(await containerStop(engine, container.id, { timeoutS: 5 }), { changed: true });
  equal(await state(), "exited");
  deepEqual(await containerStop(engine, container.id, { timeoutS: 5 }), { changed: false });
  deepEqual(await containerStart(engine, container.id), { changed: true });
  equal(await state(), "running");
  const before = (await containerInspect(engine, container.id)).State.StartedAt;
  await containerRestart(engine, container.id, { timeoutS: 5 });
  ok((await containerInspect(engine, container.id)).State.StartedAt > before);
  await rejects(containerStop(engine, "no-such-container"), failsWith(404));
});

engineTest("a container is created, started, and removed", async (real) => {
  using engine = connectEngine(real.socketPath);
  const name = `longshore-test-${crypto.randomUUID()}`;
  const { id } = await containerCreate(engine, {
    name,
    body: { Image: BUSYBOX, Cmd: ["sleep", "600"], Labels: { "test.ü": 'ä\n"' } },
  });
  try {
    await rejects(containerCreate(engine, { name, body: { Image: BUSYBOX } }), failsWith(409));
    await containerStart(engine, id);
    deepEqual((await containerInspect(engine, name)).Config.Labels, { "test.ü": 'ä\n"' });
    await rejects(containerRemove(engine, id), failsWith(409));
  } finally {
    await containerRemove(engine, id, { force: true });
  }
  await rejects(containerInspect(engine, id), failsWith(404));
});

engineTest("a log keeps standard output and error apart", async (real) => {
  using engine = connectEngine(real.socketPath);
  await using container = await real.runContainer({
    command: ["sh", "-c", "echo to stdout; echo to stderr >&2; echo grüße"],
  });
  await real.docker("wait", container.id);

  deepEqual(await frameTexts(await containerLogs(engine, container.id)), {
    stdout: "to stdout\ngrüße\n",
    stderr: "to stderr\n",
  });
  deepEqual(await frameTexts(await containerLogs(engine, container.id, { stdout: false })), {
    stdout: "",
    stderr: "to stderr\n",
  });
  const timed = await containerLogs(engine, container.id, { timestamps: true });
  match(
    (await frameTexts(timed)).stdout,
    /^\d{4}-\d\d-\d\dT[\d:]+\.\d{9}Z to stdout\n\d{4}-\d\d-\d\dT[\d:]+\.\d{9}Z grüße\n$/,
  );
});

engineTest("the log of a terminal comes as it is", async (real) => {
  using engine = connectEngine(real.socketPath);
  await using container = await real.runContainer({
    command: ["sh", "-c", "echo one; echo two >&2"],
    options: ["--tty"],
  });
  await real.docker("wait", container.id);
  deepEqual(await frameTexts(await containerLogs(engine, container.id)), {
    stdout: "one\r\ntwo\r\n",
    stderr: "",
  });
});

engineTest("a followed log brings what is written later, until it is aborted", async (real) => {
  using engine = connectEngine(real.socketPath);
  await using container = await real.runContainer({
    command: ["sh", "-c", "trap 'echo asked; exit 0' TERM; echo ready; sleep 600 & wait"],
  });
  const abort = new AbortController();
  const frames = await containerLogs(engine, container.id, { follow: true, signal: abort.signal });

  let text = "";
  for await (const { bytes } of frames) {
    text += new TextDecoder().decode(bytes);
    if (text === "ready\n") await containerStop(engine, container.id);
  }
  equal(text, "ready\nasked\n");

  await containerStart(engine, container.id);
  const endless = await containerLogs(engine, container.id, { follow: true, signal: abort.signal });
  await rejects(async () => {
    for await (const _ of endless) abort.abort(new Error("enough"));
  }, /enough/);
});

engineTest("a program runs with both of its streams and its exit code", async (real) => {
  using engine = connectEngine(real.socketPath);
  await using container = await real.runContainer();
  const { id } = await execCreate(engine, container.id, {
    cmd: ["sh", "-c", "echo out; echo err >&2; exit 7"],
  });

  using connection = await execStart(engine, id);
  const texts = await frameTexts(connection.frames);

  deepEqual(texts, { stdout: "out\n", stderr: "err\n" });
  const { ExitCode, Running } = await until("the program has ended", async () => {
    const program = await execInspect(engine, id);
    return !program.Running && program;
  });
  deepEqual({ ExitCode, Running }, { ExitCode: 7, Running: false });
});

engineTest("a program reads what is written to it, until its input ends", async (real) => {
  using engine = connectEngine(real.socketPath);
  await using container = await real.runContainer();
  const { id } = await execCreate(engine, container.id, { cmd: ["sort"], stdin: true });

  using connection = await execStart(engine, id);
  await connection.write(new TextEncoder().encode("b\na\n"));
  await connection.closeWrite();

  deepEqual(await frameTexts(connection.frames), { stdout: "a\nb\n", stderr: "" });
});

engineTest("a program's large output is complete", async (real) => {
  using engine = connectEngine(real.socketPath);
  await using container = await real.runContainer();
  const { id } = await execCreate(engine, container.id, {
    cmd: ["sh", "-c", "yes 0123456789abcde | head -c 4000000"],
  });
  using connection = await execStart(engine, id);
  const { stdout } = await frameTexts(connection.frames);
  equal(stdout, "0123456789abcde\n".repeat(250_000));
});

engineTest("a missing program ends with 126 or 127", async (real) => {
  using engine = connectEngine(real.socketPath);
  await using container = await real.runContainer();
  const { id } = await execCreate(engine, container.id, { cmd: ["no-such-program"] });
  using connection = await execStart(engine, id);
  await frameTexts(connection.frames);
  const { ExitCode } = await until("the program has ended", async () => {
    const program = await execInspect(engine, id);
    return program.ExitCode !== null && program;
  });
  ok(ExitCode === 126 || ExitCode === 127, String(ExitCode));
});

engineTest("a program cannot be started in a container that does not run", async (real) => {
  using engine = connectEngine(real.socketPath);
  await using container = await real.runContainer();
  await containerStop(engine, container.id);
  await rejects(execCreate(engine, container.id, { cmd: ["true"] }), failsWith(409));
});

engineTest("top shows the processes of a container", async (real) => {
  using engine = connectEngine(real.socketPath);
  await using container = await real.runContainer({ command: ["sleep", "612"] });
  // The engine reports a start a moment before the runtime has become the program.
  await eventually(async () => {
    const { Titles, Processes } = await containerTop(engine, container.id);
    const command = Titles.indexOf("CMD");
    deepEqual(Processes?.map((process) => process[command]), ["sleep 612"]);
  });
});

long(engineTest)("statistics have use of CPU, memory and network", async (real) => {
  using engine = connectEngine(real.socketPath);
  await using container = await real.runContainer({ options: ["--memory=64m"], network: "bridge" });
  const stats = await containerStats(engine, container.id);
  ok(stats.cpu_stats.cpu_usage.total_usage > 0);
  ok((stats.cpu_stats.system_cpu_usage ?? 0) > 0);
  ok((stats.memory_stats.usage ?? 0) > 0);
  equal(stats.memory_stats.limit, 64 * 1024 * 1024);
  ok((stats.pids_stats?.current ?? 0) >= 1);
  equal(typeof stats.networks?.["eth0"]?.rx_bytes, "number");
});

engineTest("a stop by the command line is seen as an event", async (real) => {
  using engine = connectEngine(real.socketPath);
  await using container = await real.runContainer();
  const abort = new AbortController();
  const events = await systemEvents(engine, {
    filters: { type: ["container"], container: [container.id] },
    signal: abort.signal,
  });

  const stopped = real.docker("stop", container.id);
  const actions: string[] = [];
  for await (const { Action, Actor } of events) {
    actions.push(Action);
    equal(Actor.ID, container.id);
    equal(Actor.Attributes?.["name"], container.name);
    if (actions.includes("die") && actions.includes("stop")) break;
  }
  await stopped;
  // Two threads of the engine report the exit and the stop.
  deepEqual([actions[0], ...actions.slice(1).sort()], ["kill", "die", "stop"]);
});

engineTest("past events are returned on request", async (real) => {
  using engine = connectEngine(real.socketPath);
  const since = Math.floor(Date.now() / 1000) - 1;
  await using container = await real.runContainer({ command: ["true"] });
  await real.docker("wait", container.id);
  const events = await systemEvents(engine, {
    since,
    until: Math.ceil(Date.now() / 1000) + 1,
    filters: { container: [container.id], event: ["create", "die"] },
  });
  const actions: string[] = [];
  for await (const { Action } of events) actions.push(Action);
  deepEqual(actions, ["create", "die"]);
});

privateEngineTest("an image is pulled from a registry", async (real) => {
  using engine = connectEngine(real.socketPath);
  await using registry = await startRegistry(real);
  const reference = await registry.push("team/app:1");
  await rejects(imageInspect(engine, reference), failsWith(404));

  const progress: string[] = [];
  await imagePull(engine, reference, { onProgress: ({ status }) => progress.push(status ?? "") });

  deepEqual((await imageInspect(engine, reference)).RepoTags?.includes(reference), true);
  ok(progress.some((status) => status.startsWith("Digest: sha256:")), progress.join("\n"));
  deepEqual(await imageRemove(engine, reference), [
    { Untagged: reference },
    {
      Untagged: progress.find((status) => status.startsWith("Digest"))!
        .replace("Digest: ", `${registry.address}/team/app@`),
    },
  ]);
});

privateEngineTest("a pull that fails says whether image or registry was at fault", async (real) => {
  using engine = connectEngine(real.socketPath);
  await using registry = await startRegistry(real);
  const reference = await registry.push("app:1");
  await rejects(imagePull(engine, `${registry.address}/app:2`), failsWith(404));
  await rejects(imagePull(engine, `${registry.address}/other:1`), failsWith(404));
  await registry.stop();
  await rejects(imagePull(engine, reference), failsWith(502));
  await registry.restart();
  await imagePull(engine, reference);
  await imageRemove(engine, reference);
});

engineTest("images are listed, named and untagged", async (real) => {
  using engine = connectEngine(real.socketPath);
  const other = `longshore-test/other:${crypto.randomUUID().slice(0, 8)}`;
  await real.docker("tag", BUSYBOX, other);
  const image = (await imageList(engine)).find(({ RepoTags }) => RepoTags?.includes(BUSYBOX));
  ok(image);
  ok(image.RepoTags?.includes(other));
  ok(image.Size > 1_000_000);
  deepEqual(await imageRemove(engine, other), [{ Untagged: other }]);

  await using container = await real.runContainer();
  await rejects(imageRemove(engine, image.Id, { force: true }), failsWith(409));
  equal((await containerInspect(engine, container.id)).Image, image.Id);
});

engineTest("a container is connected to a network and disconnected", async (real) => {
  using engine = connectEngine(real.socketPath);
  const name = `longshore-test-${crypto.randomUUID()}`;
  const id = await real.docker("network", "create", name);
  try {
    await using container = await real.runContainer({ network: "bridge" });
    await networkConnect(engine, name, {
      container: container.id,
      endpoint: { Aliases: ["web"] },
    });
    equal((await networkInspect(engine, id)).Containers?.[container.id]?.Name, container.name);
    const { NetworkSettings } = await containerInspect(engine, container.id);
    ok(NetworkSettings.Networks?.[name]?.Aliases?.includes("web"));
    ok((await networkList(engine, { filters: { name: [name] } }))[0]?.IPAM?.Config?.[0]?.Subnet);

    await networkDisconnect(engine, name, { container: container.id });
    deepEqual((await networkInspect(engine, id)).Containers, {});
  } finally {
    await real.docker("network", "rm", id);
  }
});

engineTest("a volume in use cannot be removed, one that is not can", async (real) => {
  using engine = connectEngine(real.socketPath);
  const name = `longshore-test-${crypto.randomUUID()}`;
  {
    await using _container = await real.runContainer({ options: [`--volume=${name}:/data`] });
    equal((await volumeList(engine)).find(({ Name }) => Name === name)?.Driver, "local");
    await rejects(volumeRemove(engine, name), failsWith(409));
  }
  await volumeRemove(engine, name);
  ok(!(await volumeList(engine)).some(({ Name }) => Name === name));
});

privateEngineTest("disk usage is reported by kind", async (real) => {
  using engine = connectEngine(real.socketPath);
  await using container = await real.runContainer({
    command: ["sh", "-c", "head -c 100000 /dev/zero > /data/file; head -c 200000 /dev/zero > /f"],
    options: ["--volume=/data"],
  });
  await real.docker("wait", container.id);
  const usage = await systemDiskUsage(engine);
  equal(usage.containers.count, 1);
  ok(usage.containers.size >= 200_000);
  ok(usage.images.size > 1_000_000);
  const [mount] = (await containerInspect(engine, container.id)).Mounts ?? [];
  equal(usage.volumes.items.find(({ name }) => name === mount?.Name)?.refCount, 1);
  ok(usage.volumes.size >= 100_000);
});

privateEngineTest("prune removes unused objects and nothing else", async (real) => {
  using engine = connectEngine(real.socketPath);
  await using used = await real.runContainer({ options: ["--volume=in-use:/data"] });
  const dangling = await real.docker("commit", used.id);

  ok((await imagePrune(engine)).deleted.some(({ Deleted }) => Deleted === dangling));
  await buildPrune(engine);

  deepEqual((await containerList(engine, { all: true })).map(({ Id }) => Id), [used.id]);
  ok((await imageList(engine)).some(({ RepoTags }) => RepoTags?.includes(BUSYBOX)));
  ok((await volumeList(engine)).some(({ Name }) => Name === "in-use"));
  await used[Symbol.asyncDispose]();
  await volumeRemove(engine, "in-use");
});

engineTest("the engine's description counts containers", async (real) => {
  using engine = connectEngine(real.socketPath);
  const before = await systemInfo(engine);
  await using _container = await real.runContainer();
  const after = await until("it is counted", async () => {
    const info = await systemInfo(engine);
    return info.ContainersRunning === before.ContainersRunning + 1 && info;
  });
  ok(after.NCPU >= 1);
  ok(after.MemTotal > 0);
});

engineTest("fifty requests at the same time are all answered", async (real) => {
  using engine = connectEngine(real.socketPath);
  await using container = await real.runContainer();
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => containerInspect(engine, container.id)),
  );
  deepEqual([...new Set(answers.map(({ Id }) => Id))], [container.id]);
});

ownEngineTest("the client survives an engine that hangs, and one that crashes", async (real) => {
  using engine = connectEngine(real.socketPath);
  const reachesEngine = () =>
    until("the client reaches the engine", async () => {
      await systemPing(engine);
      return engine.reachable;
    });
  await systemPing(engine);
  {
    await using _frozen = await real.freeze();
    await mostlyWithin(
      2_000,
      "a call that is given up",
      () => durationOf(() => rejects(containerList(engine, { signal: AbortSignal.timeout(200) }))),
      { tries: 3 },
    );
  }
  await reachesEngine();

  const events = await systemEvents(engine);
  const streamEnd = (async () => {
    for await (const _ of events);
  })().catch((error: Error) => error);
  await real.kill();
  await streamEnd;
  await rejects(systemPing(engine), EngineUnreachableError);
  equal(engine.reachable, false);

  await real.restart();
  await reachesEngine();
});
