/**
 * `GET /api/containers` and `GET /api/containers/:id` next to the engine itself, with the same load
 * tool.
 *
 * @module
 */

import { BUSYBOX, type RealEngine } from "../tests/helpers/real_engine.ts";
import { load, type LoadResult, type Target } from "./load.ts";
import { bundlePrograms, type Running, start, tokenOf } from "./programs.ts";
import { median, printTable, printVerdict } from "./table.ts";

/** Number of containers, and how many of them run. */
export const CONTAINERS = 100;
export const RUNNING = 10;
const SECONDS = 4;
const ROUNDS = 3;

export async function benchContainers(engine: RealEngine): Promise<void> {
  const ids = await makeContainers(engine);
  try {
    await using bundles = await bundlePrograms();
    await using service = await start(bundles.service, {
      DOCKER_HOST: `unix://${engine.socketPath}`,
    });
    const headers = { authorization: `Bearer ${await tokenOf(service)}` };
    await live(service, headers);
    const raw: Target = { transport: "unix", path: engine.socketPath };

    for (const connections of [1, 16, 64]) {
      const [ours, engines] = await sideBySide(
        () =>
          load(service.target, { path: "/api/containers", headers, connections, seconds: SECONDS }),
        () => load(raw, { path: "/containers/json?all=true", connections, seconds: SECONDS }),
      );
      printTable(`List of ${CONTAINERS} containers, ${connections} connections`, [
        row("Longshore", ours),
        row("engine", engines),
      ]);
      printVerdict(
        "engine's requests per second, times 10, over ours",
        engines.requestsPerSecond * 10 / ours.requestsPerSecond,
        1,
      );
      printVerdict("our p99 over the engine's p50", ours.p99 / engines.p50, 1);
    }

    const id = ids[0]!;
    for (const connections of [1, 16]) {
      const [ours, engines] = await sideBySide(
        () =>
          load(service.target, {
            path: `/api/containers/${id}`,
            headers,
            connections,
            seconds: SECONDS,
          }),
        () => load(raw, { path: `/containers/${id}/json`, connections, seconds: SECONDS }),
      );
      printTable(`Detail of a running container, ${connections} connections`, [
        row("Longshore", ours),
        row("engine", engines),
      ]);
      printVerdict("our p50 over the engine's inspect", ours.p50 / engines.p50, 3);
    }
  } finally {
    for (let at = 0; at < ids.length; at += 20) {
      await engine.docker("rm", "-f", ...ids.slice(at, at + 20));
    }
  }
}

/** Measures in turns, so that a slow moment of the machine affects both, and takes the median round. */
export async function sideBySide(
  ...measures: [() => Promise<LoadResult>, () => Promise<LoadResult>]
): Promise<[LoadResult, LoadResult]> {
  const rounds: [LoadResult, LoadResult][] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push([await measures[0](), await measures[1]()]);
  }
  const middle = (side: 0 | 1): LoadResult => {
    const all = rounds.map((round) => round[side]);
    return {
      requestsPerSecond: median(all.map((one) => one.requestsPerSecond)),
      p50: median(all.map((one) => one.p50)),
      p99: median(all.map((one) => one.p99)),
      failures: all.reduce((sum, one) => sum + one.failures, 0),
      answerBytes: all[0]!.answerBytes,
    };
  };
  return [middle(0), middle(1)];
}

export function row(program: string, result: LoadResult) {
  return {
    program,
    "req/s": result.requestsPerSecond,
    "p50 ms": result.p50,
    "p99 ms": result.p99,
    bytes: result.answerBytes,
    failures: result.failures,
  };
}

/** @returns Their ids, the running ones first. */
export async function makeContainers({ docker }: RealEngine): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < CONTAINERS; n++) {
    const options = ["--name", `longshore-bench-${n}`, "--label", "bench=longshore"];
    ids.push(
      n < RUNNING
        ? await docker("run", "--detach", "--init", ...options, BUSYBOX, "sleep", "3600")
        : await docker("create", ...options, BUSYBOX, "sleep", "3600"),
    );
  }
  return ids;
}

export async function live({ target }: Running, headers: Record<string, string>): Promise<void> {
  const url = `http://127.0.0.1:${target.port}/api/containers`;
  for (let tries = 0; tries < 100; tries++) {
    const { containers } = await (await fetch(url, { headers })).json();
    if (containers.length >= CONTAINERS) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the service does not see the containers");
}
