import { deepEqual } from "node:assert/strict";
import { inspectIfThere } from "../../../../services/updates/run/members.ts";
import { restartStopped, stopAside } from "../../../../services/updates/run/swap.ts";
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

Deno.test("stopAside() stops a container that exits while its restart policy is changed", async () => {
  const id = idOf("web");
  const refusals = ["cannot update a stopped container: unknown"];
  await using fake = fakeEngine({
    ...simulateContainers([{ name: "web", restart: "always" }]),
    "POST /containers/*/update": () => {
      const why = refusals.pop();
      if (why === undefined) return Response.json({ Warnings: null });
      return Response.json({ message: `Cannot update container ${id}: ${why}` }, { status: 500 });
    },
  });
  using app = testApp({ engine: fake.engine });

  await stopAside(app.deps, (await inspectIfThere(fake.engine, id))!);

  deepEqual(
    fake.requests.filter((request) => request.startsWith("POST")).map((each) => each.split("?")[0]),
    ["update", "update", "stop"].map((action) => `POST /containers/${id}/${action}`),
  );
});
