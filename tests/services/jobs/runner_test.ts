import { deepEqual, equal, match, rejects, throws } from "node:assert/strict";
import { EngineUnreachableError } from "../../../engine/errors.ts";
import { failInterrupted, JobEnd, type JobKind, type JobRun } from "../../../services/jobs/kind.ts";
import type {
  DeployInput,
  DeployResult,
  DownResult,
} from "../../../services/compose/deploy/job.ts";
import { deployKind, downKind } from "../../../services/compose/deploy/kinds.ts";
import { cancelJob, getJob, listJobs, sweepJobs } from "../../../services/jobs/jobs.ts";
import { resumeJobs, startJob } from "../../../services/jobs/runner.ts";
import type { Caller } from "../../../services/access/caller.ts";
import { AppError } from "../../../services/errors.ts";
import type { Deps } from "../../../services/deps.ts";
import { throwIfInterrupted } from "../../../services/updates/run/interruption.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { openTestDatabase, testApp } from "../../helpers/test_app.ts";
import { until } from "../../helpers/until.ts";

const admin: Caller = { userId: "key", role: "admin", familyId: "f", address: "192.0.2.1" };

/** A kind whose work the test gives. */
function kindOf(
  run: (job: JobRun<{ text: string }>, deps: Deps) => Promise<unknown>,
  more: Partial<JobKind<{ text: string }>> = {},
): JobKind<{ text: string }> {
  return {
    id: "test",
    targetType: "container",
    role: "admin",
    permission: "images:write",
    run: (deps, job) => run(job, deps),
    recover: failInterrupted,
    ...more,
  };
}

const start = (
  deps: Deps,
  kind: JobKind<{ text: string }>,
  target = "web",
  caller: Pick<Caller, "userId" | "apiToken"> = admin,
) => startJob(deps, kind, { target, input: { text: "x" }, caller });

const user = (userId: string, token?: string) => ({
  userId,
  ...(token !== undefined && { apiToken: { id: token, name: token, hash: "" } }),
});

/** Callers of whom each has another account. */
const accounts = [1, 2, 3, 4].map((n) => user(`user ${n}`));

const read = (deps: Deps, { job: { id } }: { job: { id: string } }) => getJob(deps, admin, id);

Deno.test("startJob() runs the steps in order and stores their outcome and the result", async () => {
  using app = testApp();
  const kind = kindOf(async (job) => {
    const made = await job.step("create", () => Promise.resolve({ id: "c1" }));
    app.clock.advance({ seconds: 2 });
    await job.step("start", () => Promise.resolve());
    return { made, text: job.input.text };
  });

  const started = start(app.deps, kind);
  deepEqual(
    [started.job.status, started.job.createdBy, started.job.target],
    ["queued", "key", "web"],
  );
  await started.completion;

  const { status, steps, result, error, endedAt } = read(app.deps, started);
  deepEqual({ status, result, error, endedAt }, {
    status: "succeeded",
    result: { made: { id: "c1" }, text: "x" },
    error: null,
    endedAt: "2026-01-01T00:00:02.000Z",
  });
  deepEqual(steps.map(({ name, status }) => [name, status]), [
    ["create", "succeeded"],
    ["start", "succeeded"],
  ]);
});

for (
  const { what, error, status, shown } of [
    {
      what: "an expected error fails it with its message",
      error: new AppError("bad_gateway", "The registry refused"),
      status: "failed",
      shown: "The registry refused",
    },
    {
      what: "a bug fails it without internals",
      error: new TypeError("secret of the host"),
      status: "failed",
      shown: "Internal error",
    },
    {
      what: "a rollback is recorded as such",
      error: new JobEnd("rolled_back", "The new container was unhealthy"),
      status: "rolled_back",
      shown: "The new container was unhealthy",
    },
    {
      what: "a failed rollback is recorded as such",
      error: new JobEnd("needs_attention", "The old container is gone"),
      status: "needs_attention",
      shown: "The old container is gone",
    },
  ]
) {
  Deno.test(`startJob(): ${what}`, async () => {
    using app = testApp();
    const started = start(app.deps, kindOf((job) => job.step("try", () => Promise.reject(error))));

    await rejects(started.completion);

    const job = read(app.deps, started);
    deepEqual([job.status, job.error, job.steps[0]?.status], [status, shown, "failed"]);
  });
}

