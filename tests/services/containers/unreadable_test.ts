import { deepEqual, equal, match, ok } from "node:assert/strict";
import { containerWatcher } from "../../../services/containers/watcher.ts";
import { silentLog } from "../../../services/log.ts";
import {
  composeLabels,
  idOf,
  simulateContainers,
  type SimulatedContainer,
} from "../../helpers/fake_containers.ts";
import { type FakeAnswer, fakeEngine } from "../../helpers/fake_engine.ts";
import { LARGE, withLarge } from "../../helpers/large_answers.ts";
import { type TestApp, testApp } from "../../helpers/test_app.ts";
import { until } from "../../helpers/until.ts";

const MIB = 1024 * 1024;

/** More than the 4 MiB up to which a list is read as a whole. */
const OFFENDERS = 3;

const TOO_LARGE = "Its labels or other texts are too large to be read in full";
const silent = { "GET /events": () => new Response(new ReadableStream()) };
const large = (index: number): SimulatedContainer => ({
  name: `large-${index}`,
  labels: { text: LARGE, ...composeLabels("shop", "web") },
});

/** Follows the engine until the test ends. */
function follow({ deps }: TestApp): AsyncDisposable {
  const end = new AbortController();
  const watching = containerWatcher.run(deps, end.signal, () => {});
  return {
    async [Symbol.asyncDispose]() {
      end.abort();
      await watching;
    },
  };
}

// deno-lint-ignore no-explicit-any
const nameAndWarning = ({ name, warning }: any) => [name, warning];

for (
  const { kind, pingHeaders } of [
    { kind: "Docker", pingHeaders: {} },
    { kind: "Podman", pingHeaders: { "libpod-api-version": "4.3.1" } },
  ]
) {
  Deno.test(`containers with labels of several MiB hide nothing on ${kind}, and can be removed`, async () => {
    const containers = [
      { name: "web", labels: { a: "b" } },
      ...Array.from({ length: OFFENDERS }, (_, index) => large(index)),
      { name: "db", state: "exited" as const },
    ];
    const simulated = simulateContainers(containers);
    const list = simulated["GET /containers/json"]!;
    simulated["GET /info"] = () => Response.json({});
    simulated["GET /containers/json"] = (request) =>
      request.query.has("filters") ? Response.json([]) : list(request);
    await using fake = fakeEngine({ ...withLarge(simulated, 2 * MIB), ...silent }, { pingHeaders });
    using app = testApp({ engine: fake.engine });
    await using _ = follow(app);
    await until("the engine is followed", () => app.deps.inventory.live);

    const { status, body } = await app.call("GET", "/api/containers");
    equal(status, 200);
    equal(body.containers.length, OFFENDERS + 2);
    const shown = new Map<string, string | null>(body.containers.map(nameAndWarning));
    deepEqual([shown.get("web"), shown.get("db"), shown.get("large-2")], [null, null, TOO_LARGE]);
    ok(JSON.stringify(app.deps.inventory.list()).length < 4 * MIB);

    const path = `/api/containers/${idOf("large-2")}`;
    const detail = await app.call("GET", path);
    equal(detail.body.warning, TOO_LARGE);
    equal(detail.body.labels.text.length, 64 * 1024 + 1);
    equal((await app.call("GET", `${path}/inspect`)).body.Truncated, true);
    const refused = await app.call("POST", `${path}/update`, {});
    equal(refused.status, 409);
    match(refused.body.error, /^Container large-2 has labels or other texts that are too large/);

    equal((await app.call("POST", `${path}/stop`)).body.state, "exited");
    equal((await app.call("DELETE", path)).status, 200);
    equal(containers.some(({ name }) => name === "large-2"), false);
    equal((await app.call("GET", path)).status, 404);
  });
}

