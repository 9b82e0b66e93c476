import { deepEqual, equal, rejects } from "node:assert/strict";
import type { StateDatabase } from "../../db/database.ts";
import { connectEngine, type Engine } from "../../engine/client.ts";
import { containerInspect } from "../../engine/containers.ts";
import { rebuildContainer } from "../../services/ce/rebuild/rebuild.ts";
import { recoverRebuilds } from "../../services/ce/rebuild/recovery.ts";
import { createInventory } from "../../services/state/inventory.ts";
import { silentLog } from "../../services/log.ts";
import { openTestDatabase, testConfig, testSecrets } from "../helpers/test_app.ts";
import { createReservations } from "../../services/state/reservations.ts";
import { BUSYBOX, privateEngineTest, type RealEngine } from "../helpers/real_engine.ts";

/** Ends at once when it is stopped. */
const SLEEP = ["sh", "-c", "trap 'exit 0' TERM; sleep 2147483647 & wait"];

function openDatabase(): StateDatabase & Disposable {
  const db = openTestDatabase();
  return Object.assign(db, { [Symbol.dispose]: () => db.close() });
}

/** The parts of one run of the service. The database is kept between runs. */
function service(engine: Engine, db: StateDatabase) {
  return {
    engine,
    db,
    config: testConfig(),
    secrets: testSecrets(),
    inventory: createInventory(() => new Date()),
    reservations: createReservations(),
    self: { id: null, hostname: null },
    log: silentLog,
  };
}

/** Calls `onChange` with the number of each request that changes something, after it was done. */
function observed(engine: Engine, onChange: (step: number) => void | Promise<void>): Engine {
  let steps = 0;
  const after = async <T>(method: string, result: Promise<T>): Promise<T> => {
    const value = await result;
    if (method !== "GET") await onChange(steps++);
    return value;
  };
  return new Proxy(engine, {
    get(target, property) {
      if (property === "request" || property === "json") {
        return (method: "POST", path: string, options: object) =>
          after(method, target[property](method, path, options) as Promise<unknown>);
      }
      const value = Reflect.get(target, property, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** An engine that its client can no longer reach after `last` changes, as after kill -9. */
function lostAfter(engine: Engine, last: number): { engine: Engine; isLost(): boolean } {
  let isLost = false;
  const lossy = observed(engine, (step) => {
    if (step === last) isLost = true;
    if (isLost) throw new Error("killed");
  });
  const lost = new Proxy(lossy, {
    get(target, property) {
      if (isLost && (property === "request" || property === "json")) {
        return () => Promise.reject(new Error("killed"));
      }
      return Reflect.get(target, property);
    },
  });
  return { engine: lost, isLost: () => isLost };
}

/** A container and one that shares its network. */
async function startPair(engine: RealEngine, options: string[]) {
  const part = crypto.randomUUID().slice(0, 8);
  const [web, side] = [`longshore-test-${part}-web`, `longshore-test-${part}-side`];
  await engine.docker("run", "--detach", `--name=${web}`, ...options, BUSYBOX, ...SLEEP);
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

for (const options of [[], ["--rm"]]) {
  const kind = options.length ? "a container that removes itself" : "a container";
  privateEngineTest(
    `killed after any step of the rebuild of ${kind}, the next start leaves it and what shares its network running`,
    async (engine) => {
      using client = connectEngine(engine.socketPath);
      let steps = 0;
      for (let isOver = false; !isOver; steps++) {
        using db = openDatabase();
        await using pair = await startPair(engine, options);
        const dying = lostAfter(client, steps);
        await rebuildContainer(service(dying.engine, db), pair.web, { pull: "never" })
          .catch(() => {});
        isOver = !dying.isLost();

        await recoverRebuilds(service(client, db));

        await pair.assertWhole(client, `after step ${steps}`);
        deepEqual(await recoverRebuilds(service(client, db)), []);
      }
      // Of both containers: create, stop, rename aside, rename, start, remove.
      equal(steps, 2 * 6 - (options.length ? 2 : 0) + 1);
    },
  );
}

privateEngineTest(
  "a recovery during a rebuild does not change its containers",
  async (engine) => {
    using client = connectEngine(engine.socketPath);
    using db = openDatabase();
    await using pair = await startPair(engine, []);
    const deps = service(client, db);
    const recoveries: unknown[] = [];
    const watched = observed(client, async () => {
      recoveries.push(...await recoverRebuilds(deps));
    });

    await rebuildContainer({ ...deps, engine: watched }, pair.web, { pull: "never" });

    deepEqual(recoveries, []);
    await pair.assertWhole(client, "afterwards");
  },
);

privateEngineTest(
  "rebuilding a container and one that shares its network at the same time keeps both running",
  async (engine) => {
    using client = connectEngine(engine.socketPath);
    using db = openDatabase();
    await using pair = await startPair(engine, []);
    const deps = service(client, db);
    for (const order of [[pair.web, pair.side], [pair.side, pair.web]]) {
      const outcomes = await Promise.allSettled(
        order.map((name) => rebuildContainer(deps, name, { pull: "never" })),
      );
      const refused = outcomes.filter((outcome) => outcome.status === "rejected");
      deepEqual(refused.map(({ reason }) => reason.code), ["conflict"]);
      await pair.assertWhole(client, order.join(", then "));
    }
  },
);

privateEngineTest(
  "containers that share a namespace indirectly are recreated, too",
  async (engine) => {
    using client = connectEngine(engine.socketPath);
    using db = openDatabase();
    await using pair = await startPair(engine, []);
    const probe = pair.side.replace("-side", "-probe");
    const shared = `--pid=container:${pair.side}`;
    await engine.docker("run", "--detach", `--name=${probe}`, shared, BUSYBOX, ...SLEEP);

    await rebuildContainer(service(client, db), pair.web, { pull: "never" });

    const [side, moved] = await Promise.all(
      [pair.side, probe].map((name) => containerInspect(client, name)),
    );
    deepEqual([side!.State.Running, moved!.State.Running], [true, true]);
    equal(moved!.HostConfig.PidMode, `container:${side!.Id}`);
  },
);

privateEngineTest(
  "a dependent that cannot be created rolls the rebuild back",
  async (engine) => {
    using client = connectEngine(engine.socketPath);
    using db = openDatabase();
    await using pair = await startPair(engine, []);
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
      rebuildContainer(service(client, db), pair.web, { pull: "never" }),
      /probe could not be created/,
    );

    deepEqual(await recoverRebuilds(service(client, db)), []);
    await engine.docker("rm", "--force", probe);
    await pair.assertWhole(client, "afterwards");
  },
);
