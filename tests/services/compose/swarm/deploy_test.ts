import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { deploySwarmStack } from "../../../../services/compose/swarm/deploy.ts";
import { swarmDeployKind } from "../../../../services/compose/swarm/job.ts";
import type { SwarmDeployInput } from "../../../../services/compose/swarm/input.ts";
import { startSwarmDown } from "../../../../services/compose/swarm/start.ts";
import { setContainers } from "../../../helpers/fake_containers.ts";
import { fakeEngine } from "../../../helpers/fake_engine.ts";
import { type FakeSwarm, fakeSwarm, serviceOf } from "../../../helpers/fake_swarm.ts";
import { type KillAt, runTwice } from "../../../helpers/killed_job.ts";
import { resumedJob } from "../../../helpers/resumed_job.ts";
import { type TestApp, testApp } from "../../../helpers/test_app.ts";
import { stepInWords } from "../../../../ui/base/step_words.ts";

const INPUT: SwarmDeployInput = {
  ...{ version: 1, recreate: "changed", removeOrphans: false, services: null },
  onFailure: "rollback",
};

const composeOf = (images: Record<string, string>, more = "") =>
  `services:\n${
    Object.entries(images).map(([key, image], at, all) =>
      `  ${key}: { image: "${image}"${at ? `, depends_on: [${all[at - 1]![0]}]` : ""}${more} }`
    ).join("\n")
  }\n`;

/** Deploys the first text, and leaves the second one to `work`. */
async function deployed(
  [first, second]: [string, string],
  work: (app: TestApp, swarm: FakeSwarm) => Promise<void>,
): Promise<void> {
  const swarm = fakeSwarm();
  await using fake = fakeEngine(swarm.answers);
  using app = testApp({ engine: fake.engine });
  const stack = { name: "shop", kind: "swarm", compose: first, deploy: false };
  equal((await app.call("POST", "/api/stacks", stack)).status, 201);
  await deploySwarmStack(app.deps, resumedJob({ target: "shop", input: INPUT }, {}).job);
  const put = { compose: second, expectedVersion: 1 };
  equal((await app.call("PUT", "/api/stacks/shop/source", put)).status, 200);
  await work(app, swarm);
}

const imagesOf = ({ services }: FakeSwarm) =>
  Object.fromEntries(
    services.map(({ Spec }) => [Spec.Name, Spec.TaskTemplate?.ContainerSpec?.Image]),
  );

for (
  const { what, second, at } of [
    {
      what: "in the rollback of an earlier service",
      second: { a: "app:2", b: "bad:2" },
      at: { step: "rollback change 1", moment: "unstored" },
    },
    {
      what: "after the removal of a new service that failed",
      second: { a: "app:2", b: "app:1", c: "bad:1" },
      at: { step: "rollback remove 1", moment: "unstored" },
    },
  ] as { what: string; second: Record<string, string>; at: KillAt }[]
) {
  Deno.test(`a deploy that is killed ${what} rolls everything back`, () =>
    deployed([composeOf({ a: "app:1", b: "app:1" }), composeOf(second)], async (app, swarm) => {
      const job = { target: "shop", input: { ...INPUT, version: 2 } };
      const status = await runTwice(app.deps, job, at, {
        run: deploySwarmStack,
        meanwhile: () => Promise.resolve(),
      });
      equal(status, "rolled_back");
      deepEqual(imagesOf(swarm), { shop_a: "app:1", shop_b: "app:1" });
    }));
}

Deno.test("each step of a deploy that is rolled back has words", () =>
  deployed(
    [composeOf({ a: "app:1" }), composeOf({ a: "app:2", b: "bad:1" })],
    async (app) => {
      const input = { ...INPUT, version: 2 };
      const { job, steps } = resumedJob({ target: "shop", input }, {});
      await rejects(deploySwarmStack(app.deps, job), { status: "rolled_back" });
      const inWords = steps.map((step) => stepInWords(step, swarmDeployKind.steps!));
      deepEqual(inWords.slice(inWords.indexOf("Record the failure") + 1), [
        "Remove a new service again (1)",
        "Read a service to be rolled back (2)",
        "Return the service to its earlier version (2)",
        "Wait until its earlier tasks run (2)",
      ]);
      deepEqual(inWords.filter((words) => steps.includes(words)), []);
    },
  ));

