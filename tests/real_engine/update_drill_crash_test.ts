/**
 * Longshore is killed (SIGKILL) at a call of an update or a rebuild to the engine, or the engine is, and
 * started again. Then one container of each name is there, runs and has its data, and the job's record says
 * which one it is.
 *
 * By default at the calls that decide; `deno task drill` enumerates all of them: before the engine gets
 * them, and after those that change something.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { FULL_DRILL_SEED, interrupt, isWrite, reportDrill, summaryOf } from "../helpers/drill.ts";
import { type EngineCall, type Moment, startEngineProxy } from "../helpers/engine_proxy.ts";
import { long } from "../helpers/long.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import {
  BUSYBOX,
  ownEngineTest,
  privateEngineTest,
  type RealEngine,
} from "../helpers/real_engine.ts";
import type { Sandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

/** Ends at once when it is stopped. */
const SLEEP = ["sh", "-c", "trap 'exit 0' TERM; sleep 2147483647 & wait"];

/** Calls of samplers and of the connection, which happen at any time. */
const BACKGROUND = /^\/(_ping|events|info|version|system\/df|containers\/[^/]+\/(stats|logs))/;

/** After them, the old or the new container is not what it was. */
const DECISIVE = /^POST .*\/(stop|start)$|^DELETE \/containers\//;

const isFull = FULL_DRILL_SEED !== undefined;

const MOMENTS: readonly Moment[] = isFull ? ["before", "after"] : ["after"];

interface Drill {
  /** For the report of a full drill. */
  what: string;
  /** Interrupted action. */
  action: "update" | "rebuild";
  /** Whether the engine removes the container when it stops. */
  removesItself?: boolean;
  isCounted(call: EngineCall): boolean;
  /** Ends Longshore or the engine. */
  strike(longshore: Longshore): Promise<void>;
  /** Starts it again. */
  recover(longshore: Longshore, start: () => Promise<Longshore>): Promise<Longshore>;
}

const KILLS: Pick<Drill, "what" | "action" | "removesItself">[] = [
  { what: "an update", action: "update" },
  { what: "a rebuild with automatic removal", action: "rebuild", removesItself: true },
];
// The one above does all of this, and more.
if (isFull) KILLS.push({ what: "a rebuild", action: "rebuild" });

for (const { what, ...options } of KILLS) {
  const test = options.action === "update" ? privateEngineTest : long(privateEngineTest);

  test(
    `${what} that is interrupted by kill -9 of Longshore leaves whole containers`,
    (engine) =>
      runDrill(engine, {
        what: `\`kill -9\` of Longshore at each call of ${what} to the engine`,
        ...options,
        isCounted: (call) =>
          isFull
            ? !BACKGROUND.test(call.path) && !call.path.startsWith("/exec/")
            : DECISIVE.test(`${call.method} ${call.path}`),
        strike: (longshore) => longshore.kill9(),
        recover: (_, start) => start(),
      }),
  );
}

// In the full drill only, because each restart of an engine takes seconds. A read changes nothing:
// a crash before it is one after the write before it.
if (isFull) {
  long(ownEngineTest)(
    "an update that is interrupted by a crash of the engine leaves whole containers",
    (engine) =>
      runDrill(engine, {
        what: "crash of the engine at each change of an update",
        action: "update",
        isCounted: (call) => isWrite(call) && !call.path.startsWith("/exec/"),
        strike: () => engine.kill(),
        async recover(longshore) {
          await engine.restart();
          return longshore;
        },
      }),
  );
}

async function runDrill(engine: RealEngine & { sandbox: Sandbox }, drill: Drill): Promise<void> {
  const { action } = drill;
  await using web = await startContainers(engine, drill);
  await using proxy = startEngineProxy(engine.socketPath, engine.sandbox.directory);
  const dataDir = await Deno.makeTempDir({ prefix: "longshore-test-drill-" });
  const start = () => startLongshore({ dataDir, engineSocket: proxy.socketPath });
  let longshore = await start();
  const outcomes: string[] = [];
  try {
    for (const moment of MOMENTS) {
      for (let number = 0;; number++) {
        const since = new Date().toISOString();
        const strike = () => drill.strike(longshore);
        const interrupted = interrupt(proxy, { ...drill, number, moment, strike });
        const updated = run(longshore, action, web.name)
          .then(() => undefined, (error) => ({ error }));
        await Promise.race([interrupted.struck, updated]);
        proxy.observe(() => {});
        if (interrupted.at() === undefined) {
          const failed = await updated;
          if (failed) throw failed.error;
          break;
        }
        await interrupted.struck;
        const when = `${outcomes.length}: struck ${interrupted.at()}`;
        longshore = await drill.recover(longshore, start);
        // Lost with what was struck.
        await updated;
        const job = await lastJob(longshore, action);
        try {
          // After a crash, the engine starts its containers in the background.
          const id = await until(when, () => web.assertWhole(when));
          if (job) assertTrue(job, id, when);
        } catch (cause) {
          const report = [await web.describe(since), JSON.stringify(job), longshore.stderr()];
          throw new Error([when, ...report].join("\n"), { cause });
        }
        outcomes.push(job?.status ?? "not accepted");
      }
    }
  } finally {
    await longshore.stop();
    await Deno.remove(dataDir, { recursive: true });
  }
  ok(outcomes.length >= 3, "an update stops, starts and removes a container");
  reportDrill(drill.what, `${outcomes.length} times, ${summaryOf(outcomes)}`);
}

