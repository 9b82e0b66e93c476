/**
 * Longshore is killed at calls of an update or deploy that can bring data back, and started again. Then
 * the new version runs on the new data, or the old one on the old data.
 *
 * @module
 */

import { equal } from "node:assert/strict";
import { interrupt, isWrite, type Numbers, summaryOf } from "../helpers/drill.ts";
import { type EngineProxy, type Moment, startEngineProxy } from "../helpers/engine_proxy.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { versionImages, VERSIONS } from "../helpers/migrating_app.ts";
import { BUSYBOX, type OwnEngine } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";
import type { DrillJob } from "./drill.ts";

/** Calls of samplers and of the connection, which happen at any time. */
const BACKGROUND = /^\/(_ping|events|info|version|system\/df|containers\/[^/]+\/(stats|logs))/;

const NAME = "drill-killed";

/** How a job with a new version is prepared and started. */
interface Killed {
  what: string;
  jobKind: string;
  container: string;
  volume: string;
  prepare(run: Pick<Run, "engine" | "longshore" | "publish">, version: Version): Promise<void>;
  path: string;
  body: object;
}

/** The new version. */
type Version = "good" | "bad";

const commandOf = (version: keyof typeof VERSIONS) => ["sh", "-c", VERSIONS[version]];

const FILL = "echo 1 > /data/version; echo old > /data/file";

export const KILLED: readonly Killed[] = [
  {
    what: "an update with data",
    jobKind: "container.update",
    container: NAME,
    volume: NAME,
    async prepare({ engine, publish }, version) {
      await publish("old");
      const options = ["--restart=always", `--volume=${NAME}:/data`, `--name=${NAME}`];
      await engine.docker("run", "--detach", "--stop-timeout=1", ...options, `${NAME}:1`);
      await publish(version);
    },
    path: `/api/containers/${NAME}/update`,
    body: { data: "undo", stableSeconds: 1, force: true },
  },
  {
    what: "a deploy with data",
    jobKind: "stack.deploy",
    container: `${NAME}-app-1`,
    volume: `${NAME}_data`,
    async prepare({ longshore }, version) {
      const path = `/api/stacks/${NAME}`;
      const store = async (each: keyof typeof VERSIONS) => {
        const [sh, option, script] = commandOf(each);
        const command = [sh, option, script!.replaceAll("$", "$$")];
        const volumes = ["data:/data"];
        const app = {
          image: BUSYBOX,
          command,
          volumes,
          restart: "always",
          stop_grace_period: "1s",
        };
        const compose = JSON.stringify({ services: { app }, volumes: { data: {} } });
        const { body } = await longshore.call("GET", `${path}/source`);
        const { status } = body.version === undefined
          ? await longshore.call("POST", "/api/stacks", { name: NAME, compose, deploy: false })
          : await longshore.call("PUT", `${path}/source`, {
            compose,
            expectedVersion: body.version,
          });
        equal(Math.trunc(status / 100), 2, "the source is stored");
      };
      await store("old");
      const { body: { id } } = await longshore.call("POST", `${path}/deploy`, { stableSeconds: 1 });
      await until("it is deployed", async () => {
        const { body } = await longshore.call("GET", `/api/jobs/${id}`);
        return body.endedAt !== null && (equal(body.status, "succeeded", body.error), true);
      });
      await store(version);
    },
    path: `/api/stacks/${NAME}/deploy`,
    body: { data: "undo", stableSeconds: 1 },
  },
];

/** @returns Number and outcomes in words. */
export async function killAtCalls(
  engine: OwnEngine,
  killed: Killed,
  { step, first }: Numbers,
): Promise<string> {
  await using proxy = startEngineProxy(engine.socketPath, engine.sandbox.directory);
  const dataDir = await Deno.makeTempDir({ prefix: "longshore-undo-drill-" });
  const start = () => startLongshore({ dataDir, engineSocket: proxy.socketPath });
  const publish = await versionImages(engine, `${NAME}:1`);
  const run: Run = { engine, proxy, killed, publish, start, longshore: await start() };
  const outcomes: string[] = [];
  try {
    for (const version of ["bad", "good"] as const) {
      for (const moment of ["before", "after"] as const) {
        for (let number = first;; number += step) {
          const outcome = await killOnce(run, { version, moment, number });
          if (outcome === undefined) break;
          outcomes.push(outcome);
          console.error(`${killed.what}: ${version} ${moment} ${number}: ${outcome}`);
        }
      }
    }
  } finally {
    await run.longshore.stop();
    await remove(run);
    await Deno.remove(dataDir, { recursive: true });
  }
  return `${outcomes.length} times: ${summaryOf(outcomes)}`;
}

