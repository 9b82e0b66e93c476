import { deepEqual, equal, rejects } from "node:assert/strict";
import { createFairLimiter } from "../../../services/access/fair_limiter.ts";
import { ThrottledError } from "../../../services/errors.ts";

/** A limiter whose operations the test ends. */
function limited(limits: { running: number; waiting: number }) {
  const limiter = createFairLimiter({ what: "searches", ...limits });
  const running: { userId: string; end: () => void }[] = [];
  return {
    running,
    users: () => running.map(({ userId }) => userId).sort().join(" "),
    start: (userId: string, token = "") =>
      limiter(
        { userId, ...(token && { apiToken: { id: token } }) },
        () => new Promise<void>((end) => running.push({ userId, end })),
      ),
    /** Ends an operation of the user, or any. */
    async end(userId = running[0]!.userId) {
      const [ended] = running.splice(running.findIndex((each) => each.userId === userId), 1);
      ended!.end();
      // The next one starts in later microtasks.
      await new Promise((resolve) => setTimeout(resolve));
    },
  };
}

Deno.test("one account runs three quarters of the operations, and another one the rest", async () => {
  const { start, end, users, running } = limited({ running: 4, waiting: 32 });
  const all = [start("a"), start("a"), start("a"), start("a"), start("b")];
  equal(users(), "a a a b");
  await end("b");
  equal(users(), "a a a");
  await end("a");
  equal(users(), "a a a");
  while (running.length > 0) await end();
  await Promise.all(all);
});

Deno.test("of those that wait, the account that runs the fewest is next", async () => {
  const { start, end, users, running } = limited({ running: 2, waiting: 8 });
  const all = [start("a"), start("b"), start("a"), start("b"), start("c")];
  equal(users(), "a b");
  await end("b");
  equal(users(), "a b", "the first of those without a running one");
  await end("a");
  equal(users(), "a b");
  await end("b");
  equal(users(), "a c");
  while (running.length > 0) await end();
  await Promise.all(all);
});

Deno.test("one account with many API tokens cannot fill the queue", async () => {
  const { start, end, running } = limited({ running: 4, waiting: 32 });
  const all = Array.from({ length: 27 }, (_, at) => start("a", `t${at}`));
  await rejects(start("a", "t27"), (error) => {
    deepEqual(
      (error as Error).message,
      "Share of 27 of 36 searches reached for this account; close one first",
    );
    return error instanceof ThrottledError;
  });
  for (let at = 0; at < 9; at++) all.push(start(`other ${at}`));
  await rejects(start("late"), { message: "Too many searches at the same time" });
  while (running.length > 0) await end();
  await Promise.all(all);
});

Deno.test("an operation that fails makes room for the next", async () => {
  const limiter = createFairLimiter({ what: "searches", running: 1, waiting: 1 });
  const holder = { userId: "a" };
  await rejects(limiter(holder, () => Promise.reject(new Error("broken"))), /broken/);
  equal(await limiter(holder, () => Promise.resolve("next")), "next");
});