/** A container with a volume of its own and a file in it; in a full drill also one that depends on it. */
async function startContainers(
  engine: RealEngine,
  { removesItself = false }: Pick<Drill, "removesItself">,
) {
  const name = `longshore-test-drill-${crypto.randomUUID().slice(0, 8)}`;
  const side = `${name}-side`;
  const run = (name: string, ...options: string[]) =>
    engine.docker(
      "run",
      "--detach",
      removesItself ? "--rm" : "--restart=always",
      `--name=${name}`,
      ...options,
      BUSYBOX,
      ...SLEEP,
    );
  await run(name, "--mount=type=volume,dst=/data");
  await engine.docker("exec", name, "sh", "-c", "echo kept > /data/marker");
  if (isFull) await run(side, `--network=container:${name}`);
  const names = isFull ? [name, side] : [name];
  const list = async () => {
    const format = "--format={{.Names}} {{.State}} {{.ID}}";
    const lines = await engine.docker("ps", "--all", "--no-trunc", `--filter=name=${name}`, format);
    return lines.split("\n").filter(Boolean).sort().map((line) => line.split(" "));
  };
  return {
    name,
    /** @returns The id of the container that has the name. */
    async assertWhole(when: string): Promise<string> {
      const found = await list();
      deepEqual(
        found.map(([name, state]) => `${name} ${state}`),
        names.map((name) => `${name} running`),
      );
      equal(await engine.docker("exec", name, "cat", "/data/marker"), "kept", when);
      const [, , id] = found[0]!;
      if (isFull) {
        const mode = await engine.docker("inspect", "--format={{.HostConfig.NetworkMode}}", side);
        equal(mode, `container:${id}`, when);
        const links = (name: string) => engine.docker("exec", name, "ip", "link");
        equal(await links(side), await links(name), when);
      }
      return id!;
    },
    /** State of the engine and its events since a time (ISO 8601), for the message of a failure. */
    async describe(since: string): Promise<string> {
      const until = new Date().toISOString();
      const ids = (await list()).map(([, , id]) => id!);
      const commands = [
        ["events", `--since=${since}`, `--until=${until}`],
        ["volume", "ls"],
        ["inspect", ...ids],
      ];
      const outputs = commands.map((command) => engine.docker(...command).catch(String));
      return (await Promise.all(outputs)).join("\n");
    },
    async [Symbol.asyncDispose]() {
      const ids = (await list()).map(([, , id]) => id!);
      if (ids.length) await engine.docker("rm", "--force", "--volumes", ...ids);
    },
  };
}

/** Recreates the container from its image, and resolves when the job has ended or Longshore has. */
async function run(longshore: Longshore, action: Drill["action"], name: string): Promise<void> {
  const path = `/api/containers/${name}/${action}`;
  if (action === "rebuild") {
    const { status, body } = await longshore.call("POST", path, { pull: "never" });
    return equal(status, 200, JSON.stringify(body));
  }
  const request = { pull: "never", force: true, stableSeconds: 1 };
  const { status, body } = await longshore.call("POST", path, request);
  equal(status, 202, JSON.stringify(body));
  await until(
    "the update has ended, or Longshore was killed",
    () =>
      readLastJob(longshore, action).then(
        (job) => job?.id === body.id && job?.endedAt !== null,
        () => true,
      ),
  );
}

interface Job {
  id: string;
  status: string;
  endedAt: string | null;
  error: string | null;
  result: { id: string } | null;
}

/** The last job; `undefined` if none was accepted. */
async function readLastJob(
  longshore: Longshore,
  action: Drill["action"],
): Promise<Job | undefined> {
  const { body } = await longshore.call("GET", `/api/jobs?kind=container.${action}&limit=1`);
  return body.jobs[0];
}

/** The last job, when it has ended. */
async function lastJob(longshore: Longshore, action: Drill["action"]): Promise<Job | undefined> {
  const { job } = await until("the job has ended", async () => {
    const job = await readLastJob(longshore, action);
    return job?.endedAt !== null && { job };
  });
  return job;
}

/** The record says which container runs. */
function assertTrue({ status, error, result }: Job, id: string, when: string): void {
  ok(["succeeded", "rolled_back"].includes(status), `${when}: ${status}, ${error}`);
  equal(result?.id, id, when);
}
