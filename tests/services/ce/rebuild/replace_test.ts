import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { containerInspect } from "../../../../engine/containers.ts";
import { planRecreation } from "../../../../services/ce/rebuild/recreate.ts";
import { replaceContainer } from "../../../../services/ce/rebuild/replace.ts";
import { recoverRebuilds } from "../../../../services/ce/rebuild/recovery.ts";
import { upsertRebuild } from "../../../../db/ce/rebuilds.ts";
import { AppError } from "../../../../services/errors.ts";
import { createInventory } from "../../../../services/state/inventory.ts";
import type { Log } from "../../../../services/log.ts";
import { createReservations } from "../../../../services/state/reservations.ts";
import { openTestDatabase } from "../../../helpers/test_app.ts";
import { type FakeAnswer, fakeEngine } from "../../../helpers/fake_engine.ts";

const OLD = "0123456789abcdef".repeat(4);
const NEW = "fedcba9876543210".repeat(4);

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

interface Played {
  id: string;
  name: string;
  status: "created" | "running" | "exited";
  autoRemove: boolean;
}

/** An engine with one container that fails at one of the requests that change something. */
function playedEngine(
  { status = "running", autoRemove = false }: Partial<Played> = {},
  fault?: { at: number; isDone: boolean },
) {
  const containers: Played[] = [{ id: OLD, name: "web", status, autoRemove }];
  let changes = 0;
  const find = (ref: string) => containers.find(({ id, name }) => id === ref || name === ref);
  const remove = (container: Played) => void containers.splice(containers.indexOf(container), 1);
  const missing = () => Response.json({ message: "No such container" }, { status: 404 });

  /** An operation on a container, which may fail before or after it was done. */
  const changing = (work: (container: Played, query: URLSearchParams) => void): FakeAnswer =>
  (
    { parts, query },
  ) => {
    const container = find(parts[0]!);
    if (!container) return missing();
    return faulty(() => work(container, query), () => new Response(null, { status: 204 }));
  };
  const faulty = (work: () => void, answer: () => Response): Response => {
    const isFaulty = changes++ === fault?.at;
    if (!isFaulty || fault?.isDone) work();
    if (isFaulty) return Response.json({ message: "the engine has trouble" }, { status: 500 });
    return answer();
  };

  const fake = fakeEngine({
    "GET /containers/json": () =>
      Response.json(containers.map(({ id, name }) => ({ Id: id, Names: [`/${name}`] }))),
    "GET /containers/*/json": ({ parts }) => {
      const container = find(parts[0]!);
      if (!container) return missing();
      const { id, name, status, autoRemove } = container;
      return Response.json({
        Id: id,
        Name: `/${name}`,
        Image: "sha256:1",
        State: { Status: status, Running: status === "running" },
        Config: { Image: "app:1" },
        HostConfig: { NetworkMode: "front", AutoRemove: autoRemove },
        NetworkSettings: { Networks: { front: {}, back: {} } },
      });
    },
    "POST /containers/create": ({ query }) =>
      faulty(
        () =>
          containers.push({
            id: containers.some(({ id }) => id === NEW) ? `${NEW}2` : NEW,
            name: query.get("name")!,
            status: "created",
            autoRemove,
          }),
        () => Response.json({ Id: containers.at(-1)!.id, Warnings: [] }, { status: 201 }),
      ),
    "POST /networks/*/connect": () => faulty(() => {}, () => new Response()),
    "POST /containers/*/start": changing((container) => void (container.status = "running")),
    "POST /containers/*/stop": changing((container) => {
      container.status = "exited";
      if (container.autoRemove) remove(container);
    }),
    "POST /containers/*/rename": changing((container, query) => {
      container.name = query.get("name")!;
    }),
    "DELETE /containers/*": changing(remove),
  });
  const deps = {
    engine: fake.engine,
    log: silent,
    db: openTestDatabase(),
    inventory: createInventory(() => new Date()),
    reservations: createReservations(),
    self: { id: null, hostname: null },
  };
  const record = (newId: string | null) =>
    upsertRebuild(deps.db, { oldId: OLD, name: "web", ran: true, newId });
  return {
    containers,
    changes: () => changes,
    replace: async () => {
      const old = await containerInspect(fake.engine, OLD);
      return await replaceContainer(deps, old, planRecreation(old));
    },
    record,
    recover: () => recoverRebuilds(deps),
    async [Symbol.asyncDispose]() {
      deps.db.close();
      await fake[Symbol.asyncDispose]();
    },
  };
}

