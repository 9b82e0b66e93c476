import { deepEqual, equal, rejects } from "node:assert/strict";
import { openTargetRepository } from "../../../services/backup/targets/open.ts";
import { volumePart } from "../../../services/backup/trees/part.ts";
import type { RestoreInput } from "../../../services/snapshots/restore/job.ts";
import { restoreParts } from "../../../services/snapshots/restore/run.ts";
import { temporaryDirectory } from "../../helpers/command.ts";
import { setContainers } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { description, directoryEntry, entriesOf, signal } from "../../helpers/repository.ts";
import { resumedJob } from "../../helpers/resumed_job.ts";
import { testApp } from "../../helpers/test_app.ts";

Deno.test("a snapshot that cannot be written is refused before anything stops", async () => {
  const volume = { Name: "data", Driver: "local", Mountpoint: "/volumes/data" };
  await using fake = fakeEngine({
    "GET /volumes": () => Response.json({ Volumes: [volume] }),
    "POST /containers/*/start": () => new Response(null, { status: 304 }),
    "GET /info": () => Response.json({}),
    "GET /system/df": () => Response.json({ Volumes: [] }),
  });
  using directory = temporaryDirectory();
  using app = testApp({ engine: fake.engine, config: { dataDir: directory.path } });
  setContainers(app, { name: "shop-db-1", state: "running", volumes: ["data"] });
  const { body: target } = await app.call("POST", "/api/backup/targets", { name: "here" });
  const entries = entriesOf([
    directoryEntry("volumes"),
    directoryEntry("volumes/data"),
    { ...directoryEntry("volumes/data/sda"), type: "dev" },
  ]);
  using opened = await openTargetRepository(app.deps, target.id, signal);
  const options = { ...description, paths: ["/volumes/data"] };
  const { snapshot } = await opened.repository.backup(entries, options, signal);

  const path = `/api/backup/snapshots/${snapshot.id}/restore`;
  const { status, body } = await app.call("POST", path, { what: "volume", to: "replace" });
  equal(status, 409, JSON.stringify(body));
  equal(body.error, '/volumes/data: "sda" is a device node');

  const [{ id, name }] = app.deps.inventory.list();
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
  const { job, steps } = resumedJob({ target: "data", input }, {});
  await rejects(restoreParts(app.deps, job), {
    status: "rolled_back",
    message: '/volumes/data: "sda" is a device node',
  });
  deepEqual(steps, ["plan", "check", "failure", "start again"]);
  deepEqual(fake.requests.filter((request) => /\/(create|pause|stop)/.test(request)), []);
});
