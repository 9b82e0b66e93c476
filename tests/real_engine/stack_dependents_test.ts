import { deepEqual, equal, match, ok } from "node:assert/strict";
import { liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { engineTest, podmanTest, type RealEngine } from "../helpers/real_engine.ts";
import { networked, NEVER_STABLE, type TestStack, testStack } from "../helpers/test_stack.ts";

const provider = (value: string) => ({
  services: { vpn: { ...networked, environment: { A: value } } },
});

/** Deploys a stack, and another one whose container uses the network of the first one's. */
async function deployBoth(stack: TestStack, other: TestStack) {
  await stack.store(provider("1"));
  equal((await stack.deploy()).status, "succeeded");
  const app = { ...networked, network_mode: `container:${stack.name}-vpn-1` };
  await other.store({ services: { app } });
  equal((await other.deploy()).status, "succeeded");
  const vpnOf = async () => (await stack.containers())["vpn-1"]!;
  const appOf = async () => (await other.containers())["app-1"]!;
  const assertAttached = async () => {
    const { HostConfig, State } = await appOf();
    const vpn = await vpnOf();
    equal(HostConfig.NetworkMode, `container:${vpn.Id}`);
    deepEqual([State.Status, vpn.State.Status], ["running", "running"]);
    ok(vpn.State.StartedAt < State.StartedAt, "the namespace is older than what uses it");
  };
  await assertAttached();
  return { vpnOf, appOf, assertAttached };
}

long(engineTest)(
  "containers of another stack that share a namespace follow a deploy",
  async (real) => {
    await using app = await liveApp(real.socketPath);
    await using stack = testStack(app, real);
    await using other = testStack(app, real);
    const { vpnOf, appOf, assertAttached } = await deployBoth(stack, other);
    const first = { app: await appOf(), vpn: await vpnOf() };

    await stack.store(provider("2"));
    const { warnings } = await stack.plan() as unknown as { warnings: string[] };
    match(warnings.join("\n"), new RegExp(`${other.name}-app-1 uses a namespace .* is recreated`));

    for (const action of ["deploy", "down"]) {
      const { status, body } = await app.call("POST", `/api/stacks/${stack.name}/${action}`, {}, {
        scope: { stacks: [stack.name] },
      });
      deepEqual([status, body.error], [
        403,
        `Containers that this token cannot access depend on ${stack.name}-vpn-1`,
      ]);
    }

    const failing = { ...networked, command: "false", restart: "always" };
    await stack.store({ services: { ...provider("3").services, zz: failing } });
    const failed = await stack.deploy(NEVER_STABLE);
    equal(failed.status, "rolled_back", JSON.stringify(failed));
    deepEqual([(await appOf()).Id, (await vpnOf()).Id], [first.app.Id, first.vpn.Id]);
    equal((await appOf()).State.Status, "running");

    await stack.store(provider("4"));
    const job = await stack.deploy();
    equal(job.status, "succeeded", JSON.stringify(job));
    ok((await vpnOf()).Id !== first.vpn.Id);
    await assertAttached();
    equal((await appOf()).State.Status, "running");

    const down = await stack.down();
    equal(down.status, "succeeded", JSON.stringify(down));
    match(down.result.warnings.join("\n"), new RegExp(`${other.name}-app-1 .* loses it`));
  },
);

const sharing = (name: string) => ({
  services: { w: { ...networked, networks: ["n"], volumes: ["v:/v"] } },
  networks: { n: { name: `${name}_net` } },
  volumes: { v: { name: `${name}_vol` } },
});

const keepsForStopped = async (real: RealEngine) => {
  await using app = await liveApp(real.socketPath);
  await using stack = testStack(app, real);
  await using other = testStack(app, real);
  const [network, volume] = [`${stack.name}_net`, `${stack.name}_vol`];
  for (const each of [stack, other]) {
    await each.store(sharing(stack.name));
    equal((await each.deploy()).status, "succeeded");
  }
  await real.docker("stop", `${other.name}-w-1`);

  const path = `/api/stacks/${stack.name}/down`;
  const scope = { stacks: [stack.name] };
  const refused = await app.call("POST", path, { volumes: true }, { scope });
  deepEqual([refused.status, refused.body.error], [
    403,
    `Containers that this token cannot access need network ${network}`,
  ]);
  const first = await stack.down();

  equal(first.status, "succeeded", JSON.stringify(first));
  const user = `stays, because other containers need it: ${other.name}-w-1`;
  deepEqual(first.result, {
    containers: [`${stack.name}-w-1`],
    networks: [],
    volumes: [],
    images: [],
    warnings: [`Network ${network} ${user}`, `Volume ${volume} ${user}`],
  });
  const { body: { jobs } } = await app.call("GET", `/api/jobs?target=${stack.name}`, undefined, {
    scope,
  });
  ok(jobs.length > 0 && !JSON.stringify(jobs).includes(other.name), JSON.stringify(jobs));
  await real.docker("start", `${other.name}-w-1`);

  // Also while it runs, which the engine refuses.
  deepEqual((await stack.down()).result.warnings.length, 2);
  equal((await other.down()).status, "succeeded");
  const last = await stack.down();
  deepEqual([last.result.networks, last.result.volumes, last.result.warnings], [
    [network],
    [volume],
    [],
  ]);
};

long(engineTest)("what a stopped container of another stack needs stays", keepsForStopped);
long(podmanTest)(
  "what a stopped container of another stack needs stays on Podman",
  keepsForStopped,
);

long(engineTest)(
  "a deploy that fails early leaves dependents in a namespace that works",
  async (real) => {
    await using app = await liveApp(real.socketPath);
    await using stack = testStack(app, real);
    await using other = testStack(app, real);
    const { vpnOf, appOf, assertAttached } = await deployBoth(stack, other);
    const first = { app: await appOf(), vpn: await vpnOf() };
    const late = { ...networked, command: "/no/such/program", depends_on: ["vpn"] };

    await stack.store({ services: { ...provider("2").services, late } });
    const taken = await stack.deploy();
    equal(taken.status, "rolled_back", JSON.stringify(taken));
    deepEqual([(await appOf()).Id, (await vpnOf()).Id], [first.app.Id, first.vpn.Id]);
    await assertAttached();

    const stopped = await stack.deploy({ onFailure: "stop" });
    equal(stopped.status, "failed", JSON.stringify(stopped));
    ok((await vpnOf()).Id !== first.vpn.Id);
    await assertAttached();
  },
);
