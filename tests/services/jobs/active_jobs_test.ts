import { equal, rejects } from "node:assert/strict";
import { createActiveJobs } from "../../../services/jobs/active_jobs.ts";

const ownerOf = (n: number) => ({ createdBy: `user ${n}`, tokenId: null });

Deno.test("a job that is cancelled while it gets its slot does not take the place of another", async () => {
  const jobs = createActiveJobs();
  const signal = new AbortController().signal;
  const slots = await Promise.all([1, 2, 3, 4].map((n) => jobs.acquire(ownerOf(n), signal)));
  const cancelled = new AbortController();
  const first = jobs.acquire(ownerOf(5), cancelled.signal);
  const second = jobs.acquire(ownerOf(6), signal);

  slots[0]![Symbol.dispose]();
  cancelled.abort();

  (await first)[Symbol.dispose]();
  using slot = await second;
  equal(typeof slot[Symbol.dispose], "function");
});

Deno.test("a job that is cancelled while it waits leaves the queue", async () => {
  const jobs = createActiveJobs();
  const signal = new AbortController().signal;
  const slots = await Promise.all([1, 2, 3, 4].map((n) => jobs.acquire(ownerOf(n), signal)));
  const cancelled = new AbortController();
  const first = jobs.acquire(ownerOf(5), cancelled.signal);
  const second = jobs.acquire(ownerOf(6), signal);

  cancelled.abort(new Error("cancelled"));
  await rejects(first, /cancelled/);
  slots[0]![Symbol.dispose]();
  using slot = await second;
  equal(typeof slot[Symbol.dispose], "function");
});