Deno.test("a deploy reports how it ended once, with the end itself", async () => {
  using app = testApp();
  const told: unknown[] = [];
  app.deps.events.publish = ({ event, data }) => void told.push([event, data]);
  const input = { version: 3 } as DeployInput;
  const end = async (run: () => Promise<DeployResult>) => {
    const kind = { ...deployKind, reserve: () => ({ [Symbol.dispose]() {} }), run };
    const { job, completion } = startJob(app.deps, kind, { target: "shop", input, caller: admin });
    await completion.catch(() => {});
    return job.id;
  };
  const reported = (event: string, reason: string | null, jobId: string) =>
    [event, { stack: "shop", version: 3, reason, jobId }] as const;
  deepEqual([
    reported("deploy.succeeded", null, await end(() => Promise.resolve({} as DeployResult))),
    reported(
      "deploy.failed",
      "No such image",
      await end(() => Promise.reject(new AppError("bad_gateway", "No such image"))),
    ),
    reported(
      "deploy.rolled_back",
      "web exited",
      await end(() => Promise.reject(new JobEnd("rolled_back", "web exited"))),
    ),
    reported(
      "deploy.needs_attention",
      "web is gone",
      await end(() => Promise.reject(new JobEnd("needs_attention", "web is gone"))),
    ),
  ], told);
});

Deno.test("the removal of a stack reports only that it failed", async () => {
  using app = testApp();
  const told: unknown[] = [];
  app.deps.events.publish = ({ event, data }) => void told.push([event, data]);
  const remove = (run: () => Promise<DownResult>) =>
    startJob(app.deps, { ...downKind, run }, {
      target: "shop",
      input: { volumes: false, images: "none", affected: [] },
      caller: admin,
    });
  await remove(() => Promise.resolve({} as DownResult)).completion;
  const failed = remove(() => Promise.reject(new AppError("conflict", "Network is in use")));
  await rejects(failed.completion);
  const data = { stack: "shop", reason: "Network is in use", jobId: failed.job.id };
  deepEqual(told, [["stack.down_failed", data]]);
});

Deno.test("startJob() refuses a second job on a target until the first has ended", async () => {
  using app = testApp();
  const gate = Promise.withResolvers<void>();
  const kind = kindOf(() => gate.promise);
  const first = start(app.deps, kind);

  throws(() => start(app.deps, kind), {
    code: "conflict",
    message: `Job ${first.job.id} (test) on web has not finished yet`,
  });
  const other = start(app.deps, kind, "db");
  gate.resolve();
  await Promise.all([first.completion, other.completion]);
  await start(app.deps, kind).completion;
});

Deno.test("four jobs run at a time, and the others start in order", async () => {
  using app = testApp();
  const begun: string[] = [];
  const gates = new Map<string, () => void>();
  const kind = kindOf((job) => {
    begun.push(job.target);
    return new Promise<void>((resolve) => gates.set(job.target, resolve));
  });
  const jobs = [1, 2, 3, 4, 5, 6].map((n) => start(app.deps, kind, `c${n}`, accounts[n % 4]));

  await until("four run", () => begun.length === 4);
  deepEqual(jobs.map((job) => read(app.deps, job).status), [
    ...["running", "running", "running", "running"],
    ...["queued", "queued"],
  ]);

  cancelJob(app.deps, admin, jobs[4]!.job.id);
  await rejects(jobs[4]!.completion);
  equal(read(app.deps, jobs[4]!).status, "cancelled");

  gates.get("c2")!();
  await until("the last one runs", () => begun.includes("c6"));
  deepEqual(begun, ["c1", "c2", "c3", "c4", "c6"]);
  for (const open of gates.values()) open();
  await Promise.allSettled(jobs.map(({ completion }) => completion));
  await app.deps.jobs.idle();
});

