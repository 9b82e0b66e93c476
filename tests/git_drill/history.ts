/**
 * A real repository of 1,010 new commits: they are counted to the limit, and the next one is fetched
 * from there.
 *
 * @module
 */

import { deepEqual, equal } from "node:assert/strict";
import { fetchCommit, openBare } from "../../services/git/fetch/bare.ts";
import { temporaryDirectory } from "../helpers/command.ts";
import { gitServer, type WorkingCopy } from "../helpers/git_server.ts";
import { testConfig } from "../helpers/test_app.ts";

const COMMITS = 1_010;

export async function followHistory(): Promise<void> {
  await using server = await gitServer();
  using data = temporaryDirectory();
  const deps = { config: testConfig({ dataDir: data.path, outboundAllow: ["127.0.0.1"] }) };
  const copy = await server.create("many");
  const fetch = () =>
    fetchCommit(
      deps,
      "many",
      { url: copy.url, authorization: null, caCertificate: null },
      { kind: "branch", name: "main" },
    );

  const first = await copy.push({ "a.txt": "0" });
  equal(await fetch(), first);
  await importCommits(copy, first, COMMITS);
  const head = await fetch();
  const bare = await openBare(deps, "many");
  const { commits, isPartial } = await bare.range(first, head);
  deepEqual([commits.length, isPartial], [1_000, true]);
  await importCommits(copy, head, 5);
  const fetched = await fetch();
  const next = await (await openBare(deps, "many")).range(head, fetched);
  deepEqual([next.commits.length, next.isPartial, next.isForward], [5, false, true]);
  console.log(`${COMMITS} commits: counted to the limit`);
}

/** Creates commits quickly, and pushes them. */
async function importCommits(copy: WorkingCopy, from: string, count: number): Promise<void> {
  const lines = Array.from(
    { length: count },
    (_, at) =>
      `commit refs/heads/main\nmark :${at + 1}\ncommitter Ada <ada@example.org> ${
        1.7e9 + at
      } +0000\n` +
      `data 1\nx\n${at === 0 ? `from ${from}\n` : ""}M 644 inline a.txt\ndata ${
        `${at}`.length
      }\n${at}\n`,
  );
  const child = new Deno.Command("git", {
    args: ["fast-import", "--quiet", "--force"],
    cwd: copy.bare,
    stdin: "piped",
  }).spawn();
  const input = child.stdin.getWriter();
  await input.write(new TextEncoder().encode(lines.join("")));
  await input.close();
  equal((await child.status).success, true);
}
