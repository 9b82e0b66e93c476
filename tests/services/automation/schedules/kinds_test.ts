import { deepEqual, equal, match } from "node:assert/strict";
import { insertBackupTarget } from "../../../../db/backup_targets.ts";
import { type Job, selectJobs } from "../../../../db/jobs.ts";
import { insertJob } from "../../../../db/jobs.ts";
import { insertScheduleRun } from "../../../../db/schedule_runs.ts";
import { createRunStarter } from "../../../../services/automation/schedules/runs.ts";
import { backupTarget } from "../../../helpers/backup_target.ts";
import { temporaryDirectory } from "../../../helpers/command.ts";
import { composeLabels, simulateContainers } from "../../../helpers/fake_containers.ts";
import { fakeEngine } from "../../../helpers/fake_engine.ts";
import { appWithRights } from "../../../helpers/custom_roles.ts";
import { type TestApp, testApp } from "../../../helpers/test_app.ts";

const PATH = "/api/schedules";
const TIMES = { cronExpression: "0 3 * * *", timezone: "UTC" };

async function create(app: TestApp, body: Record<string, unknown>) {
  const schedule = { name: "nightly", allowMissing: true, ...TIMES, ...body };
  const { status, body: created } = await app.call("POST", PATH, schedule);
  equal(status, 201, created.error);
  return created;
}

/** Runs what is due at 3 o'clock. @returns The runs, newest first. */
async function runNight(app: TestApp) {
  app.clock.set("2026-01-02T03:00:00Z");
  const runs = createRunStarter(app.deps);
  runs.startDue(new Date("2026-01-02T02:59:00Z"), app.deps.now());
  await runs.idle();
  return (await app.call("GET", `${PATH}/history`)).body.history;
}

for (
  const [settings, error] of [
    [{ kind: "stack" }, "body.stack: is required for the kind stack"],
    [
      { kind: "stack", stack: "shop", mode: "stop" },
      "body.mode: is not used by the kind stack; leave it out",
    ],
    [
      { kind: "stack", stack: "shop", action: "backup" },
      "body.action: must be one of restart, start, stop, update",
    ],
    [{ kind: "backup" }, "body.stack: A backup needs either stack or volumes"],
    [
      { kind: "backup", stack: "shop", volumes: ["shop_data"] },
      "body.stack: A backup needs either stack or volumes",
    ],
    [
      { kind: "backup", stack: "shop", target: "NAS" },
      "body.target: Backup target NAS does not exist",
    ],
    [
      { kind: "prune", prune: { kinds: ["volumes"] } },
      "body.prune.kinds: volumes requires includeVolumes: true",
    ],
    [
      { kind: "stack", stack: "gone", allowMissing: false },
      "body.stack: Stack gone does not exist; use allowMissing to accept it",
    ],
  ] as const
) {
  Deno.test(`POST /api/schedules refuses ${JSON.stringify(settings)}`, async () => {
    await using fake = fakeEngine(simulateContainers([]));
    using app = testApp({ engine: fake.engine });
    const body = { name: "nightly", allowMissing: true, ...TIMES, ...settings };
    const refused = await app.call("POST", PATH, body);
    deepEqual([refused.status, refused.body.error], [400, error]);
  });
}

for (
  const [settings, needed] of [
    [{ kind: "stack", stack: "shop", action: "stop" }, ["stacks:stop"]],
    [{ kind: "backup", stack: "shop" }, ["backup:run"]],
    [{ kind: "backup", stack: "shop", keep: { last: 3 } }, ["backup:run", "backup:write"]],
    [{ kind: "drill", stack: "shop" }, ["backup:run"]],
    [{ kind: "prune" }, ["system:prune"]],
    [{ kind: "prune", prune: { includeVolumes: true } }, ["system:prune", "volumes:prune"]],
    [{ kind: "backup-prune" }, ["backup:write"]],
  ] as const
) {
  Deno.test(`a schedule needs ${needed.join(" and ")} for ${JSON.stringify(settings)}`, async () => {
    const schedule = { name: "nightly", allowMissing: true, ...TIMES, ...settings };
    for (const missing of needed) {
      const others = needed.filter((each) => each !== missing);
      using app = await appWithRights("schedules:write", ...others);
      const { status, body } = await app.asViewer("POST", PATH, schedule);
      equal(status, 403);
      match(body.error, new RegExp(`or ${missing} is required for this$`));
    }
    using app = await appWithRights("schedules:write", ...needed);
    const { status, body } = await app.asViewer("POST", PATH, schedule);
    equal(status, 201, body.error);
  });
}

Deno.test("no custom role is enough for a schedule of backups of Longshore", async () => {
  using app = await appWithRights("schedules:write", "backup:write");
  insertBackupTarget(app.deps.db, backupTarget({ name: "NAS" }));
  const schedule = { name: "nightly", kind: "own-backup", target: "NAS", ...TIMES };
  const refused = await app.asViewer("POST", PATH, schedule);
  deepEqual([refused.status, refused.body.error], [
    403,
    "Only admins who log in may enable schedules of the kind own-backup",
  ]);
  const { id } = await create(app, schedule);
  equal((await app.asViewer("PUT", `${PATH}/${id}/toggle`, { enabled: false })).status, 200);
  equal((await app.asViewer("PUT", `${PATH}/${id}/toggle`, { enabled: true })).status, 403);
});

