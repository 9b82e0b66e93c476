/** Commits without a person: what is planned and deployed, and who may let that happen. @module */

import { deepEqual, equal } from "node:assert/strict";
import { selectGitStack } from "../../../db/git_stacks.ts";
import { insertJob, type Job } from "../../../db/jobs.ts";
import { continueStacks } from "../../../services/git/deploys.ts";
import { gitWorld, MAPPING, round } from "../../helpers/git_world.ts";
import { collectEvents, type TestApp } from "../../helpers/test_app.ts";
import { until } from "../../helpers/until.ts";

const composeOf = (tag: string) => `services:\n  web:\n    image: nginx:${tag}\n`;

const gitOf = async (app: TestApp, name: string) =>
  (await app.call("GET", `/api/stacks/${name}/git`)).body.git;

const versionsOf = async (app: TestApp, name: string) =>
  (await app.call("GET", `/api/stacks/${name}/versions`)).body.versions;

Deno.test("the automation reports a plan once", async () => {
  await using all = await gitWorld();
  const { app, server, add } = all;
  const events = collectEvents(app, (kind) => kind === "git.planned");
  const copy = await server.create("stacks");
  await copy.push({ "stacks/shop/compose.yaml": composeOf("1") }, "First");
  await add(copy.url, { mapping: [{ ...MAPPING[0], deploy: "plan" }] });
  await round(app);
  await continueStacks(app.deps);
  await round(app);
  deepEqual(events.map(({ data }) => (data as { changes: string[] }).changes), [
    ["create default", "create web"],
  ]);
});

Deno.test("a push of 20 stacks is one fetch, and only what it changes is planned", async () => {
  await using all = await gitWorld();
  const { app, server, add } = all;
  const events = collectEvents(app, (kind) => kind === "git.planned");
  const plannedStacks = () => events.splice(0).map(({ data }) => (data as { stack: string }).stack);
  const copy = await server.create("stacks");
  const names = Array.from({ length: 20 }, (_, at) => `s${10 + at}`);
  const filesOf = (tag: string, chosen: readonly string[]) =>
    Object.fromEntries(chosen.map((name) => [`stacks/${name}/compose.yaml`, composeOf(tag)]));
  await copy.push(filesOf("1", names));
  await add(copy.url, { mapping: [{ ...MAPPING[0], deploy: "plan" }] });
  await round(app);
  deepEqual(plannedStacks(), names);

  server.requests.length = 0;
  await copy.push({ ...filesOf("2", ["s12", "s29"]), "README.md": "x" });
  await round(app);
  deepEqual(plannedStacks(), ["s12", "s29"]);
  // Two for the ref, two for the pack.
  deepEqual(server.requests.map(({ line }) => line.split(" ")[0]), ["GET", "POST", "GET", "POST"]);
  equal((await versionsOf(app, "s11")).length, 1);
});

Deno.test("a deploy of a commit waits until a window is open", async () => {
  await using all = await gitWorld([], { now: "2026-01-01T12:00:00Z" });
  const { app, server, add } = all;
  const window = { cron: "0 3 * * *", timeZone: "UTC", durationMinutes: 60 };
  const { status, body } = await app.call("PUT", "/api/updates/settings", { windows: [window] });
  equal(status, 200, JSON.stringify(body));
  const copy = await server.create("stacks");
  await copy.push({ "stacks/shop/compose.yaml": composeOf("1") });
  await add(copy.url, { mapping: [{ ...MAPPING[0], deploy: "auto" }] });
  const jobs = async (): Promise<{ endedAt: string | null }[]> =>
    (await app.call("GET", "/api/jobs?kind=stack.deploy")).body.jobs;
  await round(app);
  equal((await gitOf(app, "shop")).state, "behind");
  deepEqual(await jobs(), []);
  app.clock.set("2026-01-02T03:10:00Z");
  await continueStacks(app.deps);
  equal((await jobs()).length, 1);
  await until("the deploy ends", async () => (await jobs())[0]!.endedAt !== null);
});

