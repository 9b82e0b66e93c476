import { deepEqual, equal, ok } from "node:assert/strict";
import { liveApp } from "../helpers/live_app.ts";
import { BUSYBOX, engineTest } from "../helpers/real_engine.ts";
import { sleeper, testStack } from "../helpers/test_stack.ts";
import { until } from "../helpers/until.ts";

engineTest("labels of an image put its containers into no stack", async (engine) => {
  await using app = await liveApp(engine.socketPath);
  await using stack = testStack(app, engine);
  const source = {
    services: { pg: { ...sleeper, volumes: ["data:/data"] } },
    volumes: { data: {} },
  };
  const innocent = `innocent-${stack.name}`;
  const image = `localhost/${innocent}:1`;
  await using cleanup = new AsyncDisposableStack();
  const labels = {
    "com.docker.compose.project": stack.name,
    "com.docker.compose.service": "pg",
    "com.docker.compose.container-number": "1",
    "com.docker.compose.config-hash": "f00",
    "com.docker.compose.oneoff": "False",
  };
  const changes = Object.entries(labels).map(([name, value]) => `--change=LABEL ${name}=${value}`);
  await engine.docker("create", `--name=${innocent}-base`, BUSYBOX);
  cleanup.defer(async () => void await engine.docker("rm", "-f", `${innocent}-base`));
  await engine.docker("commit", ...changes, `${innocent}-base`, image);
  cleanup.defer(async () => void await engine.docker("rmi", image));

  // The foreign container is there first, so that nothing of the stack can be preferred to it.
  const id = await engine.docker("run", "-d", `--name=${innocent}`, image, "sleep", "1000");
  cleanup.defer(async () => void await engine.docker("rm", "-f", innocent));
  await until("the container is known", () => app.deps.inventory.get(id.trim()) !== undefined);

  const names = async () => {
    const { body } = await app.call("GET", "/api/containers", undefined, {
      scope: { stacks: [stack.name] },
    });
    return body.containers.map(({ name }: { name: string }) => name);
  };
  equal((await app.call("GET", `/api/stacks/${stack.name}`)).status, 404);

  await stack.store(source);
  const isRunning = async () =>
    (await engine.docker("inspect", "--format={{.Id}} {{.State.Running}}", innocent)).trim();
  for (let round = 0; round < 2; round++) {
    const job = await stack.deploy();
    equal(job.status, "succeeded", JSON.stringify(job));
    ok((await stack.containers())["pg-1"]);
    equal(await isRunning(), `${id.trim()} true`);
  }
  const own = (await stack.containers())["pg-1"]!;
  await until("the stack is known", () => app.deps.inventory.get(own.Id) !== undefined);
  deepEqual(await names(), [`${stack.name}-pg-1`]);
  equal(app.deps.inventory.get(id.trim())?.composeProject, null);

  const down = await stack.down({ volumes: true });
  equal(down.status, "succeeded", JSON.stringify(down));
  deepEqual(down.result.containers, [`${stack.name}-pg-1`]);
  equal(await isRunning(), `${id.trim()} true`);
});