Deno.test("a deploy takes no service of another stack for its own, and removes none in a rollback", async () => {
  const Labels = { "com.docker.stack.namespace": "shop_a" };
  const swarm = fakeSwarm([
    serviceOf({ Name: "shop_a_b", Labels, TaskTemplate: { ContainerSpec: { Image: "db:1" } } }),
  ]);
  await using fake = fakeEngine(swarm.answers);
  using app = testApp({ engine: fake.engine });
  const compose = composeOf({ a: "app:1", a_b: "app:1" });
  const stack = { name: "shop", kind: "swarm", compose, deploy: false };
  equal((await app.call("POST", "/api/stacks", stack)).status, 201);
  const message = "Another service has the name shop_a_b";
  await rejects(
    deploySwarmStack(app.deps, resumedJob({ target: "shop", input: INPUT }, {}).job),
    { code: "conflict", message },
  );
  deepEqual(imagesOf(swarm), { shop_a_b: "db:1" });
  deepEqual(swarm.networks, []);
  const plan = await app.call("POST", "/api/stacks/shop/plan", {});
  deepEqual([plan.status, plan.body.error], [409, message]);
});

for (const kind of ["secret", "config"]) {
  Deno.test(`a deploy without an external ${kind} that it needs changes nothing`, async () => {
    const swarm = fakeSwarm();
    await using fake = fakeEngine(swarm.answers);
    using app = testApp({ engine: fake.engine });
    const compose = `services: { a: { image: "app:1", ${kind}s: [key] } }
${kind}s: { key: { external: true } }
`;
    const stack = { name: "shop", kind: "swarm", compose, deploy: false };
    equal((await app.call("POST", "/api/stacks", stack)).status, 201);
    const message = `The external ${kind} key does not exist`;
    await rejects(
      deploySwarmStack(app.deps, resumedJob({ target: "shop", input: INPUT }, {}).job),
      { code: "conflict", message },
    );
    deepEqual([swarm.networks, swarm.services], [[], []]);
    const plan = await app.call("POST", "/api/stacks/shop/plan", {});
    deepEqual([plan.status, plan.body.error], [409, message]);
  });
}

Deno.test("a deploy takes no secret that others have created under its name, whatever its other labels", async () => {
  const swarm = fakeSwarm();
  await using fake = fakeEngine(swarm.answers);
  using app = testApp({ engine: fake.engine });
  const compose = `services: { a: { image: "app:1", secrets: [key] } }
secrets: { key: { file: ./key } }
`;
  const files = { key: "correct horse" };
  const stack = { name: "shop", kind: "swarm", compose, files, deploy: false };
  equal((await app.call("POST", "/api/stacks", stack)).status, 201);
  const job = { target: "shop", input: INPUT };
  await deploySwarmStack(app.deps, resumedJob(job, {}).job);
  const [{ Spec: { Name, Labels } }] = swarm.secrets as [FakeSwarm["secrets"][number]];
  await deploySwarmStack(app.deps, resumedJob(job, {}).job);

  swarm.services.length = 0;
  equal((await app.call("DELETE", `/api/swarm/secrets/${Name}`)).status, 200);
  const create = (labels: Record<string, string>) =>
    app.call("POST", "/api/swarm/secrets", { name: Name, value: "other", labels });
  const spoofed = await create(Labels!);
  deepEqual([spoofed.status, spoofed.body.error], [
    400,
    "body.labels: must not have longshore.value or longshore.rotated, which mark what Longshore has " +
    "created itself",
  ]);
  equal((await create({ "com.docker.stack.namespace": "shop" })).status, 201);
  swarm.networks.length = 0;
  await rejects(deploySwarmStack(app.deps, resumedJob(job, {}).job), {
    code: "conflict",
    message:
      `Secret ${Name} was not created by a deploy, so that its content is unknown; delete it, ` +
      "and deploy again",
  });
  deepEqual([swarm.networks, swarm.services], [[], []]);
});

