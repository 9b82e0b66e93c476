import { deepEqual } from "node:assert/strict";
import { hostname } from "node:os";
import { openTargetRepository } from "../../../../services/backup/targets/open.ts";
import { type Reason, tagsOf } from "../../../../services/backup/trees/tags.ts";
import { temporaryDirectory } from "../../../helpers/command.ts";
import { description, directoryEntry, entriesOf, signal } from "../../../helpers/repository.ts";
import { testApp } from "../../../helpers/test_app.ts";
import { until } from "../../../helpers/until.ts";

Deno.test("what a restore has replaced takes no place of a backup when snapshots are forgotten", async () => {
  using directory = temporaryDirectory();
  using app = testApp({ config: { dataDir: directory.path } });
  const { body: target } = await app.call("POST", "/api/backup/targets", { name: "here" });
  {
    using opened = await openTargetRepository(app.deps, target.id, signal);
    for (const reason of ["manual", "manual", "undo"] satisfies Reason[]) {
      await opened.repository.backup(entriesOf([directoryEntry("volumes")]), {
        ...description,
        hostname: hostname(),
        paths: ["/volumes/data"],
        tags: tagsOf({ stack: null, reason, note: null }),
      }, signal);
    }
  }
  const { body: job } = await app.call("POST", `/api/backup/targets/${target.id}/forget`, {
    last: 1,
  });
  await until("the job ends", async () => {
    return (await app.call("GET", `/api/jobs/${job.id}`)).body.status === "succeeded";
  });
  const { body: { snapshots } } = await app.call("GET", "/api/backup/snapshots");
  deepEqual(snapshots.map(({ reason }: { reason: string }) => reason).sort(), ["manual", "undo"]);
});
