import { equal } from "node:assert/strict";
import { bringBack, type DataRun } from "../../../../services/updates/data/steps.ts";
import { setContainers } from "../../../helpers/fake_containers.ts";
import { fakeEngine } from "../../../helpers/fake_engine.ts";
import { resumedJob } from "../../../helpers/resumed_job.ts";
import { testApp } from "../../../helpers/test_app.ts";

const input = { targetId: "gone", place: "This host" };
const keep = { snapshot: "a".repeat(64), size: 1 };

/** The data after a failure of a job with these steps, whose target does not answer. */
async function left(results: Record<string, unknown>, ...begun: string[]): Promise<string> {
  const volume = { Name: "data", Mountpoint: "/volumes/data" };
  await using fake = fakeEngine({ "GET /volumes": () => Response.json({ Volumes: [volume] }) });
  using app = testApp({ engine: fake.engine });
  setContainers(app);
  const { job } = resumedJob({ target: "shop", input }, { results: { keep, ...results }, begun });
  const run: DataRun = {
    job,
    undone: { stack: null, volumes: ["data"], images: [] },
    replaced: [],
    notes: { update: "", undo: "" },
    hasStarted: () => job.hasBegun("swap"),
    own: () => Promise.resolve([]),
    stopOld: () => Promise.resolve(),
    stopNew: () => Promise.resolve(),
    isAnyOldUp: () => Promise.resolve(false),
  };
  return (await bringBack(app.deps, run)).has;
}

Deno.test("volumes have a part only from their first change until their last one", async () => {
  const swap = true;
  equal(await left({}, "write"), "old");
  equal(await left({}, "write", "empty"), "part");
  equal(await left({ write: true, empty: true, swap, keep_written: "b" }, "put_back"), "new");
  equal(await left({ swap, keep_written: "b" }, "put_back"), "new");
  equal(await left({ swap, keep_written: "b" }, "put_back", "empty_written"), "part");
});