for (
  const { what, others, last, running } of [
    {
      what: "an API token runs two and leaves places to its account and to others",
      others: Array(4).fill(user("u1", "t1")),
      last: [user("u1"), user("u2")],
      running: ["c0", "c1", "last0", "last1"],
    },
    {
      what: "in key mode, an API token is an account",
      others: Array(4).fill(user("key", "t1")),
      last: [user("key"), user("key")],
      running: ["c0", "c1", "last0", "last1"],
    },
    {
      what: "an account with several API tokens leaves a place",
      others: ["t1", "t2", "t3", "t4"].map((token) => user("u1", token)),
      last: [user("u2")],
      running: ["c0", "c1", "c2", "last0"],
    },
    {
      what: "the service itself counts as one account",
      others: ["schedule", "update policy", "remediation"].map((userId) => user(userId)),
      last: [user("u1"), user("u1")],
      running: ["c0", "c1", "last0", "last1"],
    },
  ]
) {
  Deno.test(`jobs that are above their share are passed: ${what}, also after a restart`, async () => {
    using db = disposable(openTestDatabase());
    const hang = () => new Promise<never>(() => {});
    using before = testApp({ db });
    const begun: string[] = [];
    const kind = kindOf((job) => {
      begun.push(job.target);
      return hang();
    });
    others.forEach((caller, n) => start(before.deps, kind, `c${n}`, caller));
    last.forEach((caller, n) => start(before.deps, kind, `last${n}`, caller));
    await until("those with a share run", () => begun.includes(`last${last.length - 1}`));
    deepEqual(begun, running);
    before.deps.jobs.close();

    using after = testApp({ db });
    const again: string[] = [];
    resumeJobs(after.deps, [
      kindOf(hang, {
        recover(_, job) {
          again.push(job.target);
          return hang();
        },
      }),
    ]);
    await until("all that ran are recovered", () => again.length === running.length);
    deepEqual(again.toSorted(), running);
    after.deps.jobs.close();
  });
}

Deno.test("a job that waits for its share starts when another one of its account has ended", async () => {
  using app = testApp();
  const gates = new Map<string, () => void>();
  const kind = kindOf(({ target }) => new Promise<void>((resolve) => gates.set(target, resolve)));
  const jobs = ["c1", "c2", "c3"].map((target) => start(app.deps, kind, target));
  await until("two run", () => gates.size === 2);
  equal(read(app.deps, jobs[2]!).status, "queued");
  gates.get("c1")!();
  await until("the third runs", () => gates.has("c3"));
  for (const open of gates.values()) open();
  await app.deps.jobs.idle();
});

Deno.test("there are at most 200 unfinished jobs, 100 of an API token and 150 of an account", async () => {
  using app = testApp();
  const gate = Promise.withResolvers<void>();
  const kind = kindOf(() => gate.promise);
  let count = 0;
  const fill = (caller: Pick<Caller, "userId" | "apiToken">, jobs: number) => {
    for (let n = 0; n < jobs; n++) start(app.deps, kind, `c${count++}`, caller);
  };
  const refuses = (caller: Pick<Caller, "userId" | "apiToken">, message: string) =>
    throws(() => start(app.deps, kind, "one more", caller), { code: "conflict", message });

  fill(user("u1", "t1"), 100);
  refuses(
    user("u1", "t1"),
    "Limit of 100 unfinished jobs of these logins or this API token reached",
  );
  fill(user("u1"), 50);
  refuses(user("u1", "t2"), "Limit of 150 unfinished jobs of this account reached");
  fill(user("u2"), 50);
  refuses(user("u4"), "Limit of 200 unfinished jobs reached");
  gate.resolve();
  await app.deps.jobs.idle();
});

Deno.test("cancelJob() aborts a running job; its reservation ends with its work", async () => {
  using app = testApp();
  const { reservations } = app.deps;
  const web = { id: "c1", name: "web" };
  const cleaning = Promise.withResolvers<void>();
  const kind = kindOf(async ({ signal }) => {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    await cleaning.promise;
    throw new Error("stopped");
  }, { reserve: () => reservations.reserve(web, "rebuilt") });
  const started = start(app.deps, kind);
  await until("it runs", () => read(app.deps, started).status === "running");
  throws(() => start(app.deps, kind, "another target"), { message: "web is being rebuilt" });

  cancelJob(app.deps, admin, started.job.id);
  equal(read(app.deps, started).status, "running");
  equal(reservations.find(web), "web is being rebuilt");
  cleaning.resolve();
  await rejects(started.completion);

  const { status, error } = read(app.deps, started);
  deepEqual([status, error], ["cancelled", "Cancelled"]);
  equal(reservations.find(web), undefined);
  throws(() => cancelJob(app.deps, admin, started.job.id), {
    code: "conflict",
    message: /has already ended \(cancelled\)/,
  });
});

