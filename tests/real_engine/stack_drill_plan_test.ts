/**
 * A deploy does what its plan says, and nothing else, and one that fails leaves the stack as it was:
 * random changes of random projects, with stopped and removed containers and broken services in
 * between, are planned and deployed, and the engine is compared with the plan.
 *
 * By default some deploys; `deno task drill` makes 200, and `COMPOSE_DRILL=1000` as many as it says.
 *
 * @module
 */

import { deepEqual, equal, match } from "node:assert/strict";
import { FULL_DRILL_SEED, randomNumbers, reportDrill } from "../helpers/drill.ts";
import { liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { BUSYBOX, engineTest, type RealEngine } from "../helpers/real_engine.ts";
import { actionsOf, type TestStack, testStack } from "../helpers/test_stack.ts";
import { until } from "../helpers/until.ts";

const DEFAULT_SEED = 20_26;

/** Projects that are deployed at the same time, because a deploy mostly waits. */
const PROJECTS = 3;

const deploys = Number(Deno.env.get("COMPOSE_DRILL")) || (FULL_DRILL_SEED ? 200 : 6);

/** Ends at once when it is stopped. */
const loop = (time: number) => ["sh", "-c", `trap 'exit 0' TERM; sleep ${time} & wait`];

/** The service that ends by itself. */
const JOB = "job";

/** Settings of a service and their values. */
const CHOICES: Record<string, readonly unknown[]> = {
  isThere: [true, true, false],
  environment: [undefined, { A: "1" }, { A: "2" }, { A: "1", B: "2" }],
  labels: [undefined, { "org.example.tier": "1" }],
  scale: [undefined, 0, 1, 2, 3],
  networks: [undefined, ["back"], { back: { aliases: ["store"] }, front: null }],
  volumes: [undefined, ["data:/data"], ["/anonymous"], ["data:/data:ro", "/anonymous"]],
  configs: [undefined, ["page"]],
  restart: [undefined, "no", "on-failure:2"],
  depends: [undefined, false, true],
};

/** Those of services that run until they are stopped. */
const LOOP_CHOICES: Record<string, readonly unknown[]> = {
  ...CHOICES,
  command: [loop(1000), loop(2000)],
  restart: [...CHOICES.restart!, "always"],
  healthcheck: [undefined, { test: "true", interval: "1s" }],
  post_start: [undefined, [{ command: "true" }]],
  shares: [false, false, true],
};

type Chosen = Record<string, unknown>;

/** A project that changes. */
interface Model {
  services: Record<string, Chosen>;
  page: string;
  /** Settings of a network. */
  front: string;
}

const NAMES = [JOB, "a", "b", "c"];

const choicesOf = (name: string) => name === JOB ? CHOICES : LOOP_CHOICES;

type Random = <Item>(items: readonly Item[]) => Item;

const newModel = (pick: Random): Model => ({
  services: Object.fromEntries(NAMES.map((name) => [
    name,
    Object.fromEntries(Object.entries(choicesOf(name)).map(([key, values]) => [key, pick(values)])),
  ])),
  page: "1",
  front: "1",
});

function change(model: Model, pick: Random): void {
  const name = pick(NAMES);
  const [key, values] = pick(Object.entries(choicesOf(name)));
  model.services[name]![key] = pick(values);
  if (pick([true, false, false])) model.page = pick(["1", "2"]);
  if (pick([true, false, false, false])) model.front = pick(["1", "2"]);
}

/** The Compose file. A service depends on the one before it. */
function sourceOf({ services, page, front }: Model): object {
  const names = NAMES.filter((name) => services[name]!.isThere);
  const file: Record<string, Chosen> = {};
  for (const [index, name] of names.entries()) {
    const { isThere: _, depends, shares, ...keys } = services[name]!;
    const before = names[index - 1];
    const other = before === undefined ? undefined : file[before];
    if (other && depends !== undefined) {
      const condition = before === JOB
        ? "service_completed_successfully"
        : other.healthcheck
        ? "service_healthy"
        : "service_started";
      keys.depends_on = { [before!]: { condition, restart: depends } };
    }
    if (other && shares && before !== JOB && other.scale !== 0) {
      delete keys.networks;
      keys.network_mode = `service:${before}`;
    }
    file[name] = { image: BUSYBOX, ...(name === JOB && { command: "true" }), ...keys };
  }
  return {
    services: file,
    networks: { back: {}, front: { labels: { number: front } } },
    volumes: { data: {} },
    configs: { page: { content: page } },
  };
}

/** Ways in which a new container fails. */
const FAILURES: readonly Chosen[] = [
  // Without a probe it is never stable, also if it exits late.
  { command: ["sh", "-c", "exit 3"], healthcheck: { test: "true", interval: "1h" } },
  { command: ["/missing"] },
  { command: loop(3000), post_start: [{ command: "false" }] },
  { command: loop(3000), healthcheck: { test: "false", interval: "1s", retries: 1 } },
  { command: loop(3000), volumes: ["data:/data", "/missing/path:/bound"].map(bindOf) },
];

/** A bind mount of a directory that does not exist is refused, a short one is created. */
function bindOf(mount: string): unknown {
  const [source, target] = mount.split(":");
  const bind = { type: "bind", source, target, bind: { create_host_path: false } };
  return source!.startsWith("/") ? bind : mount;
}

function optionsOf(names: readonly string[], pick: Random): Chosen {
  return {
    recreate: pick(["changed", "changed", "changed", "changed", "always", "never"]),
    removeOrphans: pick([true, false]),
    onFailure: pick(["rollback", "rollback", "rollback", "stop"]),
    ...(names.length > 0 && pick([true, false, false, false]) && { services: [pick(names)] }),
  };
}

/** Changes the containers as another user of the engine does. */
async function interfere(engine: RealEngine, stack: TestStack, pick: Random): Promise<void> {
  const containers = Object.values(await stack.containers());
  if (containers.length === 0) return;
  const { Id } = pick(containers);
  const command = pick([["stop"], ["stop"], ["rm", "--force"], undefined]);
  if (command) await engine.docker(...command, Id);
}

/** Jobs are still running for a moment after a deploy. */
async function settled(stack: TestStack) {
  return await until("jobs have ended", async () => {
    const containers = Object.values(await stack.containers());
    const isBusy = containers.some(({ Config, State }) =>
      Config.Labels?.["com.docker.compose.service"] === JOB && (State.Running || State.Restarting)
    );
    return !isBusy && containers;
  });
}

async function snapshot(engine: RealEngine, stack: TestStack) {
  const containers = await settled(stack);
  const isThere = (id: string) => containers.some(({ Id }) => Id === id);
  const list = async (kind: string, format = "{{.Name}}") =>
    (await engine.docker(kind, "ls", `--format=${format}`)).split("\n")
      .filter((name) => name.startsWith(`${stack.name}_`))
      .map((name) => name.slice(stack.name.length + 1));
  const ids = await list("network", "{{.Name}} {{.ID}}");
  const networks = await list("network", "{{.Name}} {{.Labels}}");
  return {
    containers: containers.map(({ Id, Name, Config, HostConfig, State }) => ({
      id: Id,
      service: Config.Labels!["com.docker.compose.service"]!,
      number: Number(Config.Labels!["com.docker.compose.container-number"]),
      // The engine does not start it again: the container whose network it shares was removed.
      cannotReturn: State.Running && HostConfig.NetworkMode?.startsWith("container:") === true &&
        !isThere(HostConfig.NetworkMode.slice("container:".length)),
      // State that a failed deploy restores.
      lasting: JSON.stringify([Id, Name, HostConfig.RestartPolicy, State.Running]),
      // State of a container that must not change unless it is started.
      state: JSON.stringify([Name, HostConfig.RestartPolicy, State.StartedAt]),
    })),
    network: networks.map((line) => line.split(" ")[0]!),
    networkIds: new Map(ids.map((line) => line.split(" ") as [string, string])),
    // In any order.
    networkLabels: networks.map((line) => line.split(/[ ,]/).sort().join(" ")),
    volume: await list("volume"),
  };
}

type Snapshot = Awaited<ReturnType<typeof snapshot>>;

interface Change {
  kind: string;
  name: string;
  action: string;
  reasons: { path: string; to: string | null }[];
}

function assertRestored(before: Snapshot, after: Snapshot, context: string): void {
  const lasting = ({ containers, networkLabels, volume }: Snapshot) => [
    containers.map(({ lasting }) => lasting).sort(),
    networkLabels.toSorted(),
    volume.toSorted(),
  ];
  deepEqual(lasting(after), lasting(before), context);
}

/** The action that turned one state into the other one. */
function actionBetween(before: Snapshot, after: Snapshot, { kind, name }: Change): string {
  const isReplaced = kind === "network" && before.networkIds.has(name) &&
    before.networkIds.get(name) !== after.networkIds.get(name);
  if (isReplaced) return "recreate";
  if (kind === "network" || kind === "volume") {
    return after[kind].includes(name) && !before[kind].includes(name) ? "create" : "none";
  }
  const of = ({ containers }: Snapshot) => containers.filter(({ service }) => service === name);
  const [old, now] = [of(before), of(after)];
  const kept = now.filter(({ id }) => old.some((each) => each.id === id));
  const gone = old.filter(({ id }) => !now.some((each) => each.id === id));
  const isNew = now.length > kept.length;
  if (isNew && gone.length > 0) return kept.length === 0 ? "recreate" : "recreate in part";
  if (isNew) return "create";
  if (gone.length > 0) {
    const highest = Math.max(0, ...kept.map(({ number }) => number));
    return gone.every(({ number }) => number > highest) ? "remove" : "remove low numbers";
  }
  return startedOf(before, after, name) ? "start" : "none";
}

const startedOf = (before: Snapshot, after: Snapshot, name: string): boolean =>
  after.containers.some(({ id, service, state }) =>
    service === name &&
    before.containers.some((each) => each.id === id && each.state !== state)
  );

async function drill(engine: RealEngine, seed: number, count: number): Promise<string[]> {
  const random = randomNumbers(seed);
  const pick: Random = (items) => items[Math.floor(random() * items.length)]!;
  await using app = await liveApp(engine.socketPath);
  await using stack = testStack(app, engine);
  const model = newModel(pick);
  const actions: string[] = [];
  for (let number = 0; number < count; number++) {
    for (let changes = pick([0, 0, 1, 2]); changes > 0; changes--) change(model, pick);
    const source = sourceOf(model) as { services: Record<string, Chosen> };
    const broken = pick(Object.keys(source.services).filter((name) => name !== JOB));
    if (broken !== undefined && pick([true, false, false])) {
      Object.assign(source.services[broken]!, pick(FAILURES));
    }
    await stack.store(source);
    if (number > 0) await interfere(engine, stack, pick);
    const options = optionsOf(Object.keys(source.services), pick);
    const context = `seed ${seed}, deploy ${number}: ${JSON.stringify({ source, options })}`;

    const before = await snapshot(engine, stack);
    const changes = await stack.watch();
    const { onFailure, ...planOptions } = options;
    const planned = await stack.plan(planOptions) as { changes: Change[] };
    const job = await stack.deploy(options);
    const after = await snapshot(engine, stack);
    if (
      job.status === "needs_attention" && before.containers.some(({ cannotReturn }) => cannotReturn)
    ) {
      match(job.error!, /No such container/, context);
      actions.push(job.status);
      continue;
    }
    if (job.status !== "succeeded") {
      const expected = onFailure === "rollback" ? "rolled_back" : "failed";
      equal(job.status, expected, `${context}: ${job.error}`);
      if (onFailure === "rollback") assertRestored(before, after, `${context}: ${job.error}`);
      actions.push(job.status);
      continue;
    }

    deepEqual(actionsOf(job.result), actionsOf(planned), context);
    const found = planned.changes.map((each) => ({
      ...each,
      action: actionBetween(before, after, each),
    }));
    deepEqual(actionsOf({ changes: found }), actionsOf(planned), context);
    for (const { kind, name, action, reasons } of planned.changes) {
      if (kind !== "service" || action === "recreate") continue;
      const isStarted = reasons.some(({ path, to }) => path === "state" && to === "running");
      equal(startedOf(before, after, name), isStarted, `${name}: ${context}`);
    }
    const known = new Set(planned.changes.map(({ name }) => name));
    const others = ({ containers }: Snapshot) =>
      containers.filter(({ service }) => !known.has(service));
    deepEqual(others(after), others(before), context);
    if (planned.changes.every(({ action }) => action === "none")) {
      deepEqual(await changes(), [], context);
    }
    actions.push(...planned.changes.map(({ action }) => action));
  }
  return actions;
}

long(engineTest)("a deploy does exactly what its plan says, for random changes", async (engine) => {
  const seed = FULL_DRILL_SEED ?? DEFAULT_SEED;
  const drills = Array.from(
    { length: PROJECTS },
    (_, index) => drill(engine, seed + index, Math.ceil(deploys / PROJECTS)),
  );
  const actions = (await Promise.all(drills)).flat();
  const counts = Map.groupBy(actions, (action) => action);
  const summary = [...counts].map(([action, { length }]) => `${length} ${action}`).join(", ");
  reportDrill("plans of random changes of stacks, and what their deploys did", summary);
});
