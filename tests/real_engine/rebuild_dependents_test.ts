import { deepEqual, equal, rejects } from "node:assert/strict";
import type { Engine } from "../../engine/client.ts";
import { containerInspect } from "../../engine/containers.ts";
import { rebuildContainer } from "../../services/updates/rebuild/rebuild.ts";
import { type LiveApp, liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { BUSYBOX, privateEngineTest, type RealEngine } from "../helpers/real_engine.ts";

/** Ends at once when it is stopped. */
const SLEEP = ["sh", "-c", "trap 'exit 0' TERM; sleep 2147483647 & wait"];

const rebuild = ({ deps }: LiveApp, name: string) =>
  rebuildContainer(deps, name, { pull: "never", actor: { userId: "key" } });

/** A container and one that shares its network. */
async function startPair(
  engine: RealEngine,
  { image = BUSYBOX, options = [] }: { image?: string; options?: string[] } = {},
) {
  const part = crypto.randomUUID().slice(0, 8);
  const [web, side] = [`longshore-test-${part}-web`, `longshore-test-${part}-side`];
  await engine.docker("run", "--detach", `--name=${web}`, ...options, image, ...SLEEP);
  const network = `--network=container:${web}`;
  await engine.docker("run", "--detach", `--name=${side}`, network, BUSYBOX, ...SLEEP);
  return {
    web,
    side,
    async assertWhole(client: Engine, when: string) {
      const names = await engine.docker(
        "ps",
        "--all",
        `--filter=name=${part}`,
        "--format={{.Names}}",
      );
      deepEqual(names.split("\n").sort(), [side, web], when);
      const [first, second] = await Promise.all(
        [web, side].map((name) => containerInspect(client, name)),
      );
      deepEqual([first!.State.Running, second!.State.Running], [true, true], when);
      equal(second!.HostConfig.NetworkMode, `container:${first!.Id}`, when);
      const links = (name: string) => engine.docker("exec", name, "ip", "link");
      equal(await links(side), await links(web), when);
    },
    async [Symbol.asyncDispose]() {
      const ids = await engine.docker("ps", "--all", "--quiet", `--filter=name=${part}`);
      if (ids) await engine.docker("rm", "--force", "--volumes", ...ids.split("\n"));
    },
  };
}

long(privateEngineTest)(
  "rebuilding a container and one that shares its network at the same time keeps both running",
  async (engine) => {
    await using pair = await startPair(engine);
    await using app = await liveApp(engine.socketPath);
    for (const order of [[pair.web, pair.side], [pair.side, pair.web]]) {
      const outcomes = await Promise.allSettled(
        order.map((name) => rebuild(app, name)),
      );
      const refused = outcomes.filter((outcome) => outcome.status === "rejected");
      deepEqual(refused.map(({ reason }) => reason.code), ["conflict"]);
      await pair.assertWhole(app.deps.engine, order.join(", then "));
    }
  },
);

long(privateEngineTest)(
  "containers that share a namespace indirectly are recreated, too",
  async (engine) => {
    await using pair = await startPair(engine);
    await using app = await liveApp(engine.socketPath);
    const probe = pair.side.replace("-side", "-probe");
    const shared = `--pid=container:${pair.side}`;
    await engine.docker("run", "--detach", `--name=${probe}`, shared, BUSYBOX, ...SLEEP);

    await rebuild(app, pair.web);

    const [side, moved] = await Promise.all(
      [pair.side, probe].map((name) => containerInspect(app.deps.engine, name)),
    );
    deepEqual([side!.State.Running, moved!.State.Running], [true, true]);
    equal(moved!.HostConfig.PidMode, `container:${side!.Id}`);
  },
);

long(privateEngineTest)(
  "a dependent that cannot be created rolls the rebuild back",
  async (engine) => {
    await using pair = await startPair(engine);
    await using app = await liveApp(engine.socketPath);
    const folder = `${engine.sandbox.directory}/${pair.side}`;
    await Deno.mkdir(folder);
    const probe = pair.side.replace("-side", "-probe");
    await engine.docker(
      "run",
      "--detach",
      `--name=${probe}`,
      `--network=container:${pair.web}`,
      `--mount=type=bind,src=${folder},dst=/bound`,
      BUSYBOX,
      ...SLEEP,
    );
    await Deno.remove(folder);

    await rejects(
      rebuild(app, pair.web),
      /probe could not be created/,
    );

    await engine.docker("rm", "--force", probe);
    await pair.assertWhole(app.deps.engine, "afterwards");
  },
);

long(privateEngineTest)(
  "a container that removes itself returns with what shares its network",
  async (engine) => {
    const image = `longshore-test-${crypto.randomUUID().slice(0, 8)}:1`;
    await engine.docker("tag", BUSYBOX, image);
    try {
      await using pair = await startPair(engine, { image, options: ["--rm"] });
      await using app = await liveApp(engine.socketPath);
      const base = await engine.docker("create", BUSYBOX, "true");
      await engine.docker("commit", '--change=ENTRYPOINT ["/no/such/program"]', base, image);
      await engine.docker("rm", base);

      await rejects(rebuild(app, pair.web), /could not be started: .*no such file/);

      await pair.assertWhole(app.deps.engine, "afterwards");
    } finally {
      await engine.docker("rmi", "--force", image);
    }
  },
);