Deno.test("cancelJob() requires the permission of the job's kind", async () => {
  using app = testApp();
  const gate = Promise.withResolvers<void>();
  const started = start(app.deps, kindOf(() => gate.promise));

  throws(() => cancelJob(app.deps, { ...admin, role: "operator" }, started.job.id), {
    code: "forbidden",
  });
  gate.resolve();
  await started.completion;
});

Deno.test("a job whose step is running when the service is killed is continued after it", async () => {
  using db = disposable(openTestDatabase());
  const calls: string[] = [];
  const hang = new Promise<never>(() => {});
  const kind = (isHanging: boolean): JobKind<{ text: string }> => {
    const run = async (job: JobRun<{ text: string }>) => {
      const id = await job.step("create", () => {
        calls.push("create");
        return Promise.resolve("c1");
      });
      await job.step("swap", () => {
        calls.push(`swap ${id}`);
        return isHanging ? hang : Promise.resolve();
      });
      return { id, before: job.resultOf("create") };
    };
    return kindOf(run, { recover: (_, job) => run(job) });
  };
  using before = testApp({ db });
  const started = start(before.deps, kind(true));
  await until("it swaps", () => calls.includes("swap c1"));
  before.deps.jobs.close(); // From here on the old process writes nothing.

  using after = testApp({ db });
  resumeJobs(after.deps, [kind(false)]);
  await after.deps.jobs.idle();

  const { status, result, steps } = read(after.deps, started);
  deepEqual([status, result], ["succeeded", { id: "c1", before: "c1" }]);
  deepEqual(steps.map(({ status }) => status), ["succeeded", "succeeded"]);
  deepEqual(calls, ["create", "swap c1", "swap c1"]);
});

Deno.test("resumeJobs() fails, rolls back and starts jobs as their kinds decide", async () => {
  using db = disposable(openTestDatabase());
  const hang = () => new Promise<never>(() => {});
  using before = testApp({ db });
  const names = ["fails", "rolls back", "of another version", "hangs", "waits"];
  const jobs = names.map((name, n) =>
    start(
      before.deps,
      kindOf(name === "waits" ? () => Promise.resolve("too early") : hang, { id: name }),
      name,
      accounts[n % 4],
    )
  );
  await until("four run", () => read(before.deps, jobs[3]!).status === "running");
  before.deps.jobs.close();

  using after = testApp({ db });
  resumeJobs(after.deps, [
    kindOf(hang, { id: "fails" }),
    kindOf(hang, {
      id: "rolls back",
      recover: () => Promise.reject(new JobEnd("rolled_back", "Back")),
    }),
    kindOf(hang, { id: "hangs", recover: failInterrupted }),
    kindOf((job) => Promise.resolve(job.input), { id: "waits" }),
  ]);
  await after.deps.jobs.idle();

  deepEqual(
    jobs.map((job) => read(after.deps, job)).map((
      { status, error, result },
    ) => [status, error, result]),
    [
      ["failed", "The service stopped before the job had finished", null],
      ["rolled_back", "Back", null],
      ["failed", "Unknown kind of job: of another version", null],
      ["failed", "The service stopped before the job had finished", null],
      ["succeeded", null, { text: "x" }],
    ],
  );
});

Deno.test("a recovery waits for the engine, cannot be cancelled meanwhile, and outlives a stop", async () => {
  using db = disposable(openTestDatabase());
  using before = testApp({ db });
  const started = start(before.deps, kindOf(() => new Promise<never>(() => {})));
  await until("it runs", () => read(before.deps, started).status === "running");
  before.deps.jobs.close();

  using after = testApp({ db });
  let attempts = 0;
  const kind = kindOf(() => Promise.resolve(), {
    recover() {
      attempts++;
      throw new EngineUnreachableError("The engine is gone", "refused");
    },
  });
  resumeJobs(after.deps, [kind]);
  await until(
    "it has tried",
    () => attempts === 1 && after.deps.jobs.get(started.job.id)?.isWaiting,
  );
  throws(() => cancelJob(after.deps, admin, started.job.id), {
    message: /waits for the container/,
  });
  after.deps.jobs.stop();
  await after.deps.jobs.idle();
  equal(read(after.deps, started).status, "running", "left for the next start");
});