Deno.test("images, volumes and networks with labels of several MiB are listed with a warning", async () => {
  const many = <Item>(itemOf: (id: string, labels: Record<string, string>) => Item): Item[] => [
    itemOf("usual", { a: "b" }),
    ...Array.from({ length: OFFENDERS }, (_, index) => itemOf(`large-${index}`, { text: LARGE })),
  ];
  const answers: Record<string, FakeAnswer> = {
    ...simulateContainers([{ name: "web" }]),
    "GET /images/json": () =>
      Response.json(many((id, Labels) => ({ Id: id, Labels, RepoTags: [`${id}:1`], Created: 1 }))),
    "GET /volumes": () =>
      Response.json({
        Volumes: many((Name, Labels) => ({
          Name,
          Labels,
          Driver: "local",
          Mountpoint: "/",
          Scope: "local",
        })),
        Warnings: null,
      }),
    "GET /networks": () =>
      Response.json(
        many((Name, Labels) => ({
          Id: Name,
          Name,
          Labels,
          Driver: "bridge",
          Scope: "local",
          Internal: false,
        })),
      ),
  };
  await using fake = fakeEngine(withLarge(answers, 2 * MIB));
  using app = testApp({ engine: fake.engine });

  for (const list of ["images", "volumes", "networks"]) {
    const { status, body } = await app.call("GET", `/api/${list}`);
    equal(status, 200, list);
    const warnings = body[list].map(({ warning }: { warning: string | null }) => warning);
    deepEqual(warnings.toSorted(), [...Array(OFFENDERS).fill(TOO_LARGE), null]);
  }
});

/** A container that the engine lists, but does not describe. */
function undescribed(containers: SimulatedContainer[], answer: FakeAnswer) {
  const answers = simulateContainers(containers);
  const describe = answers["GET /containers/*/json"]!;
  return {
    ...answers,
    ...silent,
    "GET /containers/json": () =>
      Response.json(containers.map(({ name, state = "running", labels = {} }) => ({
        Id: idOf(name),
        Names: [`/${name}`],
        Image: "app:2",
        ImageID: `sha256:${"2".repeat(64)}`,
        State: state,
        Status: state === "running" ? "Up 3 minutes (unhealthy)" : "Exited (137) 2 hours ago",
        Created: 1_767_225_600,
        Labels: labels,
        NetworkSettings: { Networks: { shop: { NetworkID: "n1" } } },
        Mounts: [{ Type: "volume", Name: "data", Destination: "/data" }],
      }))),
    "GET /containers/*/json": (request) =>
      request.parts[0] === idOf("bad") || request.parts[0] === "bad"
        ? answer(request)
        : describe(request),
  } satisfies Record<string, FakeAnswer>;
}

for (
  const { how, answer, warning } of [
    {
      how: "fails to describe",
      answer: () => Response.json({ message: "secret" }, { status: 500 }),
      warning: /^The engine fails to describe it$/,
    },
    {
      how: "describes as no JSON",
      answer: () => new Response("{"),
      warning: /^It cannot be described: The container engine sent a response that is not JSON$/,
    },
  ]
) {
  Deno.test(`a container that the engine ${how} is shown as listed, logged once, and removed by id`, async () => {
    const containers: SimulatedContainer[] = [{ name: "web" }, {
      name: "bad",
      labels: composeLabels("shop", "web"),
    }];
    const logged: string[] = [];
    const warn = (message: string, fields?: { container?: unknown }) =>
      void logged.push(`${message}: ${fields?.container}`);
    await using fake = fakeEngine(undescribed(containers, answer));
    using app = testApp({ engine: fake.engine, log: { ...silentLog, warn } });
    const { inventory } = app.deps;
    await using _ = follow(app);
    await until("the engine is followed", () => inventory.live);

    const { body } = await app.call("GET", "/api/containers");
    // deno-lint-ignore no-explicit-any
    const bad = body.containers.find(({ name }: any) => name === "bad");
    match(bad.warning, warning);
    deepEqual(
      [bad.state, bad.health, bad.image, bad.composeProject, bad.networks],
      ["running", "unhealthy", "app:2", "shop", ["shop"]],
    );
    // deno-lint-ignore no-explicit-any
    equal(body.containers.find(({ name }: any) => name === "web").warning, null);

    equal((await app.call("POST", `/api/containers/${idOf("bad")}/stop`)).body.state, "exited");
    equal(inventory.get(idOf("bad"))?.exitCode, 137);
    deepEqual(logged, ["container not read in full: bad"]);
    equal((await app.call("DELETE", `/api/containers/${idOf("bad")}`)).status, 200);
    deepEqual(containers.map(({ name }) => name), ["web"]);
    equal((await app.call("GET", "/health")).body.status, "ok");
  });
}

