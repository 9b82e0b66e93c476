import { deepEqual, throws } from "node:assert/strict";
import { insertJob, updateJob } from "../../../../db/jobs.ts";
import { upsertPreviousImage } from "../../../../db/updates/previous.ts";
import type { Snapshot } from "../../../../services/backup/restic/snapshot.ts";
import { assertIdle, neededSnapshots } from "../../../../services/backup/targets/needed.ts";
import { type Reason, tagsOf } from "../../../../services/backup/trees/tags.ts";
import { testApp } from "../../../helpers/test_app.ts";

const snapshot = (id: string, reason: Reason, keptUntil: string | null = null) =>
  ({ id, tags: tagsOf({ stack: null, reason, note: null, keptUntil }) }) as unknown as Snapshot;

Deno.test("neededSnapshots() are those of updates until their day, and of a rollback", () => {
  using app = testApp({ now: "2026-11-27T12:00:00.000Z" });
  upsertPreviousImage(app.deps.db, {
    id: "1",
    containerName: "web",
    imageId: "sha256:1",
    reference: "web:1",
    tag: "longshore-previous/web:1",
    data: { targetId: "here", place: "This host", snapshot: "returns", volumes: ["data"] },
    createdAt: "2026-11-01T00:00:00.000Z",
  });
  const all = [
    snapshot("manual", "manual"),
    snapshot("schedule", "schedule"),
    snapshot("today", "update", "2026-11-27"),
    snapshot("over", "update", "2026-11-26"),
    snapshot("returns", "update", "2026-11-02"),
    snapshot("written", "undo", "2026-12-01"),
    snapshot("replaced", "undo"),
  ];
  const needed = (target: string) =>
    all.filter(neededSnapshots(app.deps, target)).map(({ id }) => id);
  deepEqual(needed("here"), ["today", "returns", "written", "replaced"]);
  deepEqual(needed("elsewhere"), ["today", "written", "replaced"]);
});

for (const kind of ["backup.restore", "backup.restore_stack", "backup.drill"]) {
  Deno.test(`neededSnapshots() are those that an unfinished ${kind} reads`, () => {
    using app = testApp();
    const { db } = app.deps;
    const at = app.deps.now().toISOString();
    insertJob(db, {
      id: "1",
      kind,
      targetType: "stack",
      target: "shop",
      stack: null,
      status: "running",
      progress: null,
      steps: [],
      input: { targetId: "here", snapshot: "read" },
      error: null,
      result: null,
      createdBy: "1",
      tokenId: null,
      createdAt: at,
      startedAt: at,
      endedAt: null,
    });
    const all = [snapshot("read", "schedule"), snapshot("other", "schedule")];
    const needed = (target: string) =>
      all.filter(neededSnapshots(app.deps, target)).map(({ id }) => id);
    deepEqual(needed("here"), ["read"]);
    deepEqual(needed("elsewhere"), []);
    updateJob(db, "1", { status: "succeeded", endedAt: at });
    deepEqual(needed("here"), []);
  });
}

Deno.test("the rollback of a stack uses the targets of the data of its containers", () => {
  using app = testApp();
  const { db } = app.deps;
  const at = app.deps.now().toISOString();
  insertJob(db, {
    ...{ id: "1", kind: "stack.rollback", targetType: "stack", target: "shop", stack: "shop" },
    ...{ status: "running", progress: null, steps: [], error: null, result: null },
    input: { containers: ["db"], previous: [{ container: "db", data: { targetId: "here" } }] },
    ...{ createdBy: "1", tokenId: null, createdAt: at, startedAt: at, endedAt: null },
  });
  throws(() => assertIdle(app.deps, "here"), { code: "conflict" });
  assertIdle(app.deps, "elsewhere");
});
