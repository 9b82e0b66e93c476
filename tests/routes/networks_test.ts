import { deepEqual, equal, match } from "node:assert/strict";
import { simulateContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { testApp } from "../helpers/test_app.ts";

Deno.test("GET /api/networks lists networks", async () => {
  await using fake = fakeEngine({
    ...simulateContainers([]),
    "GET /networks": () =>
      Response.json([{
        Id: "n1",
        Name: "shop",
        Created: "2026-01-01T00:00:00Z",
        Scope: "local",
        Driver: "bridge",
        Internal: false,
        Attachable: true,
        IPAM: { Config: [{ Subnet: "172.18.0.0/16", Gateway: "172.18.0.1" }] },
        Labels: { a: "b" },
      }]),
  });
  using app = testApp({ engine: fake.engine });

  const { status, body } = await app.call("GET", "/api/networks", undefined, { role: "viewer" });

  equal(status, 200);
  deepEqual(body, {
    networks: [{
      id: "n1",
      name: "shop",
      driver: "bridge",
      scope: "local",
      internal: false,
      createdAt: "2026-01-01T00:00:00.000Z",
      attachable: true,
      subnets: ["172.18.0.0/16"],
      gateways: ["172.18.0.1"],
      labels: { a: "b" },
      containers: [],
      warning: null,
    }],
  });
});

Deno.test("without an engine the networks are 503", async () => {
  using app = testApp();

  equal((await app.call("GET", "/api/networks")).status, 503);
});

for (
  const { what, body, error } of [
    { what: "no name", body: {}, error: /^body\.name: is required$/ },
    { what: "a name with a newline", body: { name: "a\nb" }, error: /^body\.name: / },
    { what: "a name with a slash", body: { name: "a/b" }, error: /^body\.name: / },
    { what: "a short name", body: { name: "a" }, error: /^body\.name: / },
    { what: "a driver as a path", body: { driver: "../x" }, error: /^body\.driver: / },
    {
      what: "a gateway without a subnet",
      body: { gateway: "10.80.0.1" },
      error: /^body\.gateway: requires a subnet$/,
    },
    {
      what: "a gateway outside of the subnet",
      body: { subnet: "10.80.0.0/24", gateway: "10.80.1.1" },
      error: /^body\.gateway: must be an address in 10\.80\.0\.0\/24$/,
    },
    {
      what: "an IPv6 gateway of an IPv4 subnet",
      body: { subnet: "10.80.0.0/24", gateway: "fd00::1" },
      error: /^body\.gateway: /,
    },
    {
      what: "a gateway with a zone",
      body: { subnet: "fd00::/64", gateway: "fd00::1%eth0" },
      error: /^body\.gateway: /,
    },
    { what: "an address as subnet", body: { subnet: "10.80.0.5/24" }, error: /10\.80\.0\.0\/24/ },
    { what: "a name as subnet", body: { subnet: "all" }, error: /^body\.subnet: / },
    { what: "octal numbers", body: { subnet: "010.80.0.0/24" }, error: /^body\.subnet: / },
    ...["0.0.0.0/0", "10.0.0.0/7", "10.0.0.0/31", "10.0.0.1", "2000::/8", "fd00::/127"].map(
      (subnet) => ({ what: subnet, body: { subnet }, error: /^body\.subnet: must / }),
    ),
    ...["127.0.0.0/16", "169.254.0.0/16", "224.0.0.0/8", "0.0.0.0/8", "fe80::/64", "ff02::/64"]
      .map((subnet) => ({ what: subnet, body: { subnet }, error: /loopback, link-local or/ })),
    { what: "a label with a space", body: { labels: { "a b": "c" } }, error: /labels\.a b: / },
    { what: "a label with a newline", body: { labels: { "a\nb": "c" } }, error: /labels\.a\nb: / },
    { what: "a label that is a number", body: { labels: { a: 1 } }, error: /labels\.a: must be a/ },
    {
      what: "a long label",
      body: { labels: { a: "x".repeat(4_097) } },
      error: /^body\.labels\.a: must have at most 4096 characters$/,
    },
    {
      what: "many labels",
      body: { labels: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`a${n}`, ""])) },
      error: /^body\.labels: must have at most 100 entries$/,
    },
    { what: "an unknown field", body: { ipam: {} }, error: /^body\.ipam: unknown field/ },
  ]
) {
  Deno.test(`POST /api/networks refuses ${what}`, async () => {
    await using fake = fakeEngine();
    using app = testApp({ engine: fake.engine });
    const name = what === "no name" ? {} : { name: "backend" };
    const answer = await app.call("POST", "/api/networks", { ...name, ...body });
    equal(answer.status, 400);
    match(answer.body.error, error);
    deepEqual(fake.requests, []);
  });
}

