import { deepEqual } from "node:assert/strict";
import { restartStopped } from "../../../../services/updates/run/swap.ts";
import { idOf, simulateContainers } from "../../../helpers/fake_containers.ts";
import { fakeEngine } from "../../../helpers/fake_engine.ts";
import { testApp } from "../../../helpers/test_app.ts";

const pairOf = (name: string, containerName = name) => ({
  oldId: idOf(`old ${name}`),
  newId: idOf(containerName),
  name,
  ran: true,
  worked: true,
  restartPolicy: { Name: "always" },
  ports: [],
});

Deno.test("restartStopped() leaves a container alone that a later update has replaced", async () => {
  const replaced = "side-longshore-old-running-0123456789ab";
  await using fake = fakeEngine(simulateContainers([
    { name: "vpn", state: "exited" },
    { name: replaced, state: "exited" },
    { name: "side" },
  ]));
  using app = testApp({ engine: fake.engine });

  await restartStopped(app.deps, [pairOf("vpn"), pairOf("side", replaced)]);

  deepEqual(
    fake.requests.filter((request) => request.startsWith("POST")),
    [`POST /containers/${idOf("vpn")}/start`],
  );
});
