/** Networks that a deploy creates again. @module */

import { deepEqual, equal, match, notEqual, ok } from "node:assert/strict";
import { connectEngine } from "../../engine/client.ts";
import { networkInspect } from "../../engine/networks.ts";
import { liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { BUSYBOX, engineTest, podmanTest, type RealEngine } from "../helpers/real_engine.ts";
import {
  actionsOf,
  networked,
  NEVER_STABLE,
  type TestStack,
  testStack,
} from "../helpers/test_stack.ts";

/** Two services on the network and one beside it. */
const sourceOf = (front: object, web: object = {}) => ({
  services: {
    web: { ...networked, networks: { front: { aliases: ["www"] }, back: {} }, ...web },
    db: { ...networked, networks: ["front"], volumes: ["/data"] },
    alone: { ...networked, networks: ["back"] },
  },
  networks: { front, back: {} },
});

const BEFORE = { labels: { tier: "a" }, ipam: { config: [{ subnet: "10.83.0.0/24" }] } };
const AFTER = { labels: { tier: "b" }, ipam: { config: [{ subnet: "10.83.1.0/24" }] } };

async function withStack(
  real: RealEngine,
  run: (on: {
    stack: TestStack;
    network: () => ReturnType<typeof networkInspect>;
    /** Runs a program in a container. */
    exec: (service: string, ...command: string[]) => Promise<string>;
  }) => Promise<void>,
): Promise<void> {
  await using app = await liveApp(real.socketPath);
  await using stack = testStack(app, real);
  using engine = connectEngine(real.socketPath);
  await run({
    stack,
    network: () => networkInspect(engine, `${stack.name}_front`),
    exec: (service, ...command) => real.docker("exec", `${stack.name}-${service}-1`, ...command),
  });
}

const idsOf = async (stack: TestStack) =>
  Object.fromEntries(
    Object.entries(await stack.containers()).map(([name, { Id }]) => [name, Id]),
  );

const ALL_UP = { "alone-1": true, "db-1": true, "web-1": true };
const running = async (stack: TestStack) =>
  Object.fromEntries(
    Object.entries(await stack.containers()).map(([name, { State }]) => [name, State.Running])
      .sort(),
  );

const addressOf = async (stack: TestStack, container: string) =>
  (await stack.containers())[container]!.NetworkSettings.Networks![`${stack.name}_front`]!
    .IPAddress!;

const recreates = (real: RealEngine) =>
  withStack(real, async ({ stack, network, exec }) => {
    await stack.store(sourceOf(BEFORE));
    equal((await stack.deploy()).status, "succeeded");
    await exec("db", "sh", "-c", "echo kept > /data/file");
    const [before, old] = [await idsOf(stack), await network()];
    await stack.store(sourceOf(AFTER));
    const planned = await stack.plan();
    deepEqual(actionsOf(planned).sort(), [
      "network back none",
      "network front recreate",
      "service alone none",
      "service db recreate",
      "service web recreate",
    ]);

    const job = await stack.deploy();

    equal(job.status, "succeeded", job.error ?? "");
    deepEqual(actionsOf(job.result), actionsOf(planned));
    const [after, now] = [await idsOf(stack), await network()];
    notEqual(now.Created, old.Created);
    deepEqual([now.Labels?.tier, now.IPAM?.Config?.[0]?.Subnet], ["b", "10.83.1.0/24"]);
    equal(after["alone-1"], before["alone-1"]);
    notEqual(after["web-1"], before["web-1"]);
    deepEqual(await running(stack), ALL_UP);
    equal(await exec("db", "cat", "/data/file"), "kept");
    match(await addressOf(stack, "web-1"), /^10\.83\.1\./);
    deepEqual((await stack.plan()).changes.filter(({ action }) => action !== "none"), []);
  });

engineTest("a changed network is created again, with the containers on it", recreates);
long(podmanTest)(
  "a changed network is created again on Podman, with the containers on it",
  recreates,
);

const returns = (real: RealEngine) =>
  withStack(real, async ({ stack, network }) => {
    await stack.store(sourceOf(BEFORE));
    equal((await stack.deploy()).status, "succeeded");
    const before = await idsOf(stack);
    // The first fails at the network, before any container; the other one after both.
    for (
      const source of [
        sourceOf({ driver: "no-such-driver" }),
        sourceOf(AFTER, { command: ["sh", "-c", "sleep 1; exit 3"] }),
      ]
    ) {
      await stack.store(source);

      const job = await stack.deploy(NEVER_STABLE);

      equal(job.status, "rolled_back", job.error ?? "");
      const { Labels, IPAM } = await network();
      deepEqual([Labels?.tier, IPAM?.Config?.[0]?.Subnet], ["a", "10.83.0.0/24"]);
      deepEqual(await idsOf(stack), before);
      deepEqual(await running(stack), ALL_UP);
      match(await addressOf(stack, "web-1"), /^10\.83\.0\./);
    }
    await stack.store(sourceOf(BEFORE));
    deepEqual((await stack.plan()).changes.filter(({ action }) => action !== "none"), []);
  });

long(engineTest)("a failed deploy restores a changed network and its containers", returns);
long(podmanTest)(
  "a failed deploy restores a changed network on Podman and its containers",
  returns,
);

long(engineTest)(
  "a deploy that stops at a failure leaves containers that can use the network",
  async (real) => {
    await withStack(real, async ({ stack, exec }) => {
      await stack.store(sourceOf(BEFORE, { depends_on: ["db"] }));
      equal((await stack.deploy()).status, "succeeded");
      const before = await idsOf(stack);
      const web = { depends_on: ["db"], command: ["/missing"] };
      await stack.store(sourceOf(AFTER, web));

      const job = await stack.deploy({ onFailure: "stop" });

      equal(job.status, "failed", job.error ?? "");
      const after = await idsOf(stack);
      equal(after["web-1"], before["web-1"]);
      notEqual(after["db-1"], before["db-1"]);
      deepEqual(await running(stack), ALL_UP);
      match(await exec("db", "nslookup", "www"), /10\.83\.1\./);
    });
  },
);

engineTest(
  "a network with containers of others stays as it is, and the plan names them",
  async (real) => {
    await withStack(real, async ({ stack, network }) => {
      await stack.store(sourceOf(BEFORE));
      equal((await stack.deploy()).status, "succeeded");
      const { Id } = await network();
      const other = `${stack.name}-other`;
      // It is stopped, and would not find the network any more.
      await real.docker(
        "create",
        `--name=${other}`,
        `--network=${stack.name}_front`,
        BUSYBOX,
        "true",
      );
      try {
        await stack.store(sourceOf(AFTER));
        const { warnings, changes } = await stack.plan() as unknown as {
          warnings: string[];
          changes: { action: string }[];
        };
        ok(warnings.some((text) => text.includes(`does not replace: ${other}`)), warnings.join());
        deepEqual(changes.filter(({ action }) => action !== "none"), []);
        equal((await stack.deploy()).status, "succeeded");
        equal((await network()).Id, Id);
      } finally {
        await real.docker("rm", other);
      }
    });
  },
);

long(engineTest)("a container whose network was removed is created again", async (real) => {
  await using app = await liveApp(real.socketPath);
  await using stack = testStack(app, real);
  const network = `${stack.name}_gone`;
  await stack.store({
    services: { w: { ...networked, networks: ["n"] } },
    networks: { n: { name: network, external: true } },
  });
  await real.docker("network", "create", network);
  try {
    equal((await stack.deploy()).status, "succeeded");
    const before = await idsOf(stack);
    await real.docker("stop", `${stack.name}-w-1`);
    await real.docker("network", "rm", network);
    await real.docker("network", "create", network);

    for (const action of ["start", "restart"]) {
      const { status, body } = await app.call(
        "POST",
        `/api/containers/${stack.name}-w-1/${action}`,
        {},
      );
      deepEqual([status, body.error], [
        409,
        `Network ${network} of the container was removed; recreate the container, or deploy its stack`,
      ]);
    }
    const kept = await stack.deploy({ recreate: "never" });
    equal(kept.status, "rolled_back");
    ok(kept.error?.includes(`Network ${network} of the container was removed`), kept.error ?? "");
    deepEqual(actionsOf(await stack.plan()), ["network n none", "service w recreate"]);
    const job = await stack.deploy();

    equal(job.status, "succeeded", job.error ?? "");
    notEqual((await idsOf(stack))["w-1"], before["w-1"]);
    deepEqual(await running(stack), { "w-1": true });
    deepEqual(actionsOf(await stack.plan()), ["network n none", "service w none"]);
  } finally {
    await stack.down();
    await real.docker("network", "rm", network);
  }
});

long(engineTest)("a rebuilt container finds another network of the same name", async (real) => {
  await using app = await liveApp(real.socketPath);
  const network = `n${crypto.randomUUID().slice(0, 8)}`;
  const name = `${network}-c`;
  const call = async (action: string, body: object = {}) => {
    const { status, body: { error } } = await app.call(
      "POST",
      `/api/containers/${name}/${action}`,
      body,
    );
    return { status, error };
  };
  await real.docker("network", "create", network);
  await real.docker("run", "-d", `--name=${name}`, `--network=${network}`, BUSYBOX, "sleep", "99");
  try {
    await real.docker("kill", name);
    await real.docker("network", "rm", network);
    equal((await call("rebuild", { pull: "never" })).status, 200);
    deepEqual(await call("start"), { status: 409, error: `network ${network} not found` });

    await real.docker("network", "create", network);
    equal((await call("start")).status, 200);
  } finally {
    await real.docker("rm", "-f", name);
    await real.docker("network", "rm", network);
  }
});