for (
  const [status, message, answer] of [
    [404, 'plugin "nope" not found', [400, "body.driver: the engine has no driver nope"]],
    [
      404,
      "could not find an available, non-overlapping IPv4 address pool among the defaults",
      [409, "could not find an available, non-overlapping IPv4 address pool among the defaults"],
    ],
    [409, "network with name backend already exists", [409, "Network backend already exists"]],
    [500, "operation not supported", [409, "operation not supported"]],
    [403, "operation is not permitted on predefined bridge network ", [
      409,
      "operation is not permitted on predefined bridge network",
    ]],
  ] as const
) {
  Deno.test(`POST /api/networks is ${answer[0]} when the engine answers ${status} ${message}`, async () => {
    await using fake = fakeEngine({
      "POST /networks/create": () => Response.json({ message }, { status }),
    });
    using app = testApp({ engine: fake.engine });
    const { status: own, body } = await app.call("POST", "/api/networks", {
      name: "backend",
      driver: "nope",
    });
    deepEqual([own, body.error], answer);
  });
}

Deno.test("DELETE /api/networks/:id refuses a network that a stopped container uses", async () => {
  await using fake = fakeEngine({
    ...simulateContainers([{ name: "web", state: "exited", networks: ["shop"] }]),
    "GET /networks/*": () => Response.json({ Id: "n1", Name: "shop", Created: "", Scope: "local" }),
  });
  using app = testApp({ engine: fake.engine });
  const { status, body } = await app.call("DELETE", "/api/networks/n1");
  deepEqual([status, body.error], [409, "Network shop is in use by web"]);
  deepEqual(fake.requests.filter((each) => each.startsWith("DELETE")), []);
});

for (const id of ["..%2Fimages%2Fx", "a%2Fb", "a%00", "a%0Ab", "%20", "-x", "x".repeat(256)]) {
  Deno.test(`DELETE /api/networks/${id.slice(0, 20)} sends no request to the engine`, async () => {
    await using fake = fakeEngine();
    using app = testApp({ engine: fake.engine });
    equal((await app.call("DELETE", `/api/networks/${id}`)).status, 400);
    deepEqual(fake.requests, []);
  });
}

Deno.test("Podman gets the name of the network to delete, Docker the id", async () => {
  for (const pingHeaders of [{}, { "libpod-api-version": "4.3.1" }]) {
    await using fake = fakeEngine({
      ...simulateContainers([]),
      "GET /networks/*": () => Response.json({ Id: "n1", Name: "shop" }),
      "DELETE /networks/*": () => new Response(null, { status: 204 }),
    }, { pingHeaders });
    using app = testApp({ engine: fake.engine });
    const { status, body } = await app.call("DELETE", "/api/networks/shop");
    deepEqual([status, body], [200, { ok: true, id: "n1", name: "shop" }]);
    const wanted = "libpod-api-version" in pingHeaders ? "shop" : "n1";
    equal(fake.requests.at(-1), `DELETE /networks/${wanted}`);
  }
});