Deno.test("a kind that outlives the engine goes on when the engine is back", async () => {
  using app = testApp();
  const unreachable = new EngineUnreachableError("The engine is gone", "refused");
  const steps: string[] = [];
  const kind = kindOf(async (job) => {
    await job.step("create", () => Promise.resolve(steps.push("create")));
    await job.step("swap", () => Promise.reject(unreachable));
  }, {
    outlivesEngine: true,
    async recover(_, job) {
      await job.step("create", () => Promise.resolve(steps.push("create again")));
      await job.step("swap", () => Promise.resolve(steps.push("swap")));
      return [job.hasBegun("swap"), job.hasBegun("verify")];
    },
  });

  deepEqual(await start(app.deps, kind).completion, [true, false]);
  deepEqual(steps, ["create", "swap"]);
  await rejects(start(app.deps, { ...kind, outlivesEngine: false }).completion, unreachable);
});

Deno.test("broken calls count for their own job, and since its last step", async () => {
  await using fake = fakeEngine();
  using app = testApp({ engine: fake.engine });
  const broken = new EngineUnreachableError("The connection broke");
  const failures: unknown[] = [];
  const kind = kindOf(async ({ step }, deps) => {
    for (const name of ["create", "swap"]) {
      for (const _ of [1, 2]) await rejects(throwIfInterrupted(deps, broken), broken);
      for (const _ of [3, 4]) failures.push(await throwIfInterrupted(deps, broken));
      await step(name, () => Promise.resolve());
    }
  });
  for (const target of ["web", "db"]) await start(app.deps, kind, target).completion;
  deepEqual(failures.map((each) => (each as AppError).code), Array(8).fill("unavailable"));
});

Deno.test("a job whose step cannot be stored goes on when the disk has room", async () => {
  using app = testApp();
  const { db } = app.deps;
  const pages = () => Number(Object.values(db.all("PRAGMA page_count")[0]!)[0]);
  const limit = (count: number) => db.all(`PRAGMA max_page_count = ${count}`);
  const large = "x".repeat(1_000_000);
  const kind = kindOf(async ({ step }) => {
    limit(pages() + 4);
    return await step("read", () => Promise.resolve(large));
  }, {
    outlivesEngine: true,
    async recover(_, { resultOf, step }) {
      equal(resultOf("read"), undefined);
      limit(1_000_000);
      return await step("read", () => Promise.resolve("read again"));
    },
  });
  equal(await start(app.deps, kind).completion, "read again");
  limit(1_000_000);
  const failing = { ...kind, outlivesEngine: false };
  await rejects(start(app.deps, failing).completion, /full/);
});

Deno.test("a cancelled job that loses the engine while it goes back has not ended by that", async () => {
  await using fake = fakeEngine();
  using app = testApp({ engine: fake.engine });
  const broken = new EngineUnreachableError("The connection broke");
  const kind = kindOf(async ({ signal }) => {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    throw broken;
  }, {
    outlivesEngine: true,
    recover() {
      app.clock.advance({ minutes: 30 });
      return Promise.reject(broken);
    },
  });
  const started = start(app.deps, kind);
  await until("it runs", () => read(app.deps, started).status === "running");

  cancelJob(app.deps, admin, started.job.id);
  await rejects(started.completion);

  equal(read(app.deps, started).status, "needs_attention", "tried until it was given up");
});

Deno.test("a cancelled job whose kind says what is left keeps that", async () => {
  using app = testApp();
  const kind = kindOf(async ({ signal }) => {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    throw new JobEnd("failed", "Cancelled; updated before: db", { updated: ["db"] });
  });
  const started = start(app.deps, kind);
  await until("it runs", () => read(app.deps, started).status === "running");

  cancelJob(app.deps, admin, started.job.id);
  await rejects(started.completion);

  const { status, error, result } = read(app.deps, started);
  deepEqual([status, error, result], ["failed", "Cancelled; updated before: db", {
    updated: ["db"],
  }]);
});

Deno.test("a job that loses the engine again and again ends while the engine answers others", async () => {
  await using fake = fakeEngine();
  using app = testApp({ engine: fake.engine });
  const broken = new EngineUnreachableError("The connection broke");
  const kind = kindOf(() => Promise.reject(broken), {
    outlivesEngine: true,
    recover() {
      app.clock.advance({ minutes: 30 });
      return Promise.reject(broken);
    },
  });
  const started = start(app.deps, kind);
  await rejects(started.completion, JobEnd);
  const { status, error } = read(app.deps, started);
  equal(status, "needs_attention");
  match(error!, /^The connection broke; the job was given up after 30 minutes/);
});

