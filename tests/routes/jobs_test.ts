import { deepEqual, equal, match, rejects } from "node:assert/strict";
import type { Role } from "../../services/access/caller.ts";
import type { Scope } from "../../services/access/scope.ts";
import { JOB_KINDS } from "../../services/community/job_kinds.ts";
import { failInterrupted, JobEnd, type JobKind, type JobRun } from "../../services/jobs/kind.ts";
import { startJob } from "../../services/jobs/runner.ts";
import { composeLabels, simulateContainers } from "../helpers/fake_containers.ts";
import { type FakeEngine, fakeEngine } from "../helpers/fake_engine.ts";
import { filesWith } from "../helpers/files_with.ts";
import { sseClient } from "../helpers/sse_client.ts";
import { type TestApp, testApp } from "../helpers/test_app.ts";
import { until } from "../helpers/until.ts";

/** Starts a job whose work the test gives. */
function startTestJob(
  { deps }: TestApp,
  run: (job: JobRun) => Promise<unknown> = () => Promise.resolve(null),
  target = "web",
) {
  const kind: JobKind = {
    id: "test",
    targetType: "container",
    role: "admin",
    permission: "images:write",
    run: (_, job) => run(job),
    recover: failInterrupted,
  };
  return startJob(deps, kind, { target, input: { hidden: "input" }, caller: { userId: "key" } });
}

Deno.test("GET /api/jobs/kinds describes every kind, to those who may see one of them", async () => {
  using app = testApp();
  const { status, body } = await app.call("GET", "/api/jobs/kinds", undefined, { role: "viewer" });
  deepEqual([status, body.kinds.map(({ id }: { id: string }) => id)], [
    200,
    JOB_KINDS.map(({ id }) => id),
  ]);
  const { steps, ...update } = body.kinds.find(({ id }: { id: string }) =>
    id === "container.update"
  );
  deepEqual(update, {
    id: "container.update",
    group: "Updates",
    title: "Update",
    running: "Updating {target}",
    unit: "steps",
    targetType: "container",
    readPermission: "containers:read",
    role: "operator",
    permission: "containers:update",
    isResumed: true,
    isListed: true,
  });
  equal(steps.pull, "Pull the image");
  const scoped = (permission: string) =>
    app.call("GET", "/api/jobs/kinds", undefined, { scope: { permissions: [permission] } });
  equal((await scoped("stacks:read")).status, 200);
  equal((await scoped("images:export")).status, 403);
});

Deno.test("every kind of job has its own id and says what is in progress", () => {
  equal(new Set(JOB_KINDS.map(({ id }) => id)).size, JOB_KINDS.length);
  for (const { running, title } of JOB_KINDS) {
    match(title, /^[A-Z][^.]*$/);
    match(running, /^[A-Z]\w+ing /);
  }
});

Deno.test("no other file lists the kinds of jobs", async () => {
  deepEqual(await filesWith(JOB_KINDS.map(({ id }) => `"${id}"`)), []);
});

Deno.test("GET /api/jobs filters, and shows neither input nor results of steps", async () => {
  using app = testApp();
  const { completion, job } = startTestJob(
    app,
    (job) => job.step("create", () => Promise.resolve("hidden value")),
  );
  await completion;
  await startTestJob(app, undefined, "db").completion;

  const { status, body } = await app.call("GET", "/api/jobs?target=web&status=succeeded&kind=test");
  deepEqual([status, body.nextCursor, body.jobs.length], [200, null, 1]);
  deepEqual(Object.keys(body.jobs[0].steps[0]).sort(), [
    ...["endedAt", "message", "name", "startedAt", "status"],
  ]);
  equal("input" in body.jobs[0], false);
  deepEqual((await app.call("GET", `/api/jobs/${job.id}`)).body, body.jobs[0]);

  const several = await app.call("GET", "/api/jobs?target=web&kind=container.update,test");
  deepEqual(several.body.jobs, body.jobs);
  deepEqual((await app.call("GET", "/api/jobs?kind=container.update")).body.jobs, []);
  deepEqual((await app.call("GET", "/api/jobs?status=failed")).body.jobs, []);
  equal((await app.call("GET", "/api/jobs?status=done")).status, 400);
  equal((await app.call("GET", "/api/jobs?cursor=x")).status, 400);
  equal((await app.call("GET", "/api/jobs/x")).status, 404);
  equal((await app.call("POST", "/api/jobs/x/cancel")).status, 404);
  equal((await app.call("GET", "/api/jobs/x/stream")).status, 404);
});

Deno.test("POST /api/jobs/:id/cancel cancels a running job, once", async () => {
  using app = testApp();
  const { job, completion } = startTestJob(
    app,
    ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  );
  await until("it runs", () => app.deps.jobs.get(job.id)?.record.status === "running");

  equal((await app.call("POST", `/api/jobs/${job.id}/cancel`)).status, 202);
  await completion.catch(() => {});
  const again = await app.call("POST", `/api/jobs/${job.id}/cancel`);
  deepEqual([again.status, again.body.error], [
    409,
    `Job ${job.id} has already ended (cancelled)`,
  ]);
});