Deno.test("a service without update settings is updated task by task, and a job has none", () =>
  deployed(
    [composeOf({ a: "app:1" }), composeOf({ a: "app:2" }, ", deploy: { mode: replicated-job }")],
    async (app, swarm) => {
      deepEqual(swarm.services[0]!.Spec.UpdateConfig, {
        Parallelism: 1,
        FailureAction: "rollback",
      });
      const input = { ...INPUT, version: 2 };
      await deploySwarmStack(app.deps, resumedJob({ target: "shop", input }, {}).job);
      equal(swarm.services[0]!.Spec.UpdateConfig, undefined);
    },
  ));

Deno.test("the plan shows that a service replaces all tasks at once", () =>
  deployed([composeOf({ a: "app:1" }), composeOf({ a: "app:1" })], async (app, swarm) => {
    swarm.services[0]!.Spec.UpdateConfig = { Parallelism: 0, FailureAction: "rollback" };
    const { changes } = (await app.call("POST", "/api/stacks/shop/plan", {})).body;
    deepEqual(
      changes.at(-1).reasons.map(({ path, from }: Record<string, string>) => [path, from]),
      [
        ["UpdateConfig.Parallelism", "0"],
      ],
    );
  }));

Deno.test("neither down nor a deploy changes the service that Longshore runs in", () =>
  deployed([composeOf({ a: "app:1" }), composeOf({ a: "app:2" })], async (app, swarm) => {
    const labels = { "com.docker.swarm.service.id": "id-of-shop_a" };
    setContainers(app, { name: "shop_a.1", self: true, labels });
    const caller = { userId: "1", role: "admin", familyId: "", address: "" } as const;
    const message = "Longshore itself runs in shop_a; use docker service on a manager";
    await rejects(startSwarmDown(app.deps, caller, "shop"), { code: "conflict", message });
    const input = { ...INPUT, version: 2 };
    const { job } = resumedJob({ target: "shop", input }, {});
    await rejects(deploySwarmStack(app.deps, job), { code: "conflict", message });
    deepEqual(imagesOf(swarm), { shop_a: "app:1" });
  }));

Deno.test("BIND_ALLOW refuses templates, which Swarm expands after the check of a path", async () => {
  const swarm = fakeSwarm();
  await using fake = fakeEngine(swarm.answers);
  using app = testApp({ engine: fake.engine, config: { bindAllow: ["/srv"] } });
  const mounts = [
    `services: { a: { image: "app:1", volumes: ['/srv/{{".."}}/{{".."}}/etc:/x'] } }`,
    `services: { a: { image: "app:1", volumes: ["v:/x"] } }
volumes:
  v: { driver_opts: { type: none, o: bind, device: '/srv/{{".."}}/{{".."}}/etc' } }`,
  ];
  for (const [at, compose] of mounts.entries()) {
    const stack = { name: `shop${at}`, kind: "swarm", compose, deploy: false };
    equal((await app.call("POST", "/api/stacks", stack)).status, 201);
    const { status, body } = await app.call("POST", `/api/stacks/shop${at}/plan`, {});
    match(`${status} ${body.error}`, /^409 .*must have no template \(\{\{\)/);
  }
});

Deno.test("a plan does not show the options of a volume's driver", () => {
  const textOf = (password: string) =>
    `services: { a: { image: "app:1", volumes: ["v:/x"] } }
volumes: { v: { driver_opts: { type: cifs, o: "password=${password}", device: //nas/x } } }`;
  return deployed([textOf("hunter1"), textOf("hunter2")], async (app) => {
    const { changes } = (await app.call("POST", "/api/stacks/shop/plan", {})).body;
    deepEqual(changes.at(-1).reasons, [{
      path: "driver_opts./x",
      from: "(changed)",
      to: "(changed)",
      text: "driver_opts./x changed",
    }]);
  });
});
