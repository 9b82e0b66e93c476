import { deepEqual, equal, match } from "node:assert/strict";
import { selectJobs } from "../../db/jobs.ts";
import { watchRepositories } from "../../services/git/watcher.ts";
import { temporaryDirectory } from "../helpers/command.ts";
import { gitServer, type WorkingCopy } from "../helpers/git_server.ts";
import { type LiveApp, liveApp } from "../helpers/live_app.ts";
import { engineTest } from "../helpers/real_engine.ts";
import { apiStack, sleeper } from "../helpers/test_stack.ts";
import { collectEvents } from "../helpers/test_app.ts";
import { until } from "../helpers/until.ts";

const composeOf = (level: string, more = {}) =>
  JSON.stringify({ services: { web: { ...sleeper, environment: { LEVEL: level }, ...more } } });

/** Rounds of the worker, until no deploy is left. */
async function settle(app: LiveApp, stack: string): Promise<void> {
  await until("no deploy is left", async () => {
    await watchRepositories(app.deps);
    const jobs = selectJobs(app.deps.db, { target: stack }, { limit: 10 });
    if (jobs.some(({ endedAt }) => endedAt === null)) return false;
    await watchRepositories(app.deps);
    return selectJobs(app.deps.db, { target: stack }, { limit: 10 }).length === jobs.length;
  }, { deadlineMs: 120_000 });
}

engineTest("commits deploy themselves, and a failed one is not tried again", async (engine) => {
  await using server = await gitServer();
  using data = temporaryDirectory();
  await using app = await liveApp(engine.socketPath, {
    config: { dataDir: data.path, outboundAllow: ["127.0.0.1"] },
  });
  await using stack = apiStack(app);
  const { name } = stack;
  equal((await app.call("PUT", "/api/updates/settings", { stableSeconds: 5 })).status, 200);
  const events = collectEvents(app, (kind) => kind.startsWith("deploy."));
  const copy = await server.create("stacks");
  const push = (level: string, more = {}, message = level) =>
    copy.push({ "compose.yaml": composeOf(level, more) }, message);
  const first = await push("one");
  const { body: repository } = await app.call("POST", "/api/git/repositories", {
    name: "Stacks",
    url: copy.url,
    mapping: [{ path: "compose.yaml", name, deploy: "auto" }],
  });
  const request = () => app.deps.git.request(repository.id);
  const level = async () =>
    (await stack.containers())["web-1"]?.Config.Env?.find((each) => each.startsWith("LEVEL="));
  const git = async () => (await app.call("GET", `/api/stacks/${name}/git`)).body.git;

  await settle(app, name);
  equal(await level(), "LEVEL=one");
  deepEqual([(await git()).state, (await git()).deployedCommit], ["current", first]);
  const { event, data: sent } = events[0]!;
  deepEqual([event, sent], ["deploy.succeeded", {
    ...sent,
    commit: first,
    author: "Ada <ada@example.org>",
    message: "one",
  }]);

  // Ten pushes while one deploy runs: at most two deploys.
  for (let at = 0; at < 10; at++) {
    await push(`fast ${at}`);
    request();
    await watchRepositories(app.deps);
  }
  await settle(app, name);
  equal(await level(), "LEVEL=fast 9");
  const jobs = () => selectJobs(app.deps.db, { target: name }, { limit: 50 }).length;
  const before = jobs();
  equal(before <= 3, true, `${before} deploys`);

  const good = (await git()).deployedCommit;
  const failing = await push("bad", { command: "false", restart: "no" });
  request();
  await settle(app, name);
  await settle(app, name);
  deepEqual([await level(), jobs()], ["LEVEL=fast 9", before + 1]);
  const failed = await git();
  deepEqual([failed.state, failed.commit.id, failed.deployedCommit, failed.behind], [
    "failed",
    failing,
    good,
    1,
  ]);

  // The deployed commit is gone from the history.
  await copy.git("reset", "-q", "--hard", first);
  await push("rewritten");
  request();
  await settle(app, name);
  deepEqual([(await git()).state, await level()], ["rewritten", "LEVEL=fast 9"]);
  equal((await stack.deploy()).status, "succeeded");
  await watchRepositories(app.deps);
  deepEqual([(await git()).state, await level()], ["current", "LEVEL=rewritten"]);

  await attachElsewhere(app, copy, name, repository.id);
});

/** A stack that another program has deployed is attached only if nothing is recreated. */
async function attachElsewhere(
  app: LiveApp,
  copy: WorkingCopy,
  name: string,
  repositoryId: string,
): Promise<void> {
  const path = `/api/stacks/${name}/git`;
  equal((await app.call("DELETE", path)).status, 200);
  const given = { repositoryId, path: "compose.yaml", deploy: "manual" };
  const same = await app.call("PUT", path, given);
  deepEqual([same.status, same.body.state], [200, "current"], JSON.stringify(same.body));
  await copy.push({ "other.yaml": composeOf("other") });
  await app.call("POST", `/api/git/repositories/${repositoryId}/fetch`);
  const refused = await app.call("PUT", path, { ...given, path: "other.yaml" });
  equal(refused.status, 409);
  match(refused.body.error, /^A deploy of other\.yaml would recreate containers/);
  deepEqual(refused.body.changes.at(-1).action, "recreate");
  const accepted = await app.call("PUT", path, {
    ...given,
    path: "other.yaml",
    acceptRecreate: true,
  });
  deepEqual([accepted.status, accepted.body.state], [200, "behind"]);
}
