import { deepEqual, equal, rejects } from "node:assert/strict";
import { rebuildContainer } from "../../../../services/updates/rebuild/rebuild.ts";
import { AppError } from "../../../../services/errors.ts";
import { type FakeAnswer, fakeEngine } from "../../../helpers/fake_engine.ts";
import { testApp } from "../../../helpers/test_app.ts";

const OLD = "0123456789abcdef".repeat(4);

const IMAGE = `sha256:${"1".repeat(64)}`;

interface Played {
  id: string;
  name: string;
  status: "created" | "running" | "exited";
  policy: string;
  autoRemove: boolean;
}

interface Fault {
  /** The number of the request that fails, among those that change something. */
  at: number;
  /** Whether the engine does it nevertheless. */
  isDone: boolean;
}

/** An engine with one container. */
function playedEngine(
  { status = "running", autoRemove = false }: Partial<Played> = {},
  fault?: Fault,
) {
  const policy = autoRemove ? "no" : "always";
  const containers: Played[] = [{ id: OLD, name: "web", status, policy, autoRemove }];
  let changes = 0;
  let created = 0;
  const find = (ref: string) => containers.find(({ id, name }) => id === ref || name === ref);
  const remove = (container: Played) => void containers.splice(containers.indexOf(container), 1);
  const missing = () => Response.json({ message: "No such container" }, { status: 404 });
  const empty = () => new Response(null, { status: 204 });

  /** A change of a container, which may fail before or after it was done. */
  const changing = (
    work: (container: Played, request: Parameters<FakeAnswer>[0]) => void,
    answer: () => Response = empty,
  ): FakeAnswer =>
  (request) => {
    const container = find(request.parts[0]!);
    return container ? faulty(() => work(container, request), answer) : missing();
  };
  const faulty = (work: () => void, answer: () => Response): Response => {
    const isFaulty = changes++ === fault?.at;
    if (!isFaulty || fault?.isDone) work();
    if (isFaulty) return Response.json({ message: "the engine has trouble" }, { status: 500 });
    return answer();
  };

  const fake = fakeEngine({
    "GET /info": () => Response.json({ DefaultRuntime: "runc" }),
    "GET /images/*/json": () =>
      Response.json({ Id: IMAGE, RepoTags: ["app:1"], RepoDigests: [], Config: {}, Size: 1 }),
    "GET /containers/json": () =>
      Response.json(containers.map(({ id, name }) => ({ Id: id, Names: [`/${name}`] }))),
    "GET /containers/*/json": ({ parts }) => {
      const container = find(parts[0]!);
      if (!container) return missing();
      const { id, name, status, policy, autoRemove } = container;
      return Response.json({
        Id: id,
        Name: `/${name}`,
        Image: IMAGE,
        // One that did not work before need not stay up when it returns, which takes time.
        State: { Status: status, Running: status === "running", Health: { Status: "unhealthy" } },
        Config: { Image: "app:1" },
        HostConfig: {
          NetworkMode: "front",
          AutoRemove: autoRemove,
          RestartPolicy: { Name: policy },
        },
        NetworkSettings: { Networks: { front: {}, back: {} } },
      });
    },
    "GET /containers/*/logs": () => new Response(),
    "POST /containers/create": ({ query, body }) =>
      faulty(
        () =>
          containers.push({
            id: `${++created}`.repeat(64),
            name: query.get("name")!,
            status: "created",
            policy: body.HostConfig.RestartPolicy.Name,
            autoRemove,
          }),
        () => Response.json({ Id: containers.at(-1)!.id, Warnings: [] }, { status: 201 }),
      ),
    "POST /networks/*/connect": () => faulty(() => {}, () => new Response()),
    "POST /containers/*/update": changing((container, { body }) => {
      container.policy = body.RestartPolicy.Name;
    }, () => Response.json({ Warnings: [] })),
    "POST /containers/*/start": changing((container) => void (container.status = "running")),
    "POST /containers/*/stop": changing((container) => {
      container.status = "exited";
      if (container.autoRemove) remove(container);
    }),
    "POST /containers/*/rename": changing((container, { query }) => {
      container.name = query.get("name")!;
    }),
    "DELETE /containers/*": changing(remove),
  });
  const app = testApp({ engine: fake.engine });
  return {
    containers,
    changes: () => changes,
    rebuild: () => rebuildContainer(app.deps, "web", { pull: "never", actor: { userId: "key" } }),
    async [Symbol.asyncDispose]() {
      app[Symbol.dispose]();
      await fake[Symbol.asyncDispose]();
    },
  };
}

const fresh = { id: "1".repeat(64), name: "web", policy: "always", autoRemove: false };

Deno.test("a rebuild gives the new container the name and removes the old one", async () => {
  await using running = playedEngine();
  const { id, oldId, imageUpdated } = await running.rebuild();
  deepEqual([id, oldId, imageUpdated], [fresh.id, OLD, false]);
  deepEqual(running.containers, [{ ...fresh, status: "running" }]);

  await using stopped = playedEngine({ status: "exited" });
  await stopped.rebuild();
  deepEqual(stopped.containers, [{ ...fresh, status: "created" }]);

  await using fleeting = playedEngine({ autoRemove: true });
  await fleeting.rebuild();
  deepEqual(fleeting.containers, [
    { ...fresh, status: "running", policy: "no", autoRemove: true },
  ]);
});

for (const status of ["running", "exited"] as const) {
  for (const isDone of [false, true]) {
    const when = isDone ? "after it was done" : "before it was done";
    Deno.test(`a failure of any step, ${when}, leaves an ${status} container as it was`, async () => {
      await using whole = playedEngine({ status });
      await whole.rebuild();

      // The last step is the removal of the old one.
      for (let at = 0; at < whole.changes() - 1; at++) {
        await using engine = playedEngine({ status }, { at, isDone });
        await rejects(
          engine.rebuild(),
          (error) => error instanceof AppError && /the engine has trouble/.test(error.message),
        );
        deepEqual(
          engine.containers,
          [{ id: OLD, name: "web", status, policy: "always", autoRemove: false }],
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
    await whole.rebuild();
    // The last step is the removal of its copy.
    for (let at = 0; at < whole.changes() - 1; at++) {
      await using engine = playedEngine({ autoRemove: true }, { at, isDone });
      await rejects(engine.rebuild(), AppError);
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
  await whole.rebuild();
  await using engine = playedEngine({}, { at: whole.changes() - 1, isDone: false });
  equal((await engine.rebuild()).id, fresh.id);
  deepEqual(engine.containers.map(({ id }) => id), [fresh.id]);
});
