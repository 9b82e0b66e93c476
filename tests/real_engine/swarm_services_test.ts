import { deepEqual, equal, match } from "node:assert/strict";
import { liveApp } from "../helpers/live_app.ts";
import { BUSYBOX, ownEngineTest } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

const SLEEP = ["sh", "-c", "echo ready; trap 'exit 0' TERM; sleep 1000 & wait"];

ownEngineTest("a swarm is described, and its services are changed, through the API", async (engine) => {
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
  const labelled = await app.call("PUT", `/api/swarm/nodes/${node.id}`, { labels: { disk: "ssd" } });
  deepEqual([labelled.status, labelled.body.labels], [200, { disk: "ssd" }]);

  await engine.docker(
    ...["service", "create", "--detach", "--name=shop_web", "--replicas=2"],
    ...["--label=com.docker.stack.namespace=shop", "--no-resolve-image", "--stop-grace-period=1s"],
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
});
