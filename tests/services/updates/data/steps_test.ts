import { equal, match } from "node:assert/strict";
import { targetForSnapshot } from "../../../../services/backup/targets/open.ts";
import {
  bringBack,
  type DataRun,
  type DataState,
} from "../../../../services/updates/data/steps.ts";
import { setContainers } from "../../../helpers/fake_containers.ts";
import { temporaryDirectory } from "../../../helpers/command.ts";
import { fakeEngine } from "../../../helpers/fake_engine.ts";
import { resumedJob } from "../../../helpers/resumed_job.ts";
import { testApp } from "../../../helpers/test_app.ts";

const input = { targetId: "gone", place: "This host" };
const keep = { snapshot: "a".repeat(64), size: 1 };

/** The data after a failure of a job with these steps, whose target does not answer. */
async function left(results: Record<string, unknown>, ...begun: string[]): Promise<string> {
  return (await broughtBack({ results, begun })).has;
}

async function broughtBack(
  { results, begun = [], user }: {
    results: Record<string, unknown>;
    begun?: string[];
    /** A container of the job that runs, whose target answers. */
    user?: string;
  },
): Promise<DataState> {
  const volume = { Name: "data", Mountpoint: "/volumes/data" };
  await using fake = fakeEngine({ "GET /volumes": () => Response.json({ Volumes: [volume] }) });
  using data = temporaryDirectory();
  using app = testApp({ engine: fake.engine, config: { dataDir: data.path } });
  setContainers(app, ...user ? [{ name: user, state: "running" as const, volumes: ["data"] }] : []);
  const targetId = user ? (await targetForSnapshot(app.deps, undefined)).id : input.targetId;
  const { job } = resumedJob({ target: "shop", input: { ...input, targetId } }, {
    results: { keep, ...results },
    begun,
  });
  const run: DataRun = {
    job,
    undone: { stack: null, volumes: ["data"], images: [] },
    replaced: [],
    notes: { update: "", undo: "" },
    hasStarted: () => job.hasBegun("swap"),
    own: () => Promise.resolve(app.deps.inventory.list().map(({ id }) => id)),
    stopOld: () => Promise.resolve(),
    stopNew: () => Promise.resolve(),
    isAnyOldUp: () => Promise.resolve(false),
  };
  return await bringBack(app.deps, run);
}

Deno.test("volumes have a part only from their first change until their last one", async () => {
  const swap = true;
  equal(await left({}, "write"), "old");
  equal(await left({}, "write", "empty"), "part");
  equal(await left({ write: true, empty: true, swap, keep_written: "b" }, "put_back"), "new");
  equal(await left({ swap, keep_written: "b" }, "put_back"), "new");
  equal(await left({ swap, keep_written: "b" }, "put_back", "empty_written"), "part");
});

Deno.test("no volume is emptied under a container that the job does not stop", async () => {
  const state = await broughtBack({ results: { swap: true }, user: "shop-run-1" });
  match(state.has === "new" ? state.problem : "", /shop-run-1 still uses volume data; stop it/);
});
