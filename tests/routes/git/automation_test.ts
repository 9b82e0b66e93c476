/** Commits without a person: what is planned and deployed, and who may let that happen. @module */

import { deepEqual, equal } from "node:assert/strict";
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
