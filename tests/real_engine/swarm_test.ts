import { deepEqual, equal } from "node:assert/strict";
import { liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { BUSYBOX, type OwnEngine, ownEngineTest } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

const SLEEP = ["sh", "-c", "trap 'exit 0' TERM; sleep 1000 & wait"];

function service(engine: OwnEngine, name: string, ...options: string[]): Promise<string> {
  return engine.docker(
    "service",
    "create",
    "--detach",
    `--name=shop_${name}`,
    "--label=com.docker.stack.namespace=shop",
    "--container-label=com.docker.stack.namespace=shop",
    "--no-resolve-image",
    "--stop-grace-period=2s",
    ...options,
    BUSYBOX,
    ...SLEEP,
  );
}

long(ownEngineTest)("a swarm stack is listed, stopped, started and restarted", async (engine) => {
  await engine.docker("swarm", "init", "--advertise-addr=127.0.0.1");
  await service(engine, "web", "--replicas=2");
  await service(engine, "db", "--replicas=1");
  await using app = await liveApp(engine.socketPath);
  const stacks = async () =>
    (await app.call("GET", "/api/stacks")).body.stacks
      .map(({ containers: _, ...summary }: Record<string, unknown>) => summary);
  const detail = async () => (await app.call("GET", "/api/stacks/shop")).body;
  const act = async (action: string) => {
    const { status, body } = await app.call("POST", `/api/stacks/shop/${action}`);
    equal(status, 200);
    return body;
  };
  const healthy = {
    name: "shop",
    kind: "swarm",
    services: 2,
    containerCount: 3,
    running: 3,
    stopped: 0,
    finished: 0,
    unhealthy: 0,
    status: "healthy",
    allHealthy: true,
  };

  await until("all tasks run", async () => (await stacks())[0]?.running === 3);
  deepEqual(await stacks(), [healthy]);
  deepEqual(
    (await detail()).services.map(({ name, image, containers }: typeof healthy & {
      image: string;
      containers: unknown[];
    }) => ({ name, image, containers: containers.length })),
    [
      { name: "shop_db", image: BUSYBOX, containers: 1 },
      { name: "shop_web", image: BUSYBOX, containers: 2 },
    ],
  );

  const stopped = await act("stop");
  equal(stopped.ok, true, JSON.stringify(stopped));
  deepEqual(await stacks(), [
    { ...healthy, containerCount: 0, running: 0, status: "stopped", allHealthy: false },
  ]);
  equal((await act("stop")).results.every(({ changed }: { changed: boolean }) => !changed), true);

  const started = await act("start");
  equal(started.ok, true, JSON.stringify(started));
  deepEqual(await stacks(), [healthy]);
  const ids = async () =>
    (await detail()).services.flatMap((service: { containers: { id: string }[] }) =>
      service.containers.map(({ id }) => id)
    );
  const before = await ids();
  equal(before.length, 3);

  equal((await act("restart")).ok, true);
  await until("every task is replaced", async () => {
    const now = await ids();
    return now.length === 3 && now.every((id: string) => !before.includes(id));
  }, { deadlineMs: 180_000 });

  await service(engine, "agent", "--mode=global");
  const refused = await act("stop");
  equal(refused.ok, false);
  deepEqual(
    refused.results.filter(({ ok }: { ok: boolean }) => !ok)
      .map(({ name, error }: { name: string; error: string }) => ({ name, error })),
    [{
      name: "shop_agent",
      error: "shop_agent is a global service and cannot be scaled to zero",
    }],
  );
});
