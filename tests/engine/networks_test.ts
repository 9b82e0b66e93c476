import { deepEqual, equal, rejects } from "node:assert/strict";
import { EngineError } from "../../engine/errors.ts";
import {
  networkConnect,
  networkDisconnect,
  networkInspect,
  networkList,
} from "../../engine/networks.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";

Deno.test("networks are listed and inspected", async () => {
  await using fake = fakeEngine({
    "GET /networks": () => Response.json([{ Id: "n1", Name: "front" }]),
    "GET /networks/*": ({ parts }) => Response.json({ Id: "n1", Name: parts[0] }),
  });
  equal((await networkList(fake.engine, { filters: { driver: ["bridge"] } }))[0]!.Name, "front");
  equal((await networkInspect(fake.engine, "my net")).Name, "my net");
  equal(fake.requests[0], "GET /networks?filters=%7B%22driver%22%3A%5B%22bridge%22%5D%7D");
});

Deno.test("containers are connected with their settings, and disconnected", async () => {
  const bodies: unknown[] = [];
  await using fake = fakeEngine({
    "POST /networks/n1/*": ({ body }) => {
      bodies.push(body);
      return new Response(null);
    },
  });
  const endpoint = { Aliases: ["db"], IPAMConfig: { IPv4Address: "10.0.0.9" } };
  await networkConnect(fake.engine, "n1", { container: "c1", endpoint });
  await networkDisconnect(fake.engine, "n1", { container: "c1" });
  deepEqual(bodies, [
    { Container: "c1", EndpointConfig: endpoint },
    { Container: "c1", Force: false },
  ]);
});

Deno.test("networkConnect() fails with the reason of the engine", async () => {
  const message = "endpoint with name web already exists in network front";
  await using fake = fakeEngine({
    "POST /networks/n1/connect": () => Response.json({ message }, { status: 403 }),
  });
  await rejects(
    networkConnect(fake.engine, "n1", { container: "c1" }),
    new EngineError(403, message),
  );
});
