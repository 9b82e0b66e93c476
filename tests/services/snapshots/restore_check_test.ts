import { deepEqual, equal, rejects } from "node:assert/strict";
import { openTargetRepository } from "../../../services/backup/targets/open.ts";
import { putPartsBack } from "../../../services/backup/trees/keep.ts";
import { volumePart } from "../../../services/backup/trees/part.ts";
import type { RestoreInput } from "../../../services/snapshots/restore/job.ts";
import { restoreParts } from "../../../services/snapshots/restore/run.ts";
import { temporaryDirectory } from "../../helpers/command.ts";
import { setContainers } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { damagePacks } from "../../helpers/damaged_packs.ts";
import {
  description,
  directoryEntry,
  entriesOf,
  fileEntry,
  signal,
  type TestEntry,
} from "../../helpers/repository.ts";
import { resumedJob } from "../../helpers/resumed_job.ts";
import { testApp } from "../../helpers/test_app.ts";

const VOLUME = { Name: "data", Driver: "local", Mountpoint: "/volumes/data" };

const NODE: TestEntry = { ...directoryEntry("volumes/data/sda"), type: "dev" };

/** An application with a container that uses a volume, of which a target has a snapshot. */
async function snapshotOf(entry: TestEntry) {
  await using stack = new AsyncDisposableStack();
  const fake = stack.use(fakeEngine({
    "GET /volumes": () => Response.json({ Volumes: [VOLUME] }),
    "POST /containers/*/start": () => new Response(null, { status: 304 }),
    "GET /info": () => Response.json({}),
    "GET /system/df": () => Response.json({ Volumes: [] }),
  }));
  const { path: dataDir } = stack.use(temporaryDirectory());
  const app = stack.use(testApp({ engine: fake.engine, config: { dataDir } }));
  setContainers(app, { name: "shop-db-1", state: "running", volumes: ["data"] });
  const { body: target } = await app.call("POST", "/api/backup/targets", { name: "here" });
  const entries = [directoryEntry("volumes"), directoryEntry("volumes/data"), entry];
  using opened = await openTargetRepository(app.deps, target.id, signal);
  const options = { ...description, paths: ["/volumes/data"] };
  const { snapshot } = await opened.repository.backup(entriesOf(entries), options, signal);
  const { id, name } = app.deps.inventory.list()[0]!;
  const input: RestoreInput = {
    targetId: target.id,
    place: "here",
    snapshot: snapshot.id,
    files: null,
    parts: [{ from: "volumes/data", to: volumePart("data") }],
    to: "replace",
    stableSeconds: 1,
    images: [],
    affected: [{ id, name }],
  };
  const owned = stack.move();
  return {
    app,
    input,
    snapshot: snapshot.id,
    directory: target.location as string,
    /** Runs the job, which must end with the message before it stops anything. */
    async refuses(message: string | RegExp) {
      const { job, steps } = resumedJob({ target: "data", input }, {});
      await rejects(restoreParts(app.deps, job), { status: "rolled_back", message });
      deepEqual(steps, ["plan", "check", "failure", "start again"]);
      deepEqual(fake.requests.filter((request) => /\/(create|pause|stop)/.test(request)), []);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

Deno.test("a snapshot that cannot be written is refused before anything stops", async () => {
  await using given = await snapshotOf(NODE);
  const { app, snapshot, refuses } = given;
  const path = `/api/backup/snapshots/${snapshot}/restore`;
  const { status, body } = await app.call("POST", path, { what: "volume", to: "replace" });
  equal(status, 409, JSON.stringify(body));
  equal(body.error, '/volumes/data: "sda" is a device node');
  await refuses('/volumes/data: "sda" is a device node');
});

const FILE = fileEntry("volumes/data/file", new Uint8Array(5_000));

Deno.test("a restore refuses a name that it would ignore, and a file as a volume", async () => {
  await using given = await snapshotOf(FILE);
  const restore = async (body: Record<string, unknown>) =>
    (await given.app.call("POST", `/api/backup/snapshots/${given.snapshot}/restore`, {
      what: "volume",
      ...body,
    })).body.error;
  equal(await restore({ to: "replace", as: "other" }), "body.as: is for new volumes only");
  equal(await restore({ paths: ["/volumes/data/file"] }), "body.paths: must be directories");
});

Deno.test("a snapshot whose content is damaged is refused before anything stops", async () => {
  await using given = await snapshotOf(FILE);
  await damagePacks(given.directory);
  await given.refuses(/^\w+ [0-9a-f]{8} is damaged: /);
});

Deno.test("what was there does not come back from a damaged snapshot: nothing is emptied for it", async () => {
  await using given = await snapshotOf(FILE);
  await damagePacks(given.directory);
  const { app, snapshot } = given;
  const kept = { ...given.input, snapshot, parts: [volumePart("data")], containers: [] };
  const never = () => Promise.reject(new Error("It was changed"));
  const job = { signal, progress() {} };
  const putBack = putPartsBack(app.deps, kept, {
    ...{ job, stop: never, begin: never, hasBegun: () => false },
  });
  await rejects(putBack, /\w+ [0-9a-f]{8} is damaged: /);
});
