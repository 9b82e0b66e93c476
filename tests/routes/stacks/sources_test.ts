import { deepEqual, equal, match, ok } from "node:assert/strict";
import { composeLabels, simulateContainers } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { testApp } from "../../helpers/test_app.ts";

const SOURCE = "/api/stacks/shop/source";

const shop = (tag = "1.27") => ({
  compose: `services:\n  web:\n    image: nginx:${tag}\n    env_file: app.env\n`,
  env: "PASSWORD=hunter2\nexport LEVEL=info\n",
  files: { "app.env": "TOKEN=t0ken\n" },
});

Deno.test("POST /api/stacks stores sources, which GET .../source returns", async () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });

  const created = await app.call("POST", "/api/stacks", { name: "shop", deploy: false, ...shop() });

  equal(created.status, 201);
  deepEqual(created.body, {
    name: "shop",
    kind: "compose",
    version: 1,
    updatedBy: created.body.updatedBy,
    updatedAt: "2026-01-01T12:00:00.000Z",
    job: null,
  });
  const { job: _, ...summary } = created.body;
  const { body } = await app.call("GET", SOURCE);
  deepEqual(body, {
    ...summary,
    ...shop(),
    profiles: [],
    managed: "stored",
    directory: null,
    configFiles: [],
  });
});

Deno.test("operators see neither variables nor files, and viewers no sources", async () => {
  using app = testApp();
  await app.call("POST", "/api/stacks", { name: "shop", deploy: false, ...shop() });

  const { body } = await app.call("GET", SOURCE, undefined, { role: "operator" });

  equal(body.env, "PASSWORD=********\nLEVEL=********\n");
  deepEqual(body.files, { "app.env": "********" });
  equal((await app.call("GET", SOURCE, undefined, { role: "viewer" })).status, 403);
});

Deno.test("Swarm stacks are stored without a swarm, but neither planned, deployed nor removed", async () => {
  await using fake = fakeEngine({
    "GET /containers/json": () => Response.json([]),
    "GET /networks": () => Response.json([]),
    "GET /services": () => Response.json({ message: "not a manager" }, { status: 503 }),
    "GET /info": () =>
      Response.json({
        Swarm: { LocalNodeState: "active", RemoteManagers: [{ Addr: "10.0.0.1:2377" }] },
      }),
  });
  using app = testApp({ engine: fake.engine });
  const stack = { name: "shop", kind: "swarm", ...shop() };
  const created = await app.call("POST", "/api/stacks", { ...stack, deploy: false });
  deepEqual([created.status, created.body.kind, created.body.job], [201, "swarm", null]);

  for (const action of ["plan", "deploy", "down"]) {
    const { status, body } = await app.call("POST", `/api/stacks/shop/${action}`, {});

    equal(status, 409, action);
    equal(
      body.error,
      "This node is a worker of the swarm; use Longshore on a manager: 10.0.0.1:2377",
    );
  }
});

Deno.test("stored sources are encrypted", async () => {
  using app = testApp();
  await app.call("POST", "/api/stacks", { name: "shop", deploy: false, ...shop() });

  const [row] = app.deps.db.all<{ sealed_source: string }>("SELECT * FROM stack_versions");

  ok(!JSON.stringify(row).includes("hunter2"));
});

Deno.test("PUT /api/stacks/:name/source stores the next version of the expected one only", async () => {
  using app = testApp();
  await app.call("POST", "/api/stacks", { name: "shop", deploy: false, ...shop() });

  const changes = await Promise.all(
    [2, 3].map((minor) => app.call("PUT", SOURCE, { ...shop(`1.${minor}`), expectedVersion: 1 })),
  );

  deepEqual(changes.map(({ status }) => status).sort(), [200, 409]);
  const { body: refusal } = changes.find(({ status }) => status === 409)!;
  match(refusal.diff, /^- {4}image: nginx:1\.27\n\+ {4}image: nginx:1\.\d$/m);
  const { body } = await app.call("GET", "/api/stacks/shop/versions");
  deepEqual(body.versions.map(({ version }: { version: number }) => version), [2, 1]);
});

Deno.test("GET /api/stacks/:name/versions/:version/diff/:other shows what has changed", async () => {
  using app = testApp();
  await app.call("POST", "/api/stacks", { name: "shop", deploy: false, ...shop() });
  await app.call("PUT", SOURCE, { ...shop("1.28"), env: "PASSWORD=new\n", expectedVersion: 1 });
  const diff = (role: "admin" | "operator") =>
    app.call("GET", "/api/stacks/shop/versions/1/diff/2", undefined, { role });

  const compose = [
    "--- compose.yaml (version 1)",
    "+++ compose.yaml (version 2)",
    "@@ -1,4 +1,4 @@",
    " services:",
    "   web:",
    "-    image: nginx:1.27",
    "+    image: nginx:1.28",
    "     env_file: app.env",
  ].join("\n");
  const { body: { diff: forAdmin } } = await diff("admin");
  ok(forAdmin.startsWith(compose));
  match(forAdmin, /^-PASSWORD=hunter2\n-export LEVEL=info\n\+PASSWORD=new$/m);
  const { body: { diff: forOperator } } = await diff("operator");
  ok(!/hunter2|new/.test(forOperator));
});

