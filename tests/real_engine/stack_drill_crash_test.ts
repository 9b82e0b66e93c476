/**
 * Longshore is killed (SIGKILL) at a change that a deploy makes, and started again. The deploy goes on
 * to its end, the next one converges, and no data is lost.
 *
 * By default at some changes; `deno task drill` enumerates all of them: before the engine gets them,
 * and afterwards.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { FULL_DRILL_SEED, interrupt, isWrite, reportDrill, summaryOf } from "../helpers/drill.ts";
import { type Moment, startEngineProxy } from "../helpers/engine_proxy.ts";
import { long } from "../helpers/long.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { BUSYBOX, privateEngineTest } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

const isFull = FULL_DRILL_SEED !== undefined;

const MOMENTS: readonly Moment[] = isFull ? ["before", "after"] : ["after"];

/** Changes from one strike to the next. */
const STEP = isFull ? 1 : 12;

const service = {
  image: BUSYBOX,
  command: ["sleep", "2147483647"],
  stop_signal: "SIGKILL",
  restart: "always",
};

const db = (level: string) => ({ ...service, environment: { level }, volumes: ["/data"] });

const web = (scale: number) => ({
  ...service,
  scale,
  depends_on: ["db"],
  networks: ["default", "front"],
});

const front = (level: string) => ({ labels: { level } });

/**
 * Each can be deployed over the other: a container and a network with its containers are replaced, others
 * are added and removed.
 */
const VERSIONS = [
  { services: { db: db("1"), web: web(2) }, networks: { front: front("1") } },
  {
    services: {
      db: db("2"),
      web: web(1),
      extra: { ...service, networks: ["back"], configs: ["page"], depends_on: ["web"] },
    },
    networks: { back: {}, front: front("2") },
    configs: { page: { content: "hello" } },
  },
];

const CONTAINERS = [["db-1", "web-1", "web-2"], ["db-1", "extra-1", "web-1"]];

long(privateEngineTest)(
  "a deploy that is interrupted by kill -9 of Longshore is continued, and the next one converges",
  async (engine) => {
    const name = `longshore-test-${crypto.randomUUID().slice(0, 8)}`;
    const path = `/api/stacks/${name}`;
    await using proxy = startEngineProxy(engine.socketPath, engine.sandbox.directory);
    const dataDir = await Deno.makeTempDir({ prefix: "longshore-test-drill-" });
    const start = () => startLongshore({ dataDir, engineSocket: proxy.socketPath });
    let longshore = await start();
    const outcomes: string[] = [];

    const list = async () => {
      const filter = `--filter=label=com.docker.compose.project=${name}`;
      const lines = await engine.docker(
        "ps",
        "--all",
        filter,
        "--format={{.Names}} {{.State}}",
      );
      return lines.split("\n").filter(Boolean).sort();
    };
    const request = async (action: string, body: object): Promise<string> => {
      const { status, body: job } = await longshore.call("POST", `${path}/${action}`, body);
      equal(status, 202, JSON.stringify(job));
      return job.id;
    };
    const deploy = async (index: number) => {
      return await ended(longshore, await request("deploy", optionsOf(index)));
    };
    const assertDeployed = async (index: number, when: string) => {
      const { status, error, result } = await deploy(index);
      equal(status, "succeeded", `${when}: ${error}`);
      const names = CONTAINERS[index]!.map((each) => `${name}-${each} running`);
      deepEqual(await list(), names, when);
      const marker = await engine.docker("exec", `${name}-db-1`, "cat", "/data/marker");
      equal(marker, "kept", when);
      return result.changes as { action: string }[];
    };

    try {
      for (const [index, source] of VERSIONS.entries()) {
        const compose = JSON.stringify(source);
        const { status, body } = index === 0
          ? await longshore.call("POST", "/api/stacks", { name, compose, deploy: false })
          : await longshore.call("PUT", `${path}/source`, { compose, expectedVersion: index });
        ok(status < 300, JSON.stringify(body));
      }
      equal((await deploy(0)).status, "succeeded");
      await engine.docker("exec", `${name}-db-1`, "sh", "-c", "echo kept > /data/marker");

      let version = 0;
      for (const moment of MOMENTS) {
        for (let number = 0;; number += STEP) {
          version = 1 - version;
          const interrupted = interrupt(proxy, {
            number,
            moment,
            isCounted: (call) => isWrite(call) && !call.path.startsWith("/exec/"),
            strike: () => longshore.kill9(),
          });
          // Lost with what was struck.
          const deployed = request("deploy", optionsOf(version))
            .then((id) => endedOrKilled(longshore, id), () => {});
          await Promise.race([interrupted.struck, deployed]);
          proxy.observe(() => {});
          if (interrupted.at() === undefined) {
            await deployed;
            break;
          }
          await interrupted.struck;
          await deployed;
          const when = `version ${version + 1}, struck ${interrupted.at()}`;
          longshore = await start();
          const job = await lastJob(longshore);
          equal(job?.status, "succeeded", `${when}: ${job?.error}`);
          const changes = await assertDeployed(version, when);
          // The interrupted deploy was completed, not only repeated by this one.
          deepEqual(changes.filter(({ action }) => action !== "none"), [], when);
          outcomes.push(job!.status);
        }
      }
    } finally {
      const ids = await engine.docker("ps", "--all", "--quiet", `--filter=name=${name}`);
      await longshore.stop();
      if (ids) await engine.docker("rm", "--force", "--volumes", ...ids.split("\n"));
      const networks = ["default", "back", "front"].map((network) => `${name}_${network}`);
      await engine.docker("network", "rm", ...networks).catch(() => {});
      await Deno.remove(dataDir, { recursive: true });
    }
    ok(outcomes.length >= 2, "a deploy creates, stops, starts and removes containers");
    reportDrill(
      "`kill -9` of Longshore at each change of a deploy of a stack",
      `${outcomes.length} times, ${summaryOf(outcomes)}`,
    );
  },
);

const optionsOf = (index: number) => ({
  version: index + 1,
  removeOrphans: true,
  stableSeconds: 1,
});

interface Job {
  status: string;
  error: string | null;
  endedAt: string | null;
  // deno-lint-ignore no-explicit-any
  result: any;
}

const ended = (longshore: Longshore, id: string): Promise<Job> =>
  until(`job ${id} has ended`, async () => {
    const { body } = await longshore.call("GET", `/api/jobs/${id}`);
    return body.endedAt !== null && body;
  });

const endedOrKilled = (longshore: Longshore, id: string) =>
  until(
    "the deploy has ended, or Longshore was killed",
    () =>
      longshore.call("GET", `/api/jobs/${id}`).then(
        ({ body }) => body.endedAt !== null,
        () => true,
      ),
  );

/** The last deploy, when it has ended. */
const lastJob = (longshore: Longshore): Promise<Job> =>
  until("the deploy has ended", async () => {
    const { body } = await longshore.call("GET", "/api/jobs?kind=stack.deploy&limit=1");
    return body.jobs[0]?.endedAt !== null && body.jobs[0];
  });
