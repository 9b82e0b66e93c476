import { deepEqual } from "node:assert/strict";
import { listNetworks } from "../../../services/containers/networks.ts";
import { createInventory } from "../../../services/containers/inventory.ts";
import { containerOf, idOf } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";

Deno.test("networks come by name with the containers that the snapshot has in them", async () => {
  await using fake = fakeEngine({
    "GET /networks": () =>
      Response.json([
        {
          Id: "n2",
          Name: "shop",
          Created: "2026-01-01T10:00:00.123456789+01:00",
          Scope: "local",
          Driver: "bridge",
          Internal: true,
          IPAM: { Config: [{ Subnet: "172.18.0.0/16" }, { Subnet: "fd00::/64" }, {}] },
          Containers: {},
        },
        {
          Id: "n1",
          Name: "host",
          Created: "0001-01-01T00:00:00Z",
          Scope: "local",
          Driver: "host",
          Internal: false,
          IPAM: { Config: null },
        },
      ]),
  });
  const inventory = createInventory(() => new Date());
  const place = { network: "shop", ipv4: "", ipv6: "", mac: "" };
  inventory.replaceAll([
    containerOf({
      name: "web",
      attachments: [{
        networkId: "n2",
        network: "shop",
        ipv4: "172.18.0.2",
        ipv6: "",
        mac: "02:42:ac:12:00:02",
      }],
    }),
    containerOf({ name: "never-ran", attachments: [{ ...place, networkId: "" }] }),
  ], inventory.readNumber());
  inventory.setLive(true);

  deepEqual(
    await listNetworks({ engine: fake.engine, inventory, self: { id: null, hostname: null } }),
    [
      {
        id: "n1",
        name: "host",
        driver: "host",
        scope: "local",
        internal: false,
        createdAt: null,
        subnets: [],
        gateways: [],
        attachable: false,
        labels: {},
        warning: null,
        containers: [],
      },
      {
        id: "n2",
        name: "shop",
        driver: "bridge",
        scope: "local",
        internal: true,
        createdAt: "2026-01-01T09:00:00.123Z",
        subnets: ["172.18.0.0/16", "fd00::/64"],
        gateways: [],
        attachable: false,
        labels: {},
        warning: null,
        containers: [
          { id: idOf("never-ran"), name: "never-ran", ipv4: null, ipv6: null, mac: null },
          {
            id: idOf("web"),
            name: "web",
            ipv4: "172.18.0.2",
            ipv6: null,
            mac: "02:42:ac:12:00:02",
          },
        ],
      },
    ],
  );
  deepEqual(fake.requests, ["GET /networks"]);
});
