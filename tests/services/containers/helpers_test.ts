import { deepEqual } from "node:assert/strict";
import { listAll } from "../../../services/containers/reads.ts";
import { HELPER_LABEL, helperName } from "../../../services/containers/helpers.ts";
import { idOf, simulateContainers } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { testApp } from "../../helpers/test_app.ts";

Deno.test("the label of a helper hides neither a container with another name nor one that runs", async () => {
  const labels = { [HELPER_LABEL]: "x" };
  const running = "longshore-helper-0123456789ac";
  const own = helperName();
  const names = ["longshore-helper-0123456789ab", running, own, "web"];
  await using fake = fakeEngine({
    ...simulateContainers(names.map((name) => ({ name, labels }))),
    "GET /containers/json": () =>
      Response.json(names.map((name) => ({
        Id: idOf(name),
        Names: [`/${name}`],
        Labels: labels,
        Image: "evil:1",
        State: name.endsWith("ab") ? "created" : "running",
      }))),
  });
  using app = testApp({ engine: fake.engine });

  const shown = (await listAll(app.deps)).map(({ name }) => name);
  deepEqual(shown.sort(), [running, "web"]);
});