Deno.test("resumeJobs() reserves again, and can be repeated while that is refused", async () => {
  using db = disposable(openTestDatabase());
  using before = testApp({ db });
  const started = start(before.deps, kindOf(() => new Promise<never>(() => {})));
  await until("it runs", () => read(before.deps, started).status === "running");
  before.deps.jobs.close();

  using after = testApp({ db });
  const { reservations } = after.deps;
  const web = { id: "c1", name: "web" };
  let holder: string | undefined;
  const kind = kindOf(() => Promise.resolve(), {
    reserve: () => reservations.reserve(web, "rebuilt"),
    recover: () => {
      holder = reservations.find(web);
      return Promise.resolve(null);
    },
  });
  {
    using _other = reservations.reserve(web, "stopped");
    throws(() => resumeJobs(after.deps, [kind]), { message: "web is being stopped" });
  }
  resumeJobs(after.deps, [kind]);
  await after.deps.jobs.idle();

  equal(read(after.deps, started).status, "succeeded");
  deepEqual([holder, reservations.find(web)], ["web is being rebuilt", undefined]);
});

Deno.test("a failure while the service stops is left to the next start", async () => {
  using app = testApp();
  const started = start(
    app.deps,
    kindOf((job) =>
      job.step(
        "pull",
        () =>
          new Promise((_, reject) =>
            job.signal.addEventListener("abort", () => reject(job.signal.reason))
          ),
      )
    ),
  );
  await until("it runs", () => read(app.deps, started).steps.length === 1);

  app.deps.jobs.stop();
  await rejects(started.completion, { message: "The service is stopping" });

  const { status, steps } = read(app.deps, started);
  deepEqual([status, steps[0]?.status], ["running", "running"]);
  throws(() => start(app.deps, kindOf(() => Promise.resolve()), "db"), { code: "unavailable" });
});

Deno.test("progress is stored while a job runs, and its last state with the end", async () => {
  using app = testApp();
  const gate = Promise.withResolvers<void>();
  const started = start(
    app.deps,
    kindOf(async (job) => {
      job.progress({ current: 1, total: 4, message: null });
      await gate.promise;
      job.progress({ current: 4, total: 4, message: "complete" });
    }),
  );
  const stored = await until(
    "a progress is stored",
    () => read(app.deps, started).progress ?? false,
  );
  equal(stored.current, 1);
  gate.resolve();
  await started.completion;
  deepEqual(read(app.deps, started).progress, { current: 4, total: 4, message: "complete" });
});

Deno.test("listJobs() pages with a cursor, also while jobs are added", async () => {
  using app = testApp();
  const kind = kindOf(() => Promise.resolve());
  for (let n = 1; n <= 5; n++) {
    if (n % 2) app.clock.advance({ seconds: 1 });
    await start(app.deps, kind, `c${n}`).completion;
  }

  const first = listJobs(app.deps, admin, { limit: 2 });
  await start(app.deps, kind, "later").completion;
  const second = listJobs(app.deps, admin, { limit: 2, cursor: first.nextCursor! });
  const third = listJobs(app.deps, admin, { limit: 2, cursor: second.nextCursor! });
  const seen = [...first.jobs, ...second.jobs, ...third.jobs].map(({ target }) => target);

  deepEqual(seen.toSorted(), ["c1", "c2", "c3", "c4", "c5"]);
  equal(third.nextCursor, null);
  deepEqual(listJobs(app.deps, admin, { limit: 9, target: "c3" }).jobs.map((job) => job.target), [
    "c3",
  ]);
  throws(() => listJobs(app.deps, admin, { limit: 2, cursor: "x" }), { code: "invalid" });
});

Deno.test("sweepJobs() deletes jobs that ended more than 90 days ago", async () => {
  using app = testApp();
  const gate = Promise.withResolvers<void>();
  const ended = start(app.deps, kindOf(() => Promise.resolve()));
  await ended.completion;
  const running = start(app.deps, kindOf(() => gate.promise));

  app.clock.advance({ days: 91 });
  sweepJobs(app.deps);

  throws(() => read(app.deps, ended), { code: "not_found" });
  match(read(app.deps, running).status, /queued|running/);
  gate.resolve();
  await running.completion;
});

function disposable<T extends { close(): void }>(value: T): T & Disposable {
  return Object.assign(value, { [Symbol.dispose]: () => value.close() });
}