Deno.test("a container is stopped and removed by its id if neither the list nor its description is readable", async () => {
  const containers: SimulatedContainer[] = [{ name: "bad" }];
  await using fake = fakeEngine({
    ...undescribed(containers, () => new Response("{")),
    "GET /containers/json": () => new Response("["),
    "GET /version": () => Response.json({ Version: "20.10.24", ApiVersion: "1.41" }),
  });
  using app = testApp({ engine: fake.engine });
  const told: string[] = [];
  app.deps.events.publish = ({ event }) => void told.push(event);
  await using _ = follow(app);
  await until("it is reported", () => told.length > 0);

  const { body } = await app.call("GET", "/api/health");
  equal(body.status, "degraded");
  equal(body.engine.reachable, true);
  deepEqual(
    [body.inventory.status, body.inventory.lastError],
    [
      "failing",
      "The containers cannot be listed: The container engine sent a response that is not JSON",
    ],
  );
  const path = `/api/containers/${idOf("bad")}`;
  const scope = { stacks: ["shop"] };
  equal((await app.call("DELETE", path, undefined, { scope })).status, 404);
  equal((await app.call("POST", `${path}/stop`)).status, 200);
  equal((await app.call("DELETE", path)).status, 200);
  deepEqual(containers, []);

  Object.assign(fake.answers, simulateContainers([{ name: "web" }]));
  await until("the engine is followed", () => app.deps.inventory.live);
  deepEqual(told, ["engine.unreadable", "engine.readable"]);
  equal((await app.call("GET", "/api/health")).body.status, "ok");
});

Deno.test("texts of a container above 64 KiB are cut in memory, and read in full for its page", async () => {
  const labels = Object.fromEntries(
    Array.from({ length: 900 }, (_, index) => [`label-${index}`, "x".repeat(1_000)]),
  );
  await using fake = fakeEngine({
    ...simulateContainers([{ name: "web", labels }, { name: "db", labels: { a: "b" } }]),
    ...silent,
  });
  using app = testApp({ engine: fake.engine });
  await using _ = follow(app);
  await until("the engine is followed", () => app.deps.inventory.live);

  const known = app.deps.inventory.get(idOf("web"))!;
  ok(JSON.stringify(known).length < 64 * 1024);
  equal(known.warning, TOO_LARGE);
  equal(app.deps.inventory.get(idOf("db"))!.warning, null);
  const { body } = await app.call("GET", "/api/containers/web");
  deepEqual([body.labels, body.warning], [labels, null]);
});

Deno.test("containers of Podman that are created and started without an event are found", async () => {
  const containers: SimulatedContainer[] = [{ name: "web" }];
  const simulated = simulateContainers(containers);
  const summaries = () =>
    containers.map(({ name, state = "running" }) => ({
      Id: idOf(name),
      Names: [`/${name}`],
      Labels: {},
      State: state,
    }));
  await using fake = fakeEngine({
    ...simulated,
    ...silent,
    "GET /containers/json": ({ query }) => Response.json(query.has("filters") ? [] : summaries()),
  }, { pingHeaders: { "libpod-api-version": "4.3.1" } });
  using app = testApp({ engine: fake.engine });
  await using _ = follow(app);
  await until("the engine is followed", () => app.deps.inventory.live);

  containers.push({ name: "large", state: "exited" });
  await until("it is known", () => app.deps.inventory.get(idOf("large")));
  containers[1]!.state = "running";
  app.clock.advance({ minutes: 1 });
  await until("it runs", () => app.deps.inventory.get(idOf("large"))!.state === "running");
});

Deno.test("a stack with a container that cannot be read in full is refused with a sentence", async () => {
  const containers = [{
    name: "shop-web-1",
    labels: { text: LARGE, ...composeLabels("shop", "web") },
  }];
  await using fake = fakeEngine(withLarge({
    ...simulateContainers(containers),
    "GET /networks": () => Response.json([]),
    "GET /volumes": () => Response.json({ Volumes: [] }),
    "GET /info": () => Response.json({}),
  }, 2 * MIB));
  using app = testApp({ engine: fake.engine });
  const sources = { compose: "services: { web: { image: nginx } }" };

  const { status, body } = await app.call("POST", "/api/stacks/shop/plan", { sources });

  equal(status, 409, JSON.stringify(body));
  match(body.error, /^Container shop-web-1 has labels or other texts that are too large/);
});

Deno.test("names of containers and stacks that are too long are cut, or left out", async () => {
  const long = "x".repeat(300);
  const containers: SimulatedContainer[] = [{ name: long, labels: composeLabels(long, long) }];
  await using fake = fakeEngine(simulateContainers(containers));
  using app = testApp({ engine: fake.engine });

  const { body: { containers: [shown] } } = await app.call("GET", "/api/containers");

  equal(shown.name, `${"x".repeat(254)}…`);
  deepEqual([shown.composeProject, shown.composeService], [null, null]);
  equal(shown.warning, TOO_LARGE);
});
