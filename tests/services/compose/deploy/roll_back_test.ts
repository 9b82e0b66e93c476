import { rejects } from "node:assert/strict";
import { insertJob, type Job, type JobStep } from "../../../../db/jobs.ts";
import { upsertPreviousImage } from "../../../../db/updates/previous.ts";
import type { Caller } from "../../../../services/access/caller.ts";
import { planDeployUndone } from "../../../../services/compose/deploy/data.ts";
import type { DeployInput } from "../../../../services/compose/deploy/job.ts";
import { rollBackStack } from "../../../../services/compose/deploy/roll_back.ts";
import type { Project } from "../../../../services/compose/load/resolve.ts";
import type { Observed } from "../../../../services/compose/plan/observed.ts";
import { composeLabels, setContainers } from "../../../helpers/fake_containers.ts";
import { fakeEngine } from "../../../helpers/fake_engine.ts";
import { testApp } from "../../../helpers/test_app.ts";

const admin: Caller = { userId: "key", role: "admin", familyId: "f", address: "192.0.2.1" };

const step = (name: string, value: unknown = null): JobStep => ({
  ...{ name, status: "succeeded", startedAt: "", endedAt: "", message: null },
  value,
});

/** A job of a day that has ended. */
const job = (day: number, status: Job["status"], more: Partial<Job> = {}): Job => ({
  ...{ id: `job ${day}`, kind: "stack.deploy", targetType: "stack", target: "shop", stack: "shop" },
  ...{ status, progress: null, error: null, createdBy: "key", tokenId: null },
  steps: [step("read", [])],
  input: { version: day },
  result: { version: day, changes: [{ kind: "service", name: "web", action: "recreate" }] },
  createdAt: `2026-01-0${day}T00:00:00.000Z`,
  startedAt: `2026-01-0${day}T00:00:00.000Z`,
  endedAt: `2026-01-0${day}T00:01:00.000Z`,
  ...more,
});

const restore = { kind: "backup.restore_stack", result: { version: 9 } };
const stopped = { steps: [step("failure", "It failed")] };
const IN_PART = /^The change of shop of 2026-01-0\dT.* ended as \w+ and left it changed in part/;
/** The rollback goes on, and finds that its version was not stored. */
const GOES_ON = /Stack shop does not exist|sources/;

for (
  const { what, jobs, message } of [
    {
      what: "a deploy that needs attention",
      jobs: [job(1, "succeeded"), job(2, "succeeded"), job(3, "needs_attention")],
      message: IN_PART,
    },
    {
      what: "a deploy that was stopped where it failed",
      jobs: [job(1, "succeeded"), job(2, "succeeded"), job(3, "failed", stopped)],
      message: IN_PART,
    },
    {
      what: "an earlier deploy in part",
      jobs: [job(1, "succeeded"), job(2, "needs_attention"), job(3, "succeeded")],
      message: IN_PART,
    },
    {
      what: "a restore",
      jobs: [job(1, "succeeded"), job(2, "succeeded"), job(3, "succeeded", restore)],
      message: /^The last change of shop was a restore/,
    },
  ]
) {
  Deno.test(`a rollback of a stack does not pass ${what}`, async () => {
    await using fake = fakeEngine();
    using app = testApp({ engine: fake.engine });
    for (const each of jobs) insertJob(app.deps.db, each);
    await rejects(rollBackStack(app.deps, admin, { name: "shop", data: true }), {
      code: "conflict",
      message,
    });
  });
}

Deno.test("a rollback of a stack passes deploys that have changed nothing", async () => {
  await using fake = fakeEngine();
  using app = testApp({ engine: fake.engine });
  setContainers(app);
  const jobs = [
    job(1, "succeeded"),
    job(2, "succeeded"),
    job(3, "rolled_back", stopped),
    job(4, "failed", { result: null }),
  ];
  for (const each of jobs) insertJob(app.deps.db, each);
  await rejects(
    rollBackStack(app.deps, admin, { name: "shop", data: false }),
    (error: Error) => GOES_ON.test(error.message),
  );
});

/** An update of `web`, taken back without its data. */
const update = { kind: "stack.update", result: { results: [{ container: "web", updated: true }] } };

Deno.test("a rollback of a stack whose updated containers are gone is refused", async () => {
  await using fake = fakeEngine({ "GET /containers/json": () => Response.json([]) });
  using app = testApp({ engine: fake.engine });
  setContainers(app, { name: "other", labels: composeLabels("shop", "other") });
  insertJob(app.deps.db, job(1, "succeeded", update));
  await rejects(rollBackStack(app.deps, admin, { name: "shop", data: false }), {
    code: "conflict",
    message: /^web was renamed or removed since the update of shop/,
  });
});

Deno.test("a rollback of a stack leaves containers that were recreated from the same image", async () => {
  await using fake = fakeEngine({ "GET /containers/json": () => Response.json([]) });
  using app = testApp({ engine: fake.engine });
  setContainers(app, { name: "other", labels: composeLabels("shop", "other") });
  const kept = { before: "40dc1520".repeat(8), target: "disk" };
  const same = { container: "db", updated: true, isSameImage: true, data: kept };
  const result = { results: [...update.result.results, same] };
  insertJob(app.deps.db, job(1, "succeeded", { ...update, result }));
  await rejects(rollBackStack(app.deps, admin, { name: "shop", data: false }), {
    message: /^web was renamed or removed/,
  });
  await rejects(rollBackStack(app.deps, admin, { name: "shop", data: true }), {
    code: "conflict",
    message: /^db was recreated from the same image.* restore snapshot 40dc1520 at disk$/,
  });
});

Deno.test("a rollback of a stack does not go to an image from before its last update but one", async () => {
  await using fake = fakeEngine({ "GET /images/*/json": () => Response.json({ Id: "sha256:1" }) });
  using app = testApp({ engine: fake.engine });
  setContainers(app, { name: "web", labels: composeLabels("shop", "web") });
  insertJob(app.deps.db, job(3, "succeeded", update));
  upsertPreviousImage(app.deps.db, {
    ...{ id: "1", containerName: "web", imageId: "sha256:1", reference: "web:1", tag: "web:1" },
    ...{ data: null, createdAt: "2026-01-02T00:00:00.000Z" },
  });
  await rejects(rollBackStack(app.deps, admin, { name: "shop", data: false }), {
    code: "conflict",
    message: "The image of web before its last update was removed",
  });
});

Deno.test("a rollback that would bring data back under no container fails", async () => {
  await using fake = fakeEngine();
  using app = testApp({ engine: fake.engine });
  const restored = { targetId: "t", place: "disk", snapshot: "1", volumes: ["data"] };
  const input = { targetId: "t", restored } as unknown as DeployInput;
  const project = { name: "shop", services: {}, volumes: {} } as unknown as Project;
  const observed = { containers: [], all: [] } as unknown as Observed;
  await rejects(planDeployUndone(app.deps, input, project, observed, []), {
    code: "conflict",
    message: /^The rollback of shop does not change any container that uses the data/,
  });
});
