/**
 * Three real engines in network namespaces form a Swarm, and everything that can happen to one is seen
 * and done through the API: a rolling update, a failing one, a node that is drained, killed and back,
 * a lost quorum, rotated secrets, stacks of both programs.
 *
 *     deno task swarm-drill
 *
 * Prints a line for each step, with how much later than `docker` the API has shown it.
 *
 * @module
 */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { type MissingSince, runSwarmRound } from "../services/swarm/watcher.ts";
import { connectEngines } from "./helpers/engine_network.ts";
import { type LiveApp, liveApp } from "./helpers/live_app.ts";
import { BUSYBOX, type OwnEngine, startDockerd } from "./helpers/real_engine.ts";
import { collectEvents } from "./helpers/test_app.ts";
import { until } from "./helpers/until.ts";

// deno-lint-ignore no-explicit-any
type Body = any;

const SECOND = "longshore-test/busybox:2";
const SLEEP = ["sh", "-c", "trap 'exit 0' TERM; sleep 10000 & wait"];
const LIMIT = { deadlineMs: 180_000 };
const started = performance.now();

/** Prints a step that has succeeded. */
const done = (what: string) =>
  console.log(`${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s  ${what}`);

/** The API of Longshore on the first manager. */
function clientOf(app: LiveApp) {
  const get = async (path: string): Promise<Body> => (await app.call("GET", path)).body;
  const post = async (path: string, body: object = {}): Promise<Body> => {
    const { status, body: job } = await app.call("POST", path, body);
    equal(status, 202, JSON.stringify(job));
    await until(path, async () => (await get(`/api/jobs/${job.id}`)).endedAt !== null, LIMIT);
    return await get(`/api/jobs/${job.id}`);
  };
  return { get, post };
}

/** How much later than `docker` the API shows a state, in milliseconds; fails above two seconds. */
async function compare(
  docker: () => Promise<boolean>,
  api: () => Promise<boolean>,
  what: string,
): Promise<void> {
  await until(`docker: ${what}`, docker, LIMIT);
  const at = performance.now();
  await until(`api: ${what}`, api, { deadlineMs: 10_000 });
  const laterMs = Math.round(performance.now() - at);
  ok(laterMs < 2_000, `${what}: ${laterMs} ms after docker`);
  done(`${what} (${laterMs} ms after docker)`);
}

await using stack = new AsyncDisposableStack();
const engines: OwnEngine[] = [];
for (let count = 0; count < 3; count++) engines.push(stack.use(await startDockerd()));
const [first, second, third] = engines as [OwnEngine, OwnEngine, OwnEngine];
const addresses = await connectEngines(engines);
for (const engine of engines) await engine.docker("tag", BUSYBOX, SECOND);
await first.docker("swarm", "init", `--advertise-addr=${addresses[0]}`);

const app = stack.use(await liveApp(first.socketPath));
const { get, post } = clientOf(app);
const events = collectEvents(app);
const missing: MissingSince = new Map();
const round = async () => {
  await runSwarmRound({ ...app.deps, now: () => new Date() }, missing);
  return events.map(({ event }) => event);
};

const { manager } = await get("/api/swarm/tokens");
for (const [at, engine] of [second, third].entries()) {
  const { token } = manager;
  await engine.docker(
    "swarm",
    "join",
    "--token",
    token,
    `--advertise-addr=${addresses[at + 1]}`,
    `${addresses[0]}:2377`,
  );
}
await until("three managers", async () => (await get("/api/swarm")).quorum.reachable === 3, LIMIT);
deepEqual((await get("/api/swarm")).warnings, []);
await round();
done("three managers, no warnings");

await first.docker(
  ...["service", "create", "--detach", "--name=web", "--replicas=6", "--no-resolve-image"],
  ...["--update-parallelism=2", "--update-monitor=2s", "--stop-grace-period=1s", BUSYBOX, ...SLEEP],
);
const web = () => get("/api/swarm/services/web");
const tasksOf = async (path: string) => (await get(path)).tasks as Body[];
await until("six tasks", async () => (await web()).running === 6, LIMIT);
const spread = new Set((await tasksOf("/api/swarm/services/web/tasks")).map(({ node }) => node.id));
equal(spread.size, 3);
done("six tasks on three nodes");

equal((await post("/api/swarm/services/web/update", { image: SECOND })).status, "succeeded");
equal((await web()).image, SECOND);
done("rolling update");
const failed = await post("/api/swarm/services/web/update", { image: "longshore-test/none:1" });
equal(failed.status, "rolled_back", failed.error);
equal((await web()).image, SECOND);
ok((await round()).includes("service.update_rolled_back"));
done(`failing update rolled back: ${failed.error}`);

const nodes = async () => (await get("/api/swarm/nodes")).nodes as Body[];
const idOf = (engine: OwnEngine) => engine.docker("info", "--format={{.Swarm.NodeID}}");
const [secondId, thirdId] = [await idOf(second), await idOf(third)];
const drained = await app.call("PUT", `/api/swarm/nodes/${thirdId}`, { availability: "drain" });
equal(drained.status, 200);
await until("the node is empty", async () => {
  const tasks = await tasksOf(`/api/swarm/nodes/${thirdId}/tasks`);
  return tasks.every(({ desiredState }) => desiredState !== "running") &&
    (await web()).running === 6;
}, LIMIT);
const moved = await tasksOf(`/api/swarm/nodes/${thirdId}/tasks`);
ok(moved.length > 0);
ok(moved.every(({ replacement }) => replacement && replacement.node.id !== thirdId));
await app.call("PUT", `/api/swarm/nodes/${thirdId}`, { availability: "active" });
done("node drained, and where its tasks went");