Deno.test("a deploy of a commit waits until its images have reached the host of a fleet", async () => {
  const digest = `sha256:${"1".repeat(64)}`;
  const image = {
    Id: digest,
    RepoDigests: [`nginx@${digest}`],
    Os: "linux",
    Architecture: "arm64",
  };
  await using all = await gitWorld([], {}, {
    "GET /info": () => Response.json({ OSType: "linux", Architecture: "aarch64" }),
    "GET /images/json": () => Response.json([]),
    "GET /images/*/json": () => Response.json(image),
  });
  const { app, server, add } = all;
  const asked: unknown[] = [];
  let refusal: string | undefined = "It waits";
  app.deps.updateGate = {
    isNeeded: true,
    blockOf: () => undefined,
    platformsOf: () => [],
    refusalOf: (given) => Promise.resolve((asked.push(given), refusal)),
  };
  const copy = await server.create("stacks");
  await copy.push({ "stacks/shop/compose.yaml": composeOf("1") });
  await add(copy.url, { mapping: [{ ...MAPPING[0], deploy: "auto" }] });
  const jobs = async () => (await app.call("GET", "/api/jobs?kind=stack.deploy")).body.jobs;
  await round(app);
  deepEqual(asked, [{ digest, platform: "linux/arm64", image: "nginx:1" }]);
  equal((await gitOf(app, "shop")).state, "behind");
  deepEqual(await jobs(), []);
  refusal = undefined;
  await round(app);
  equal((await jobs()).length, 1);
  await until("the deploy ends", async () => (await jobs())[0]!.endedAt !== null);
});

/** A deploy that has ended, as the runner stores it. */
function endDeploy(app: TestApp, version: number, more: Partial<Job> = {}): void {
  const at = app.deps.now().toISOString();
  insertJob(app.deps.db, {
    id: crypto.randomUUID(),
    kind: "stack.deploy",
    targetType: "stack",
    target: "shop",
    stack: "shop",
    status: "succeeded",
    progress: null,
    steps: [],
    input: { version, services: null },
    error: null,
    result: null,
    createdBy: "ada",
    tokenId: null,
    createdAt: at,
    startedAt: at,
    endedAt: at,
    ...more,
  });
}

for (
  const { what, end } of [
    { what: "after a person went back", end: (app: TestApp) => endDeploy(app, 1) },
    {
      what: "that was cancelled",
      end: (app: TestApp) => endDeploy(app, 2, { status: "cancelled", createdBy: "git" }),
    },
  ]
) {
  Deno.test(`a commit is not deployed again ${what}, until a newer one comes`, async () => {
    await using all = await gitWorld();
    const { app, server, add } = all;
    const copy = await server.create("stacks");
    const push = async (tag: string) => {
      await copy.push({ "stacks/shop/compose.yaml": composeOf(tag) });
      await round(app);
    };
    await copy.push({ "stacks/shop/compose.yaml": composeOf("1") });
    const { id } = await add(copy.url);
    await round(app);
    await push("2");
    app.clock.advance({ minutes: 1 });
    end(app);
    await continueStacks(app.deps);
    const mapping = [{ ...MAPPING[0], deploy: "auto" }];
    equal((await app.call("PUT", `/api/git/repositories/${id}`, { mapping })).status, 200);
    await round(app);
    const jobs = async () => (await app.call("GET", "/api/jobs?kind=stack.deploy")).body.jobs;
    deepEqual([(await gitOf(app, "shop")).state, (await jobs()).length], ["failed", 1]);
    await push("3");
    equal((await jobs()).length, 2);
    await until("the deploy ends", async () => (await jobs())[0].endedAt !== null);
  });
}

