/** Comparisons of commits for many stacks. @module */

import { deepEqual, equal, rejects } from "node:assert/strict";
import { COMMITS_MAX, createHistory, toCommit } from "../../../services/git/fetch/commits.ts";

Deno.test("the texts of a commit have no control characters and none of direction", () => {
  const person = {
    name: "A\u202eda\x1b[2J",
    email: "ada@example.org",
    timestamp: 1e300,
    timezoneOffset: 0,
  };
  const commit = {
    message: "\n One\u2066 \x07two\nthree",
    tree: "",
    parent: [],
    author: person,
    committer: person,
  };
  deepEqual(toCommit("1", commit), {
    id: "1",
    author: "A da [2J <ada@example.org>",
    message: "One   two",
    committedAt: "1970-01-01T00:00:00.000Z",
  });
});

Deno.test("the commits of a repository are read once for all of its stacks", async () => {
  let reads = 0;
  const range = createHistory((id) => {
    reads++;
    return Promise.resolve(id === "1" ? [] : [`${Number(id) - 1}`]);
  });
  for (let stack = 0; stack < 500; stack++) {
    const { commits, isForward } = await range(`${400 - stack % 50}`, "400");
    deepEqual([commits.length, isForward], [stack % 50, true]);
  }
  equal(reads, 400);
});

Deno.test("a commit that is missing ends a walk; a damaged one does not look like a rewritten history", async () => {
  const failWith = (code: string) =>
    createHistory(() => Promise.reject(Object.assign(new Error(), { code })));
  const missing = await failWith("NotFoundError")("base", "head");
  deepEqual(missing, { commits: [], isForward: false, isPartial: true });
  await rejects(failWith("InternalError")("base", "head"));
});

Deno.test("a commit with very many parents, and very many commits, end a walk", async () => {
  const wide = createHistory(() =>
    Promise.resolve(Array.from({ length: 101 }, (_, at) => `${at}`))
  );
  deepEqual(await wide("base", "head"), { commits: [], isForward: false, isPartial: true });
  let reads = 0;
  const long = createHistory((id) => (reads++, Promise.resolve([`${id}^`])));
  for (let base = 0; base < 30; base++) await long(`base${base}`, "head");
  equal(reads, 20 * COMMITS_MAX);
  deepEqual(await long("other", "new"), { commits: [], isForward: false, isPartial: true });
});
