import { deepEqual, equal } from "node:assert/strict";
import { simulateContainers } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { testApp } from "../../helpers/test_app.ts";

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
        IPAM: { Config: [{ Subnet: "172.18.0.0/16" }] },
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
      subnets: ["172.18.0.0/16"],
      containers: [],
    }],
  });
});

Deno.test("without an engine the networks are 503", async () => {
  using app = testApp();

  equal((await app.call("GET", "/api/networks")).status, 503);
});