Deno.test("a rewritten history waits for a person, before its version is there", async () => {
  await using all = await gitWorld();
  const { app, server, add } = all;
  const copy = await server.create("stacks");
  await copy.push({ "stacks/shop/compose.yaml": composeOf("1") });
  await add(copy.url);
  await round(app);
  await copy.git("commit", "-q", "--amend", "-m", "Other");
  await copy.push({ "stacks/shop/compose.yaml": composeOf("2") });
  const seen: unknown[] = [];
  app.deps.git.notify = () => {
    const { version, isRewritten } = selectGitStack(app.deps.db, "shop")!;
    seen.push([version, isRewritten]);
  };
  await round(app);
  deepEqual(seen, [[2, true]]);
  await copy.push({ "stacks/shop/compose.yaml": composeOf("3") });
  await round(app);
  equal((await gitOf(app, "shop")).state, "rewritten");
  endDeploy(app, 3);
  await continueStacks(app.deps);
  await copy.push({ "stacks/shop/compose.yaml": composeOf("4") });
  await round(app);
  equal((await gitOf(app, "shop")).state, "behind");
});

Deno.test("a commit neither changes what a person set, nor brings back a stack", async () => {
  await using all = await gitWorld();
  const { app, server, add } = all;
  const copy = await server.create("stacks");
  await copy.push({
    "own/compose.yaml": composeOf("1"),
    "stacks/shop/compose.yaml": composeOf("1"),
  });
  const mapping = [{ ...MAPPING[0], deploy: "plan" }];
  const { id } = await add(copy.url, { mapping });
  await round(app);
  const attach = async (name: string, path: string) => {
    const { status, body } = await app.call("PUT", `/api/stacks/${name}/git`, {
      repositoryId: id,
      path,
    });
    equal(status, 200, JSON.stringify(body));
  };
  await attach("shop", "stacks/shop/compose.yaml");
  await attach("blog", "own/compose.yaml");
  await copy.push({
    "own/compose.yaml": composeOf("2"),
    "stacks/blog/compose.yaml": composeOf("3"),
    "stacks/shop/compose.yaml": composeOf("2"),
  });
  await round(app);
  for (const [name, path] of [["shop", "stacks/shop/compose.yaml"], ["blog", "own/compose.yaml"]]) {
    const { deploy, path: found, commit, version } = await gitOf(app, name!);
    deepEqual([deploy, found, commit.message], ["manual", path, "Change"]);
    equal(version > 1, true);
  }
  const { problems } = (await app.call("GET", `/api/git/repositories/${id}`)).body;
  deepEqual(problems, [
    "stacks/blog/compose.yaml: stack blog follows own/compose.yaml; attach it to this file, or " +
    "give it another name in the mapping",
  ]);

  await copy.push({ "stacks/blog/compose.yaml": null });
  await round(app);
  equal((await app.call("DELETE", "/api/stacks/blog")).status, 200);
  await copy.push({ "own/compose.yaml": composeOf("4") });
  await round(app);
  equal((await app.call("GET", "/api/stacks/blog/source")).status, 404);
});

Deno.test("git:write alone cannot deploy by a change of a repository that has stacks", async () => {
  await using all = await gitWorld();
  const { app, server, add } = all;
  const copy = await server.create("stacks");
  await copy.push({ "stacks/shop/compose.yaml": composeOf("1") });
  const { id } = await add(copy.url);
  await round(app);
  const change = (given: object, permissions: string[]) =>
    app.call("PUT", `/api/git/repositories/${id}`, given, { scope: { permissions } });
  const mapping = [{ ...MAPPING[0], deploy: "auto" }];
  for (
    const given of [{ mapping }, { signatures: "off" }, { branch: "other" }, { url: copy.url }]
  ) {
    equal((await change(given, ["git:write"])).status, 403, JSON.stringify(given));
  }
  await round(app);
  equal((await gitOf(app, "shop")).deploy, "manual");
  const planned = [{ ...MAPPING[0], deploy: "plan" }];
  equal((await change({ mapping: planned }, ["git:write", "stacks:write"])).status, 200);
  await round(app);
  equal((await gitOf(app, "shop")).deploy, "plan");
});