Deno.test("the stream of a job sends steps, progress, log and the end, to a browser with a ticket", async () => {
  using app = testApp();
  const gate = Promise.withResolvers<void>();
  const { job } = startTestJob(app, async (job) => {
    await job.step("one", () => Promise.resolve());
    job.log("first line");
    await gate.promise;
    await job.step("two", () => {
      job.progress({ current: 1, total: 2, message: null });
      return Promise.resolve();
    });
    return { tags: ["app:1"] };
  });
  await until("it waits", () => app.deps.jobs.get(job.id)?.log.lines.length === 1);
  const { ticket } = (await app.call("POST", "/api/stream/ticket")).body;

  const response = await app.fetch(
    "GET",
    `/api/jobs/${job.id}/stream?ticket=${ticket}`,
    undefined,
    { role: "public" },
  );
  equal(response.headers.get("content-type"), "text/event-stream");
  const client = sseClient(response.body as ReadableStream<Uint8Array<ArrayBuffer>>);
  const [step, line] = await client.take(2);
  deepEqual([step!.data.name, step!.data.status], ["one", "succeeded"]);
  deepEqual(line!.data, { line: "first line" });
  equal(app.deps.jobs.followers.taken, 1);

  gate.resolve();
  const rest = await client.rest();
  const last = rest.at(-1)!;
  deepEqual([last.type, last.data.status, last.data.result], [
    "done",
    "succeeded",
    { tags: ["app:1"] },
  ]);
  deepEqual(rest.find(({ type }) => type === "progress")!.data.current, 1);
  equal(app.deps.jobs.followers.taken, 0);

  // A finished job is streamed from its record.
  const late = await app.fetch("GET", `/api/jobs/${job.id}/stream`);
  const frames = await sseClient(late.body as ReadableStream<Uint8Array<ArrayBuffer>>).rest();
  deepEqual(frames.map(({ type }) => type), ["step", "step", "progress", "done"]);
});

Deno.test("job streams are limited, freed by the client, and end with the service", async () => {
  using app = testApp({ config: { maxSseClients: 1 } });
  const gate = Promise.withResolvers<void>();
  const { job, completion } = startTestJob(app, () => gate.promise);
  const open = () => app.fetch("GET", `/api/jobs/${job.id}/stream`);

  const first = await open();
  const refused = await open();
  equal(refused.status, 503);
  await refused.body?.cancel();
  await first.body?.cancel();
  const second = await open();
  equal(second.status, 200);
  app.deps.jobs.stop();
  equal(await second.text(), "");
  gate.resolve();
  await completion;
});

Deno.test("a job stream that fails is not counted any more", async () => {
  using app = testApp();
  const gate = Promise.withResolvers<void>();
  const { job, completion } = startTestJob(app, () => gate.promise);
  const response = await app.fetch("GET", `/api/jobs/${job.id}/stream`);
  const client = sseClient(response.body as ReadableStream<Uint8Array<ArrayBuffer>>);
  app.deps.accounts.roleOf = () => {
    throw new Error("disk I/O error");
  };
  app.deps.jobs.get(job.id)!.write("a line");
  await rejects(client.rest());
  equal(app.deps.jobs.followers.taken, 0);
  gate.resolve();
  await completion;
});

Deno.test("GET /api/stream sends job frames when a job starts, reaches a step or ends", async () => {
  using app = testApp();
  const response = await app.fetch("GET", "/api/stream?types=job");
  const client = sseClient(response.body as ReadableStream<Uint8Array<ArrayBuffer>>);

  await startTestJob(app, async (job) => {
    await job.step("one", () => Promise.resolve());
    return { large: "result" };
  }).completion;

  const frames = await client.take(5);
  deepEqual(frames.map(({ type, data }) => [type, data.status, data.steps.length, data.result]), [
    ["job", "queued", 0, null],
    ["job", "running", 0, null],
    ["job", "running", 1, null],
    ["job", "running", 1, null],
    ["job", "succeeded", 1, null],
  ]);
  await client.cancel();
});

const OWN: Partial<Scope> = { containers: ["web*"], stacks: ["shop"] };

/** A service with the container web of the stack shop, and one of another stack. */
async function appWithContainers(fake: FakeEngine): Promise<TestApp> {
  const app = testApp({ engine: fake.engine });
  await app.call("GET", "/api/containers");
  app.deps.inventory.setLive(true);
  return app;
}

const containers = () =>
  fakeEngine(simulateContainers([
    { name: "web", labels: composeLabels("shop", "web") },
    { name: "ledger", labels: composeLabels("bank", "ledger") },
  ]));

