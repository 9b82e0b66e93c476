import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { connectEngine } from "../../engine/client.ts";
import {
  containerInspect,
  containerList,
  containerLogs,
  containerRemove,
  containerStart,
  containerStop,
  containerTop,
} from "../../engine/containers.ts";
import { EngineError } from "../../engine/errors.ts";
import { systemEvents } from "../../engine/events.ts";
import { execCreate, execInspect, execStart } from "../../engine/exec.ts";
import { imageList } from "../../engine/images.ts";
import { networkList } from "../../engine/networks.ts";
import { systemInfo, systemPing, systemVersion } from "../../engine/system.ts";
import { volumeList } from "../../engine/volumes.ts";
import { frameTexts } from "../helpers/frames.ts";
import { long } from "../helpers/long.ts";
import { BUSYBOX, podmanTest } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

long(podmanTest)("Podman is distinguished from Docker", async (real) => {
  using engine = connectEngine(real.socketPath);
  await systemPing(engine);
  equal(engine.kind, "podman");
  const { Components } = await systemVersion(engine);
  equal(Components?.[0]?.Name, "Podman Engine");
  ok((await systemInfo(engine)).NCPU >= 1);
});

long(podmanTest)("Podman's containers are listed, inspected, stopped and started", async (real) => {
  using engine = connectEngine(real.socketPath);
  await using container = await real.runContainer({ labels: { color: "blue" } });

  const [listed] = await containerList(engine);
  deepEqual(
    [listed?.Id, listed?.Names, listed?.State, listed?.Labels?.["color"]],
    [container.id, [`/${container.name}`], "running", "blue"],
  );
  deepEqual(await containerStart(engine, container.id), { changed: false });
  deepEqual(await containerStop(engine, container.id, { timeoutS: 5 }), { changed: true });
  deepEqual(await containerStop(engine, container.id, { timeoutS: 5 }), { changed: false });
  equal((await containerInspect(engine, container.name)).State.Status, "exited");
  deepEqual(await containerList(engine), []);
  equal((await containerList(engine, { all: true })).length, 1);
  deepEqual(await containerStart(engine, container.id), { changed: true });
  // Podman does not take the columns of a `ps` in the container apart.
  const { Processes } = await containerTop(engine, container.id);
  ok(Processes?.some((process) => process.join(" ").includes("sleep")));

  await containerRemove(engine, container.id, { force: true });
  await rejects(
    containerInspect(engine, container.id),
    (error) => error instanceof EngineError && error.status === 404,
  );
});

long(podmanTest)("Podman's logs keep standard output and error apart", async (real) => {
  using engine = connectEngine(real.socketPath);
  await using container = await real.runContainer({
    command: ["sh", "-c", "echo to stdout; echo to stderr >&2"],
  });
  await real.docker("wait", container.id);
  deepEqual(await frameTexts(await containerLogs(engine, container.id)), {
    stdout: "to stdout\n",
    stderr: "to stderr\n",
  });
});

long(podmanTest)(
  "Podman runs a program with both of its streams and its exit code",
  async (real) => {
    using engine = connectEngine(real.socketPath);
    await using container = await real.runContainer();
    const { id } = await execCreate(engine, container.id, {
      cmd: ["sh", "-c", "cat; echo err >&2; exit 7"],
      stdin: true,
    });

    using connection = await execStart(engine, id);
    await connection.write(new TextEncoder().encode("in\n"));
    await connection.closeWrite();

    deepEqual(await frameTexts(connection.frames), { stdout: "in\n", stderr: "err\n" });
    const { ExitCode } = await until("the program has ended", async () => {
      const program = await execInspect(engine, id);
      return !program.Running && program;
    });
    equal(ExitCode, 7);
  },
);

long(podmanTest)("a stop by the command line is seen as Podman's event", async (real) => {
  using engine = connectEngine(real.socketPath);
  const since = Math.floor(Date.now() / 1000) - 1;
  await using container = await real.runContainer();
  // Podman sends the head of its answer with the first event only, so the call is not awaited
  // before there is one.
  const events = systemEvents(engine, {
    filters: { type: ["container"], container: [container.id] },
    since,
  });

  const stopped = real.docker("stop", container.id);
  const actions: string[] = [];
  for await (const { Action, Actor } of await events) {
    equal(Actor.ID, container.id);
    actions.push(Action);
    if (Action === "died" || Action === "die") break;
  }
  await stopped;
  ok(actions.includes("start"), actions.join());
});

long(podmanTest)("Podman's images, networks and volumes are listed", async (real) => {
  using engine = connectEngine(real.socketPath);
  await real.docker("volume", "create", "data");
  ok(
    (await imageList(engine)).some(({ RepoTags }) =>
      RepoTags?.some((tag) => tag.endsWith(BUSYBOX))
    ),
  );
  ok((await networkList(engine)).some(({ Name }) => Name === "bridge"));
  deepEqual((await volumeList(engine)).map(({ Name }) => Name), ["data"]);
});
