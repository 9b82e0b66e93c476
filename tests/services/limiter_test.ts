import { deepEqual, equal, rejects } from "node:assert/strict";
import { createLimiter } from "../../services/limiter.ts";
import { ThrottledError } from "../../services/errors.ts";

Deno.test("a gate lets so many in, the rest wait in order, too many are sent away", async () => {
  const gate = createLimiter({ what: "things", running: 2, waiting: 2 });
  const ended: number[] = [];
  const works = [0, 1, 2, 3].map((index) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    return { index, promise, resolve };
  });
  let inside = 0;
  let most = 0;
  const results = works.map(({ index, promise }) =>
    gate(async () => {
      most = Math.max(most, ++inside);
      await promise;
      inside--;
      ended.push(index);
      return index;
    })
  );
  await rejects(gate(() => Promise.resolve()), (error) => {
    equal((error as Error).message, "Too many things at the same time");
    return error instanceof ThrottledError && error.code === "too_many_requests";
  });
  for (const index of [1, 0, 2, 3]) {
    works[index]!.resolve();
    await results[index];
  }
  deepEqual(ended, [1, 0, 2, 3]);
  deepEqual(await Promise.all(results), [0, 1, 2, 3]);
  equal(most, 2);
});

Deno.test("work that fails gives its place back", async () => {
  const gate = createLimiter({ what: "things", running: 1, waiting: 1 });
  await rejects(gate(() => Promise.reject(new Error("broken"))), /broken/);
  equal(await gate(() => Promise.resolve("next")), "next");
});
