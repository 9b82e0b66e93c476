import { deepEqual, equal, match } from "node:assert/strict";
import { simulateContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { testApp } from "../helpers/test_app.ts";

Deno.test("GET /api/volumes lists volumes", async () => {
  await using fake = fakeEngine({
    ...simulateContainers([{ name: "web", volumes: ["data"] }]),
    "GET /volumes": () =>
      Response.json({
        Volumes: [{
          Name: "data",
          Driver: "local",
          Mountpoint: "/data",
          Scope: "local",
          CreatedAt: "2026-01-01T00:00:00Z",
          Labels: { a: "b" },
        }],
      }),
  });
  using app = testApp({ engine: fake.engine });

  const { status, body } = await app.call("GET", "/api/volumes", undefined, { role: "viewer" });

  equal(status, 200);
  deepEqual(body, {
    volumes: [{
      name: "data",
      driver: "local",
      mountpoint: "/data",
      scope: "local",
      createdAt: "2026-01-01T00:00:00.000Z",
      labels: { a: "b" },
      size: null,
      containers: ["web"],
      warning: null,
    }],
  });
});

Deno.test("DELETE /api/volumes/:name deletes a volume unless it is unknown or in use", async () => {
  await using fake = fakeEngine({
    ...simulateContainers([{ name: "web", volumes: ["used"] }]),
    "DELETE /volumes/data": () => new Response(null, { status: 204 }),
    "DELETE /volumes/used": () => Response.json({ message: "in use" }, { status: 409 }),
  });
  using app = testApp({ engine: fake.engine });
  const remove = async (name: string) => {
    const { status, body } = await app.call("DELETE", `/api/volumes/${name}`);
    return { status, body };
  };

  deepEqual(await remove("data"), { status: 200, body: { ok: true, name: "data" } });
  deepEqual(await remove("used"), {
    status: 409,
    body: { error: "Volume used is in use by web" },
  });
  deepEqual(await remove("unknown"), {
    status: 404,
    body: { error: "Volume unknown does not exist" },
  });
});

for (const name of ["..%2Fimages%2Fx", "a%2Fb", "a%00", "%20", "-x", "x".repeat(256)]) {
  Deno.test(`DELETE /api/volumes/${name.slice(0, 20)} reaches no path of the engine`, async () => {
    await using fake = fakeEngine();
    using app = testApp({ engine: fake.engine });

    const { status } = await app.call("DELETE", `/api/volumes/${name}`);

    equal(status, 400);
    deepEqual(fake.requests, []);
  });
}

Deno.test("volumes are deleted by admins only", async () => {
  using app = testApp();

  for (const role of ["viewer", "operator"] as const) {
    equal((await app.call("DELETE", "/api/volumes/a", undefined, { role })).status, 403);
  }
});

Deno.test("without an engine the volumes are 503", async () => {
  using app = testApp();

  equal((await app.call("GET", "/api/volumes")).status, 503);
  equal((await app.call("DELETE", "/api/volumes/data")).status, 503);
});

Deno.test("POST /api/volumes creates a volume without showing its options", async () => {
  const bodies: unknown[] = [];
  await using fake = fakeEngine({
    "GET /volumes": () => Response.json({ Volumes: null }),
    "POST /volumes/create": ({ body }) => {
      bodies.push(body);
      const { Name, Driver, Labels } = body;
      return Response.json({ Name, Driver, Labels, Mountpoint: "/m", Scope: "local" });
    },
  });
  using app = testApp({ engine: fake.engine });
  const options = { type: "cifs", o: "username=ada,password=secret", device: "//nas/share" };
  const { status, body } = await app.call("POST", "/api/volumes", {
    name: "share",
    options,
    labels: { a: "b" },
  });
  deepEqual([status, body], [201, {
    name: "share",
    driver: "local",
    mountpoint: "/m",
    scope: "local",
    createdAt: null,
    labels: { a: "b" },
    size: null,
    containers: [],
    warning: null,
  }]);
  deepEqual(bodies, [{
    Name: "share",
    Driver: "local",
    DriverOpts: options,
    Labels: { a: "b" },
  }]);
  const audit = await app.call("GET", "/api/audit");
  deepEqual(audit.body.entries[0].targets, ["share"]);
  equal(JSON.stringify(audit.body).includes("secret"), false);
});

for (
  const { what, body, error } of [
    { what: "no name", body: { name: undefined }, error: /^body\.name: is required$/ },
    { what: "a path as name", body: { name: "/etc" }, error: /^body\.name: / },
    { what: "a name with a newline", body: { name: "a\n" }, error: /^body\.name: / },
    { what: "an option with =", body: { options: { "a=b": "c" } }, error: /^body\.options\.a=b: / },
    { what: "an option that is a list", body: { options: { o: [] } }, error: /options\.o: / },
    {
      what: "many options",
      body: { options: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`a${n}`, ""])) },
      error: /^body\.options: must have at most 100 entries$/,
    },
  ]
) {
  Deno.test(`POST /api/volumes refuses ${what}`, async () => {
    await using fake = fakeEngine();
    using app = testApp({ engine: fake.engine });
    const answer = await app.call("POST", "/api/volumes", { name: "data", ...body });
    equal(answer.status, 400);
    match(answer.body.error, error);
    deepEqual(fake.requests, []);
  });
}

Deno.test("POST /api/volumes refuses what BIND_ALLOW does not allow", async () => {
  using app = testApp({ config: { bindAllow: ["/srv"] } });
  const create = (options: Record<string, string>) =>
    app.call("POST", "/api/volumes", { name: "data", options });

  equal(
    (await create({ type: "none", o: "bind", device: "/etc" })).body.error,
    "body.options.device: must be in a directory that BIND_ALLOW allows",
  );
  equal((await create({ type: "proc", device: "proc" })).status, 400);
  // Allowed; the engine of this test cannot be reached.
  equal((await create({ type: "none", o: "bind", device: "/srv/data" })).status, 503);
});
