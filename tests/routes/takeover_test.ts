import { deepEqual, equal, match, ok } from "node:assert/strict";
import { composeLabels, simulateContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { keptLog, type TestApp, testApp } from "../helpers/test_app.ts";
import { until } from "../helpers/until.ts";

/** A stack without files, a container of a unit, and one without a stack. */
const engine = () =>
  fakeEngine({
    ...simulateContainers([
      { name: "shop-web-1", labels: labelsOf("shop") },
      {
        name: "unit-web-1",
        labels: { ...labelsOf("unit"), PODMAN_SYSTEMD_UNIT: "web.service" },
      },
      { name: "single" },
    ]),
    "GET /networks": () => Response.json([]),
    "GET /volumes": () => Response.json({ Volumes: [] }),
    "GET /info": () => Response.json({}),
    "GET /images/*/json": () => new Response(null, { status: 404 }),
  });

const labelsOf = (stack: string) => ({
  ...composeLabels(stack, "web"),
  "com.docker.compose.config-hash": "f00",
});

const hasEnded = (app: TestApp, id: string) =>
  until("the job has ended", () => app.deps.jobs.get(id) === undefined);

async function report(app: TestApp) {
  const { status, body } = await app.call("GET", "/api/takeover");
  equal(status, 202);
  equal(body.job.kind, "takeover.scan");
  const { body: same } = await app.call("GET", "/api/takeover");
  if (same.job) equal(same.job.id, body.job.id);
  await hasEnded(app, body.job.id);
  return (await app.call("GET", "/api/takeover")).body;
}

Deno.test("only administrators see and take over stacks, and tokens that are not limited to some", async () => {
  await using fake = engine();
  using app = testApp({ engine: fake.engine });
  for (const role of ["viewer", "operator"] as const) {
    for (
      const [method, path] of [
        ["GET", "/api/takeover"],
        ["POST", "/api/takeover"],
        ["DELETE", "/api/takeover/shop"],
      ] as const
    ) {
      equal(
        (await app.call(method, path, method === "POST" ? {} : undefined, { role })).status,
        403,
      );
      const limited = { scope: { stacks: ["shop"] } };
      const body = method === "POST" ? {} : undefined;
      equal((await app.call(method, path, body, limited)).status, 404);
    }
  }
});

Deno.test("GET /api/takeover answers with a job, then with a report until containers change", async () => {
  await using fake = engine();
  using app = testApp({ engine: fake.engine, config: { stackRoots: [] } });
  const { stacks, containers, directories, managed } = await report(app);
  deepEqual(
    stacks.map(({ name, unit }: Record<string, unknown>) => [name, unit]),
    [["shop", null], ["unit", "web.service"]],
  );
  deepEqual(stacks[1].notes, [
    "It belongs to the unit web.service of systemd; restart it with systemctl restart web.service",
  ]);
  equal(stacks[1].source.kind, "none");
  deepEqual(containers.map(({ name }: { name: string }) => name), ["single"]);
  deepEqual([directories, managed], [[], []]);

  const again = await app.call("GET", "/api/takeover?refresh=true");
  equal(again.status, 202);
  await hasEnded(app, again.body.job.id);
});

Deno.test("a service in a container says which directories it cannot list", async () => {
  await using fake = engine();
  const self = { id: null, hostname: null };
  for (const [isContainerized, unlisted] of [[true, ["/nonexistent"]], [false, []]] as const) {
    using app = testApp({
      engine: fake.engine,
      self: { ...self, isContainerized },
      config: { stackRoots: ["/nonexistent"] },
    });
    deepEqual((await report(app)).unlisted, unlisted);
  }
});

Deno.test("POST /api/takeover refuses stacks that are unknown, owned by a unit, or without files", async () => {
  await using fake = engine();
  using app = testApp({ engine: fake.engine, config: { stackRoots: [] } });
  await report(app);
  for (
    const [body, status, error] of [
      [{ stacks: ["none"] }, 404, /^Stack none does not exist/],
      [{ stacks: ["unit"] }, 409, /^unit belongs to the unit web\.service/],
      [{ generate: ["nowhere"] }, 404, /nowhere/],
      [{ stacks: [], generate: ["single"] }, 409, /^Container single is not in a stack/],
      [{ stacks: [] }, 409, /^A deploy would change every stack/],
      [{ stacks: ["../x"] }, 400, /stacks/],
      [{ sources: { shop: { kind: "host" } } }, 400, /path/],
      [{ sources: { shop: { kind: "text", path: "/a/b" } } }, 400, /kind/],
    ] as const
  ) {
    const answer = await app.call("POST", "/api/takeover", body);
    equal(answer.status, status, JSON.stringify([body, answer.body]));
    match(answer.body.error, error);
  }
});

Deno.test("a container without a stack becomes one, and is given back", async () => {
  await using fake = engine();
  using app = testApp({ engine: fake.engine, config: { stackRoots: [] } });
  await report(app);
  const started = await app.call("POST", "/api/takeover", {
    stacks: [],
    generate: ["single"],
    acceptRecreate: true,
  });
  equal(started.status, 202, JSON.stringify(started.body));
  await hasEnded(app, started.body.id);
  const { body: job } = await app.call("GET", `/api/jobs/${started.body.id}`);
  deepEqual(job.result, { taken: ["single"], refused: [] });

  const { body } = await app.call("GET", "/api/takeover");
  deepEqual(body.managed, [{
    name: "single",
    source: { kind: "generated", path: null },
    version: 1,
  }]);
  equal((await app.call("GET", "/api/stacks/single/source")).status, 200);
  equal((await app.call("DELETE", "/api/takeover/single")).status, 200);
  equal((await app.call("GET", "/api/stacks/single/source")).status, 404);
});

Deno.test("DELETE /api/takeover/:name refuses a stack that was created here", async () => {
  await using fake = engine();
  const { log, lines } = keptLog();
  using app = testApp({ engine: fake.engine, log });
  const stored = await app.call("POST", "/api/stacks", {
    name: "own",
    compose: "services: {web: {image: nginx}}\n",
    deploy: false,
  });
  equal(stored.status, 201);
  const answer = await app.call("DELETE", "/api/takeover/own");
  equal(answer.status, 409);
  equal(answer.body.error, "Stack own was not taken over; delete it instead");
  equal((await app.call("DELETE", "/api/takeover/none")).status, 404);
  ok(!lines.some((line) => line.includes("given back")));
});
