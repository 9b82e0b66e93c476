/**
 * The program is killed at every step of a deploy from Git, on an engine of its own: each version ends
 * up deployed, by one job.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { gitServer } from "../helpers/git_server.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { startDockerd } from "../helpers/real_engine.ts";
import { sleeper } from "../helpers/test_stack.ts";
import { until } from "../helpers/until.ts";

/** More kills than a deploy has steps. */
const KILLS_MAX = 30;

const composeOf = (level: number) =>
  JSON.stringify({ services: { web: { ...sleeper, environment: { LEVEL: `${level}` } } } });

export async function followThroughKills(): Promise<void> {
  await using engine = await startDockerd();
  await using server = await gitServer();
  const dataDir = await Deno.makeTempDir({ prefix: "longshore-git-kills-" });
  const start = () =>
    startLongshore({
      dataDir,
      engineSocket: engine.socketPath,
      env: { OUTBOUND_ALLOW: "127.0.0.1" },
    });
  const copy = await server.create("stacks");
  await copy.push({ "compose.yaml": composeOf(0) });
  let service = await start();
  try {
    await service.call("PUT", "/api/updates/settings", { stableSeconds: 5 });
    const mapping = [{ path: "compose.yaml", name: "shop", deploy: "auto" }];
    const given = { name: "Stacks", url: copy.url, mapping };
    const { body: { id } } = await service.call("POST", "/api/git/repositories", given);
    await settle(service, 0);
    let kills = 0;
    for (let isKilled = true; isKilled; kills++) {
      ok(kills < KILLS_MAX);
      await copy.push({ "compose.yaml": composeOf(kills + 1) });
      void service.call("POST", `/api/git/repositories/${id}/fetch`).catch(() => {});
      isKilled = await hasStep(service, kills + 2, kills);
      if (!isKilled) break;
      await service.kill9();
      service = await start();
      await settle(service, kills + 1);
    }
    await settle(service, kills + 1);
    const levels = await engine.docker(
      ...[
        "ps",
        "-a",
        "--filter",
        "label=com.docker.compose.project=shop",
        "--format",
        "{{.Names}}",
      ],
    );
    deepEqual(levels.trim().split("\n"), ["shop-web-1"]);
    console.log(`killed at ${kills} points of deploys: each version was deployed once`);
  } finally {
    await service[Symbol.asyncDispose]();
    await Deno.remove(dataDir, { recursive: true });
  }
}

/** Deploys of a version. The API does not show versions of jobs. */
function jobsOf({ dataDir }: Longshore, version: number): { steps: number; hasEnded: boolean }[] {
  using db = new DatabaseSync(`${dataDir}/state.sqlite`, { readOnly: true });
  const rows = db.prepare("SELECT input, steps, ended_at FROM jobs WHERE kind = 'stack.deploy'")
    .all();
  return rows.filter(({ input }) => JSON.parse(input as string).version === version)
    .map(({ steps, ended_at }) => ({
      steps: JSON.parse(steps as string).length,
      hasEnded: ended_at !== null,
    }));
}

/** Waits for the version's deploy to begin its step. @returns Whether it has as many. */
const hasStep = async (service: Longshore, version: number, step: number): Promise<boolean> =>
  await until(`step ${step} of version ${version}`, () => {
    const [job] = jobsOf(service, version);
    if (job && job.steps > step) return { isKilled: true };
    return job?.hasEnded ? { isKilled: false } : undefined;
  }).then(({ isKilled }) => isKilled);

/** Waits until the version of a level is deployed, and no job of it has run twice. */
async function settle(service: Longshore, level: number): Promise<void> {
  const version = level + 1;
  await until(`version ${version} is deployed`, async () => {
    const { git } = (await service.call("GET", "/api/stacks/shop/git")).body;
    return git?.state === "current" && git.version === version;
  });
  equal(jobsOf(service, version).length, 1);
}