Deno.test("a replacement gives the new container the name and removes the old one", async () => {
  await using running = playedEngine();
  equal(await running.replace(), NEW);
  deepEqual(running.containers, [{ id: NEW, name: "web", status: "running", autoRemove: false }]);

  await using stopped = playedEngine({ status: "exited" });
  await stopped.replace();
  deepEqual(stopped.containers, [{ id: NEW, name: "web", status: "created", autoRemove: false }]);

  await using fleeting = playedEngine({ autoRemove: true });
  await fleeting.replace();
  deepEqual(fleeting.containers, [{ id: NEW, name: "web", status: "running", autoRemove: true }]);
});

for (const status of ["running", "exited"] as const) {
  for (const isDone of [false, true]) {
    const when = isDone ? "after it was done" : "before it was done";
    Deno.test(`a failure of any step, ${when}, leaves an ${status} container as it was`, async () => {
      await using whole = playedEngine({ status });
      await whole.replace();

      // The last step is the removal of the old one.
      for (let at = 0; at < whole.changes() - 1; at++) {
        await using engine = playedEngine({ status }, { at, isDone });
        await rejects(
          engine.replace(),
          (error) =>
            error instanceof AppError && error.code === "conflict" &&
            /^Container web could not be \w+: the engine has trouble$/.test(error.message),
        );
        deepEqual(
          engine.containers,
          [{ id: OLD, name: "web", status, autoRemove: false }],
          `step ${at}`,
        );
      }
    });
  }
}

for (const isDone of [false, true]) {
  const when = isDone ? "after it was done" : "before it was done";
  Deno.test(`a failure of any step, ${when}, leaves one that removes itself running`, async () => {
    await using whole = playedEngine({ autoRemove: true });
    await whole.replace();
    for (let at = 0; at < whole.changes(); at++) {
      await using engine = playedEngine({ autoRemove: true }, { at, isDone });
      await rejects(engine.replace(), AppError);
      deepEqual(
        engine.containers.map(({ name, status }) => [name, status]),
        [["web", "running"]],
        `step ${at}`,
      );
    }
  });
}

Deno.test("removing the old container is retried", async () => {
  await using whole = playedEngine();
  await whole.replace();
  await using engine = playedEngine({}, { at: whole.changes() - 1, isDone: false });
  equal(await engine.replace(), NEW);
  deepEqual(engine.containers.map(({ id }) => id), [NEW]);
});

Deno.test("wherever a replacement is interrupted, the recovery leaves one running container", async () => {
  await using whole = playedEngine();
  await whole.replace();
  // Names and states after each step, as `replaceContainer()` would leave them if it ended there.
  const marked = (role: string) => `web-longshore-${role}-running-${OLD.slice(0, 12)}`;
  const old = { id: OLD, autoRemove: false };
  const fresh = { id: NEW, autoRemove: false };
  for (
    const [containers, survivor] of [
      [[{ ...old, name: "web", status: "running" }, {
        ...fresh,
        name: marked("new"),
        status: "created",
      }], OLD],
      [[{ ...old, name: "web", status: "exited" }, {
        ...fresh,
        name: marked("new"),
        status: "created",
      }], OLD],
      [[{ ...old, name: marked("old"), status: "exited" }, {
        ...fresh,
        name: marked("new"),
        status: "created",
      }], OLD],
      [[{ ...old, name: marked("old"), status: "exited" }, {
        ...fresh,
        name: "web",
        status: "created",
      }], OLD],
      [[{ ...old, name: marked("old"), status: "exited" }, {
        ...fresh,
        name: "web",
        status: "running",
      }], NEW],
      [[{ ...old, name: marked("old"), status: "exited" }, {
        ...fresh,
        name: "web",
        status: "exited",
      }], NEW],
      [[{ ...old, name: marked("old"), status: "exited" }], OLD],
      [[{ ...fresh, name: marked("new"), status: "created" }], NEW],
    ] as [Played[], string][]
  ) {
    await using engine = playedEngine();
    engine.containers.splice(0, 1, ...containers);
    engine.record(NEW);
    equal((await engine.recover()).length, 1);
    deepEqual(engine.containers.map(({ id, name }) => [id, name]), [[survivor, "web"]]);
    ok(survivor === NEW || engine.containers[0]!.status === "running");
    deepEqual(await engine.recover(), []);
  }
});

Deno.test("the recovery ignores containers that only have the names of a rebuild", async () => {
  await using engine = playedEngine();
  engine.containers.push(
    { id: "a".repeat(64), name: "web-old", status: "created", autoRemove: false },
    // Created by someone who knows the names.
    {
      id: "b".repeat(64),
      name: `web-longshore-old-running-${OLD.slice(0, 12)}`,
      status: "exited",
      autoRemove: false,
    },
    {
      id: "c".repeat(64),
      name: `web-longshore-new-running-${OLD.slice(0, 12)}`,
      status: "exited",
      autoRemove: false,
    },
  );
  deepEqual(await engine.recover(), []);
  equal(engine.containers.length, 4);
});
