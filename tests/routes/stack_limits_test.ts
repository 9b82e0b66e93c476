import { deepEqual, equal, match } from "node:assert/strict";
import { composeLabels, simulateContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { type TestApp, testApp } from "../helpers/test_app.ts";
import { until } from "../helpers/until.ts";

const LIMITED = { scope: { stacks: ["shop"] } };

/** An engine with the stacks shop and other; each has a container, and other has a volume. */
const engine = () =>
  fakeEngine({
    ...simulateContainers(
      ["shop", "other"].map((stack) => ({
        name: `${stack}-web-1`,
        labels: { ...composeLabels(stack, "web"), "com.docker.compose.config-hash": "f00" },
      })),
    ),
    "GET /networks": () => Response.json([]),
    "GET /volumes": () =>
      Response.json({
        Volumes: [{ Name: "other_data", Labels: { "com.docker.compose.project": "other" } }],
      }),
    "GET /info": () => Response.json({}),
    "GET /images/*/json": () => new Response(null, { status: 404 }),
  });

const web = (settings: object = {}) => ({
  compose: JSON.stringify({ services: { web: { image: "nginx", ...settings } } }),
});

const store = (app: TestApp, sources: object) =>
  app.call("POST", "/api/stacks", { name: "shop", deploy: false, ...sources });

/** Requests a deploy, and waits for the end of the job if one was started. */
async function deploy(app: TestApp, request: object, options = {}) {
  const answer = await app.call("POST", "/api/stacks/shop/deploy", request, options);
  if (answer.status === 202) {
    await until("the deploy has ended", () => app.deps.jobs.get(answer.body.id) === undefined);
  }
  return answer;
}

Deno.test("adopt is not available to a token that is limited to stacks", async () => {
  await using fake = engine();
  using app = testApp({ engine: fake.engine });

  const { status } = await app.call("POST", "/api/stacks/shop/adopt", web(), LIMITED);

  equal(status, 404);
  equal((await app.call("GET", "/api/stacks/shop/source")).status, 404);
  deepEqual((await app.call("POST", "/api/stacks/shop/adopt", web())).status, 200);
});

for (
  const [what, sources, path] of [
    ["a directory of the host", web({ volumes: ["/etc:/host"] }), "services.web.volumes"],
    ["the namespace of the host", web({ pid: "host" }), "services.web.pid"],
    [
      "a volume of another stack",
      {
        compose: JSON.stringify({
          services: { web: { image: "nginx", volumes: ["data:/data"] } },
          volumes: { data: { name: "other_data", external: true } },
        }),
      },
      "volumes.data",
    ],
  ] as const
) {
  Deno.test(`a token that is limited to stacks does not deploy ${what}`, async () => {
    await using fake = engine();
    using app = testApp({ engine: fake.engine });
    await store(app, sources);

    const refused = await deploy(app, {}, LIMITED);

    equal(refused.status, 403);
    match(refused.body.error, new RegExp(`cannot deploy what leaves the stack: ${path}$`));
    deepEqual((await app.call("GET", "/api/jobs")).body.jobs, []);
    equal((await deploy(app, {})).status, 202);
  });
}

Deno.test("a token that is limited to stacks deploys what stays inside of its stack", async () => {
  await using fake = engine();
  using app = testApp({ engine: fake.engine });
  await store(app, web());

  equal((await deploy(app, {}, LIMITED)).status, 202);
});

Deno.test("a token that is limited to containers deploys no container of another name", async () => {
  await using fake = engine();
  using app = testApp({ engine: fake.engine });
  await store(app, {
    compose: JSON.stringify({ services: { web: { image: "nginx" }, db: { image: "db" } } }),
  });

  const { status, body } = await deploy(app, {}, {
    scope: { containers: ["shop-web-*"] },
  });

  equal(status, 403);
  match(body.error, /containers that services\.db would have/);
});

Deno.test("a deploy of another version than the expected one is refused with the difference", async () => {
  await using fake = engine();
  using app = testApp({ engine: fake.engine });
  await store(app, web());
  const { body: plan } = await app.call("POST", "/api/stacks/shop/plan", {});
  const change = { ...web({ pid: "host" }), expectedVersion: 1 };
  await app.call("PUT", "/api/stacks/shop/source", change);
  const request = { expectedVersion: plan.version };

  const refused = await deploy(app, request);
  const limited = await deploy(app, request, LIMITED);
  const writing = { scope: { permissions: ["stacks:deploy", "stacks:write"] } };
  const blind = await deploy(app, request, writing);
  const blindWrite = await app.call("PUT", "/api/stacks/shop/source", change, writing);

  deepEqual([refused.status, limited.status], [409, 409]);
  for (const { status, body } of [blind, blindWrite]) {
    deepEqual([status, body.diff ?? ""], [409, ""]);
  }
  match(refused.body.diff, /^\+.*"pid":"host"/m);
  equal(limited.body.diff ?? "", "");
  equal((await deploy(app, { expectedVersion: 2 })).status, 202);
});