Deno.test("old versions are dropped", async () => {
  using app = testApp();
  await app.call("POST", "/api/stacks", { name: "shop", deploy: false, compose: "services: {}" });
  for (let version = 1; version <= 50; version++) {
    await app.call("PUT", SOURCE, { compose: "services: {}", expectedVersion: version });
  }

  const { body } = await app.call("GET", "/api/stacks/shop/versions");

  equal(body.versions.length, 50);
  equal((await app.call("GET", "/api/stacks/shop/versions/1")).status, 404);
});

for (
  const [what, body, error] of [
    [
      "an unknown key",
      "services: {web: {image: a, porst: []}}",
      "body.compose: 1:28 services.web.porst is unknown; did you mean ports?",
    ],
    [
      "a relative mount",
      "services: {web: {image: a, volumes: ['./a:/a']}}",
      "body.compose: 1:38 services.web.volumes[0] mounts ./a, but the stack has no directory for relative paths",
    ],
  ] as const
) {
  Deno.test(`POST /api/stacks refuses ${what}`, async () => {
    using app = testApp();

    const response = await app.call("POST", "/api/stacks", { name: "shop", compose: body });

    equal(response.status, 400);
    equal(response.body.error, error);
  });
}

Deno.test("DELETE /api/stacks/:name removes the sources of a stack without containers", async () => {
  await using fake = fakeEngine(
    simulateContainers([{ name: "shop-web-1", labels: composeLabels("shop", "web") }]),
  );
  using app = testApp({ engine: fake.engine });
  for (const name of ["shop", "other"]) {
    await app.call("POST", "/api/stacks", { name, deploy: false, compose: "services: {}" });
  }

  equal((await app.call("DELETE", "/api/stacks/shop")).status, 409);
  equal((await app.call("DELETE", "/api/stacks/other")).status, 200);
  equal((await app.call("GET", "/api/stacks/other/source")).status, 404);
  equal((await app.call("DELETE", "/api/stacks/unknown")).status, 404);
});

Deno.test("a stack with sources is listed without containers, and can only be deployed", async () => {
  await using fake = fakeEngine({ "GET /containers/json": () => Response.json([]) });
  using app = testApp({ engine: fake.engine });
  await app.call("POST", "/api/stacks", { name: "shop", deploy: false, ...shop() });

  const { stacks } = (await app.call("GET", "/api/stacks")).body;
  deepEqual(
    stacks.map(({ name, kind, status, containerCount }: Record<string, unknown>) => [
      name,
      kind,
      status,
      containerCount,
    ]),
    [["shop", "compose", "stopped", 0]],
  );
  const { status, body } = await app.call("POST", "/api/stacks/shop/start");
  deepEqual([status, body.error], [409, "Stack shop has no containers; deploy it first"]);
});

Deno.test("POST .../deploy refuses unknown services, versions and stacks", async () => {
  await using fake = fakeEngine({ "GET /containers/json": () => Response.json([]) });
  using app = testApp({ engine: fake.engine });
  await app.call("POST", "/api/stacks", { name: "shop", deploy: false, ...shop() });

  const deploy = (name: string, body: object) =>
    app.call("POST", `/api/stacks/${name}/deploy`, body);
  equal((await deploy("shop", { services: ["unknown"] })).status, 400);
  equal((await deploy("shop", { version: 2 })).status, 404);
  equal((await deploy("other", {})).status, 404);
  equal((await app.call("POST", "/api/stacks/other/down", {})).status, 404);
});

Deno.test("GET .../source has an ETag, which changes with the sources", async () => {
  using app = testApp();
  await app.call("POST", "/api/stacks", { name: "shop", deploy: false, ...shop() });
  const get = (etag?: string) =>
    app.call("GET", SOURCE, undefined, { headers: etag ? { "if-none-match": etag } : {} });
  const etag = (await get()).headers.get("etag")!;

  match(etag, /^W\/".+"$/);
  equal((await get(etag)).status, 304);
  await app.call("PUT", SOURCE, { ...shop("1.29"), expectedVersion: 1 });
  const changed = await get(etag);
  equal(changed.status, 200);
  ok(changed.headers.get("etag") !== etag);
});

Deno.test("a plan refuses a build whose image the host does not have", async () => {
  await using fake = fakeEngine({});
  using app = testApp({ engine: fake.engine });
  const compose = "services:\n  web:\n    image: team/app:1\n    build: .";
  const created = await app.call("POST", "/api/stacks", { name: "shop", deploy: false, compose });
  const message =
    "4:5 services.web.build is not supported, and the engine does not have team/app:1; build or " +
    "pull it first";

  equal(created.status, 201);
  const stored = await app.call("POST", "/api/stacks/shop/plan", {});
  deepEqual([stored.status, stored.body.error], [409, message.replace("4:5", "Line 4:")]);
  const given = await app.call("POST", "/api/stacks/shop/plan", { sources: { compose } });
  deepEqual([given.status, given.body.error], [400, `body.compose: ${message}`]);
});
