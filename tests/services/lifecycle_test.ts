import { deepEqual, equal, match } from "node:assert/strict";
import { mock } from "node:test";
import type { Deps } from "../../services/deps.ts";
import { type Edition, includesEdition } from "../../services/edition.ts";
import { runWorkers, type Worker } from "../../services/lifecycle.ts";
import { aborted, every, sleep } from "../../services/waiting.ts";
import { createLog } from "../../services/log.ts";
import type { WorkerState } from "../../services/deps.ts";
import { testClock } from "../helpers/test_app.ts";

/** Parts of the service that the workers' keeper uses, and time in the test's hand. */
function stage(t: { edition?: Edition } = {}) {
  mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const clock = testClock();
  const lines: string[] = [];
  const license = { edition: t.edition ?? "ce" as Edition };
  const deps = {
    now: clock.now,
    license,
    workers: new Map<string, WorkerState>(),
    log: createLog({ level: "info", format: "json", now: clock.now }, (line) => lines.push(line)),
  };
  const stop = new AbortController();
  return {
    deps: deps as unknown as Deps,
    license,
    lines,
    stop,
    run: (...workers: Worker[]) => runWorkers(workers, deps as unknown as Deps, stop.signal),
    /** Lets time pass, and everybody act on it. */
    async pass(ms: number) {
      clock.advance({ ms });
      mock.timers.tick(ms);
      await settled();
    },
    [Symbol.dispose]() {
      mock.timers.reset();
    },
  };
}

/** Lets everything run that does not wait for time. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

function worker(name: string, run: Worker["run"], edition: Edition = "ce"): Worker {
  return { name, edition, run };
}

/** Works until it is told to end, and counts. */
function counted(name: string, edition: Edition) {
  const count = { started: 0, ended: 0 };
  return Object.assign(
    worker(name, async (_deps, signal) => {
      count.started++;
      await aborted(signal);
      count.ended++;
    }, edition),
    { count },
  );
}

Deno.test("a worker that fails is logged and runs again after 5 seconds", async () => {
  using at = stage();
  let runs = 0;
  const ended = at.run(worker("failing", () => {
    runs++;
    return Promise.reject(new Error("no luck", { cause: new Error("full disk") }));
  }));
  await settled();
  equal(runs, 1);
  const state = at.deps.workers.get("failing")!;
  deepEqual(state, {
    name: "failing",
    lastRoundAt: null,
    lastError: "no luck",
    lastErrorAt: "2026-01-01T00:00:00.000Z",
  });
  const { level, message, worker: name, error, stack } = JSON.parse(at.lines[0]!);
  deepEqual([level, message, name, error], [
    "error",
    "worker failed",
    "failing",
    "no luck: full disk",
  ]);
  match(stack, /lifecycle_test/);

  await at.pass(4_999);
  equal(runs, 1);
  await at.pass(1);
  equal(runs, 2);
  equal(at.deps.workers.get("failing")!.lastErrorAt, "2026-01-01T00:00:05.000Z");

  at.stop.abort();
  await ended;
  equal(runs, 2);
});

Deno.test("a synchronous throw, or a thrown value that is not an error, fails only that worker", async () => {
  using at = stage();
  const healthy = counted("healthy", "ce");
  const ended = at.run(
    worker("throws", () => {
      throw "a text";
    }),
    healthy,
  );
  await settled();
  deepEqual([healthy.count.started, at.deps.workers.get("throws")!.lastError], [1, "a text"]);
  at.stop.abort();
  await ended;
  equal(healthy.count.ended, 1);
});

Deno.test("a worker that returns by itself is run again", async () => {
  using at = stage();
  let runs = 0;
  const ended = at.run(worker("short", () => {
    runs++;
    return Promise.resolve();
  }));
  await settled();
  await at.pass(5_000);
  equal(runs, 2);
  deepEqual(at.lines, []);
  at.stop.abort();
  await ended;
});

Deno.test("each round is recorded with its time", async () => {
  using at = stage();
  const ended = at.run(worker("rounds", async (_deps, signal, round) => {
    for await (const _ of every(1_000, signal)) round();
  }));
  const lastRoundAt = () => at.deps.workers.get("rounds")?.lastRoundAt;
  await settled();
  equal(lastRoundAt(), "2026-01-01T00:00:00.000Z");
  await at.pass(1_000);
  equal(lastRoundAt(), "2026-01-01T00:00:01.000Z");
  at.stop.abort();
  await ended;
});

Deno.test("workers start and stop with the edition of the license", async () => {
  using at = stage();
  const all = [
    counted("ce worker", "ce"),
    counted("pro worker", "pro"),
    counted("enterprise worker", "enterprise"),
  ];
  const ended = at.run(...all);
  const running = () =>
    all.filter(({ count }) => count.started > count.ended).map(({ edition }) => edition);
  await settled();
  deepEqual(running(), ["ce"]);
  deepEqual([...at.deps.workers.keys()], ["ce worker"]);

  for (const edition of ["enterprise", "pro", "ce", "pro"] as const) {
    at.license.edition = edition;
    // The change is noticed within a second; a worker that was just stopped waits before it restarts.
    await at.pass(1_000);
    await at.pass(5_000);
    await at.pass(1_000);
    const expected = all.filter((each) => includesEdition(edition, each.edition));
    deepEqual(running(), expected.map((each) => each.edition), edition);
    deepEqual([...at.deps.workers.keys()].sort(), expected.map(({ name }) => name).sort());
  }
  equal(all[0]!.count.started, 1, "the CE worker did not notice");

  at.stop.abort();
  await ended;
  deepEqual(running(), []);
});

Deno.test("the end waits for a worker that has something to put away", async () => {
  using at = stage();
  const putAway = Promise.withResolvers<void>();
  let hasEnded = false;
  const ended = at.run(worker("tidy", async (_deps, signal) => {
    await aborted(signal);
    await putAway.promise;
  })).then(() => hasEnded = true);
  await settled();
  at.stop.abort();
  await settled();
  equal(hasEnded, false);
  putAway.resolve();
  await ended;
});

Deno.test("nothing runs after an abort that came before", async () => {
  using at = stage();
  const late = counted("late", "ce");
  at.stop.abort();
  await at.run(late);
  equal(late.count.started, 0);
});

Deno.test("rounds do not overlap, and the pause follows the work", async () => {
  using at = stage();
  const work = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let begun = 0;
  const loop = (async () => {
    for await (const _ of every(1_000, at.stop.signal)) await work[begun++]?.promise;
  })();
  await settled();
  await at.pass(10_000);
  equal(begun, 1);
  work[0]!.resolve();
  await settled();
  await at.pass(999);
  equal(begun, 1);
  await at.pass(1);
  equal(begun, 2);
  at.stop.abort();
  work[1]!.resolve();
  await loop;
});

Deno.test("a wait ends with its time or with the abort, and leaves no listener behind", async () => {
  using at = stage();
  const { signal } = at.stop;
  let listeners = 0;
  const [add, remove] = [signal.addEventListener, signal.removeEventListener];
  signal.addEventListener = (...args: unknown[]) => {
    listeners++;
    return Reflect.apply(add, signal, args);
  };
  signal.removeEventListener = (...args: unknown[]) => {
    listeners--;
    return Reflect.apply(remove, signal, args);
  };

  let over = 0;
  for (let n = 0; n < 3; n++) void sleep(1_000, signal).then(() => over++);
  await at.pass(1_000);
  deepEqual([over, listeners], [3, 0]);

  const long = sleep(60_000, signal);
  at.stop.abort();
  await long;
  await sleep(60_000, signal);
  await aborted(signal);
});