interface Run {
  engine: OwnEngine;
  proxy: EngineProxy;
  killed: Killed;
  publish: Awaited<ReturnType<typeof versionImages>>;
  start(): Promise<Longshore>;
  longshore: Longshore;
}

/** @returns The end of the job and what runs; `undefined` if it has fewer calls. */
async function killOnce(
  run: Run,
  { version, moment, number }: { version: Version; moment: Moment; number: number },
): Promise<string | undefined> {
  const { engine, killed, proxy } = run;
  const { path, body, container } = killed;
  await killed.prepare(run, version);
  await engine.docker("exec", container, "sh", "-c", FILL);
  await until("it is listed", async () => {
    const { body } = await run.longshore.call("GET", `/api/containers/${container}`);
    return body.state === "running";
  });
  const before = await lastJob(run);
  const interrupted = interrupt(proxy, {
    number,
    moment,
    isCounted: (call) => !BACKGROUND.test(call.path) && (moment === "before" || isWrite(call)),
    strike: () => run.longshore.kill9(),
  });
  const done = run.longshore.call("POST", path, body)
    .then(({ body: { id } }) => jobEnd(run.longshore, id)).catch(() => {});
  await Promise.race([interrupted.struck, done]);
  proxy.observe(() => {});
  const at = interrupted.at();
  if (at !== undefined) {
    await interrupted.struck;
    await done;
    run.longshore = await run.start();
  }
  const when = `${version}, ${number} (${at})`;
  const last = await lastJob(run);
  const job = last?.id === before?.id ? undefined : last;
  const isOld = await assertWhole(run, `${when}: ${job?.status} ${job?.error}`);
  equal(isOld, job?.status !== "succeeded", `${when}: the job's record is true`);
  await remove(run);
  if (at === undefined) return undefined;
  return job?.status ?? "not accepted";
}

/** Also when Longshore has been killed. */
const jobEnd = (longshore: Longshore, id: string) =>
  until("the job has ended", () =>
    longshore.call("GET", `/api/jobs/${id}`).then(
      ({ body }) => body.endedAt !== null,
      () => true,
    ));

/** The last job of the kind, when it has ended. */
const lastJob = async ({ longshore, killed }: Run): Promise<DrillJob | undefined> => {
  const jobs = await until("the job has ended", async () => {
    const query = `kind=${killed.jobKind}&limit=1`;
    const { body } = await longshore.call("GET", `/api/jobs?${query}`);
    return body.jobs.every((job: DrillJob) => job.endedAt !== null) && body.jobs;
  }, { deadlineMs: 300_000 });
  return jobs[0];
};

/** One container of the name is there and runs, on data of its version. @returns Whether it is the old one. */
async function assertWhole({ engine, killed }: Run, when: string): Promise<boolean> {
  const { container, volume } = killed;
  const names = await until(`one container: ${when}`, async () => {
    const all = await engine.docker("ps", "--all", "--format={{.Names}} {{.State}}");
    return all === `${container} running` && all;
  }).catch(async (cause) => {
    throw new Error(`${when}\n${await engine.docker("ps", "--all")}`, { cause });
  });
  equal(names, `${container} running`, when);
  const command = await engine.docker("inspect", "--format={{json .Config.Cmd}}", container);
  const isOld = command === JSON.stringify(commandOf("old"));
  const read = "cd /data; ls; cat version; cat file* || true";
  const mount = `--volume=${volume}:/data:ro`;
  const data = await engine.docker(
    "run",
    "--rm",
    "--network=none",
    mount,
    BUSYBOX,
    "sh",
    "-c",
    read,
  );
  equal(data, isOld ? "file\nversion\n1\nold" : "file2\nversion\n2\nold\nnew", when);
  return isOld;
}

async function remove({ engine }: Run): Promise<void> {
  const ids = await engine.docker("ps", "--all", "--quiet");
  if (ids) await engine.docker("rm", "--force", "--volumes", ...ids.split("\n"));
  const volumes = await engine.docker("volume", "ls", "--quiet", `--filter=name=${NAME}`);
  if (volumes) await engine.docker("volume", "rm", ...volumes.split("\n"));
}
