import { deepEqual, equal, match, notEqual } from "node:assert/strict";
import { liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { BUSYBOX, ownEngineTest } from "../helpers/real_engine.ts";
import { sseBlocks } from "../helpers/sse_blocks.ts";
import { until } from "../helpers/until.ts";

const SLEEP = ["sh", "-c", "echo ready; trap 'exit 0' TERM; sleep 1000 & wait"];

long(ownEngineTest)(
  "a swarm is described, and its services are changed, through the API",
  async (engine) => {
    await using app = await liveApp(engine.socketPath);
    const inactive = await app.call("GET", "/api/swarm");
    deepEqual([inactive.status, inactive.body.active], [200, false]);
    const refused = await app.call("GET", "/api/swarm/services");
    equal(refused.status, 409);
    match(refused.body.error, /^The engine is not part of a swarm; run docker swarm init/);

    await engine.docker("swarm", "init", "--advertise-addr=127.0.0.1");
    const swarm = (await app.call("GET", "/api/swarm")).body;
    deepEqual(
      [swarm.active, swarm.role, swarm.managers.length, swarm.managers[0].isLeader, swarm.nodes],
      [true, "manager", 1, true, 1],
    );
    deepEqual(swarm.quorum, { managers: 1, reachable: 1, needed: 1, isKept: true });
    deepEqual(swarm.warnings, []);
    match(swarm.caExpiresAt, /^20[4-9]\d-/);

    const { nodes: [node] } = (await app.call("GET", "/api/swarm/nodes")).body;
    deepEqual([node.role, node.availability, node.state, node.isSelf], [
      "manager",
      "active",
      "ready",
      true,
    ]);
    const demoted = await app.call("PUT", `/api/swarm/nodes/${node.id}`, { role: "worker" });
    equal(demoted.status, 409);
    match(demoted.body.error, /^Cannot demote .+: it is the last manager$/);
    const labelled = await app.call("PUT", `/api/swarm/nodes/${node.id}`, {
      labels: { disk: "ssd" },
    });
    deepEqual([labelled.status, labelled.body.labels], [200, { disk: "ssd" }]);

    await engine.docker(
      ...["service", "create", "--detach", "--name=shop_web", "--replicas=2"],
      ...[
        "--label=com.docker.stack.namespace=shop",
        "--no-resolve-image",
        "--stop-grace-period=1s",
      ],
      ...["--constraint=node.labels.disk==ssd", BUSYBOX, ...SLEEP],
    );
    const web = async () => (await app.call("GET", "/api/swarm/services/shop_web")).body;
    await until("both tasks run", async () => (await web()).running === 2);
    const { name, stack, desired, image, placement, canRollBack } = await web();
    deepEqual({ name, stack, desired, image, canRollBack }, {
      name: "shop_web",
      stack: "shop",
      desired: 2,
      image: BUSYBOX,
      canRollBack: false,
    });
    deepEqual(placement.constraints, ["node.labels.disk==ssd"]);
    const { tasks } = (await app.call("GET", "/api/swarm/services/shop_web/tasks")).body;
    deepEqual(tasks.map(({ slot, state }: { slot: number; state: string }) => [slot, state]), [
      [1, "running"],
      [2, "running"],
    ]);
    equal((await app.call("GET", `/api/swarm/nodes/${node.hostname}/tasks`)).body.tasks.length, 2);

    const { lines } = (await app.call("GET", "/api/swarm/services/shop_web/logs?tail=5")).body;
    const shown = ({ task, message }: { task: string; message: string }) => `${task}: ${message}`;
    deepEqual(lines.map(shown).sort(), ["shop_web.1: ready", "shop_web.2: ready"]);
    equal(lines[0].node, node.hostname);
    const stream = sseBlocks(
      (await app.fetch("GET", "/api/swarm/services/shop_web/logs/stream")).body!,
    );
    const streamed = [];
    while (streamed.length < 2) {
      const data = (await stream.next())?.get("data");
      if (data !== undefined) streamed.push(shown(JSON.parse(data)));
    }
    deepEqual(streamed.sort(), ["shop_web.1: ready", "shop_web.2: ready"]);
    await stream.cancel();

    const run = async (action: string, body: unknown = undefined) => {
      const started = await app.call("POST", `/api/swarm/services/shop_web/${action}`, body);
      equal(started.status, 202, JSON.stringify(started.body));
      const job = async () => (await app.call("GET", `/api/jobs/${started.body.id}`)).body;
      await until(`${action} has ended`, async () => (await job()).endedAt !== null);
      return await job();
    };
    const noEarlier = await app.call("POST", "/api/swarm/services/shop_web/rollback");
    deepEqual([noEarlier.status, noEarlier.body.error], [
      409,
      "Swarm has no earlier version of shop_web",
    ]);
    const scaled = await run("scale", { replicas: 3 });
    deepEqual([scaled.status, scaled.result?.running, scaled.error], ["succeeded", 3, null]);
    const failed = await run("update", { image: "longshore-test/missing:1", monitorSeconds: 1 });
    equal(failed.status, "rolled_back");
    match(failed.error, /^Swarm has rolled the update back: .*No such image/);
    equal((await web()).image, BUSYBOX);
    equal((await app.call("POST", "/api/swarm/services/shop_web/rollback")).status, 409);

    const secret = { name: "db_password", value: "first" };
    const created = await app.call("POST", "/api/swarm/secrets", secret);
    deepEqual([created.status, created.body.services], [201, []]);
    equal((await app.call("POST", "/api/swarm/secrets", secret)).status, 409);
    await engine.docker(
      ...["service", "update", "--detach", "--secret-add=db_password", "--update-monitor=1s"],
      ...["--args", "sh -c 'echo $(cat /run/secrets/db_password); sleep 1000 & wait'", "shop_web"],
    );
    const used = await app.call("DELETE", "/api/swarm/secrets/db_password");
    deepEqual([used.status, used.body.error], [409, "Secret db_password is used by shop_web"]);
    const tokens = (await app.call("GET", "/api/swarm/tokens")).body;
    match(tokens.worker.command, /^docker swarm join --token SWMTKN-1-\S+ 127\.0\.0\.1:2377$/);
    const changed = await app.call("POST", "/api/swarm/tokens/rotate", { role: "worker" });
    notEqual(changed.body.worker.token, tokens.worker.token);
    equal(changed.body.manager.token, tokens.manager.token);
  },
);

const COMPOSE = (message: string) => `
services:
  web:
    image: ${BUSYBOX}
    command: [sh, -c, "cat /run/secrets/key /motd; echo; trap 'exit 0' TERM; sleep 1000 & wait"]
    environment: { MESSAGE: ${message} }
    secrets: [key]
    configs: [motd]
    stop_grace_period: 1s
    deploy: { replicas: 2, update_config: { monitor: 1s, parallelism: 2 } }
secrets:
  key: { file: key.txt }
configs:
  motd: { content: ${message} }
`;

ownEngineTest("a Swarm stack is deployed, changed and removed", async (engine) => {
  await engine.docker("swarm", "init", "--advertise-addr=127.0.0.1");
  await using app = await liveApp(engine.socketPath);
  const ended = async (started: { status: number; body: { id: string } }) => {
    equal(started.status, 202, JSON.stringify(started.body));
    const job = async () => (await app.call("GET", `/api/jobs/${started.body.id}`)).body;
    await until("the job has ended", async () => (await job()).endedAt !== null);
    return await job();
  };
  const deploy = async (body: object = {}) =>
    await ended(await app.call("POST", "/api/stacks/shop/deploy", body));
  const plan = async () => (await app.call("POST", "/api/stacks/shop/plan", {})).body;
  const actions = async () =>
    (await plan()).changes.map(({ name, action }: { name: string; action: string }) =>
      `${name} ${action}`
    );
  const store = async (compose: string) => {
    const { body: { version } } = await app.call("GET", "/api/stacks/shop/source");
    const put = await app.call("PUT", "/api/stacks/shop/source", {
      compose,
      files: { "key.txt": "secret" },
      expectedVersion: version,
    });
    equal(put.status, 200, JSON.stringify(put.body));
  };

  const created = await app.call("POST", "/api/stacks", {
    ...{ name: "shop", kind: "swarm", compose: COMPOSE("one"), deploy: false },
    files: { "key.txt": "secret" },
  });
  equal(created.status, 201, JSON.stringify(created.body));
  deepEqual(await actions(), ["default create", "web create"]);
  const first = await deploy();
  deepEqual([first.status, first.error], ["succeeded", null]);
  deepEqual((await plan()).changes.at(-1), {
    kind: "service",
    name: "web",
    action: "none",
    reasons: [],
  });
  match(await engine.docker("stack", "ls"), /^shop +1/m);
  match(await engine.docker("stack", "services", "shop"), /shop_web +replicated +2\/2/);
  match(await engine.docker("stack", "ps", "shop"), /shop_web\.1/);

  await store(COMPOSE("two"));
  const { changes } = await plan();
  deepEqual(
    changes.at(-1).reasons.map(({ path, from }: { path: string; from: string }) => [path, from])
      .filter(([path]: [string]) => path.startsWith("environment")),
    [["environment.MESSAGE", "(changed)"]],
  );
  equal((await deploy()).status, "succeeded");
  const logs = (await app.call("GET", "/api/swarm/services/shop_web/logs")).body.lines;
  equal(logs.at(-1).message, "secrettwo");
  equal((await engine.docker("config", "ls", "-q")).split("\n").length, 2);

  const down = await ended(await app.call("POST", "/api/stacks/shop/down", {}));
  deepEqual([down.status, down.result?.services], ["succeeded", ["shop_web"]], down.error);
  equal(await engine.docker("stack", "ls", "--format={{.Name}}"), "");
  equal(await engine.docker("secret", "ls", "-q"), "");
  equal(await engine.docker("network", "ls", "-q", "--filter=name=shop"), "");
});