const stateOf = async (id: string) => (await nodes()).find((node) => node.id === id)?.state;
const dockerState = (id: string) =>
  first.docker("node", "inspect", "--format={{.Status.State}}", id);
await third.kill();
await compare(
  async () => await dockerState(thirdId) === "down",
  async () => await stateOf(thirdId) === "down",
  "killed node is down",
);
match((await get("/api/swarm")).warnings.join(), /one failure away.*Nodes down/);
ok((await round()).includes("node.down"));
const refused = await app.call("PUT", `/api/swarm/nodes/${secondId}`, { role: "worker" });
equal(refused.status, 409, JSON.stringify(refused.body));
done(`demotion refused: ${refused.body.error}`);
await third.restart();
await compare(
  async () => await dockerState(thirdId) === "ready",
  async () => await stateOf(thirdId) === "ready",
  "node is back",
);
ok((await round()).includes("node.up"));

const key = await app.call("POST", "/api/swarm/secrets", { name: "key", value: "one" });
equal(key.status, 201);
await first.docker("service", "update", "--detach", "--secret-add=key", "web");
await until("it uses the secret", async () => (await web()).update?.state === "completed", LIMIT);
const rotation = await post("/api/swarm/secrets/key/rotate", { value: "two" });
deepEqual([rotation.status, rotation.result?.removed], ["succeeded", true], rotation.error);
match((await web()).secrets.join(), /^key-[0-9a-f]{12}$/);
done("secret rotated");

const COMPOSE = (image: string) => `
services:
  api:
    image: ${image}
    command: [sh, -c, "trap 'exit 0' TERM; sleep 10000 & wait"]
    environment: { A: "1" }
    stop_grace_period: 1s
    deploy: { replicas: 3, update_config: { monitor: 2s } }
`;
const file = await Deno.makeTempFile({ suffix: ".yaml" });
await Deno.writeTextFile(file, `version: "3.8"${COMPOSE(BUSYBOX)}`);
await first.docker("stack", "deploy", "--resolve-image=never", "--compose-file", file, "shop");
await Deno.remove(file);
await until(
  "the stack runs",
  async () => (await get("/api/swarm/services/shop_api")).running === 3,
  LIMIT,
);
const stored = await app.call("POST", "/api/stacks", {
  ...{ name: "shop", kind: "swarm", compose: COMPOSE(BUSYBOX), deploy: false },
});
equal(stored.status, 201, JSON.stringify(stored.body));
const plan = (await app.call("POST", "/api/stacks/shop/plan", {})).body;
deepEqual(plan.changes.map(({ action }: Body) => action), ["none", "none"], JSON.stringify(plan));
done("a stack of docker stack deploy has an empty plan");
const store = async (image: string) =>
  await app.call("PUT", "/api/stacks/shop/source", {
    compose: COMPOSE(image),
    expectedVersion: (await get("/api/stacks/shop/source")).version,
  });
await store("longshore-test/none:1");
equal((await post("/api/stacks/shop/deploy")).status, "rolled_back");
await store(SECOND);
equal((await post("/api/stacks/shop/deploy")).status, "succeeded");
equal((await post("/api/stacks/shop/deploy", { version: 1 })).status, "succeeded");
equal((await get("/api/swarm/services/shop_api")).image, BUSYBOX);
done("stack deployed, a failing deploy rolled back, an earlier version deployed");
await first.docker("stack", "rm", "shop");
equal((await app.call("GET", "/api/swarm/services/shop_api")).status, 404);
done("docker stack rm");

await second.kill();
await third.kill();
await until(
  "the quorum is lost",
  async () => (await get("/api/swarm")).quorum?.isKept === false,
  LIMIT,
);
// The old leader answers for some seconds.
const readNodes = () => app.call("GET", "/api/swarm/nodes");
await until("the nodes cannot be read", async () => (await readNodes()).status === 409, LIMIT);
const lost = await get("/api/swarm");
deepEqual(
  lost.managers.map(({ address }: Body) => address),
  addresses.map((each) => `${each}:2377`),
);
equal(lost.quorum.isKept, false);
done(`quorum lost: ${(await readNodes()).body.error}`);
await second.restart();
await until(
  "the quorum is back",
  async () => (await get("/api/swarm")).quorum?.isKept === true,
  LIMIT,
);
await third.restart();
await until("all are back", async () => (await get("/api/swarm")).quorum?.reachable === 3, LIMIT);
done("quorum back");

await using worker = await liveApp(third.socketPath);
await until("it is a worker", async () => {
  await app.call("PUT", `/api/swarm/nodes/${thirdId}`, { role: "worker" });
  const { status, body } = await worker.call("GET", "/api/swarm/services");
  return status === 409 && body.error.includes(`${addresses[0]}:2377`);
}, LIMIT);
done("a worker names its managers");
