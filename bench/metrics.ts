/** `GET /metrics` next to the engine's own list of containers, with the same load tool. @module */

import type { RealEngine } from "../tests/helpers/real_engine.ts";
import { CONTAINERS, makeContainers, RUNNING } from "./containers.ts";
import { load, type LoadResult, type Target } from "./load.ts";
import { bundlePrograms, type Running, start, tokenOf } from "./programs.ts";
import { median, printTable, printVerdict } from "./table.ts";

const SECONDS = 3;
const ROUNDS = 3;

/** Longer than the export is cached, so that each request generates it again. */
const SCRAPE_INTERVAL_MS = 1_100;
const SCRAPES = 10;

export async function benchMetrics(engine: RealEngine): Promise<void> {
  const ids = await makeContainers(engine);
  try {
    await using bundles = await bundlePrograms();
    await using service = await start(bundles.service, {
      DOCKER_HOST: `unix://${engine.socketPath}`,
    });
    const headers = { authorization: `Bearer ${await tokenOf(service)}` };
    await sampled(service, headers);
    const raw: Target = { transport: "unix", path: engine.socketPath };
    const list = "/containers/json?all=true";

    const ours: LoadResult[] = [];
    const engines: LoadResult[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const options = { connections: 1, seconds: SECONDS };
      ours.push(await load(service.target, { path: "/metrics", headers, ...options }));
      engines.push(await load(raw, { path: list, ...options }));
    }
    const [scrapeMs, listMs] = await apart(service, headers, raw, list);
    const middle = (all: LoadResult[], read: (one: LoadResult) => number) => median(all.map(read));
    const row = (program: string, all: LoadResult[], apartMs: number) => ({
      program,
      "req/s": middle(all, (one) => one.requestsPerSecond),
      "p50 ms": middle(all, (one) => one.p50),
      "p99 ms": middle(all, (one) => one.p99),
      "one a second, p50 ms": apartMs,
      bytes: all[0]!.answerBytes,
      failures: all.reduce((sum, one) => sum + one.failures, 0),
    });
    printTable(`Metrics of ${CONTAINERS} containers, ${RUNNING} of them running`, [
      row("Longshore", ours, scrapeMs),
      row("engine's list", engines, listMs),
    ]);
    printVerdict(
      "our p50, times 3, over that of the engine's list",
      3 * middle(ours, (one) => one.p50) / middle(engines, (one) => one.p50),
      1,
    );
  } finally {
    for (let at = 0; at < ids.length; at += 20) {
      await engine.docker("rm", "-f", ...ids.slice(at, at + 20));
    }
  }
}

/** Scrapes both in turns. @returns Median times of both, in milliseconds. */
async function apart(
  { target }: Running,
  headers: Record<string, string>,
  raw: Target,
  list: string,
): Promise<[number, number]> {
  const times: [number[], number[]] = [[], []];
  for (let scrape = 0; scrape < SCRAPES; scrape++) {
    await new Promise((resolve) => setTimeout(resolve, SCRAPE_INTERVAL_MS));
    const once = { connections: 1, requests: 1 };
    times[0].push((await load(target, { path: "/metrics", headers, ...once })).p50);
    times[1].push((await load(raw, { path: list, ...once })).p50);
  }
  return [median(times[0]), median(times[1])];
}

/** Waits until every running container has been sampled. */
async function sampled({ target }: Running, headers: Record<string, string>): Promise<void> {
  const url = `http://127.0.0.1:${target.port}/metrics`;
  for (let tries = 0; tries < 200; tries++) {
    const text = await (await fetch(url, { headers })).text();
    if (text.match(/^container_memory_working_set_bytes\{/gm)?.length === RUNNING) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the service does not sample the containers");
}
