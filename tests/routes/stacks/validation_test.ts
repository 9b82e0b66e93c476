import { deepEqual, equal, match } from "node:assert/strict";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { testApp } from "../../helpers/test_app.ts";

const VALIDATE = "/api/stacks/validate";

Deno.test("POST /api/stacks/validate answers the normalised model", async () => {
  using app = testApp();

  const { status, body } = await app.call("POST", VALIDATE, {
    name: "shop",
    directory: "/opt/shop",
    compose: "services: {web: {image: 'nginx:$TAG', env_file: app.env, volumes: ['./html:/html']}}",
    env: { TAG: "1.27" },
    files: { "app.env": "LOG_LEVEL=info" },
  }, { role: "viewer" });

  equal(status, 200);
  deepEqual(body, {
    valid: true,
    errors: [],
    warnings: [],
    services: ["web"],
    resolved: {
      name: "shop",
      services: {
        web: {
          image: "nginx:1.27",
          environment: { LOG_LEVEL: "info" },
          networks: { default: null },
          volumes: [{
            type: "bind",
            source: "/opt/shop/html",
            target: "/html",
            bind: { create_host_path: true },
          }],
        },
      },
      networks: { default: { name: "shop_default" } },
      volumes: {},
      secrets: {},
      configs: {},
    },
  });
});

Deno.test("POST /api/stacks/validate locates what is wrong", async () => {
  using app = testApp();

  const { status, body } = await app.call("POST", VALIDATE, {
    compose: "services:\n  web:\n    image: nginx\n    port: [80]\n",
  });

  equal(status, 200);
  deepEqual(body, {
    valid: false,
    errors: [{
      path: "services.web.port",
      file: null,
      line: 4,
      column: 5,
      message: "is unknown; did you mean ports?",
    }],
    warnings: [],
    services: [],
    resolved: null,
  });
});

for (
  const [wrong, body, error] of [
    ["a file above the directory", { files: { "../a": "" } }, /files.*name that is not allowed/],
    ["an absolute file", { files: { "/etc/a": "" } }, /files.*name that is not allowed/],
    ["a relative directory", { directory: "opt" }, /absolute path/],
    ["5 files of 1 MiB", {
      files: Object.fromEntries([1, 2, 3, 4, 5].map((n) => [n, "x".repeat(1024 * 1024)])),
    }, /at most 4 MiB/],
  ] as const
) {
  Deno.test(`POST /api/stacks/validate refuses ${wrong}`, async () => {
    using app = testApp();

    const response = await app.call("POST", VALIDATE, { compose: "services: {}", ...body });

    equal(response.status, 400);
    match(response.body.error, error);
  });
}

Deno.test("POST /api/stacks/validate takes a Compose text of 1 MiB", async () => {
  using app = testApp();
  const compose = `services: {web: {image: nginx}}\n#${"é".repeat(500_000)}`;

  const { status, body } = await app.call("POST", VALIDATE, { compose });

  equal(status, 200);
  equal(body.valid, true);
});

Deno.test("GET /api/compose/keys lists keys and values by path", async () => {
  using app = testApp();

  const { status, body } = await app.call("GET", "/api/compose/keys", undefined, {
    role: "viewer",
  });

  equal(status, 200);
  equal(body.keys["services.*"].includes("image"), true);
  deepEqual(body.values["services.*.init"], ["true", "false"]);
  deepEqual(body.roots, ["/opt/stacks"]);
});

Deno.test("POST /api/stacks/validate refuses a build whose image the host does not have", async () => {
  await using fake = fakeEngine({
    "GET /images/team/app%3A1/json": () => Response.json({ Id: "sha256:1" }),
  });
  using app = testApp({ engine: fake.engine });
  const validate = (image: string, options: Parameters<typeof app.call>[3] = {}) =>
    app.call("POST", VALIDATE, {
      compose: `services:\n  web:\n    image: ${image}\n    build: .`,
    }, options);
  const issue = { path: "services.web.build", file: null, line: 4, column: 5 };
  const warning = { ...issue, message: "is not supported and has no effect; the image is used" };

  const present = await validate("team/app:1");
  deepEqual([present.body.valid, present.body.errors, present.body.warnings], [true, [], [
    warning,
  ]]);
  const absent = await validate("team/app:2");
  deepEqual([absent.body.valid, absent.body.resolved, absent.body.services], [false, null, [
    "web",
  ]]);
  deepEqual(absent.body.errors, [{
    ...issue,
    message: "is not supported, and the engine does not have team/app:2; build or pull it first",
  }]);
  // A limited token does not learn which images the host has.
  const limited = await validate("team/app:2", { scope: { stacks: ["shop"] } });
  deepEqual([limited.body.valid, limited.body.errors], [true, []]);
});

Deno.test("POST /api/stacks/validate does not need the engine", async () => {
  using app = testApp();

  const { status, body } = await app.call("POST", VALIDATE, {
    compose: "services: {web: {image: a, build: .}}",
  });

  deepEqual([status, body.valid], [200, true]);
});
for (const name of [".env", "compose.yaml"]) {
  Deno.test(`POST /api/stacks/validate refuses ${name} among the files`, async () => {
    using app = testApp();
    const { status, body } = await app.call("POST", VALIDATE, {
      compose: "services: {web: {image: nginx}}",
      files: { [name]: "services: {other: {image: nginx}}" },
    });
    equal(status, 400);
    equal(
      body.error,
      "body.files: must have neither .env nor compose.yaml: use env and compose",
    );
  });
}
