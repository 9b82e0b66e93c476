import { deepEqual, equal, rejects } from "node:assert/strict";
import { createHelperOf } from "../../../services/containers/helper_container.ts";
import { listAll } from "../../../services/containers/reads.ts";
import {
  HELPER_LABEL,
  helperMark,
  helperName,
  removeLeftHelpers,
} from "../../../services/containers/helpers.ts";
import { aborted } from "../../../services/waiting.ts";
import { silentLog } from "../../../services/log.ts";
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

Deno.test("a helper that the engine does not remove keeps no other one, and no list of containers, from its turn", async () => {
  const names = ["longshore-helper-0000000000aa", "longshore-helper-0000000000bb"];
  const removed: string[] = [];
  let mark = "";
  await using fake = fakeEngine({
    "GET /containers/json": () =>
      Response.json(names.map((name) => ({
        Id: idOf(name),
        Names: [`/${name}`],
        Labels: { [HELPER_LABEL]: mark },
      }))),
    "DELETE /containers/*": ({ path }) => {
      removed.push(path);
      if (!path.includes(idOf(names[0]!))) return new Response(null, { status: 204 });
      return Response.json({ message: "device or resource busy" }, { status: 500 });
    },
  });
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (event: string) => void warnings.push(event) };
  using app = testApp({ engine: fake.engine, log });
  mark = helperMark(app.deps);

  await removeLeftHelpers(app.deps);
  await removeLeftHelpers(app.deps);
  equal(removed.length, 4);
  deepEqual(warnings, ["left helper container not removed"]);
});

Deno.test("a helper whose creation has no answer is removed at once", async () => {
  const cancelled = new AbortController();
  const names: (string | null)[] = [];
  await using fake = fakeEngine({
    "POST /containers/create": async ({ query, signal }) => {
      names.push(query.get("name"));
      const gone = aborted(signal);
      cancelled.abort();
      await gone;
      return new Response();
    },
    "DELETE /containers/*": ({ parts }) => {
      names.push(parts[0]!);
      return new Response(null, { status: 204 });
    },
  });
  using app = testApp({ engine: fake.engine });

  await rejects(createHelperOf(app.deps, { Image: "app:1" }, [], { signal: cancelled.signal }));
  equal(names.length, 2);
  equal(names[0], names[1]);
});