Deno.test("a change to another kind drops the settings of the former one", async () => {
  using app = testApp();
  const { id } = await create(app, { containerId: "web", containerName: "web", action: "stop" });
  const change = async (body: object) => (await app.call("PUT", `${PATH}/${id}`, body)).body;
  const stack = await change({ kind: "stack", stack: "shop" });
  deepEqual(
    [stack.kind, stack.action, stack.stack, stack.subject, "containerId" in stack],
    ["stack", "restart", "shop", "shop", false],
  );
  const backup = await change({ kind: "backup", stack: "shop", keep: { daily: 7 }, mode: "pause" });
  deepEqual([backup.action, backup.keep, backup.mode], ["backup", { daily: 7 }, "pause"]);
  const plain = await change({ keep: null, mode: null });
  deepEqual([plain.stack, "keep" in plain, "mode" in plain], ["shop", false, false]);
  const volumes = await change({ stack: null, volumes: ["b", "a", "b"] });
  deepEqual([volumes.volumes, volumes.subject], [["a", "b"], "a, b"]);
});

Deno.test("a stack is restarted, and what fails is the error of the run", async () => {
  const labels = composeLabels("shop", "web");
  const answers = simulateContainers([{ name: "web", labels }]);
  await using fake = fakeEngine(answers);
  using app = testApp({ engine: fake.engine, now: "2026-01-01T12:00:00Z" });
  await create(app, { kind: "stack", stack: "shop", action: "restart" });
  const [run] = await runNight(app);
  deepEqual(
    [run.status, run.kind, run.action, run.stack, run.subject, run.error],
    ["success", "stack", "restart", "shop", "shop", null],
  );
  equal(fake.requests.filter((each) => each.includes("/restart")).length, 1);
});

Deno.test("a backup whose target is gone is a failed run", async () => {
  await using fake = fakeEngine({
    ...simulateContainers([
      { name: "web", labels: composeLabels("shop", "web"), volumes: ["shop_data"] },
    ]),
    "GET /volumes": () => Response.json({ Volumes: [] }),
  });
  using directory = temporaryDirectory();
  const config = { dataDir: directory.path };
  using app = testApp({ engine: fake.engine, now: "2026-01-01T12:00:00Z", config });
  const { body: target } = await app.call("POST", "/api/backup/targets", { name: "here" });
  const schedule = await create(app, { kind: "backup", stack: "shop", target: target.id });
  equal(schedule.target, "here");
  await app.call("DELETE", `/api/backup/targets/${target.id}`);
  const [run] = await runNight(app);
  deepEqual([run.status, run.error], ["failure", `Backup target ${target.id} does not exist`]);
  // It can still be changed.
  const path = `${PATH}/${schedule.id}`;
  equal((await app.call("PUT", path, { name: "other", enabled: false })).status, 200);
});

Deno.test("a target is pruned by a job that the run waits for", async () => {
  using directory = temporaryDirectory();
  const config = { dataDir: directory.path };
  using app = testApp({ now: "2026-01-01T12:00:00Z", config });
  await app.call("POST", "/api/backup/targets", { name: "here" });
  await create(app, { kind: "backup-prune", target: "here", keep: { last: 1 } });
  const [run] = await runNight(app);
  deepEqual([run.status, run.error], ["success", null]);
  const jobs = selectJobs(app.deps.db, {}, { limit: 10 });
  deepEqual(jobs.map(({ kind, status }) => [kind, status]).sort(), [
    ["backup.forget", "succeeded"],
    ["backup.prune", "succeeded"],
  ]);
  equal(run.jobId, jobs.find(({ kind }) => kind === "backup.prune")!.id);
});

for (
  const { status, endedAt, outcome } of [
    { status: "running", endedAt: null, outcome: [] },
    { status: "succeeded", endedAt: "2026-01-02T03:01:00Z", outcome: ["success"] },
    { status: "failed", endedAt: "2026-01-02T03:01:00Z", outcome: ["failure"] },
  ] as const
) {
  Deno.test(`a run whose job is ${status} after a restart is ${outcome[0] ?? "not ended"}`, async () => {
    using app = testApp({ now: "2026-01-01T12:00:00Z" });
    const { id: scheduleId } = await create(app, { kind: "backup", stack: "shop" });
    const at = "2026-01-02T02:00:00.000Z";
    insertJob(app.deps.db, jobOf({ status, endedAt, createdAt: at }));
    insertScheduleRun(app.deps.db, {
      id: "run",
      scheduleId,
      scheduleName: "nightly",
      kind: "backup",
      action: "backup",
      containerId: null,
      containerName: null,
      stack: "shop",
      subject: "shop",
      jobId: "job",
      startedAt: at,
      dueAt: at,
    });
    const history = await runNight(app);
    const earlier = history.filter(({ startedAt }: { startedAt: string }) => startedAt === at);
    deepEqual(earlier.map(({ status }: { status: string }) => status), outcome);
    const due = history.find(({ startedAt }: { startedAt: string }) => startedAt !== at);
    // The job that continues excludes the next run.
    equal(due.status === "skipped", endedAt === null);
  });
}

function jobOf(fields: Partial<Job>): Job {
  return {
    id: "job",
    kind: "backup.snapshot",
    targetType: "host",
    target: "shop",
    stack: null,
    status: "running",
    progress: null,
    steps: [],
    input: {},
    error: null,
    result: null,
    createdBy: "schedule",
    tokenId: null,
    createdAt: "2026-01-02T02:00:00.000Z",
    startedAt: null,
    endedAt: null,
    ...fields,
  };
}
