import { deepEqual } from "node:assert/strict";
import { listAll } from "../../../services/containers/reads.ts";
import { HELPER_LABEL } from "../../../services/containers/helpers.ts";
import { idOf, simulateContainers } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { testApp } from "../../helpers/test_app.ts";

Deno.test("the label of a helper hides no container with another name", async () => {
  const labels = { [HELPER_LABEL]: "x" };
  const names = ["longshore-helper-0123456789ab", "web"];
  await using fake = fakeEngine({
    ...simulateContainers(names.map((name) => ({ name, labels }))),
    "GET /containers/json": () =>
      Response.json(names.map((name) => ({
        Id: idOf(name),
        Names: [`/${name}`],
        Labels: labels,
        Image: "evil:1",
      }))),
  });
  using app = testApp({ engine: fake.engine });

  deepEqual((await listAll(app.deps)).map(({ name }) => name), ["web"]);
});