Deno.test("a token limited to containers sees, follows and cancels only the jobs on them", async () => {
  await using fake = containers();
  using app = await appWithContainers(fake);
  const untilCancelled = ({ signal, ...job }: JobRun) => {
    job.log("waits for ledger");
    return new Promise((_, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason))
    );
  };
  const own = startTestJob(app, untilCancelled);
  const foreign = startTestJob(app, untilCancelled, "ledger");
  await until("it runs", () => app.deps.jobs.get(own.job.id)?.log.lines.length === 1);
  // The record decides, not what the containers are called now.
  app.deps.inventory.replaceAll([], app.deps.inventory.readNumber());
  const call = (method: string, path: string, scope: Partial<Scope> = OWN) =>
    app.call(method, path, undefined, { scope });

  const listed = await call("GET", "/api/jobs?limit=1");
  deepEqual([listed.body.jobs.length, listed.body.nextCursor], [1, null]);
  deepEqual([listed.body.jobs[0].id, listed.body.jobs[0].stack], [own.job.id, "shop"]);
  for (const scope of [OWN, { stacks: ["sh*"] }, { containers: ["web"] }]) {
    equal((await call("GET", `/api/jobs/${own.job.id}`, scope)).status, 200);
    equal((await call("GET", `/api/jobs/${foreign.job.id}`, scope)).status, 404);
    equal((await call("GET", `/api/jobs/${foreign.job.id}/stream`, scope)).status, 404);
    equal((await call("POST", `/api/jobs/${foreign.job.id}/cancel`, scope)).status, 404);
  }

  equal((await call("POST", `/api/jobs/${own.job.id}/cancel`)).status, 202);
  await own.completion.catch(() => {});
  equal((await call("GET", `/api/jobs/${own.job.id}`)).body.status, "cancelled");
  equal(app.deps.jobs.get(foreign.job.id)?.record.status, "running");
  foreign.completion.catch(() => {});
  app.deps.jobs.stop();
});

Deno.test("texts of a job that mention other containers are hidden from a limited token", async () => {
  await using fake = containers();
  using app = await appWithContainers(fake);
  const gate = Promise.withResolvers<void>();
  const { job, completion } = startTestJob(app, async (job) => {
    job.log("restarts web");
    job.log("restarts ledger");
    await gate.promise;
    await job.step("dependents", () => {
      job.progress({ current: 1, total: 2, message: "ledger of bank" });
      return Promise.resolve();
    });
    throw new JobEnd("rolled_back", "ledger did not start", {
      restored: ["web", "ledger"],
      downtimeMs: 5,
    });
  });
  await until("it waits", () => app.deps.jobs.get(job.id)?.log.lines.length === 2);
  const stream = await app.fetch("GET", `/api/jobs/${job.id}/stream`, undefined, { scope: OWN });
  const client = sseClient(stream.body as ReadableStream<Uint8Array<ArrayBuffer>>);
  const lines = (await client.take(2)).map(({ data }) => data.line);
  gate.resolve();
  await completion.catch(() => {});
  const done = (await client.rest()).at(-1)!;

  const HIDDEN = "The reason concerns containers that this token cannot access";
  deepEqual(lines, ["restarts web", HIDDEN]);
  deepEqual(
    done.data,
    (await app.call("GET", `/api/jobs/${job.id}`, undefined, { scope: OWN })).body,
  );
  deepEqual([done.data.error, done.data.progress.message, done.data.result], [
    HIDDEN,
    HIDDEN,
    { restored: ["web", HIDDEN], downtimeMs: 5 },
  ]);
  const { body } = await app.call("GET", `/api/jobs/${job.id}`);
  deepEqual([body.error, body.result.restored], ["ledger did not start", ["web", "ledger"]]);
});

Deno.test("POST /api/jobs/:id/cancel requires what starting the job requires", async () => {
  using app = testApp();
  const { job, completion } = startTestJob(
    app,
    ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  );
  const cancel = (role: Role) =>
    app.call("POST", `/api/jobs/${job.id}/cancel`, undefined, { role });
  deepEqual(
    (await cancel("operator")).body.error,
    "The role admin or images:write is required for this",
  );
  equal((await cancel("viewer")).status, 403);
  equal((await cancel("admin")).status, 202);
  await completion.catch(() => {});
});

Deno.test("log lines and names of files are only for callers who may read logs and back up", async () => {
  using app = testApp();
  const evidence = [{ container: "web", logLines: ["PASSWORD=hunter2"], healthLog: [] }];
  const data = { written: "1", skipped: [{ path: "/volumes/data/null", reason: "is a FIFO" }] };
  const { job, completion } = startTestJob(app, () => {
    throw new JobEnd("rolled_back", "web exited", { image: "app:2", evidence, data });
  });
  await rejects(completion);
  const ask = async (path: string, permissions?: string[]) =>
    (await app.call("GET", path, undefined, permissions ? { scope: { permissions } } : {})).body;

  for (const path of [`/api/jobs/${job.id}`, "/api/jobs", `/api/jobs/${job.id}/stream`]) {
    const without = JSON.stringify(await ask(path, ["containers:read"]));
    const withLogs = JSON.stringify(await ask(path, ["containers:read", "containers:logs"]));

    deepEqual(
      [/app:2/, /hunter2|evidence/].map((pattern) => pattern.test(without)),
      [true, false],
      path,
    );
    equal(withLogs.includes("hunter2"), true, path);
    equal(withLogs.includes("/volumes/data/null"), false, path);
    match(JSON.stringify(await ask(path)), /hunter2.*data\/null/);
  }
});
