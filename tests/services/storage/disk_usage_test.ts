import { deepEqual, equal, rejects } from "node:assert/strict";
import { readDiskBreakdown } from "../../../services/storage/disk_usage.ts";
import { createDiskUsageCache } from "../../../services/storage/disk_usage_cache.ts";
import { type FakeAnswer, type FakeEngine, fakeEngine } from "../../helpers/fake_engine.ts";

function depsOf({ engine }: FakeEngine) {
  const clock = { ms: Date.parse("2026-01-01T00:00:00Z") };
  return { diskUsage: createDiskUsageCache(engine, () => new Date(clock.ms)), clock };
}

/** Images of the given size. */
const usage = (LayersSize: number) => Response.json({ LayersSize, Images: [{ Size: 1 }] });

/** An engine that answers with one size after the other, each when it is released. */
function paused(...sizes: number[]) {
  const pending = sizes.map(() => Promise.withResolvers<void>());
  let requests = 0;
  const answer: FakeAnswer = async () => {
    const turn = requests++;
    await pending[turn]!.promise;
    return usage(sizes[turn]!);
  };
  const release = (turn: number) => pending[turn]!.resolve();
  return { answers: { "GET /system/df": answer }, release, requests: () => requests };
}

Deno.test("the disk breakdown sums up every kind", async () => {
  await using fake = fakeEngine({
    "GET /system/df": () =>
      Response.json({
        LayersSize: 100,
        Images: [{ Size: 70 }, { Size: 80 }],
        Containers: [{ SizeRw: 5 }, {}],
        Volumes: [{ Name: "a", UsageData: { Size: 20 } }, { Name: "b", UsageData: { Size: -1 } }],
        BuildCache: [{ Size: 3, Shared: false }, { Size: 9, Shared: true }],
      }),
  });

  deepEqual(await readDiskBreakdown(depsOf(fake)), {
    containers: { count: 2, size: 5 },
    images: { count: 2, size: 100 },
    volumes: { count: 2, size: 20 },
    buildCache: { count: 2, size: 3 },
    totalSize: 128,
    computedAt: "2026-01-01T00:00:00.000Z",
  });
});

Deno.test("an answer is kept for a minute", async () => {
  await using fake = fakeEngine({ "GET /system/df": () => usage(1) });
  const deps = depsOf(fake);

  await readDiskBreakdown(deps);
  deps.clock.ms += 60_000;
  await readDiskBreakdown(deps);
  equal(fake.requests.length, 1);
  deps.clock.ms += 1;
  await readDiskBreakdown(deps);
  equal(fake.requests.length, 2);
});

Deno.test("concurrent requests share one computation", async () => {
  const { answers, release, requests } = paused(1);
  await using fake = fakeEngine(answers);
  const deps = depsOf(fake);

  const all = Array.from({ length: 20 }, () => readDiskBreakdown(deps));
  release(0);

  deepEqual((await Promise.all(all)).map(({ totalSize }) => totalSize), Array(20).fill(1));
  equal(requests(), 1);
});

Deno.test("a computation that began before a removal is not used after it", async () => {
  const { answers, release } = paused(10, 4);
  await using fake = fakeEngine(answers);
  const deps = depsOf(fake);

  const before = readDiskBreakdown(deps);
  while (fake.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  deps.diskUsage.invalidate();
  const after = readDiskBreakdown(deps);
  release(0);
  release(1);

  equal((await after).totalSize, 4);
  equal((await before).totalSize, 4);
});

Deno.test("a timeout returns the last answer while the engine continues", async () => {
  const { answers, release, requests } = paused(1, 2);
  await using fake = fakeEngine(answers);
  const deps = depsOf(fake);
  release(0);
  await readDiskBreakdown(deps);
  deps.clock.ms += 10 * 60_000;

  const late = await readDiskBreakdown(deps, { waitMs: 20 });
  release(1);
  const next = await readDiskBreakdown(deps);

  deepEqual([late.totalSize, late.computedAt], [1, "2026-01-01T00:00:00.000Z"]);
  deepEqual([next.totalSize, next.computedAt], [2, "2026-01-01T00:10:00.000Z"]);
  equal(requests(), 2);
});

Deno.test("a timeout without an earlier answer is unavailable", async () => {
  const { answers, release } = paused(1);
  await using fake = fakeEngine(answers);
  const deps = depsOf(fake);

  await rejects(readDiskBreakdown(deps, { waitMs: 20 }), { code: "unavailable" });
  release(0);
  equal((await readDiskBreakdown(deps)).totalSize, 1);
});

Deno.test("a busy engine is asked again until it is free", async () => {
  let requests = 0;
  await using fake = fakeEngine({
    "GET /system/df": () =>
      requests++ === 0
        ? Response.json({ message: "a disk usage operation is already running" }, { status: 500 })
        : usage(1),
  });

  equal((await readDiskBreakdown(depsOf(fake))).totalSize, 1);
});

Deno.test("a failure reaches all waiting callers and is not cached", async () => {
  let broken = true;
  await using fake = fakeEngine({
    "GET /system/df": () =>
      broken ? Response.json({ message: "I/O error" }, { status: 500 }) : usage(1),
  });
  const deps = depsOf(fake);

  await Promise.all([
    rejects(readDiskBreakdown(deps), { status: 500 }),
    rejects(readDiskBreakdown(deps), { status: 500 }),
  ]);
  broken = false;
  equal((await readDiskBreakdown(deps)).totalSize, 1);
});
