import { deepEqual, rejects } from "node:assert/strict";
import { containerInspect } from "../../../../engine/containers.ts";
import type { KeptData } from "../../../../db/updates/previous.ts";
import { keptBy, planUndone } from "../../../../services/updates/data/restored.ts";
import { idOf, setContainers, simulateContainers } from "../../../helpers/fake_containers.ts";
import { fakeEngine } from "../../../helpers/fake_engine.ts";
import { testApp } from "../../../helpers/test_app.ts";

Deno.test("data is not shared with containers that the same stack's update has replaced", async () => {
  const names = ["side", "side-before"];
  await using fake = fakeEngine({
    ...simulateContainers(names.map((name) => ({ name, volumes: ["data"] }))),
    "GET /volumes": () => Response.json({ Volumes: [], Warnings: null }),
  });
  using app = testApp({ engine: fake.engine });
  setContainers(app, ...names.map((name) => ({ name, volumes: ["data"] })));
  const old = await containerInspect(fake.engine, idOf("side"));
  // Docker says so of each mount.
  for (const mount of old.Mounts!) Object.assign(mount, { RW: true });
  const kept = keptBy(app.deps, { old, oldImage: undefined, dependents: [], all: [] });

  await rejects(planUndone(app.deps, kept, {}), /side-before uses volume data, too/);
  const replaced = [idOf("side-before")];
  const { volumes } = await planUndone(app.deps, kept, { replaced });
  deepEqual(volumes, ["data"]);
  const restored: KeptData = { targetId: "t", place: "here", snapshot: "1", volumes: ["gone"] };
  await rejects(
    planUndone(app.deps, kept, { replaced, restored }),
    /side does not use volume gone/,
  );
});
